"""What bootstrap probabilities are worth: how many of the likely edges are right.

    python benches/bootstrap.py [claim schemes blocks] [--seeds 5] [--draws 100] [--jobs 2]

Columns are permuted, and nothing is tuned. Where Gaussian data with unequal noise variances determine no more than an
equivalence class, an edge whose direction is not determined counts half each way, so that it never comes to 0.9; it can
still be likely that the two are joined.

claim    ER1, d = 100, n = 1000: edges with probability 0.9 or more, and how many of them are in the true graph
schemes  weak edges and none, drawn with replacement, or shares without: false edges, probabilities against the truth
blocks   rows that follow each other in time, drawn one by one and in blocks
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import numpy as np
import scipy.sparse as sp

from icid_rs import ICID, Bootstrap, bootstrap, datasets, equivalence_class
from search import simulate, standardise

SCHEMES = {"with replacement": None, "halves": 0.5, "0.632": 0.632, "0.9": 0.9}


def likely(found: Bootstrap, B: sp.csr_array, least: float = 0.9) -> dict[str, np.ndarray]:
    """Numbers of directed and of joined pairs that are likely, and of those that are right."""
    truth = B.toarray() != 0
    directed = found.edge_probabilities.toarray() >= least
    joined = np.triu(found.adjacency_probabilities.toarray() >= least)
    return {
        "directed": np.array([directed.sum(), (directed & truth).sum()]),
        "joined": np.array([joined.sum(), (joined & (truth | truth.T)).sum()]),
    }


def share(counts: np.ndarray) -> str:
    return f"{counts[1]:4} of {counts[0]:4} right ({counts[1] / max(counts[0], 1):6.1%})"


def claim(options: argparse.Namespace) -> None:
    cells = {"raw, equal variances, gaussian": ("gaussian", True)}
    cells |= {f"standardised, unequal, {noise}": (noise, False) for noise in ("exponential", "laplace", "gaussian")}
    for name, (noise, equal) in cells.items():
        counts = {"directed": np.zeros(2, int), "joined": np.zeros(2, int)}
        true = compelled = 0
        begin = time.perf_counter()
        for seed in range(options.seeds):
            B, X = simulate(100, 1, 1000, seed, noise=noise, equal=equal)
            found = bootstrap(ICID().fit(X), X, n=options.draws, n_jobs=options.jobs)
            for kind, numbers in likely(found, B).items():
                counts[kind] += numbers
            pattern = equivalence_class(B).toarray()
            true, compelled = true + B.nnz, compelled + int((pattern > pattern.T).sum())
        spent = (time.perf_counter() - begin) / options.seeds
        possible = f"{compelled} of {true}" if noise == "gaussian" and not equal else f"{true}"
        print(
            f"{name:35} i → j {share(counts['directed'])}   joined {share(counts['joined'])}   "
            f"edges to be found: {possible}   {spent:.1f} s",
            flush=True,
        )


def weak(
    d: int, degree: int, n: int, seed: int, noise: str, equal: bool, size: float
) -> tuple[sp.csr_array, np.ndarray]:
    """A model with weights ±[0.5, 2] times `size`, and data from it."""
    rng = np.random.default_rng(seed)
    B = sp.csr_array(datasets.random_dag(d, degree, random_state=rng) * size)
    B.eliminate_zeros()
    variances = 1.0 if equal else rng.uniform(0.5, 2.0, d)
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=variances, random_state=rng)
    P = rng.permutation(d)
    return B[P][:, P], np.ascontiguousarray(X[:, P] if equal else standardise(X[:, P]))


def schemes(options: argparse.Namespace) -> None:
    cells = {
        "equal variances, weights ±[0.12, 0.5]": (300, "gaussian", True, 0.25, "auto"),
        "unequal, gaussian, weights ±[0.12, 0.5]": (300, "gaussian", False, 0.25, "auto"),
        "unequal, gaussian, the same with noise='unequal'": (300, "gaussian", False, 0.25, "unequal"),
        "unequal, laplace, weights ±[0.12, 0.5]": (500, "laplace", False, 0.25, "auto"),
        "unequal, laplace, the same with noise='unequal'": (500, "laplace", False, 0.25, "unequal"),
        "no edges": (300, "gaussian", False, 0.0, "auto"),
    }
    for name, (n, noise, equal, size, assumed) in cells.items():
        print(f"ER2 d = 50 n = {n}, {name}")
        for scheme, subsample in SCHEMES.items():
            counts = {"directed": np.zeros(2, int), "joined": np.zeros(2, int)}
            edges, false, brier = [], [], []
            for seed in range(options.seeds):
                B, X = weak(50, 2, n, seed, noise, equal, size)
                model = ICID(noise=assumed).fit(X)
                found = bootstrap(model, X, n=options.draws, n_jobs=options.jobs, subsample=subsample)
                for kind, numbers in likely(found, B).items():
                    counts[kind] += numbers
                truth = B.toarray() != 0
                joined = np.triu(found.adjacency_probabilities.toarray(), 1)
                edges.append(joined.sum())
                false.append(joined[~(truth | truth.T)].sum())
                brier.append(np.sum((joined - np.triu(truth | truth.T, 1)) ** 2))
            print(
                f"  {scheme:17} edges {np.mean(edges):5.1f}, false {np.mean(false):5.2f} a resample; squared error "
                f"{np.mean(brier):5.1f}; likely i → j {share(counts['directed'])}, joined {share(counts['joined'])}",
                flush=True,
            )


def blocks(options: argparse.Namespace) -> None:
    for memory in (0.0, 0.9):
        for block in (None, "auto"):
            counts, lengths, false = np.zeros(2, int), [], []
            for seed in range(options.seeds):
                rng = np.random.default_rng(seed)
                B = sp.csr_array(datasets.random_dag(20, 1, random_state=rng) * 0.4)
                noise = rng.normal(size=(1000, 20))
                for t in range(1, len(noise)):
                    noise[t] = memory * noise[t - 1] + np.sqrt(1 - memory**2) * noise[t]
                X = noise @ np.linalg.inv(np.eye(20) - B.toarray())
                found = bootstrap(ICID(noise="equal").fit(X), X, n=options.draws, n_jobs=options.jobs, block=block)
                counts += likely(found, B)["joined"]
                truth = B.toarray() != 0
                false.append(np.triu(found.adjacency_probabilities.toarray())[~(truth | truth.T)].sum())
                lengths.append(found.block)
            print(
                f"noise with autocorrelation {memory}, blocks of {lengths if block else 1}: likely joined "
                f"{share(counts)}, false {np.mean(false):.1f} a resample",
                flush=True,
            )


SECTIONS = (claim, schemes, blocks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [section.__name__ for section in SECTIONS]
    parser.add_argument("sections", nargs="*", default=names, metavar="SECTION", help=", ".join(names))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    for section in SECTIONS:
        if section.__name__ in options.sections:
            print(
                f"\n{section.__name__} ({options.seeds} seeds, {options.draws} draws, {os.cpu_count()} cores)",
                flush=True,
            )
            section(options)


if __name__ == "__main__":
    main()

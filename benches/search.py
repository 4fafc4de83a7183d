"""What the default finds when nothing is tuned, and what the search costs.

    python benches/search.py [netsim equal shapes starts sweep cost budget threads] [--seeds 5]

Columns are permuted. NetSim is read from ../shared/data or the folder in ICID_DATA.

netsim   SHD on simulated fMRI, raw and standardised
equal    SHD with equal noise variances, and how often they are recognised
shapes   SHD with noise that is not Gaussian, standardised, unequal variances
starts   what each start order is worth: mean score above the best, before any trial
sweep    time of a move, of which a sweep is one for each variable, by the number of variables
cost     the default fit against covariance and inverse
budget   seconds of fits with time limits
threads  whether results depend on threads or on the order of the columns
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from icid_rs import ICID, _core, datasets, equivalence_class, fdr_precision, metrics

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))


def standardise(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def simulate(d: int, degree: int, n: int, seed: int, kind: str = "ER", noise: str = "gaussian", *, equal: bool = False):
    """A random model and data from it: raw with equal variances, or standardised with variances uniform on [0.5, 2]."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, kind, random_state=rng)
    variances = 1.0 if equal else rng.uniform(0.5, 2.0, d)
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=variances, random_state=rng)
    P = rng.permutation(d)
    return B[P][:, P], np.ascontiguousarray(X[:, P] if equal else standardise(X[:, P]))


def timed(model: ICID, X: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


def netsim(seeds: int) -> None:
    for simulation in (3, 4):
        path = DATA / f"sim{simulation}.mat"
        if not path.exists():
            print(f"Sim{simulation}: {path} is not there")
            continue
        X, A, _ = datasets.load_netsim(path)
        for name, change in {"raw": np.asarray, "standardised": standardise}.items():
            distances = []
            for seed in range(seeds):
                P = np.random.default_rng(seed).permutation(X.shape[1])
                model = ICID().fit(change(X[:, P]))
                distances.append(metrics.count_accuracy(sp.csr_array(A)[P][:, P], model.adjacency_matrix_)["shd"])
            inflation = model.info_["choices"]["penalty"]["inflation"]
            print(f"Sim{simulation} {name:13} SHD {distances}  noise {model.info_['noise']}  inflation {inflation:.2f}")


def equal(seeds: int) -> None:
    for degree in (1, 2):
        for d in (50, 100, 200, 400):
            distances, recognised = [], 0
            for seed in range(seeds):
                B, X = simulate(d, degree, 10 * d, seed, equal=True)
                model = ICID().fit(X)
                distances.append(metrics.count_accuracy(B, model.adjacency_matrix_)["shd"])
                recognised += model.info_["noise"] == "equal"
            print(
                f"ER{degree} d = {d:3}  SHD {distances}  median {np.median(distances)}  equal {recognised} of {seeds}"
            )


def shapes(seeds: int) -> None:
    cells = [(100, 1, 1000, noise) for noise in ("exponential", "gumbel", "uniform", "laplace")]
    cells += [(100, 2, 2000, "exponential"), (100, 2, 2000, "gumbel"), (400, 1, 2000, "exponential")]
    for d, degree, n, noise in cells:
        distances, spent = [], []
        for seed in range(seeds):
            B, X = simulate(d, degree, n, seed, noise=noise)
            model = ICID()
            spent.append(timed(model, X))
            distances.append(metrics.count_accuracy(B, model.adjacency_matrix_)["shd"])
        print(
            f"ER{degree} d = {d} n = {n} {noise:12} SHD {distances}  median {np.median(distances)}  "
            f"{np.median(spent):.2f} s",
            flush=True,
        )


def starts(seeds: int) -> None:
    for noise in ("gaussian", "exponential"):
        above: dict[str, list[float]] = {}
        for seed in range(seeds):
            _, X = simulate(80, 2, 1600, seed, noise=noise)
            scores = ICID(trials=0).fit(X).info_["choices"]["starts"]
            for name, score in scores.items():
                above.setdefault(name, []).append(score - min(scores.values()))
        print(f"ER2 d = 80 n = 1600 {noise}: mean score above the best start, and how often it is the best")
        for name, values in above.items():
            print(f"  {name:48} {np.mean(values):10.1f} {sum(value < 1e-6 for value in values):4} of {len(values)}")


def sweep(seeds: int) -> None:
    print("ER2, n = 8000, a descent from a random order, one thread: moves, microseconds a move, seconds of all")
    for d in (500, 1000, 2000, 4000):
        moves, spent, whole = [], [], []
        for seed in range(min(seeds, 3)):
            _, X = simulate(d, 2, 8000, seed)
            estimate = fdr_precision(X)
            order = np.random.default_rng(seed).permutation(d)
            begin = time.perf_counter()
            found = estimate.searcher(None, n_threads=1).search(
                [order],
                penalty=_core.edge_penalty(len(X), d),
                noise_variances=None,
                values=None,
                budget={"trials": 0, "patience": None, "seconds": None, "seed": 0},
            )
            whole.append(time.perf_counter() - begin)
            moves.append(found.descent[0])
            spent.append(found.descent[1] / found.descent[0])
        print(
            f"  d = {d:4}  {np.median(moves):8.0f}  {1e6 * np.median(spent):6.1f}  {np.median(whole):6.2f}", flush=True
        )


def cost(seeds: int) -> None:
    for equal in (True, False):
        _, X = simulate(1000, 2, 10_000, 0, equal=equal)
        floors, fits = [], []
        for _ in range(min(seeds, 3)):
            begin = time.perf_counter()
            np.linalg.inv(X.T @ X)
            floors.append(time.perf_counter() - begin)
            model = ICID()
            fits.append(timed(model, X))
        name = "raw, equal variances" if equal else "standardised, unequal"
        print(
            f"ER2 d = 1000 n = 10000 {name}: covariance and inverse {np.median(floors):.2f} s, default fit "
            f"{np.median(fits):.2f} s, ratio {np.median(fits) / np.median(floors):.1f}; "
            + ", ".join(f"{stage} {took:.2f}" for stage, took in model.info_["timings"].items()),
            flush=True,
        )


def budget(seeds: int) -> None:
    _, X = simulate(200, 2, 4000, 0)
    for limit in (1.0, 10.0, 60.0):
        model = ICID(trials=10**9, time_limit=limit)
        spent = timed(model, X)
        search = model.info_["timings"]["refine"]
        trials = model.info_["refinement"]["trials"]
        print(f"limit {limit:4.0f} s: refine {search:6.2f} s, fit {spent:6.2f} s, {trials} trials", flush=True)


def threads(seeds: int) -> None:
    for noise in ("gaussian", "exponential"):
        same, moved = 0, []
        for seed in range(seeds):
            _, X = simulate(60, 2, 1200, seed, noise=noise)
            one, two = ICID(n_threads=1).fit(X), ICID(n_threads=2).fit(X)
            same += (one.adjacency_matrix_ != two.adjacency_matrix_).nnz == 0
            P = np.random.default_rng(seed).permutation(60)
            permuted = equivalence_class(ICID().fit(X[:, P]).adjacency_matrix_)
            moved.append(metrics.count_accuracy(equivalence_class(one.adjacency_matrix_)[P][:, P], permuted)["shd"])
        print(f"{noise}: same on 1 and 2 threads {same} of {seeds}; classes of permuted columns differ by {moved}")


SECTIONS = (netsim, equal, shapes, starts, sweep, cost, budget, threads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [section.__name__ for section in SECTIONS]
    parser.add_argument("sections", nargs="*", default=names, metavar="SECTION", help=", ".join(names))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for section in SECTIONS:
        if section.__name__ in options.sections:
            print(f"\n{section.__name__} ({options.seeds} seeds, {os.cpu_count()} cores)", flush=True)
            section(options.seeds)


if __name__ == "__main__":
    main()

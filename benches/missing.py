"""Graphs from tables with holes: estimates by EM, pairs of columns with the rows they have in common, rows dropped.

    python benches/missing.py [--seeds 3] [--first 0] [--sizes 20 100]

ER1, Gaussian, unit noise variances, n = 10 d and n = 1000. Entries are missing with the same probability everywhere
("completely at random"); or in all columns but each fifth, with a probability that grows with the value of the nearest
of these, which are always observed ("at random"). Distances are SHD, and between equivalence classes on standardised
columns. A dash: dropping leaves too few rows.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from icid_rs import ICID, datasets, metrics

METHODS = ("em", "pairwise", "drop")
#: Each so many-th column is observed where others are missing at random.
_EACH = 5


def with_holes(X: np.ndarray, share: float, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Remove a share of all entries."""
    if kind == "completely":
        return np.where(rng.uniform(size=X.shape) < share, np.nan, X)
    d = X.shape[1]
    shown = np.arange(0, d, _EACH)
    ranks = X.argsort(axis=0).argsort(axis=0) / (len(X) - 1)
    # Twice the share on average times a rank of mean one half.
    likely = 2.0 * share * d / (d - len(shown)) * ranks[:, shown[np.minimum(np.arange(d) // _EACH, len(shown) - 1)]]
    likely[:, shown] = 0.0
    return np.where(rng.uniform(size=X.shape) < likely, np.nan, X)


def distances(B: np.ndarray, X: np.ndarray, method: str) -> tuple[int, int] | None:
    """Return the SHD, and the distance between equivalence classes on standardised columns."""
    try:
        raw = ICID(missing=method).fit(X)
        scaled = ICID(missing=method, noise="unequal").fit(X / np.nanstd(X, axis=0))
    except ValueError:
        return None
    return metrics.count_accuracy(B, raw.adjacency_matrix_)["shd"], metrics.class_distance(B, scaled.adjacency_matrix_)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 100])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for d in options.sizes:
        for n in (10 * d, 1000) if d != 100 else (1000,):
            for kind in ("completely", "at random"):
                for share in (0.05, 0.2, 0.4):
                    sums = {method: np.zeros(2) for method in METHODS}
                    failed = dict.fromkeys(METHODS, 0)
                    for seed in range(options.first, options.first + options.seeds):
                        B = datasets.random_dag(d, 1, random_state=seed)
                        X = datasets.sample_sem(B, n, random_state=seed)
                        holes = with_holes(X, share, kind, np.random.default_rng(seed))
                        for method in METHODS:
                            found = distances(B, holes, method)
                            failed[method] += found is None
                            sums[method] += (0, 0) if found is None else found
                    shown = [
                        f"{method} {shd / count:.1f} {cls / count:.1f}"
                        if (count := options.seeds - failed[method])
                        else f"{method} –"
                        for method, (shd, cls) in sums.items()
                    ]
                    print(f"d = {d}, n = {n}, {share:.0%} {kind}: {'; '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()

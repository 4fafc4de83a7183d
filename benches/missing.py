"""Graphs from tables with holes: rows dropped, or pairs of columns with the rows they have in common.

    python benches/missing.py [--seeds 5]

ER1, d = 50, n = 1000, Gaussian; every entry is missing with the same probability. Distances are SHD with equal noise
variances, and between equivalence classes on standardised columns with unequal ones; beside them the distance that as
many complete rows give as the pairs of columns have in common at least.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from icid_rs import ICID, metrics
from search import simulate


def distance(B, model: ICID, equal: bool) -> int:
    if equal:
        return metrics.count_accuracy(B, model.adjacency_matrix_)["shd"]
    return metrics.class_distance(B, model.cpdag_)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    for equal in (True, False):
        for share in (0.001, 0.005, 0.01, 0.02, 0.05, 0.1):
            dropped, pairwise, complete, shrinkage, left = [], [], [], [], []
            for seed in range(options.seeds):
                B, X = simulate(50, 1, 1000, seed, equal=equal)
                holes = np.where(np.random.default_rng(seed).uniform(size=X.shape) < share, np.nan, X)
                left.append(int((~np.isnan(holes).any(axis=1)).sum()))
                if left[-1] >= 53:
                    dropped.append(distance(B, ICID(missing="drop").fit(holes), equal))
                model = ICID(missing="pairwise").fit(holes)
                pairwise.append(distance(B, model, equal))
                shrinkage.append(model.info_["missing"]["shrinkage"])
                complete.append(distance(B, ICID().fit(X[: model.info_["missing"]["samples"]]), equal))
            print(
                f"{'equal' if equal else 'unequal':8} {share:6.1%} missing: pairwise {pairwise} (shrunk by "
                f"{max(shrinkage):.2%} at most), dropped {dropped} ({min(left)} rows left at least), "
                f"complete {complete}",
                flush=True,
            )


if __name__ == "__main__":
    main()

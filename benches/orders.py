"""Graphs from data with equal noise variances: SHD of the default fit, columns permuted.

python benches/orders.py [--seeds 5] [--large]
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from icid_rs import ICID, datasets, metrics

#: Variables, edges per variable, samples per variable.
CELLS = [(d, degree, 10) for degree in (1, 2) for d in (100, 200, 400, 800)] + [(200, 1, 3), (200, 2, 3)]
LARGE = [(2000, 1, 10)]


def shd(d: int, degree: int, n: int, seed: int) -> tuple[int, float, str]:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, random_state=rng)
    order = rng.permutation(d)
    start = time.perf_counter()
    model = ICID(refine="order").fit(X[:, order])
    seconds = time.perf_counter() - start
    distance = metrics.count_accuracy(B[order][:, order], model.adjacency_matrix_)["shd"]
    return distance, seconds, model.info_["refinement"]["order"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="also d = 2000")
    options = parser.parse_args()
    print(f"Gaussian, equal variances, {options.seeds} seeds, {os.cpu_count()} cores")
    for d, degree, rows in CELLS + LARGE * options.large:
        runs = [shd(d, degree, rows * d, seed) for seed in range(options.seeds)]
        distances = [run[0] for run in runs]
        print(
            f"ER{degree}  d = {d:5}  n = {rows * d:6}  median SHD {np.median(distances):4.1f}  of {distances}  "
            f"{np.median([run[1] for run in runs]):6.2f} s  orders from {sorted({run[2] for run in runs})}",
            flush=True,
        )


if __name__ == "__main__":
    main()

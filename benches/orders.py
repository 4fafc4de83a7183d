"""Graphs from data with equal noise variances: SHD of the default fit and of elimination alone, columns permuted.

python benches/orders.py [--seeds 5] [--large]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import numpy as np

from icid_rs import ICID, datasets, metrics

#: Variables, edges per variable, samples per variable.
CELLS = [(d, degree, 10) for degree in (1, 2) for d in (100, 200, 400, 800)]
CELLS += [(200, 1, 3), (200, 2, 3), (50, 1, 2), (100, 1, 2), (200, 1, 2)]
LARGE = [(2000, 1, 10)]
WAYS = {"default": "auto", "elimination": "order"}


def shd(d: int, degree: int, n: int, seed: int) -> dict[str, tuple[int, float]]:
    """The distance from the true graph, and seconds, of each way."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, random_state=rng)
    order = rng.permutation(d)
    found = {}
    for name, refine in WAYS.items():
        start = time.perf_counter()
        model = ICID(refine=refine).fit(X[:, order])
        seconds = time.perf_counter() - start
        found[name] = metrics.count_accuracy(B[order][:, order], model.adjacency_matrix_)["shd"], seconds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="also d = 2000")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Gaussian, equal variances, {options.seeds} seeds, {os.cpu_count()} cores")
    for d, degree, times in CELLS + (LARGE if options.large else []):
        runs = [shd(d, degree, times * d, seed) for seed in range(options.seeds)]
        line = f"ER{degree}  d = {d:5}  n = {times * d:6}"
        for name in WAYS:
            distances, seconds = zip(*(run[name] for run in runs), strict=True)
            line += f"  {name} {np.median(distances):4.1f} of {list(distances)} {np.median(seconds):6.2f} s"
        print(line, flush=True)


if __name__ == "__main__":
    main()

"""Dense graphs: the classes of the default fit and of FLOP, in turns on the same tables.

    python benches/dense.py [--seeds 30] [--only TEXT]

Gaussian, weights ±[0.5, 2], noise variances uniform on [0.5, 2], columns standardised and permuted. FLOP (`flopsearch`)
has 20 restarts and penalty 2.0. Both have one thread; times are those of the processor. Printed, as rows of a table:
the share of classes exactly right, the mean class distance, mean seconds, and the class distances seed by seed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from flopsearch import flop
from threadpoolctl import threadpool_limits

from icid_rs import ICID, datasets, equivalence_class
from icid_rs.metrics import class_distance

#: Kind, variables, mean degree over two, samples.
CELLS = {
    "d = 50, degree 8": ("ER", 50, 4, 1000),
    "d = 50, degree 16": ("ER", 50, 8, 1000),
    "d = 100, degree 10": ("ER", 100, 5, 2000),
    "SF4, d = 100": ("SF", 100, 4, 2000),
    "d = 200, degree 8": ("ER", 200, 4, 4000),
}


def simulate(kind: str, d: int, degree: int, n: int, seed: int) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, kind, random_state=rng)
    X = datasets.sample_sem(B, n, noise="gaussian", noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    columns = rng.permutation(d)
    X = X[:, columns]
    return equivalence_class(B[columns][:, columns]), np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))


def search(X: np.ndarray, penalty: Any) -> Any:
    """Return the class of the graph that is found, without resamples and without a measurement layer."""
    alone = {"stability": None, "hidden": None, "measurement_error": None}
    return equivalence_class(ICID(n_threads=1, penalty=penalty, **alone).fit(X).adjacency_matrix_)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    ways: dict[str, Callable[[np.ndarray], Any]] = {
        "icid_rs": lambda X: search(X, penalty="auto"),
        "icid_rs, penalty=2": lambda X: search(X, penalty=2.0),
        "FLOP": lambda X: np.asarray(flop(X, 2.0, restarts=20)),
    }
    print("| table | | exactly right | mean distance | seconds | distances |\n|---|---|---|---|---|---|")
    for cell, (kind, d, degree, n) in CELLS.items():
        if options.only not in cell:
            continue
        distances: dict[str, list[int]] = {way: [] for way in ways}
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for seed in range(options.seeds):
            truth, X = simulate(kind, d, degree, n, seed)
            for way, find in ways.items():
                begin = time.process_time()
                found = find(X)
                seconds[way].append(time.process_time() - begin)
                distances[way].append(class_distance(truth, found))
        for way, values in distances.items():
            right, mean = np.mean([value == 0 for value in values]), np.mean(values)
            listed = " ".join(map(str, values))
            print(f"| {cell} | {way} | {right:.2f} | {mean:.2f} | {np.mean(seconds[way]):.2f} | {listed} |", flush=True)


if __name__ == "__main__":
    main()

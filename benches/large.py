"""Many columns, from data to graph: time and memory against their number.

python -m benches.large dense                        # d = 1000, 2000, 4000 and exponents
python -m benches.large dense --columns 10000 --rows 20000
python -m benches.large dense --columns 500 --rows 10000 40000 160000      # and against the number of rows
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from itertools import product

import numpy as np
from scipy.linalg import lapack

from icid_rs import ICID, datasets, metrics
from icid_rs.precision.covariance import empirical_covariance

#: Matrices of d × d, and the table, whose memory is asked for before anything is timed.
MATRICES = 5
#: Rows that are sampled at a time, so that the table is all that sampling takes.
BLOCK = 2_000


def table(d: int, n: int) -> tuple[object, np.ndarray]:
    """An Erdős–Rényi graph with one edge for each column, its columns permuted, and rows with equal noise variances."""
    B = datasets.random_dag(d, 1, random_state=0)
    X = np.empty((n, d))
    for part, start in enumerate(range(0, n, BLOCK)):
        rows = X[start : start + BLOCK]
        rows[:] = datasets.sample_sem(B, len(rows), random_state=part)
    return B, X


def peak() -> int:
    """Return the most bytes that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def warm(d: int, n: int) -> None:
    """Touch as much memory as a fit takes.

    A virtual machine gets memory from its host when it first touches it, which can take seconds for a gigabyte. Whoever
    comes first, the fit, would pay for it.
    """
    np.ones((MATRICES * d + n, d))


def one(d: int, n: int) -> None:
    """Fit one table, and print a line."""
    B, X = table(d, n)
    before = peak()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    model = ICID().fit(X)
    taken = time.perf_counter() - start
    copies = (peak() - before) / (8 * d * d)
    accuracy = metrics.count_accuracy(B, model.adjacency_matrix_)
    stages = {stage: round(seconds, 2) for stage, seconds in model.info_["timings"].items()}
    del model
    start = time.perf_counter()
    covariance, _ = empirical_covariance(X)
    lapack.dpotrf(covariance.T, lower=1, overwrite_a=1)
    floor = time.perf_counter() - start
    print(f"{d} {n} {taken:.3f} {floor:.3f} {copies:.2f} {accuracy['shd'] / B.nnz:.4f} {stages}", flush=True)


def dense(columns: list[int], rows: list[int] | None) -> None:
    print(f"ER1, equal noise variances, ICID(), {os.cpu_count()} cores; memory beside that of X, in d x d float64")
    print(f"{'d':>6} {'n':>6} {'fit':>8} {'floor':>8} {'ratio':>6} {'memory':>7} {'SHD/edges':>9}  stages in seconds")
    found = []
    for d, n in [(d, 2 * d) for d in columns] if rows is None else product(columns, rows):
        # In processes of their own, so that memory tells what the fit took.
        for section in ("warm", "one"):
            command = [sys.executable, "-m", "benches.large", section, "--columns", str(d), "--rows", str(n)]
            line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(" ", 6)
        fit, floor, memory, error = map(float, line[2:6])
        found.append((d if len(columns) > 1 else n, fit))
        print(f"{d:6} {n:6} {fit:7.2f}s {floor:7.2f}s {fit / floor:6.2f} {memory:7.2f} {error:9.4f}  {line[6]}", end="")
    if len(found) > 1:
        logs = np.log(found)
        print(f"time grows as {'d' if len(columns) > 1 else 'n'}^{np.polyfit(logs[:, 0], logs[:, 1], 1)[0]:.2f}")
    print("floor: covariance and Cholesky of the same table, in the same process")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", choices=["dense", "warm", "one"])
    parser.add_argument("--columns", type=int, nargs="+", default=[1_000, 2_000, 4_000])
    parser.add_argument("--rows", type=int, nargs="+", help="twice the columns by default")
    options = parser.parse_args()
    if options.section == "dense":
        dense(options.columns, options.rows)
    else:
        {"warm": warm, "one": one}[options.section](options.columns[0], options.rows[0])


if __name__ == "__main__":
    main()

"""Speed of the core, as ratios measured in one run.

python -m benches.speed
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from icid_rs import _core, datasets, decompose
from icid_rs._util.validation import csr_parts

# The same method in plain NumPy, to compare with.
from tests.helpers import reference


def model(d: int, seed: int = 1) -> sp.csr_array:
    return datasets.sem_precision(datasets.random_dag(d, 1, random_state=seed))


def point(theta: sp.csr_array) -> sp.csr_array:
    """A matrix on the support of Θ."""
    B = theta.copy()
    B.data = np.random.default_rng(0).uniform(-1, 1, B.nnz)
    B.setdiag(0.0)
    return B


def evaluation(theta: sp.csr_array, threads: int, repeat: int) -> float:
    """Median seconds of an evaluation of value and gradient."""
    B = csr_parts(point(theta))
    return float(np.median(_core.evaluate({"theta": csr_parts(theta)}, B, B, repeat=repeat, n_threads=threads).seconds))


def dense_evaluation(theta: sp.csr_array, repeat: int) -> float:
    dense, B = theta.toarray(), point(theta).toarray()
    zero = np.zeros_like(dense)
    F = reference.AugmentedLagrangian(dense, np.ones(len(dense)), zero, zero, 1.0)
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        F.value_and_gradient(B)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def against_numpy() -> None:
    theta = model(2_000)
    ours, numpy = evaluation(theta, 1, 500), dense_evaluation(theta, 5)
    print(f"d = 2 000, ER1: dense NumPy {numpy * 1e3:.0f} ms, ours on one thread {ours * 1e3:.2f} ms")
    print(f"  ratio {numpy / ours:.0f}")


def scaling() -> None:
    small, large = model(10_000), model(100_000)
    # Turn by turn, so that a busy neighbour hits all alike.
    runs = [[evaluation(theta, n, 40) for theta in (small, large) for n in (1, 2)] for _ in range(7)]
    small1, small2, large1, large2 = np.median(runs, axis=0)
    print("evaluation, ER1, milliseconds on one and two threads")
    print(f"  d =  10 000: {small1 * 1e3:6.2f} {small2 * 1e3:6.2f}")
    print(f"  d = 100 000: {large1 * 1e3:6.2f} {large2 * 1e3:6.2f}")
    print(f"  ten times the variables cost {large1 / small1:.1f} times (one thread), {large2 / small2:.1f} (two)")
    print(f"  two threads are {large1 / large2:.2f} times as fast at d = 100 000")


def schedules() -> None:
    print("iterations to Δ ≤ 1e-4 in the first round, ER1 d = 2 000")
    ratios = []
    for seed in range(5):
        theta = model(2_000, seed)
        restart, paper = (
            decompose(theta, max_alm_iter=1, max_fista_iter=20_000, schedule=schedule).info["iterations"]
            for schedule in ("restart", "paper")
        )
        ratios.append(restart / paper)
        print(f"  seed {seed}: restart {restart}, paper {paper}, ratio {ratios[-1]:.2f}")
    print(f"  median ratio {np.median(ratios):.2f}")


def memory() -> None:
    """Peak memory of a whole process, interpreter and libraries included."""
    command = [sys.executable, "-m", "benches.speed", "--memory"]
    peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    print(
        f"d = 100 000, ER1, a decomposition of three rounds of 50 iterations: peak memory {int(peak) / 2**10:.0f} MiB"
    )


def main() -> None:
    if "--memory" in sys.argv:
        warnings.simplefilter("ignore", ConvergenceWarning)
        decompose(model(100_000), max_fista_iter=50)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}")
    against_numpy()
    scaling()
    schedules()
    memory()


if __name__ == "__main__":
    main()

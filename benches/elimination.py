"""What elimination costs: up to a million variables, and as a part of a fit.

Sparse: time against that of SciPy for forming Θ = (I − B)(I − B)ᵀ, and how it grows. Dense: a fit with refine="order"
against `X.T @ X` and `numpy.linalg.inv` in the same process, and its peak memory beyond X in matrices of d × d doubles.

    python benches/elimination.py [--repeat 5] [--memory]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import threading
import time

import numpy as np
import scipy.sparse as sp

from icid_rs import ICID, datasets, eliminate, metrics


def seconds(work) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def sparse(repeat: int) -> None:
    print(
        "oracle Θ, ER1: seconds to form it, to eliminate it, ratio, microseconds a variable, largest error, edges off"
    )
    per_variable = {}
    for d in (10_000, 100_000, 1_000_000):
        B = datasets.random_dag(d, 1, random_state=0)
        A = sp.csr_array(sp.eye_array(d) - B)
        forming, eliminating = [], []
        for _ in range(repeat if d > 10_000 else 10 * repeat):
            took, theta = seconds(lambda A=A: A @ A.T)
            forming.append(took)
            took, result = seconds(lambda theta=theta: eliminate(theta))
            eliminating.append(took)
        form, spent = np.median(forming), np.median(eliminating)
        per_variable[d] = 1e6 * spent / d
        error, off = abs(result.B - B).max(), metrics.count_accuracy(B, result.B)["shd"]
        print(
            f"  d = {d:8}  {form:.4f}  {spent:.4f}  {spent / form:.1f}  {per_variable[d]:.2f}  {error:.0e}  {off}",
            flush=True,
        )
    print(f"a variable of 10⁶ against one of 10⁴: {per_variable[1_000_000] / per_variable[10_000]:.2f} times the time")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


class PeakMemory:
    """Largest resident memory while the body runs, sampled, beyond what there was before."""

    def __enter__(self) -> PeakMemory:
        self.before = self.peak = self._resident()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @staticmethod
    def _resident() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self.peak = max(self.peak, self._resident())


def table(d: int, n: int):
    B = datasets.random_dag(d, 1, random_state=0)
    X = datasets.sample_sem(B, n, random_state=0)
    P = np.random.default_rng(0).permutation(d)
    return B[P][:, P], np.ascontiguousarray(X[:, P])


def fit(repeat: int, d: int = 2_000, n: int = 20_000) -> None:
    B, X = table(d, n)
    model = ICID(refine="order")
    floors, fits = [], []
    for _ in range(repeat):
        floors.append(seconds(lambda: np.linalg.inv(X.T @ X))[0])
        fits.append(seconds(lambda: model.fit(X))[0])
    floor, spent = np.median(floors), np.median(fits)
    print(f"fit, ER1, d = {d}, n = {n}, medians of {repeat}: X.T @ X and inverse {floor:.2f} s, fit {spent:.2f} s")
    print(
        f"ratio {spent / floor:.2f}; SHD {metrics.count_accuracy(B, model.adjacency_matrix_)['shd']}; seconds:", end=" "
    )
    print(", ".join(f"{stage} {took:.2f}" for stage, took in model.info_["timings"].items()), flush=True)


def memory(d: int = 2_000, n: int = 20_000) -> None:
    _, X = table(d, n)
    # Threads and libraries are not what is measured.
    ICID(refine="order").fit(X[:500, :100])
    with PeakMemory() as memory:
        ICID(refine="order").fit(X)
    matrices = (memory.peak - memory.before) / (8 * d * d)
    print(f"peak memory of the fit beyond X: {matrices:.1f} matrices of d × d doubles")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="only the memory of a fit")
    options = parser.parse_args()
    if options.memory:
        memory()
        return
    print(f"{os.cpu_count()} cores")
    sparse(options.repeat)
    fit(options.repeat)
    # In a process of its own, where nothing has been allocated and kept.
    subprocess.run([sys.executable, __file__, "--memory"], check=True)


if __name__ == "__main__":
    main()

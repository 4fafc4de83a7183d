"""Two versions of the package, timed in turns on the workloads of the other benches of speed.

    python benches/turns.py OLD_PYTHON NEW_PYTHON [--repeat 9] [--only TEXT]

Each interpreter works in a process of its own that stays alive; the two take turns, so that load and frequency of the
machine affect both alike. Printed for each workload: median and quartiles of the paired ratios new / old. Only public
names are used, so any version since 0.1.0 can take part.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def table(d: int, degree: int, n: int, *, standardised: bool) -> np.ndarray:
    """Rows of a model with permuted columns: equal noise variances, or unequal ones and standardised columns."""
    from icid_rs import datasets

    rng = np.random.default_rng(0)
    B = datasets.random_dag(d, degree, random_state=0)
    variances = rng.uniform(0.5, 2.0, d) if standardised else np.ones(d)
    X = datasets.sample_sem(B, n, noise_variances=variances, random_state=0)[:, rng.permutation(d)]
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0) if standardised else X)


def theta(d: int, degree: int) -> Any:
    """The inverse covariance of a model."""
    from icid_rs import datasets

    return datasets.sem_precision(datasets.random_dag(d, degree, random_state=1))


def fit(X: np.ndarray, **settings: Any) -> None:
    from icid_rs import ICID

    ICID(**settings).fit(X)


def fits(X: np.ndarray, repeat: int) -> None:
    for _ in range(repeat):
        fit(X)


def decompose(matrix: Any, **settings: Any) -> None:
    import icid_rs

    icid_rs.decompose(matrix, **settings)


def eliminate(matrix: Any) -> None:
    import icid_rs

    icid_rs.eliminate(matrix)


def workloads() -> dict[str, Callable[[], Callable[[], None]]]:
    """Return for each name a function that prepares the data and returns what is timed."""
    rounds = {"max_alm_iter": 1, "max_fista_iter": 200}
    return {
        "speed.py: decompose, ER1 d = 2 000": lambda: partial(decompose, theta(2_000, 1), **rounds),
        "speed.py: decompose, ER1 d = 50 000": lambda: partial(decompose, theta(50_000, 1), **rounds),
        "elimination.py: sparse, ER1 d = 100 000": lambda: partial(eliminate, theta(100_000, 1)),
        "elimination.py: dense, d = 1 500": lambda: partial(eliminate, np.linalg.inv(theta(1_500, 2).toarray())),
        "elimination.py: fit refine='order', d = 1 000 n = 10 000": lambda: partial(
            fit, table(1_000, 1, 10_000, standardised=False), refine="order"
        ),
        "search.py cost: raw, ER2 d = 1 000 n = 10 000": lambda: partial(
            fit, table(1_000, 2, 10_000, standardised=False)
        ),
        "search.py cost: standardised, ER2 d = 1 000 n = 10 000": lambda: partial(
            fit, table(1_000, 2, 10_000, standardised=True)
        ),
        "stages.py: refine=None, ER1 d = 1 000 n = 10 000": lambda: partial(
            fit, table(1_000, 1, 10_000, standardised=False), precision="fdr", refine=None
        ),
        "fit, d = 8 n = 200, raw, 50 times": lambda: partial(fits, table(8, 1, 200, standardised=False), 50),
        "fit, d = 8 n = 200, standardised, 50 times": lambda: partial(fits, table(8, 1, 200, standardised=True), 50),
        "fit, d = 100 n = 150, few rows": lambda: partial(fit, table(100, 1, 150, standardised=False)),
    }


def work() -> None:
    """Serve one interpreter: read the name of a workload, run it once, print the seconds."""
    warnings.simplefilter("ignore")
    name, run = "", None
    for line in sys.stdin:
        if line.strip() != name:
            name = line.strip()
            run = workloads()[name]()
            run()  # Warms up libraries, memory and threads.
        begin = time.perf_counter()
        run()
        print(time.perf_counter() - begin, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD_PYTHON")
    parser.add_argument("new", metavar="NEW_PYTHON")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--only", default="", metavar="TEXT", help="workloads whose names contain this")
    options = parser.parse_args()
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    processes = [subprocess.Popen([python, __file__, "--work"], **pipes) for python in (options.old, options.new)]
    print(f"ratios new / old, medians of {options.repeat} pairs, quartiles, and median seconds of the old version")
    for name in workloads():
        if options.only not in name:
            continue
        times = []
        for _ in range(options.repeat):
            pair = []
            for process in processes:
                process.stdin.write(name + "\n")
                pair.append(float(process.stdout.readline()))
            times.append(pair)
        old, new = np.array(times).T
        low, middle, high = np.quantile(new / old, [0.25, 0.5, 0.75])
        print(f"  {middle:.3f}  [{low:.3f}, {high:.3f}]  {np.median(old):8.4f} s  {name}", flush=True)
    for process in processes:
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        main()

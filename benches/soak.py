"""Half an hour on a bad day: fits from threads and processes, with interrupts, each compared with a stored answer.

``python -m benches.soak --minutes 30`` runs 4 threads here and 2 processes with interrupts thrown in, prints what was
done and a verdict, and ends with 1 if an answer was wrong, memory grew by more than 5 %, or a process died.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from icid_rs import ICID, Moments, datasets, decompose, eliminate

THREADS, PROCESSES = 4, 2
#: Memory that may be gained after the first part of the run, in which caches fill.
GROWTH, WARM_UP = 0.05, 0.2


def jobs() -> dict[str, Callable[[], np.ndarray]]:
    """Return pieces of work by name, each of some milliseconds to a second, with an array as its answer."""
    found: dict[str, Callable[[], np.ndarray]] = {}
    for d, n, noise in ((5, 200, "gaussian"), (10, 500, "exponential"), (30, 1000, "gaussian")):
        B = datasets.random_dag(d, 1, random_state=d)
        X = datasets.sample_sem(B, n, noise=noise, random_state=d)
        theta = datasets.sem_precision(B)
        found |= {
            f"fit, d = {d}": lambda X=X: ICID(trials=50).fit(X).adjacency_matrix_.toarray(),
            f"unequal noise, d = {d}": lambda X=X: ICID(noise="unequal", trials=50).fit(X).adjacency_matrix_.toarray(),
            f"the paper, d = {d}": lambda X=X: paper().fit(X).adjacency_matrix_.toarray(),
            f"moments, d = {d}": lambda X=X: (Moments().update(X[:99]) + Moments().update(X[99:])).covariance,
            f"decompose, d = {d}": lambda theta=theta: decompose(theta).B.toarray(),
            f"eliminate, d = {d}": lambda theta=theta: eliminate(theta).B.toarray(),
        }
    large = datasets.sem_precision(datasets.random_dag(3000, 1, random_state=0))
    found["decompose, d = 3000"] = lambda: decompose(large, max_alm_iter=1).B.data
    return found


def paper() -> ICID:
    return ICID(
        precision="empirical", l1_weight=0.1, skewness=0, noise="equal", refine=None, dag="exptrace", schedule="paper"
    )


def work(answers: dict[str, np.ndarray], end: float, seed: int, done: Counter[str], wrong: list[str]) -> None:
    """Do pieces of work in random order until the end, and compare; an interrupt ends only the piece it meets."""
    pieces = jobs()
    order = random.Random(seed)
    while time.monotonic() < end:
        name = order.choice(sorted(pieces))
        try:
            answer = pieces[name]()
        except KeyboardInterrupt:
            done["interrupted"] += 1
            continue
        if not np.array_equal(answer, answers[name]):
            wrong.append(name)
        done["done"] += 1


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def child(answers: dict[str, np.ndarray], seconds: float, seed: int, report: Any) -> None:
    """Work in a process of its own, where interrupts arrive."""
    warnings.simplefilter("ignore")
    # A shell that starts a job in the background turns interrupts off.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done: Counter[str] = Counter()
    wrong: list[str] = []
    memory: list[int] = []
    start = time.monotonic()
    while True:
        # An interrupt between two pieces of work is one more.
        try:
            if not memory:
                work(answers, start + WARM_UP * seconds, seed, done, wrong)
                memory.append(resident())
            work(answers, start + seconds, seed + 1, done, wrong)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            memory.append(resident())
            break
        except KeyboardInterrupt:
            done["interrupted"] += 1
    report.put((os.getpid(), dict(done), wrong, memory[-1] / memory[0] - 1))


def interrupt(processes: list[Any], stop: threading.Event) -> None:
    """Send interrupts to the processes, a few a second, until told to stop."""
    dice = random.Random(0)
    while not stop.wait(dice.uniform(0.05, 0.8)):
        process = dice.choice(processes)
        if process.is_alive():
            os.kill(process.pid, signal.SIGINT)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    answers = {name: piece() for name, piece in jobs().items()}
    seconds = 60 * options.minutes
    context = multiprocessing.get_context("spawn")
    report = context.SimpleQueue()
    processes = [
        context.Process(target=child, args=(answers, seconds, options.seed + 10 * k, report)) for k in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    # They need some time to get as far as handling interrupts.
    time.sleep(10)
    stop = threading.Event()
    thrower = threading.Thread(target=interrupt, args=(processes, stop))
    done: Counter[str] = Counter()
    wrong: list[str] = []
    end = time.monotonic() + seconds
    threads = [
        threading.Thread(target=work, args=(answers, end, options.seed + 100 * k, done, wrong)) for k in range(THREADS)
    ]
    for thread in [thrower, *threads]:
        thread.start()
    time.sleep(WARM_UP * seconds)
    before = resident()
    for thread in threads:
        thread.join()
    growth = {"threads": resident() / before - 1}
    stop.set()
    thrower.join()
    for process in processes:
        process.join(timeout=120)
    dead = sum(process.exitcode != 0 for process in processes)
    counts = {"threads": dict(done)}
    while not report.empty():
        pid, finished, mistakes, grown = report.get()
        counts[f"process {pid}"], growth[f"process {pid}"] = finished, grown
        wrong += mistakes
    for name, count in counts.items():
        print(f"{name}: {count}, memory {growth[name]:+.1%}")
    met = sum(count.get("interrupted", 0) > 0 for count in counts.values()) == PROCESSES
    complete = len(counts) == 1 + PROCESSES and met
    held = complete and not wrong and not dead and all(g <= GROWTH for g in growth.values())
    print(
        f"{len(wrong)} wrong answers {sorted(set(wrong))}, {dead} dead processes: {'it held' if held else 'IT BROKE'}"
    )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())

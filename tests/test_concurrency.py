"""Threads, signals, callbacks and forks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import decompose
from problems import random_theta

#: A solve of several seconds, for tests that end it early.
LONG = {"max_alm_iter": 50, "fista_tol": 1e-12, "max_fista_iter": 10**6}


def test_same_bits_for_any_number_of_threads():
    theta = random_theta(6_000, 1, 1)
    results = [decompose(theta, max_alm_iter=2, n_threads=n) for n in (1, 2, 4)]
    for other in results[1:]:
        assert np.array_equal(other.B.indices, results[0].B.indices)
        assert np.array_equal(other.B.data, results[0].B.data)
        assert other.residual == results[0].residual


@pytest.mark.parametrize(("d", "degree"), [(20_000, 1), (1_500, 60)], ids=["sparse", "dense"])
def test_ctrl_c_is_answered_at_once(d, degree):
    theta = random_theta(d, degree, 1)
    sent = []

    def interrupt() -> None:
        time.sleep(1.0)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        decompose(theta, **LONG)
    elapsed = time.monotonic() - sent[0]
    thread.join()
    assert elapsed < 0.3
    assert decompose(np.eye(3)).status == "converged"


def test_other_threads_run_during_a_solve():
    theta = random_theta(20_000, 1, 1)
    done = threading.Event()
    ticks = 0

    def solve() -> None:
        decompose(theta, max_alm_iter=1, n_threads=1)
        done.set()

    thread = threading.Thread(target=solve)
    thread.start()
    while not done.is_set():
        time.sleep(0.005)
        ticks += 1
    thread.join()
    assert ticks > 10


def test_solves_in_several_threads_agree():
    theta = random_theta(300, 2, 1)
    expected = decompose(theta)
    results = [None] * 4

    def solve(index: int) -> None:
        results[index] = decompose(theta)

    threads = [threading.Thread(target=solve, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result.B.data, expected.B.data) for result in results)


def _solve_in_child(theta, queue) -> None:
    queue.put(decompose(theta, n_threads=2).residual)


# The parent has threads when it forks, as any parent that solved before; this is what the test is about.
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_works_after_fork():
    theta = random_theta(3_000, 1, 1)
    expected = decompose(theta, n_threads=2).residual
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_solve_in_child, args=(theta, queue))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join()


def test_callback_sees_progress():
    seen = []
    result = decompose(random_theta(200, 2, 3), callback=seen.append)
    assert result.info["iterations"] >= len(seen) > 3
    assert set(seen[0]) == {"round", "iteration", "objective", "step", "optimality", "rho"}
    iterations = [progress["iteration"] for progress in seen]
    assert iterations == sorted(iterations)
    assert seen[-1]["objective"] < seen[0]["objective"]
    np.testing.assert_array_equal(result.B.toarray(), decompose(random_theta(200, 2, 3)).B.toarray())


def test_callback_can_stop():
    theta = random_theta(200, 2, 3)
    result = decompose(theta, callback=lambda progress: progress["iteration"] >= 30)
    assert result.status == "interrupted"
    assert result.info["iterations"] == 30
    assert result.B.nnz > 0
    assert np.isfinite(result.info["optimality"])
    A = np.eye(200) - result.B.toarray()
    assert result.residual == pytest.approx(np.linalg.norm(theta.toarray() - A @ A.T))


def test_callback_watches_and_stops_every_component():
    theta = sp.block_diag([random_theta(30, 2, seed) for seed in range(20)]).tocsr()
    seen = []
    decompose(theta, callback=seen.append)
    iterations = [progress["iteration"] for progress in seen]
    assert sorted(iterations) == list(range(10, 10 * len(seen) + 1, 10))
    result = decompose(theta, callback=lambda progress: progress["iteration"] >= iterations[-1] // 2)
    assert result.status == "interrupted"
    assert np.isfinite(result.residual)


def test_what_a_callback_raises_is_raised():
    def fail(progress: dict) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        decompose(random_theta(200, 2, 3), callback=fail)

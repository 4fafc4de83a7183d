"""Threads, signals, callbacks and forks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from icid_rs import ICID, _core, datasets, decompose
from icid_rs._util.validation import csr_parts
from tests.helpers import WATCHDOG
from tests.helpers.interrupts import assert_ends_a_call, call_while
from tests.helpers.needs import need
from tests.helpers.problems import random_theta

#: The settings that `decompose` passes to the core.
SETTINGS = {
    "l1_weight": 1.0,
    "max_alm_iter": 1,
    "max_fista_iter": 3000,
    "tol": 5e-3,
    "fista_tol": 1e-4,
    "schedule": "restart",
    "kernel": "auto",
}
#: Of a solve that does not end by itself.
ENDLESS = {"max_alm_iter": 10**6, "tol": 1e-300, "fista_tol": 1e-300, "max_fista_iter": 10**9}


def solver(**settings) -> partial:
    """The core's half of `decompose`, which runs no Python."""
    return partial(_core.decompose, settings=SETTINGS | settings, callback=None, n_threads=None)


def test_same_bits_for_any_number_of_threads():
    theta = random_theta(6_000, 1, 1)
    results = [decompose(theta, max_alm_iter=2, n_threads=n) for n in (1, 2, 4)]
    for other in results[1:]:
        assert np.array_equal(other.B.indices, results[0].B.indices)
        assert np.array_equal(other.B.data, results[0].B.data)
        assert other.residual == results[0].residual


@pytest.mark.parametrize(("d", "degree"), [(20_000, 1), (1_500, 60)], ids=["sparse", "dense"])
def test_ctrl_c_ends_a_solve(d, degree):
    problem = {"theta": csr_parts(random_theta(d, degree, 1))}
    assert_ends_a_call(signal.SIGINT, KeyboardInterrupt, solver(**ENDLESS), problem)
    assert decompose(np.eye(3)).status == "converged"


@pytest.mark.parametrize(
    ("function", "argument", "why"),
    [(sum, range(10**7), "after the call"), (partial(sorted, nonsense=1), [], "failed already")],
)
def test_a_signal_that_ends_no_call_is_noticed(function, argument, why):
    """A test of the tests: functions that hear no signals, or fail before it comes."""
    with pytest.raises(AssertionError, match=why):
        assert_ends_a_call(signal.SIGINT, KeyboardInterrupt, function, argument)


def test_other_threads_run_during_a_solve():
    problem, returned, seen = {"theta": csr_parts(random_theta(6_000, 1, 1))}, [], []
    call_while(solver(), problem, lambda: seen.append(len(returned)), returned)
    assert len(returned) == 1
    assert seen == [0]


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
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a platform that can fork")
def test_works_after_fork():
    theta = random_theta(3_000, 1, 1)
    expected = decompose(theta, n_threads=2).residual
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_solve_in_child, args=(theta, queue))
    child.start()
    assert queue.get(timeout=WATCHDOG) == expected
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


def test_a_callback_cannot_fit_its_own_model():
    X = datasets.sample_sem(datasets.random_dag(8, 1, random_state=0), 300, random_state=0)
    model = ICID()

    def refit(progress):
        model.fit(X)

    model.set_params(callback=refit)
    with pytest.raises(RuntimeError, match="its callback cannot fit it again"):
        model.fit(X)
    assert not hasattr(model, "graph_")
    seen = []
    model.set_params(callback=lambda progress: seen.append(clone(model).set_params(callback=None).fit(X).status_))
    model.fit(X)
    assert seen
    assert hasattr(model, "graph_")


def test_a_slow_callback_holds_nothing_up_but_its_own_solve():
    theta = random_theta(200, 2, 3)
    expected = decompose(theta)
    waiting, go_on, calls = threading.Event(), threading.Event(), []

    def wait(progress: dict) -> None:
        calls.append(progress)
        waiting.set()
        go_on.wait(WATCHDOG)

    slow = threading.Thread(target=lambda: decompose(theta, callback=wait))
    slow.start()
    assert waiting.wait(WATCHDOG)
    for _ in range(3):
        assert decompose(theta).residual == expected.residual
    assert len(calls) == 1
    go_on.set()
    slow.join()
    assert len(calls) > 1


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, SystemExit])
def test_the_next_call_works_after_any_error(error):
    theta = random_theta(200, 2, 3)
    expected = decompose(theta)

    def fail(progress: dict) -> None:
        raise error("in a callback")

    for _ in range(3):
        with pytest.raises(error):
            decompose(theta, callback=fail)
        np.testing.assert_array_equal(decompose(theta).B.data, expected.B.data)


def test_sigterm_ends_the_process():
    script = """
import threading
from icid_rs import datasets, decompose

def run():
    begun.set()
    decompose(theta, max_alm_iter=10**6, tol=1e-300, fista_tol=1e-300, max_fista_iter=10**9)

begun = threading.Event()
theta = datasets.sem_precision(datasets.random_dag(20_000, 1, random_state=1))
threading.Thread(target=lambda: begun.wait() and print("begun", flush=True)).start()
run()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"begun\n"
        child.terminate()
        assert child.wait(timeout=WATCHDOG) == -signal.SIGTERM


def test_a_handler_of_sigterm_may_raise():
    def leave(*_: object) -> None:
        raise SystemExit(3)

    problem = {"theta": csr_parts(random_theta(20_000, 1, 1))}
    previous = signal.signal(signal.SIGTERM, leave)
    try:
        assert_ends_a_call(signal.SIGTERM, SystemExit, solver(**ENDLESS), problem)
    finally:
        signal.signal(signal.SIGTERM, previous)
    assert decompose(np.eye(3)).status == "converged"


def _threads_used(theta) -> int:
    return decompose(theta, max_alm_iter=1, max_fista_iter=20).info["n_threads"]


@pytest.mark.filterwarnings("ignore:the last descent")
def test_the_environment_limits_threads(monkeypatch):
    theta = random_theta(6_000, 1, 1)
    for variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(variable, raising=False)
    everything = _threads_used(theta)
    for variable in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        for value, threads in (("1", 1), ("1,4", 1), ("1000", everything), ("", everything), ("no", everything)):
            monkeypatch.setenv(variable, value)
            assert _threads_used(theta) == threads, (variable, value)
        monkeypatch.delenv(variable)


def test_workers_of_joblib_share_the_cores():
    joblib = need("joblib")
    theta = random_theta(6_000, 1, 1)
    used = joblib.Parallel(n_jobs=2)(joblib.delayed(_threads_used)(theta) for _ in range(2))
    assert sum(used) <= max(joblib.cpu_count(), 2)


def test_fits_in_many_threads_agree():
    X = datasets.sample_sem(datasets.random_dag(8, 1, random_state=0), 300, random_state=0)
    expected = ICID().fit(X)
    results: list[ICID] = []
    threads = [threading.Thread(target=lambda: results.append(ICID().fit(X))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for model in results:
        np.testing.assert_array_equal(model.adjacency_matrix_.toarray(), expected.adjacency_matrix_.toarray())

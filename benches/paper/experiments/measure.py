"""How a method is judged: its graph against the true one, its time by the wall and by the processor."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from icid_rs import metrics


def timed(find: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What `find` finds, and the seconds it takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = find()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return found, {"wall": wall, "cpu": cpu}


def judge(true: Any, find: Callable[[], Any], keep: Callable[[Any], Any] = lambda found: found) -> dict[str, Any]:
    """Time `find`, then compare what `keep` leaves of its graph with the true one."""
    found, times = timed(find)
    return {**metrics.count_accuracy(true, keep(found)), **times}


def judge_by_cut(true: Any, found: Any, cuts: dict[str, Callable[[Any], Any]]) -> list[dict[str, Any]]:
    """Compare a graph with the true one once for each cut: what a method seems to be worth depends on it."""
    rows = []
    for name, keep in cuts.items():
        scores = metrics.count_accuracy(true, keep(found))
        rows.append({"cut": name, **{measure: scores[measure] for measure in ("shd", "tpr", "nnz")}})
    return rows


def above(cut: float, unit: Callable[[Any, Any], Any] | None = None) -> Callable[[Any], Any]:
    """Keep the weights larger than `cut`, in units that may depend on rows and columns."""

    def keep(found: Any) -> Any:
        kept = found.copy()
        size = np.abs(kept.data) * (1.0 if unit is None else unit(*kept.nonzero()))
        kept.data[size <= cut] = 0.0
        kept.eliminate_zeros()
        return kept

    return keep

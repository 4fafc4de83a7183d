"""How a method is judged: its graph against the true one, its time by the wall and by the processor."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from icid_rs import metrics


def judge(true: Any, find: Callable[[], Any], keep: Callable[[Any], Any] = lambda found: found) -> dict[str, Any]:
    """Time `find`, then compare what `keep` leaves of its graph with the true one."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = find()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {**metrics.count_accuracy(true, keep(found)), "wall": wall, "cpu": cpu}


def above(cut: float, unit: Callable[[Any, Any], Any] | None = None) -> Callable[[Any], Any]:
    """Keep the weights larger than `cut`, in units that may depend on rows and columns."""

    def keep(found: Any) -> Any:
        kept = found.copy()
        size = np.abs(kept.data) * (1.0 if unit is None else unit(*kept.nonzero()))
        kept.data[size <= cut] = 0.0
        kept.eliminate_zeros()
        return kept

    return keep

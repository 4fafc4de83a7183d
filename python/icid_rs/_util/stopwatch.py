"""Seconds spent in each stage of a computation."""

from __future__ import annotations

import time


class Stopwatch:
    """Wall-clock seconds by stage.

    Examples
    --------
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> watch = Stopwatch()
    >>> watch.lap("covariance")
    >>> list(watch.timings)
    ['covariance']
    """

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = time.perf_counter()
        self.timings[stage] = self.timings.get(stage, 0.0) + now - self._last
        self._last = now

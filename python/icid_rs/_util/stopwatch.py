"""Seconds spent in each stage of a computation."""

from __future__ import annotations

import time
from collections.abc import Mapping


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

    def add(self, timings: Mapping[str, float]) -> None:
        """Add seconds that were measured elsewhere since the last lap, and begin the next one.

        Examples
        --------
        >>> from icid_rs._util.stopwatch import Stopwatch
        >>> watch = Stopwatch()
        >>> watch.add({"support": 2.0})
        >>> watch.timings
        {'support': 2.0}
        """
        for stage, seconds in timings.items():
            self.timings[stage] = self.timings.get(stage, 0.0) + seconds
        self._last = time.perf_counter()

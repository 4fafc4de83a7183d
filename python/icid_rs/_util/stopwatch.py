"""Seconds spent in each stage of a computation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


class Stopwatch:
    """Wall-clock seconds by stage.

    Parameters
    ----------
    observer : callable, optional
        Called after each stage with its name and its seconds.

    Examples
    --------
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> watch = Stopwatch()
    >>> watch.lap("covariance")
    >>> list(watch.timings)
    ['covariance']
    """

    def __init__(self, observer: Callable[[str, float], object] | None = None) -> None:
        self._observer = observer
        self.timings: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = time.perf_counter()
        self._count(stage, now - self._last)
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
            self._count(stage, seconds)
        self._last = time.perf_counter()

    def _count(self, stage: str, seconds: float) -> None:
        self.timings[stage] = self.timings.get(stage, 0.0) + seconds
        if self._observer is not None:
            self._observer(stage, seconds)

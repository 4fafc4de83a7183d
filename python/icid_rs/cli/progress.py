"""Progress on a terminal; silence elsewhere, and where tqdm is not installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

#: Seconds between two looks at the clock.
_TICK = 0.25


@contextmanager
def bytes_read(total: int, quiet: bool) -> Iterator[Callable[[int], object]]:
    """Show how much of a file has been read; yield a function to be called with the bytes read so far."""
    bar = _bar(quiet, desc="reading", total=total, unit="B", unit_scale=True)
    if bar is None:
        yield lambda size: None
        return
    with bar:
        yield lambda size: bar.update(size - bar.n)


@contextmanager
def time_passing(what: str, limit: float | None, quiet: bool) -> Iterator[None]:
    """Show the seconds that something takes, of those it may take if these are limited."""
    layout = "{desc}: {elapsed}" if limit is None else "{desc}: {elapsed} of at most " + f"{limit:g} s"
    bar = _bar(quiet, desc=what, bar_format=layout)
    if bar is None:
        yield
        return
    done = Event()

    def tick() -> None:
        while not done.wait(_TICK):
            bar.refresh()

    clock = Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()
        bar.close()


def say(text: str, quiet: bool) -> None:
    """Print a line to standard error, if it is a terminal."""
    if not quiet and sys.stderr.isatty():
        print(text, file=sys.stderr)


def _bar(quiet: bool, **options: Any) -> Any:
    if quiet or not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(file=sys.stderr, leave=False, **options)

"""Signals and threads in the middle of a call of the core, ordered by events and not by a clock."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def call_while(function: Callable[[Any], Any], argument: Any, act: Callable[[], object], returned: list[Any]) -> None:
    """Call a function of the core, let another thread act once the call has begun, and keep what is returned.

    A list takes what a `map` yields before the interpreter runs another line, handles a signal or lets another thread
    have its turn. So an act that finds the list empty ran during the call, and an exception that leaves it empty was
    raised by the core and not after its return.
    """
    begun = threading.Event()

    def arguments() -> Iterator[Any]:
        begun.set()
        yield argument

    def wait_and_act() -> None:
        begun.wait()
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    try:
        returned.extend(map(function, arguments()))
    finally:
        thread.join()


def assert_ends_a_call(
    number: signal.Signals, error: type[BaseException], function: Callable[[Any], Any], argument: Any
) -> None:
    """Assert that a signal in the middle of a call of the core makes the core raise an exception."""
    returned: list[Any] = []
    with pytest.raises(error) as caught:
        call_while(function, argument, lambda: os.kill(os.getpid(), number), returned)
    assert returned == [], "the signal was handled after the call"
    assert caught.value.__context__ is None, "the call had failed already"

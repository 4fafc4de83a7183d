"""Methods that must not be called again while they run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, Concatenate, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

#: Objects and threads that such a method runs for, by their numbers.
_running: set[tuple[int, int]] = set()


def not_reentrant(
    method: Callable[Concatenate[Any, Arguments], Answer],
) -> Callable[Concatenate[Any, Arguments], Answer]:
    """Make a method raise RuntimeError if it calls itself on the same object, as in a callback.

    Examples
    --------
    >>> from icid_rs._util.reentry import not_reentrant
    >>> class Model:
    ...     @not_reentrant
    ...     def fit(self):
    ...         self.fit()
    >>> Model().fit()
    Traceback (most recent call last):
    RuntimeError: this Model is being fitted: its callback cannot fit it again; fit a copy, sklearn.base.clone(model)
    """

    @wraps(method)
    def guarded(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        mark = id(self), get_ident()
        if mark in _running:
            raise RuntimeError(
                f"this {type(self).__name__} is being fitted: its callback cannot fit it again; fit a copy, "
                "sklearn.base.clone(model)"
            )
        _running.add(mark)
        try:
            return method(self, *args, **kwargs)
        finally:
            _running.discard(mark)

    return guarded

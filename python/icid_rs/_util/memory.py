"""Errors for arrays that would not fit into memory, raised before they are allocated."""

from __future__ import annotations

from icid_rs._core import available_memory

#: Below so many bytes the free memory is not asked for.
_SMALL = 1 << 26


def ensure_room(required: int, what: str, remedy: str) -> None:
    """Raise MemoryError unless `required` bytes are free.

    Examples
    --------
    >>> from icid_rs._util.memory import ensure_room
    >>> ensure_room(10**6, "a small table", "use fewer rows")
    >>> ensure_room(10**18, "the moon", "take a smaller one")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    MemoryError: the moon needs 1000000000000000000 bytes, but only ... are available; take a smaller one
    """
    if required < _SMALL:
        return
    available = available_memory()
    if available is not None and required > available:
        raise MemoryError(f"{what} needs {required} bytes, but only {available} are available; {remedy}")


def ensure_square(d: int, what: str, *, copies: int = 1) -> None:
    """Raise MemoryError unless `copies` dense d × d matrices fit into memory.

    Examples
    --------
    >>> from icid_rs._util.memory import ensure_square
    >>> ensure_square(100, "the covariance")
    """
    ensure_room(8 * copies * d * d, f"{what} of {d} variables", "use fewer of them")

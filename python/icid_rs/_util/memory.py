"""Errors for arrays that would not fit into memory, raised before they are allocated."""

from __future__ import annotations

from pathlib import Path

from icid_rs._core import available_memory

try:
    import resource
except ImportError:  # pragma: no cover
    resource = None  # type: ignore[assignment]

#: Below so many bytes the free memory is not asked for.
_SMALL = 1 << 26
#: Address space that a fit takes: matrices of the size of a covariance, tables of the size of its own, and the rest.
_MATRICES, _TABLES, _REST = 24, 8, 1 << 24


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


def ensure_within_limit(rows: int, columns: int, *, squares: bool = True) -> None:
    """Raise MemoryError if this process has a limit that leaves too little address space for a fit (``ulimit -v``).

    Without room the core would end the process: in Rust, memory that cannot be had is no exception. `squares` tells
    whether the fit stores matrices of columns by columns.

    Examples
    --------
    >>> from icid_rs._util.memory import ensure_within_limit
    >>> ensure_within_limit(100, 10)
    """
    left = _left_by_limit()
    if left is None:
        return
    required = 8 * columns * (_MATRICES * columns * squares + _TABLES * rows) + _REST
    if required > left:
        raise MemoryError(
            f"a fit of {rows} rows and {columns} columns needs about {required} bytes, but only {left} are left of "
            "what this process may take (ulimit -v); use fewer columns, or raise the limit"
        )


def _left_by_limit() -> int | None:
    """Return the address space that a limit leaves to this process; None without a limit, or where it is not known."""
    if resource is None:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return max(0, limit - pages * resource.getpagesize())

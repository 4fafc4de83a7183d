"""Limits of what a compressed file may unpack to."""

from __future__ import annotations

#: A compressed file may grow by this factor, and to so many bytes in any case.
GROWTH, HARMLESS = 200, 1 << 26


def most_bytes(size: int) -> int:
    """Return how many bytes a compressed file of this size may unpack to.

    Examples
    --------
    >>> from icid_rs._util.bounds import most_bytes
    >>> most_bytes(1000) == 2**26, most_bytes(10**9) == 200 * 10**9
    (True, True)
    """
    return max(HARMLESS, GROWTH * size)

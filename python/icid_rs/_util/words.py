"""Numbers with their nouns, in messages."""

from __future__ import annotations


def count(number: int, what: str) -> str:
    """Return a number with its noun, in the plural unless it is one.

    Examples
    --------
    >>> from icid_rs._util.words import count
    >>> count(1, "edge"), count(2, "edge")
    ('1 edge', '2 edges')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def agree(number: int, one: str, several: str) -> str:
    """Return the verb that agrees with a number.

    Examples
    --------
    >>> from icid_rs._util.words import agree
    >>> agree(1, "has", "have"), agree(2, "has", "have")
    ('has', 'have')
    """
    return one if number == 1 else several

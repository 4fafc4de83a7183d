"""Rows, selected and summed up, and Markdown made of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, str]
Results = dict[str, list[Row]]

#: Where the paper prints no number, or a run has not come to one yet.
MISSING = "–"


def select(rows: Iterable[Row], **where: str) -> list[Row]:
    return [row for row in rows if all(row[key] == value for key, value in where.items())]


def column(rows: Iterable[Row], name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def distinct(rows: Iterable[Row], name: str) -> list[str]:
    """The values of a column, numbers in their order and words in that of the rows."""
    found = list(dict.fromkeys(row[name] for row in rows))
    try:
        return sorted(found, key=float)
    except ValueError:
        return found


def mean(rows: Iterable[Row], name: str) -> float:
    values = column(rows, name)
    return statistics.fmean(values) if values else math.nan


def median(rows: Iterable[Row], name: str) -> float:
    values = column(rows, name)
    return statistics.median(values) if values else math.nan


def deviation(rows: Iterable[Row], name: str) -> float:
    values = column(rows, name)
    return statistics.stdev(values) if len(values) > 1 else 0.0


def spread(average: float, deviation: float | None, digits: int = 1) -> str:
    return f"{average:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def between(values: Sequence[float], digits: int) -> str:
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} … {high}"


def times(rows: Sequence[Row]) -> str:
    """CPU seconds and, in brackets, wall seconds: medians, which the first call in a process does not spoil."""
    return f"{_seconds(median(rows, 'cpu'))} ({_seconds(median(rows, 'wall'))})"


def _seconds(value: float) -> str:
    """Two digits that count, and never an exponent."""
    if value >= 10:
        return f"{value:.0f}"
    for digits in (1, 2, 3):
        if value >= 10.0 ** (1 - digits):
            return f"{value:.{digits}f}"
    return f"{value:.4f}"


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    body = [[MISSING if str(field).startswith("nan") else str(field) for field in row] for row in rows]
    lines = [[*map(str, header)], ["---"] * len(header), *body]
    # A bar within a field, as in |B|, would end it.
    return "\n".join("| " + " | ".join(field.replace("|", "\\|") for field in line) + " |" for line in lines)


def folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def counted(rows: Iterable[Row], name: str) -> str:
    """How many seeds or permutations there are."""
    number = len(distinct(rows, name))
    return f"{number} {name}" + ("" if number == 1 else "s")


def listed(words: Sequence[str]) -> str:
    return "; ".join(words) if words else "none"

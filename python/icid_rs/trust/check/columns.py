"""Checks of single columns: few levels, codes for missing values, piled-up values, row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import Rows
from icid_rs._util.words import agree
from icid_rs.report import Assumption
from icid_rs.trust.check.table import FittedTable

#: Columns with at most so many levels are scales or categories; up to `_FEW`, or a fiftieth of the rows, shapes of
#: residuals say little.
_CATEGORIES, _FEW = 10, 20
#: Rows whose distinct values are counted.
_ROWS_OF_LEVELS = 20_000
#: Codes that stand for missing values.
_CODES = tuple(float(s * int(c * k)) for k in range(2, 7) for c in "98" for s in (1, -1))
#: A repeated extreme value is a code if it lies so many standard deviations off all others; a well-known one, so many.
_GAP, _GAP_OF_CODE = 5.0, 1.0
#: Zeros off all other values are codes in at most this share of the rows: more are an amount of their own.
_MOST_ZEROS = 0.25
#: Share of cells at one end of a column from which they are piled up, and times that it exceeds any other value.
_PILE, _PILE_RATIO = 0.02, 3.0


@dataclass(frozen=True)
class EndValue:
    """A value at one end of a column that occurs more than once.

    Attributes
    ----------
    column : int
    value : float
    count, rows : int
        Rows with this value, and all rows.
    gap : float
        Distance from the nearest other value, in standard deviations of the others.
    others : int
        Levels among the others.
    busiest : int
        Cells with the most frequent other value.
    positive : bool
        Whether all other values are positive.
    """

    column: int
    value: float
    count: int
    rows: int
    gap: float
    others: int
    busiest: float
    positive: bool

    @property
    def is_code(self) -> bool:
        """Whether the value looks like a code for missing values."""
        if self.others <= _CATEGORIES:
            # On a short scale a code lies beyond the scale's own width several times over.
            return self.value in _CODES and self.gap >= _GAP
        if self.value == 0:
            return self.positive and self.gap >= _GAP_OF_CODE and 5 <= self.count <= _MOST_ZEROS * self.rows
        return self.gap >= (_GAP_OF_CODE if self.value in _CODES else _GAP)

    @property
    def is_pile(self) -> bool:
        """Whether many cells of a column with many levels share this value."""
        return self.others > _FEW and self.count >= max(5, _PILE_RATIO * self.busiest)


def _levels(column: Rows) -> int:
    """Count the different values of a column that are not missing."""
    return len(np.unique(column[np.isfinite(column)]))


def _of_columns(count: int, columns: int) -> str:
    return f"{count} of {columns} columns {agree(count, 'has', 'have')}"


def end_values(table: FittedTable) -> Iterator[EndValue]:
    """Yield the extreme values of columns that occur more than once."""
    X = table.every
    for extreme in (np.nanmin(X, axis=0), np.nanmax(X, axis=0)):
        counts = np.count_nonzero(extreme == X, axis=0)
        for j in np.flatnonzero(counts > 1).tolist():
            value = float(extreme[j])
            others = X[(X[:, j] < value) | (X[:, j] > value), j]
            if not len(others):
                continue
            low, high, spread = float(others.min()), float(others.max()), float(others.std()) or 1.0
            some = others[:: -(-len(others) // _ROWS_OF_LEVELS)]
            levels, sizes = np.unique(some, return_counts=True)
            busiest = float(sizes.max()) * len(others) / len(some)
            gap = min(abs(low - value), abs(high - value)) / spread
            yield EndValue(j, value, int(counts[j]), len(X), gap, len(levels), busiest, low > 0)


def levels(table: FittedTable) -> tuple[Assumption, tuple[int, ...]]:
    """Check that columns are measurements; return those with few levels too."""
    few = np.flatnonzero(table.spread.levels <= _CATEGORIES)
    some = table.every[:: -(-len(table.every) // _ROWS_OF_LEVELS)]
    exact = {int(j): _levels(some[:, j]) for j in few}
    found = {j: k for j, k in sorted(exact.items(), key=lambda item: item[1]) if k <= _CATEGORIES}
    bound = max(_FEW, min(len(table.every), _ROWS_OF_LEVELS) / 50)
    close = np.flatnonzero(table.spread.levels <= bound).tolist()
    doubtful = [j for j in close if j not in found and _levels(some[:, j]) <= bound]
    name = "columns are measurements"
    if found:
        where = tuple(f"{table.name(j)} ({k} levels)" for j, k in found.items())
        effect = len(found) / table.d
        return (
            Assumption(
                name=name,
                verdict="fail",
                finding=f"{_of_columns(len(found), table.d)} at most {_CATEGORIES} different values",
                statistic=float(min(found.values())),
                effect=effect,
                where=where,
                remedy="where levels are names, say so (categorical=[...]); a straight line through few levels is a "
                "rough model, and tells no direction by its shape",
            ),
            tuple(found),
        )
    if doubtful:
        return (
            Assumption(
                name=name,
                verdict="doubt",
                finding=f"{_of_columns(len(doubtful), table.d)} few different values for so many rows",
                statistic=float(bound),
                effect=len(doubtful) / table.d,
                where=tuple(table.name(j) for j in doubtful),
                remedy="directions at these columns cannot rest on the shape of what is left unexplained",
            ),
            tuple(doubtful),
        )
    return Assumption(name=name, verdict="pass", finding="every column has many different values"), ()


def codes(table: FittedTable, ends: list[EndValue]) -> tuple[Assumption, tuple[int, ...]]:
    """Check that no value stands for a missing one; return the columns where one does."""
    found = sorted((end for end in ends if end.is_code), key=lambda end: -end.gap)
    name = "every number is a measurement"
    if not found:
        return Assumption(name=name, verdict="pass", finding="no value looks like a code for missing"), ()
    where = tuple(f"{table.name(end.column)} ({end.value:g} in {end.count} rows)" for end in found)
    columns = tuple(dict.fromkeys(end.column for end in found))
    return (
        Assumption(
            name=name,
            verdict="fail",
            finding=f"{_of_columns(len(columns), table.d)} a repeated value far from all others",
            statistic=float(sum(end.count for end in found)),
            effect=max(end.count / end.rows for end in found),
            where=where,
            remedy="if it stands for a missing value, replace it by NaN and use missing='drop' or 'pairwise'",
        ),
        columns,
    )


def piles(table: FittedTable, ends: list[EndValue]) -> tuple[Assumption, tuple[int, ...]]:
    """Check that values do not pile up at the end of a scale; return the columns where they do."""
    found = sorted(
        (end for end in ends if end.is_pile and not end.is_code and end.count >= _PILE * end.rows),
        key=lambda end: -end.count,
    )
    name = "scales have no floor or ceiling"
    if not found:
        return Assumption(name=name, verdict="pass", finding="no value at the end of a scale is piled up"), ()
    share = found[0].count / found[0].rows
    return (
        Assumption(
            name=name,
            verdict="fail" if share >= 0.1 else "doubt",
            finding=f"up to {share:.0%} of a column's cells are at its lowest or highest value",
            statistic=float(found[0].count),
            effect=share,
            where=tuple(f"{table.name(end.column)} ({end.count} cells at {end.value:g})" for end in found),
            remedy="a detection limit, a cap, or zeros that stand for nothing or for missing bend every line: put NaN "
            "for what is missing; analyse the rows off the limit, or whether it was reached",
        ),
        tuple(end.column for end in found),
    )


def row_numbers(table: FittedTable) -> tuple[Assumption, tuple[int, ...]]:
    """Check that no column counts the rows; return those that do, and those by which the table is sorted."""
    name = "no column numbers or sorts the rows"
    X = table.X
    if not table.consecutive or table.n < 20:
        return Assumption(name=name, verdict="pass", finding="the order of rows was not looked at"), ()
    head = np.diff(X[:20].astype(np.float64), axis=0)
    candidates = np.flatnonzero((head >= 0).all(axis=0) | (head <= 0).all(axis=0))
    counted, sorts = [], []
    for j in candidates.tolist():
        steps = np.diff(X[:, j])
        if (steps > 0).all() or (steps < 0).all():
            counted.append(j)
        elif (steps >= 0).all() or (steps <= 0).all():
            sorts.append(j)
    width = X.max(axis=0) - X.min(axis=0)
    for j in np.flatnonzero(width == table.n - 1).tolist():
        if j not in counted and _is_shuffled_count(X[:, j]):
            counted.append(j)
    if not counted and not sorts:
        return Assumption(name=name, verdict="pass", finding="no column follows the order of the rows"), ()
    where = tuple(f"{table.name(j)} (numbers the rows)" for j in counted)
    where += tuple(f"{table.name(j)} (the table is sorted by it)" for j in sorts)
    return (
        Assumption(
            name=name,
            verdict="fail" if counted else "doubt",
            finding=f"{len(where)} of {table.d} columns {agree(len(where), 'follows', 'follow')} the order of the rows",
            statistic=float(len(where)),
            effect=len(where) / table.d,
            where=where,
            remedy="drop what only numbers the rows" if counted else "nothing, unless rows also follow in time",
        ),
        tuple(counted + sorts),
    )


def _is_shuffled_count(column: NDArray[np.floating[Any]]) -> bool:
    """Whether a column holds consecutive integers, each once, in any order."""
    return bool((column == np.floor(column)).all()) and len(np.unique(column)) == len(column)

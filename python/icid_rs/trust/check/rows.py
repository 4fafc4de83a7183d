"""Checks of the rows: gross values, and rows that depend on the ones before them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from icid_rs._util.validation import FloatArray
from icid_rs._util.words import agree, count
from icid_rs.report import Assumption
from icid_rs.trust.check.table import FittedTable

#: A value so many standard deviations off is gross; or so many, and so many times as far as the next.
_GROSS, _FAR, _LONE = 50.0, 20.0, 3.0
#: So are two residuals of one row, or three, so far off.
_TWO, _THREE = 15.0, 10.0
#: With fewer rows their order is not examined.
_FEWEST = 50
#: Consecutive rows that are examined for dependence.
_WINDOW = 5000
#: Mean correlation of residuals with those of the row before: doubt, and failure. Single columns count from the third.
_DEPENDENT, _STRONGLY, _COLUMN = 0.1, 0.3, 0.3
#: Dickey and Fuller's n (ρ − 1) for a column that may wander without returning (one test in twenty).
_UNIT_ROOT = -14.1
#: Correlation of a column with the row number: doubt, and failure.
_TREND, _STRONG_TREND = 0.3, 0.6


@dataclass(frozen=True)
class GrossCells:
    """Values that nothing else in the table resembles.

    Attributes
    ----------
    rows : tuple of int
    columns : tuple of int
    """

    assumption: Assumption
    rows: tuple[int, ...]
    columns: tuple[int, ...]


def gross(table: FittedTable, known: tuple[int, ...]) -> GrossCells:
    """Look for cells and rows far off everything else.

    Parameters
    ----------
    table : FittedTable
    known : tuple of int
        Columns whose extreme values are explained already, as codes for missing values.
    """
    spread, E, X = table.spread, np.abs(table.residuals), table.every
    cells: dict[tuple[int, int], float] = {}
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    furthest = np.maximum(high - spread.centre, spread.centre - low) / spread.scale
    for j in np.flatnonzero(furthest > _FAR).tolist():
        if j in known or spread.levels[j] <= 2:
            continue
        distance = np.nan_to_num(np.abs(X[:, j] - spread.centre[j]) / spread.scale[j])
        for row in _lone(distance).tolist():
            cells[row if table.cells is not None else table.number(row), j] = float(distance[row])
    wild = np.flatnonzero((E > _THREE).sum(axis=1) + (E > _TWO).sum(axis=1) >= 3)
    for row in wild.tolist():
        for j in np.flatnonzero(E[row] > _THREE).tolist():
            if j not in known:
                cells.setdefault((table.number(row), j), float(E[row, j]))
    name = "no single row stands apart"
    if not cells:
        return GrossCells(Assumption(name=name, verdict="pass", finding="no value is far off all others"), (), ())
    worst = sorted(cells, key=lambda cell: -cells[cell])
    rows = tuple(dict.fromkeys(row for row, _ in worst))
    columns = tuple(dict.fromkeys(j for _, j in worst))
    per_row = [(row, [j for r, j in worst if r == row]) for row in rows[:20]]
    where = tuple(
        f"row {row} ({table.name(js[0])}: {cells[row, js[0]]:.0f} standard deviations"
        + (f", and {count(len(js) - 1, 'more column')})" if len(js) > 1 else ")")
        for row, js in per_row
    )
    return GrossCells(
        Assumption(
            name=name,
            verdict="fail",
            finding=f"{len(rows)} of {len(X)} rows {agree(len(rows), 'has', 'have')} values up to "
            f"{cells[worst[0]]:.0f} standard deviations off",
            statistic=cells[worst[0]],
            effect=len(rows) / len(X),
            where=where,
            remedy="look these rows up; correct or leave out what was not measured so",
        ),
        rows,
        columns,
    )


def _lone(distance: FloatArray) -> NDArray[np.intp]:
    """Rows with a gross value in a column, or with the one far beyond all others."""
    gross_rows = np.flatnonzero(distance > _GROSS)
    if len(gross_rows) or len(distance) < 3:
        return gross_rows
    second, first = np.partition(distance, len(distance) - 2)[-2:]
    return np.flatnonzero(distance == first) if first > _FAR and first > _LONE * second else gross_rows


@dataclass(frozen=True)
class RowOrder:
    """Dependence of rows on those before them.

    Attributes
    ----------
    assumption : Assumption
    wandering : tuple of int
        Columns that wander without returning.
    independent : float
        Share of the rows that carry information of their own, for averages of products of two residuals.
    """

    assumption: Assumption
    wandering: tuple[int, ...] = ()
    independent: float = 1.0


def order(table: FittedTable, sorting: tuple[int, ...]) -> RowOrder:
    """Look for residuals that resemble those of the row before, and columns that drift or wander.

    Parameters
    ----------
    table : FittedTable
    sorting : tuple of int
        Columns that follow the order of the rows, which are resembled by their neighbours in any case.
    """
    name = "rows are independent"
    if not table.consecutive or table.n < _FEWEST:
        return RowOrder(Assumption(name=name, verdict="pass", finding="the order of rows was not looked at"))
    window = slice(0, _WINDOW)
    judged = np.setdiff1d(np.arange(table.d), sorting)
    # Beyond five standard deviations values count as five, so that two gross rows do not make a dependence.
    E = np.clip(table.residuals[window], -5, 5)[:, judged]
    X = np.clip(table.spread.standardise(table.X[window]), -5, 5)[:, judged]
    own, lagged = lag_one(E), lag_one(X)
    n = len(E)
    mean, error = (float(own.mean()), 1 / np.sqrt(n * own.size)) if own.size else (0.0, 1.0)
    z = mean / error
    wandering = judged[(n * (lagged - 1) > _UNIT_ROOT) & (lagged > 0.8) & (table.spread.levels[judged] > 10)].tolist()
    repeated = judged[(own > _COLUMN) & (own * np.sqrt(n) > 5)].tolist()
    on_average = mean > _DEPENDENT and z > 4
    p_value = float(special.ndtr(-z))
    if not (on_average or wandering or len(repeated) > 1):
        finding = f"neighbouring rows have correlation {mean:.2f} on average"
        return RowOrder(
            Assumption(name=name, verdict="pass", finding=finding, statistic=z, p_value=p_value, effect=max(mean, 0.0))
        )
    product = min(max(mean, 0.0), 0.999) ** 2
    ranked = judged[np.argsort(-own)].tolist()
    concerned = [j for j in ranked if j in wandering or own[judged == j][0] > _DEPENDENT]
    where = tuple(
        f"{table.name(j)} ({'wanders without returning' if j in wandering else f'{own[judged == j][0]:.2f}'})"
        for j in concerned
    )
    return RowOrder(
        Assumption(
            name=name,
            verdict="fail" if wandering or mean > _STRONGLY else "doubt",
            finding=f"neighbouring rows resemble each other (correlation {mean:.2f} on average)",
            statistic=z,
            p_value=p_value,
            effect=max(mean, 0.0),
            where=where,
            remedy="columns that wander look related by chance alone: take differences from row to row"
            if wandering
            else "if rows follow in time or come in groups, say so: groups=..., bootstrap(block='auto')",
        ),
        wandering=tuple(wandering),
        independent=(1 - product) / (1 + product),
    )


def trends(table: FittedTable, sorting: tuple[int, ...]) -> Assumption:
    """Look for columns that drift along the table."""
    name = "columns do not drift"
    if not table.consecutive or table.n < _FEWEST:
        return Assumption(name=name, verdict="pass", finding="the order of rows was not looked at")
    X = np.clip(table.spread.standardise(table.X[table.examined]), -5, 5)
    time = np.arange(len(X)) - (len(X) - 1) / 2
    r = np.asarray(time @ (X - X.mean(axis=0))) / (X.std(axis=0) * time.std() * len(X) + 1e-300)
    r[list(sorting)] = 0.0
    worst = int(np.argmax(np.abs(r)))
    effect = float(abs(r[worst]))
    z = float(np.arctanh(min(effect, 1 - 1e-9)) * np.sqrt(len(X)))
    p_value = min(1.0, 2 * table.d * float(special.ndtr(-z)))
    found = [j for j in np.argsort(-np.abs(r)).tolist() if abs(r[j]) >= _TREND]
    if not found or p_value > 1e-3:
        finding = f"the strongest correlation with the row number is {effect:.2f}"
        return Assumption(name=name, verdict="pass", finding=finding, statistic=z, p_value=p_value, effect=effect)
    return Assumption(
        name=name,
        verdict="fail" if effect >= _STRONG_TREND else "doubt",
        finding=f"{len(found)} of {table.d} columns {agree(len(found), 'drifts', 'drift')} along the table "
        f"(correlation with its row {effect:.2f})",
        statistic=z,
        p_value=p_value,
        effect=effect,
        where=tuple(f"{table.name(j)} ({r[j]:+.2f})" for j in found),
        remedy="if rows follow in time, what drifts together looks related: take the drift out first",
    )


def lag_one(X: FloatArray) -> FloatArray:
    """Correlate each column with itself one row later.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.trust.check.rows import lag_one
    >>> lag_one(np.array([[1.0], [-1.0]] * 100)).round(1)
    array([-1.])
    """
    centred = X - X.mean(axis=0)
    own = (centred**2).sum(axis=0)
    return np.asarray((centred[1:] * centred[:-1]).sum(axis=0) / np.where(own > 0, own, 1.0))

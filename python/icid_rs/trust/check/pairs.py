"""Departures of pairs of columns from the model, and how columns and residuals depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from icid_rs._util.validation import FloatArray
from icid_rs.report import Assumption
from icid_rs.trust.check.table import FittedTable

#: Rows that are examined for curvature, spread and dependence.
_ROWS = 4000
#: Chance of a false alarm in a whole table, for tests of many pairs.
ALARM = 1e-3
#: In tables with more columns, pairs are measured so many at a time.
_FEW_COLUMNS, _PAIRS_AT_ONCE = 500, 1000
#: Pairs of columns that a product of matrices correlates in the time of one by itself.
_PAIRS_PER_PRODUCT = 10
#: Numbers that fit into the cache of a processor.
_CACHED = 100_000

#: A function of two tables and pairs (i, j) of their columns that measures each pair.
Measure: TypeAlias = Callable[[FloatArray, FloatArray, NDArray[np.intp], NDArray[np.intp]], FloatArray]


@dataclass(frozen=True)
class Pairs:
    """Departures of pairs from the model, worst first.

    Attributes
    ----------
    assumption : Assumption
    pairs : tuple of (cause, effect)
    """

    assumption: Assumption
    pairs: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Wording:
    """What an assumption about pairs says; findings are formats of the first and second column and the worst share.

    Attributes
    ----------
    name, remedy : str
    passing, departing : str
    """

    name: str
    passing: str
    departing: str
    remedy: str


def departures(
    table: FittedTable,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp], FloatArray],
    n: float,
    limits: tuple[float, float],
    wording: Wording,
    place: Callable[[int, int], str],
) -> Pairs:
    """Judge the shares (i, j, share) that departures from the model have in pairs, each the larger of two tests.

    A share counts if it reaches the first of two limits, of doubt and of failure, and n times it is beyond chance.
    `place` names a pair.
    """
    i, j, share = pairs
    tests = 2 * len(i)
    bound = max(limits[0], float(special.chdtri(1, ALARM / tests)) / n)
    worst = int(np.argmax(share))
    effect = float(share[worst])
    p_value = min(1.0, tests * float(special.chdtrc(1, n * effect)))
    found = [k for k in np.argsort(-share).tolist() if share[k] >= bound]
    named = {"first": table.name(int(i[worst])), "second": table.name(int(j[worst])), "worst": effect}
    is_failure = effect >= limits[1]
    assumption = Assumption(
        name=wording.name,
        verdict=("fail" if is_failure else "doubt") if found else "pass",
        finding=(wording.departing if found else wording.passing).format(**named),
        statistic=n * effect,
        p_value=p_value,
        effect=effect,
        where=tuple(f"{place(int(i[k]), int(j[k]))} ({share[k]:.0%})" for k in found),
        remedy=wording.remedy if found else "",
    )
    return Pairs(assumption, tuple((int(i[k]), int(j[k])) for k in found))


def some_rows(table: FittedTable, most: int = _ROWS) -> slice:
    """Evenly spaced rows, at most so many."""
    return slice(None, len(table.residuals), -(-len(table.residuals) // most))


def clipped(table: FittedTable) -> tuple[FloatArray, FloatArray]:
    """Columns and residuals of some rows, standardised; beyond four standard deviations they count as four."""
    rows = some_rows(table)
    Z = np.clip(table.causal_spread.standardise(table.causal[rows]), -4, 4)
    E = np.clip(table.residuals[rows], -4, 4)
    return Z, E


def own_parts(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the squares of columns without their straight parts, and the cubes without these and the squares."""
    basis = [np.ones_like(Z)]
    power = basis[0]
    for _ in range(3):
        power = power * Z
        column = power
        for earlier in basis:
            column = column - earlier * ((column * earlier).sum(axis=0) / ((earlier**2).sum(axis=0) + 1e-300))
        basis.append(column)
    return basis[2], basis[3]


def explained(causes: FloatArray, effects: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> FloatArray:
    """Squared correlations of columns i of the first table with columns j of the second."""
    first, second = _unit(causes), _unit(effects)
    if _PAIRS_PER_PRODUCT * len(i) > first.shape[1] * second.shape[1]:
        return np.asarray((first.T @ second)[i, j] ** 2)
    first, second = np.ascontiguousarray(first.T), np.ascontiguousarray(second.T)
    r = np.empty(len(i))
    for some in _chunks(len(i), first.shape[1]):
        r[some] = np.einsum("kn,kn->k", first[i[some]], second[j[some]])
    return r**2


def of_pairs(measure: Measure, X: FloatArray, E: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> FloatArray:
    """Measure pairs of columns i of X and j of E; in wide tables a few at a time, since measures hold many copies."""
    if X.shape[1] <= _FEW_COLUMNS:
        return measure(X, E, i, j)
    found = np.empty(len(i))
    for first in range(0, len(i), _PAIRS_AT_ONCE):
        some = slice(first, first + _PAIRS_AT_ONCE)
        of_x, own_i = np.unique(i[some], return_inverse=True)
        of_e, own_j = np.unique(j[some], return_inverse=True)
        found[some] = measure(X[:, of_x], E[:, of_e], own_i, own_j)
    return found


def dependence_of_pairs(
    X: FloatArray, E: FloatArray, causes: NDArray[np.intp], effects: NDArray[np.intp]
) -> FloatArray:
    """Sum the squared correlations of functions of causes and of residuals, less what chance explains.

    The functions are those of `_shapes`, in the fifteen pairs other than that of the two columns themselves.
    """
    X, E = np.ascontiguousarray(X.T), np.ascontiguousarray(E.T)
    sums = np.zeros(len(causes))
    for some in _chunks(len(causes), 4 * X.shape[1]):
        squares = (_shapes(X[causes[some]]) @ _shapes(E[effects[some]]).transpose(0, 2, 1)) ** 2
        sums[some] = squares.sum(axis=(1, 2)) - squares[:, 0, 0]
    return np.asarray(sums - 15 / X.shape[1])


def chance_of_dependence(x: FloatArray, e: FloatArray, statistic: float) -> float:
    """Compute the p-value of what `dependence_of_pairs` finds between two columns.

    Under independence the sum of squares is one of χ² variables, weighted by the eigenvalues of the correlations of the
    products of functions. Its tail is that of the χ² variable with the same three cumulants (Hall 1983, Buckley and
    Eagleson 1988).
    """
    own, left = (shapes @ shapes.T for shapes in _shapes(np.stack([x, e])))
    weights = np.linalg.eigvalsh(np.kron(left, own)[1:, 1:])
    mean, variance, third = weights.sum(), 2 * (weights**2).sum(), 8 * (weights**3).sum()
    degrees = 8 * variance**3 / third**2
    return float(special.chdtrc(degrees, degrees + (statistic + 15 - mean) * np.sqrt(2 * degrees / variance)))


def _shapes(columns: FloatArray) -> FloatArray:
    """Functions u, exp(−u²/2), u exp(−u²/2) and |u| of standardised columns u, centred and of length one.

    Columns are rows here, and the functions of each follow one another.
    """
    U = np.sqrt(columns.shape[1]) * _unit(columns, axis=1)
    bell = np.exp(-(U**2) / 2)
    shapes = np.stack([U, bell, U * bell, np.abs(U)], axis=1)
    return _unit(shapes, axis=2)


def _unit(X: FloatArray, axis: int = 0) -> FloatArray:
    centred = X - X.mean(axis=axis, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=axis, keepdims=True))
    return np.asarray(centred / np.where(length > 1e-9, length, np.inf))


def _chunks(count: int, size: int) -> Iterator[slice]:
    """Divide a range so that arrays of this size, one for each of its numbers, stay in the cache."""
    step = max(1, _CACHED // size)
    return (slice(first, first + step) for first in range(0, count, step))

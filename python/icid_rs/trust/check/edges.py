"""Checks of relations: curved ones, unequal spread, dependence on causes, and edges that rest on one row."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from icid_rs._util.validation import FloatArray
from icid_rs.report import Assumption
from icid_rs.trust.check.table import FittedTable

#: Rows that are examined for curvature and spread.
_ROWS = 4000
#: Most columns for which all pairs are examined, not only edges.
_ALL_PAIRS = 500
#: Share of what a cause leaves of its effect that is curved in it: doubt, and failure.
_CURVED, _VERY_CURVED = 0.03, 0.1
#: The same of a cause, read against the direction of its edge.
_CURVED_BACKWARDS = 0.05
#: Chance of a false alarm in a whole table, for tests of many pairs.
_ALARM = 1e-3
#: Pairs of columns that a product of matrices correlates in the time of one by itself.
_PAIRS_PER_PRODUCT = 10
#: Numbers that fit into the cache of a processor.
_CACHED = 100_000
#: Share of a weight that rests on one row: doubt, and failure.
_SHARED, _CARRIED = 0.3, 0.5
#: Standard errors from which a weight counts.
_SIGNIFICANT = 3.0


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


def some_rows(table: FittedTable, most: int = _ROWS) -> slice:
    """Evenly spaced rows, at most so many."""
    return slice(None, len(table.residuals), -(-len(table.residuals) // most))


def candidates(table: FittedTable, apart: Collection[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs (i, j) where residual j should be independent of column i: the graph does not derive i from j."""
    if table.order is None or table.d > _ALL_PAIRS:
        first, second = table.edges
    else:
        first, second = np.nonzero(~table.descendants.T)
    kept = ~(np.isin(first, list(apart)) | np.isin(second, list(apart)))
    return first[kept], second[kept]


def curvature(table: FittedTable, apart: Collection[int] = (), independent: float = 1.0) -> Pairs:
    """Look for relations that are no straight lines.

    A pair is curved if the residual of one follows the square or the cube of the other. A curve may also have been
    read against its direction, where it leaves less curvature than dependence of other kinds. So a joined pair counts
    too if its residual depends on the cause in any way, and the relation is curved when it is read the other way. Where
    noise is not Gaussian, a straight line looks curved if it is read backwards, but not both ways.

    Parameters
    ----------
    table : FittedTable
    apart : collection of int
        Columns that are not looked at: something else is known to be wrong with them.
    independent : float
        Share of the rows that carry information of their own, where rows depend on each other.
    """
    name = "relations are straight lines"
    i, j = candidates(table, apart)
    if not len(i):
        return Pairs(Assumption(name=name, verdict="pass", finding="no relation to look at"))
    Z, E = _clipped(table)
    n = len(Z) * independent
    square, cube = _own_parts(Z)
    share = np.maximum(_explained(square, E, i, j), _explained(cube, E, i, j))
    i, j, share = _with_reversed(table, Z, E, (i, j, share), n)
    tests = 2 * len(i)
    bound = max(_CURVED, float(special.chdtri(1, _ALARM / tests)) / n)
    worst = float(share.max())
    p_value = min(1.0, tests * float(special.chdtrc(1, n * worst)))
    found = [k for k in np.argsort(-share).tolist() if share[k] >= bound]
    if not found:
        finding = f"at most {worst:.1%} of what is left of a column is curved in another"
        return Pairs(
            Assumption(name=name, verdict="pass", finding=finding, statistic=n * worst, p_value=p_value, effect=worst)
        )
    first, second = table.name(int(i[found[0]])), table.name(int(j[found[0]]))
    pairs = tuple((int(i[k]), int(j[k])) for k in found)
    return Pairs(
        Assumption(
            name=name,
            verdict="fail" if worst >= _VERY_CURVED else "doubt",
            finding=f"{first} and {second} follow a curve ({worst:.0%} of what is left)",
            statistic=n * worst,
            p_value=p_value,
            effect=worst,
            where=tuple(f"{table.names[i[k]]} and {table.names[j[k]]} ({share[k]:.0%})" for k in found),
            remedy="transform the columns (logarithm, root) until relations are straight, or add a power as a column",
        ),
        pairs,
    )


def _with_reversed(
    table: FittedTable,
    Z: FloatArray,
    E: FloatArray,
    curved: tuple[NDArray[np.intp], NDArray[np.intp], FloatArray],
    n: float,
) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """Raise the curvature of edges that depart both ways to that of the reversed relation."""
    first, second, share = curved
    causes, effects = table.edges
    looked_at = np.isin(causes * table.d + effects, first * table.d + second)
    causes, effects = causes[looked_at], effects[looked_at]
    if not len(causes):
        return curved
    # Under independence n times the sum of the fifteen squares is about six times a χ² with 2.5 degrees of freedom, or
    # less: the squares are correlated, most of all between lopsided columns.
    bound = 6.0 * float(special.chdtri(2.5, _ALARM / len(causes))) - 15.0
    suspicious = _dependence_of_pairs(Z, E, causes, effects) > bound / n
    share = share.copy()
    for i, j in zip(causes[suspicious].tolist(), effects[suspicious].tolist(), strict=True):
        others = np.union1d(table.parents(i), table.parents(j))
        basis = np.column_stack([np.ones(len(Z)), Z[:, j], Z[:, others[(others != i) & (others != j)]]])
        left = Z[:, [i]] - basis @ (np.linalg.pinv(basis.T @ basis) @ (basis.T @ Z[:, [i]]))
        only = np.zeros(1, dtype=np.intp)
        backwards = max(float(_explained(part, left, only, only)[0]) for part in _own_parts(Z[:, [j]]))
        if backwards > _CURVED_BACKWARDS:
            place = (first == i) & (second == j)
            share[place] = np.maximum(share[place], backwards)
    return first, second, share


def unequal_spread(table: FittedTable) -> Pairs:
    """Look for residuals whose size follows a cause."""
    name = "scatter is the same everywhere"
    i, j = table.edges
    if not len(i):
        return Pairs(Assumption(name=name, verdict="pass", finding="no relation to look at"))
    Z, E = _clipped(table)
    size = np.abs(E)
    share = np.maximum(_explained(Z, size, i, j), _explained(_own_parts(Z)[0], size, i, j))
    n, worst = len(Z), float(share.max())
    bound = max(_CURVED, float(special.chdtri(1, _ALARM / (2 * len(i)))) / n)
    p_value = min(1.0, 2 * len(i) * float(special.chdtrc(1, n * worst)))
    found = [k for k in np.argsort(-share).tolist() if share[k] >= bound]
    if not found:
        finding = f"at most {worst:.1%} of the size of what is left of a column follows a cause"
        return Pairs(
            Assumption(name=name, verdict="pass", finding=finding, statistic=n * worst, p_value=p_value, effect=worst)
        )
    cause, effect = table.name(int(i[found[0]])), table.name(int(j[found[0]]))
    pairs = tuple((int(i[k]), int(j[k])) for k in found)
    return Pairs(
        Assumption(
            name=name,
            verdict="fail" if worst >= _VERY_CURVED else "doubt",
            finding=f"the scatter of {effect} changes with {cause} ({worst:.0%} of its size)",
            statistic=n * worst,
            p_value=p_value,
            effect=worst,
            where=tuple(f"{table.edge(*pair)} ({share[k]:.0%})" for k, pair in zip(found, pairs, strict=True)),
            remedy="logarithms often even it out; standard errors that allow for it are safer",
        ),
        pairs,
    )


def dependence(table: FittedTable) -> tuple[FloatArray, NDArray[np.intp]]:
    """Measure how far residuals depend on their causes in any way, by `_dependence_of_pairs`.

    Returns
    -------
    F : array of shape (d,)
        For each column the largest over its causes; NaN without causes.
    cause : array of shape (d,)
        The cause that has it; -1 without causes.
    """
    rows = some_rows(table)
    X, E = np.asarray(table.causal[rows], dtype=np.float64), table.residuals[rows]
    causes, effects = table.edges
    F, cause = np.full(table.d, np.nan), np.full(table.d, -1)
    found = _dependence_of_pairs(X, E, causes, effects)
    for value, i, j in zip(found.tolist(), causes.tolist(), effects.tolist(), strict=True):
        if not F[j] >= value:
            F[j], cause[j] = value, i
    return F, cause


def _dependence_of_pairs(
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


def _shapes(columns: FloatArray) -> FloatArray:
    """Functions u, exp(−u²/2), u exp(−u²/2) and |u| of standardised columns u, centred and of length one.

    Columns are rows here, and the functions of each follow one another.
    """
    U = np.sqrt(columns.shape[1]) * _unit(columns, axis=1)
    bell = np.exp(-(U**2) / 2)
    shapes = np.stack([U, bell, U * bell, np.abs(U)], axis=1)
    return _unit(shapes, axis=2)


def _chunks(count: int, size: int) -> Iterator[slice]:
    """Divide a range so that arrays of this size, one for each of its numbers, stay in the cache."""
    step = max(1, _CACHED // size)
    return (slice(first, first + step) for first in range(0, count, step))


def influence(table: FittedTable, fewest: int = 20) -> tuple[FloatArray, NDArray[np.intp]]:
    """Measure how much of each weight rests on the one row that matters most to it.

    The weight is that of least squares on all causes, and the share is the part of it that goes when the row is left
    out.

    Returns
    -------
    share : array of shape (edges,)
        In the order of `FittedTable.edges`. Zero for weights below three standard errors, and with too few rows.
    row : array of shape (edges,)
    """
    causes, effects = table.edges
    share, row = np.zeros(len(causes)), np.zeros(len(causes), dtype=np.intp)
    X = table.causal[table.examined]
    # By columns, of which each edge needs two.
    centred = np.ascontiguousarray((X - X.mean(axis=0)).T)
    by_effect = np.argsort(effects, kind="stable")
    for of_j in np.split(by_effect, np.flatnonzero(np.diff(effects[by_effect])) + 1):
        if not len(of_j):
            continue
        j, P = effects[of_j[0]], centred[causes[of_j]].T
        if len(X) < P.shape[1] + fewest:
            continue
        gram = np.linalg.pinv(P.T @ P)
        W = P @ gram
        weights = W.T @ centred[j]
        left = centred[j] - P @ weights
        leverage = np.minimum(np.einsum("np,np->n", W, P) + 1 / len(X), 1 - 1e-9)
        change = W * (left / (1 - leverage))[:, None]
        # A row matters to an edge that would count without its being looked at: weak weights change with any row.
        error = np.sqrt(left @ left / (len(X) - P.shape[1] - 1) * gram.diagonal())
        change /= np.where(np.abs(weights) > _SIGNIFICANT * error, weights, np.inf)
        row[of_j] = np.argmax(change, axis=0)
        share[of_j] = change[row[of_j], np.arange(len(of_j))]
    return share, row


def carried(table: FittedTable) -> Pairs:
    """Look for edges that rest on a single row."""
    name = "no edge rests on one row"
    share, row = influence(table)
    if not len(share):
        return Pairs(Assumption(name=name, verdict="pass", finding="there is no edge"))
    worst = float(share.max())
    causes, effects = table.edges
    found = [k for k in np.argsort(-share).tolist() if share[k] >= _SHARED]
    if not found:
        finding = f"leaving one row out takes at most {max(worst, 0.0):.0%} off a weight"
        return Pairs(Assumption(name=name, verdict="pass", finding=finding, statistic=worst, effect=max(worst, 0.0)))
    edges = [(int(causes[k]), int(effects[k])) for k in found]
    return Pairs(
        Assumption(
            name=name,
            verdict="fail" if worst >= _CARRIED else "doubt",
            finding=f"leaving one row out takes {worst:.0%} off the weight of {table.edge(*edges[0])}",
            statistic=worst,
            effect=worst,
            where=tuple(
                f"{table.edge(i, j)} (row {table.number(int(row[k]))}: {share[k]:.0%})"
                for k, (i, j) in zip(found, edges, strict=True)
            ),
            remedy="look these rows up; correct or leave out what was not measured so",
        ),
        tuple(edge for k, edge in zip(found, edges, strict=True) if share[k] >= _CARRIED),
    )


def _clipped(table: FittedTable) -> tuple[FloatArray, FloatArray]:
    """Columns and residuals of some rows, standardised; beyond four standard deviations they count as four."""
    rows = some_rows(table)
    Z = np.clip(table.causal_spread.standardise(table.causal[rows]), -4, 4)
    E = np.clip(table.residuals[rows], -4, 4)
    return Z, E


def _own_parts(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
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


def _explained(causes: FloatArray, effects: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> FloatArray:
    """Squared correlations of columns i of the first table with columns j of the second."""
    first, second = _unit(causes), _unit(effects)
    if _PAIRS_PER_PRODUCT * len(i) > first.shape[1] * second.shape[1]:
        return np.asarray((first.T @ second)[i, j] ** 2)
    first, second = np.ascontiguousarray(first.T), np.ascontiguousarray(second.T)
    r = np.empty(len(i))
    for some in _chunks(len(i), first.shape[1]):
        r[some] = np.einsum("kn,kn->k", first[i[some]], second[j[some]])
    return r**2


def _unit(X: FloatArray, axis: int = 0) -> FloatArray:
    centred = X - X.mean(axis=axis, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=axis, keepdims=True))
    return np.asarray(centred / np.where(length > 1e-9, length, np.inf))

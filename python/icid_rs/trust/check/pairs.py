"""Departures of pairs of columns from the model, and how columns and residuals depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from icid_rs._util.validation import FloatArray
from icid_rs.report import Assumption
from icid_rs.trust.check.table import FittedTable

#: Rows that are examined for curvature, spread and dependence.
_ROWS = 4000


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


def clipped(table: FittedTable) -> tuple[FloatArray, FloatArray]:
    """Columns and residuals of some rows, standardised; beyond four standard deviations they count as four."""
    rows = some_rows(table)
    Z = np.clip(table.causal_spread.standardise(table.causal[rows]), -4, 4)
    E = np.clip(table.residuals[rows], -4, 4)
    return Z, E


def own_part(Z: FloatArray, power: int) -> FloatArray:
    """Return the square of a column without its straight part, or the cube without that and the square."""
    basis = [np.ones_like(Z)]
    for k in range(1, power + 1):
        column = Z**k
        for earlier in basis:
            column = column - earlier * ((column * earlier).sum(axis=0) / ((earlier**2).sum(axis=0) + 1e-300))
        basis.append(column)
    return np.asarray(basis[-1])


def explained(causes: FloatArray, effects: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> FloatArray:
    """Squared correlations of columns i of the first table with columns j of the second."""
    return _products(_unit(causes), _unit(effects), i, j) ** 2


def _products(first: FloatArray, second: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> FloatArray:
    """Inner products of columns i of the first table with columns j of the second, which are in one piece in memory."""
    if len(i) > 4 * first.shape[1]:
        return np.asarray((first.T @ second)[i, j])
    return np.fromiter((first[:, a] @ second[:, b] for a, b in zip(i, j, strict=True)), np.float64, len(i))


def _unit(X: FloatArray) -> FloatArray:
    centred = X - X.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.asfortranarray(centred / np.where(length > 1e-9, length, np.inf))


def dependence_of_pairs(
    X: FloatArray, E: FloatArray, causes: NDArray[np.intp], effects: NDArray[np.intp]
) -> FloatArray:
    """Sum the squared correlations of functions of causes and of residuals, less what chance explains.

    The functions are those of `shape_functions`, in the fifteen pairs other than that of the two columns themselves.
    """
    own, left = ([_unit(f) for f in shape_functions(stats.zscore(table))] for table in (X, E))
    squares = np.zeros(len(causes))
    for f, g in list(product(left, own))[1:]:
        squares += _products(g, f, causes, effects) ** 2
    return squares - 15 / len(E)


def shape_functions(U: FloatArray) -> list[FloatArray]:
    """Functions u, exp(−u²/2), u exp(−u²/2) and |u| of standardised columns."""
    bell = np.exp(-(U**2) / 2)
    return [U, bell, U * bell, np.abs(U)]


def chance_of_dependence(x: FloatArray, e: FloatArray, statistic: float) -> float:
    """Compute the p-value of what `dependence_of_pairs` finds between two columns.

    Under independence the sum of squares is one of χ² variables, weighted by the eigenvalues of the correlations of the
    products of functions. Its tail is that of the χ² variable with the same three cumulants (Hall 1983, Buckley and
    Eagleson 1988).
    """
    own, left = (np.corrcoef([f[:, 0] for f in shape_functions(stats.zscore(column[:, None]))]) for column in (x, e))
    weights = np.linalg.eigvalsh(np.kron(left, own)[1:, 1:])
    mean, variance, third = weights.sum(), 2 * (weights**2).sum(), 8 * (weights**3).sum()
    degrees = 8 * variance**3 / third**2
    return float(stats.chi2.sf(degrees + (statistic + 15 - mean) * np.sqrt(2 * degrees / variance), degrees))

"""Checks of relations: unequal spread, dependence on causes, and edges that rest on one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs.report import Assumption
from icid_rs.trust.check.pairs import (
    Pairs,
    Wording,
    chance_of_dependence,
    clipped,
    departures,
    dependence_of_pairs,
    explained,
    of_pairs,
    own_parts,
    some_rows,
)
from icid_rs.trust.check.table import FittedTable

#: Share of the size of a residual that follows a cause: doubt, and failure.
_UNEVEN, _VERY_UNEVEN = 0.03, 0.1
#: Share of a weight that rests on one row: doubt, and failure.
_SHARED, _CARRIED = 0.3, 0.5
#: Standard errors from which a weight counts.
_SIGNIFICANT = 3.0

_WORDING = Wording(
    name="scatter is the same everywhere",
    passing="at most {worst:.1%} of the size of what is left of a column follows a cause",
    departing="the scatter of {second} changes with {first} ({worst:.0%} of its size)",
    remedy="logarithms often even it out; standard errors that allow for it are safer",
)


def unequal_spread(table: FittedTable) -> Pairs:
    """Look for residuals whose size follows a cause."""
    i, j = table.edges
    if not len(i):
        return Pairs(Assumption(name=_WORDING.name, verdict="pass", finding="no relation to look at"))
    Z, E = clipped(table)
    share = of_pairs(_spread, Z, E, i, j)
    return departures(table, (i, j, share), len(Z), (_UNEVEN, _VERY_UNEVEN), _WORDING, table.edge)


def _spread(Z: FloatArray, E: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> FloatArray:
    """Squared correlations of the sizes of residuals with columns or their squares, the larger."""
    size = np.abs(E)
    return np.maximum(explained(Z, size, i, j), explained(own_parts(Z)[0], size, i, j))


@dataclass(frozen=True)
class Dependence:
    """How far residuals depend on their causes in any way.

    Attributes
    ----------
    size : array of shape (d,)
        For each column the largest over its causes, by `dependence_of_pairs`; NaN without causes.
    cause : array of shape (d,)
        The cause that has it; -1 without causes.
    p_value : float
        Of the largest in the table, if residuals are independent of causes.
    """

    size: FloatArray
    cause: NDArray[np.intp]
    p_value: float


def dependence(table: FittedTable) -> Dependence:
    """Measure how far residuals depend on their causes."""
    rows = some_rows(table)
    X, E = np.asarray(table.causal[rows], dtype=np.float64), table.residuals[rows]
    causes, effects = table.edges
    size, cause = np.full(table.d, np.nan), np.full(table.d, -1)
    found = dependence_of_pairs(X, E, causes, effects)
    for value, i, j in zip(found.tolist(), causes.tolist(), effects.tolist(), strict=True):
        if not size[j] >= value:
            size[j], cause[j] = value, i
    if not len(found):
        return Dependence(size, cause, 1.0)
    worst = int(np.argmax(found))
    p_value = chance_of_dependence(X[:, causes[worst]], E[:, effects[worst]], len(X) * float(found[worst]))
    return Dependence(size, cause, min(1.0, len(found) * p_value))


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

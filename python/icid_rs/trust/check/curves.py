"""Whether relations are straight lines, also when they were read against their direction."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import special

from icid_rs import _core
from icid_rs._util.validation import FloatArray, csr_parts
from icid_rs.report import Assumption
from icid_rs.trust.check.pairs import (
    ALARM,
    Pairs,
    Wording,
    chance_of_dependence,
    clipped,
    departures,
    dependence_of_pairs,
    explained,
    of_pairs,
    own_parts,
)
from icid_rs.trust.check.table import FittedTable

#: Most columns for which all pairs are examined, not only edges.
_ALL_PAIRS = 500
#: Share of what a cause leaves of its effect that is curved in it: doubt, and failure.
_CURVED, _VERY_CURVED = 0.03, 0.1
#: `ALARM` where a curve must also be more likely than a straight line the other way, and leave less dependence.
_ALARM_BACKWARDS = 0.01
#: One standard deviation of n times the dependence of a residual on a cause, if both are lopsided and independent.
_NOTABLE = 13.0

_WORDING = Wording(
    name="relations are straight lines",
    passing="at most {worst:.1%} of what is left of a column is curved in another",
    departing="{first} and {second} follow a curve ({worst:.0%} of what is left)",
    remedy="transform the columns (logarithm, root) until relations are straight, or add a power as a column",
)


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
    read against its direction, where it looks nearly straight. But where noise is not Gaussian, a straight line looks
    curved backwards, too. So a joined pair counts if a curve the other way is more likely than the straight line, and
    the residual of the line depends on its cause, more than that of the curve does.

    Parameters
    ----------
    table : FittedTable
    apart : collection of int
        Columns that are not looked at: something else is known to be wrong with them.
    independent : float
        Share of the rows that carry information of their own, where rows depend on each other.
    """
    i, j = candidates(table, apart)
    if not len(i):
        return Pairs(Assumption(name=_WORDING.name, verdict="pass", finding="no relation to look at"))
    Z, E = clipped(table)
    # Single wild rows look like curves.
    usual = np.argsort(np.abs(E).max(axis=1), kind="stable")[: len(E) - len(E) // 100]
    Z, E = Z[usual], E[usual]
    n = len(Z) * independent
    share = of_pairs(_curved, Z, E, i, j)
    share = _with_reversed(table, Z, E, (i, j, share), n)
    limits = _CURVED, _VERY_CURVED
    return departures(table, (i, j, share), n, limits, _WORDING, lambda a, b: f"{table.names[a]} and {table.names[b]}")


def _curved(Z: FloatArray, E: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> FloatArray:
    """Squared correlations of residuals with the square or the cube of columns, the larger."""
    square, cube = own_parts(Z)
    return np.maximum(explained(square, E, i, j), explained(cube, E, i, j))


def _with_reversed(
    table: FittedTable,
    Z: FloatArray,
    E: FloatArray,
    curved: tuple[NDArray[np.intp], NDArray[np.intp], FloatArray],
    n: float,
) -> FloatArray:
    """Return the curvature of pairs, where edges that are curves read backwards have that of the reversed relation."""
    first, second, share = curved
    causes, effects = table.edges
    looked_at = np.isin(causes * table.d + effects, first * table.d + second)
    causes, effects = causes[looked_at], effects[looked_at]
    if not len(causes):
        return share
    bound = float(special.chdtri(2, ALARM / len(causes)))
    depends = dependence_of_pairs(Z, E, causes, effects)
    backwards = of_pairs(_curved, Z, E, effects, causes)
    found = []
    for k in np.flatnonzero((backwards > _CURVED) & (depends > _NOTABLE / n)).tolist():
        curve = _read_backwards(table, Z, int(causes[k]), int(effects[k]))
        if curve.share > _CURVED and curve.gain * n > bound and curve.dependence < depends[k]:
            found.append((k, curve.share))
    share = share.copy()
    for k, part in found:
        i, j = causes[k], effects[k]
        if len(causes) * chance_of_dependence(Z[:, i], E[:, j], n * float(depends[k])) < _ALARM_BACKWARDS:
            place = (first == i) & (second == j)
            share[place] = np.maximum(share[place], part)
    return share


class _Curve(NamedTuple):
    """The relation of a cause and its effect, read as a curve from the effect to the cause.

    Attributes
    ----------
    share : float
        Share of the cause that is curved in the effect, of what straight lines leave.
    gain : float
        What this reading gains over a straight line from cause to effect, in twice the log-likelihood of a row. With
        Gaussian residuals, straight lines are as likely one way as the other: the curve and shapes make the difference.
    dependence : float
        Of what the curve leaves of the cause, on the effect.
    """

    share: float
    gain: float
    dependence: float


def _read_backwards(table: FittedTable, Z: FloatArray, i: int, j: int) -> _Curve:
    others = np.setdiff1d(np.union1d(table.parents(i), table.parents(j)), (i, j))

    def left(target: int, *causes: FloatArray) -> FloatArray:
        basis = np.column_stack([np.ones(len(Z)), Z[:, others], *causes])
        return np.asarray(Z[:, target] - basis @ (np.linalg.pinv(basis.T @ basis) @ (basis.T @ Z[:, target])))

    line, bent = left(i, Z[:, j]), left(i, Z[:, j], *own_parts(Z[:, j]))
    residuals = np.column_stack([left(i), left(j, Z[:, i]), left(j), bent])
    without_edges = csr_parts(sp.csr_array((4, 4)))
    shapes = _core.shape_statistics(np.ascontiguousarray(residuals), np.zeros(4), without_edges, n_threads=1) / len(Z)
    ratio = max(float(bent @ bent), 1e-300) / max(float(line @ line), 1e-300)
    zero = np.zeros(1, dtype=np.intp)
    dependence = float(dependence_of_pairs(Z[:, [j]], bent[:, None], zero, zero)[0])
    return _Curve(1 - ratio, -np.log(ratio) + float(shapes[2:].sum() - shapes[:2].sum()), dependence)

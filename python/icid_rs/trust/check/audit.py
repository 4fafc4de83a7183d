"""The checks that every fit makes, at a small part of its cost, and what they say about single edges and columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, listed
from icid_rs._util.warn import warn_user
from icid_rs.data.sample import GivenTheta, IncompleteRows, Rows, Sample, Summary
from icid_rs.graph.layer import Layer
from icid_rs.graph.mixed import ColumnModel
from icid_rs.graph.sem import CyclicSem, LinearSem
from icid_rs.report import Assumption
from icid_rs.trust.check import columns, curves, edges, rows
from icid_rs.trust.check.mixed import fitted_table
from icid_rs.trust.check.table import FittedTable, Measured

#: With fewer rows nothing is checked.
_FEWEST_ROWS = 20
#: Rows that a fit checks; `ICID.check` looks at all.
_MOST_ROWS = 10_000


class AssumptionWarning(UserWarning):
    """A table does not look like what the model assumes."""


@dataclass(frozen=True)
class Spoiled:
    """Parts of a fit that failed checks spoil, so that less can be claimed of them.

    Attributes
    ----------
    edges : frozenset of (cause, effect)
        Edges that rest on one row: their directions are open.
    shapeless : frozenset of int
        Columns with few levels, piled-up values, codes for missing values or gross values: the shape of their residuals
        tells no directions.
    wandering : frozenset of int
        Columns that wander without returning: what relates two of them may be chance alone.
    curved : frozenset of (cause, effect)
        Pairs that depend on each other along a curve.

    Examples
    --------
    >>> from icid_rs.trust.check.audit import Spoiled
    >>> spoiled = Spoiled(edges=frozenset({(0, 1)}), wandering=frozenset({2, 3}))
    >>> spoiled.spoils(0, 1), spoiled.spoils(1, 2), spoiled.spoils(2, 3)
    (True, False, True)
    """

    edges: frozenset[tuple[int, int]] = frozenset()
    shapeless: frozenset[int] = frozenset()
    wandering: frozenset[int] = frozenset()
    curved: frozenset[tuple[int, int]] = frozenset()

    def spoils(self, cause: int, effect: int) -> bool:
        """Tell whether the direction of an edge is open, whatever resamples say."""
        return (cause, effect) in self.edges or {cause, effect} <= self.wandering

    def has_shape(self, cause: int, effect: int) -> bool:
        """Tell whether the shape of residuals may tell the direction of an edge: of a straight line of measurements."""
        is_curved = not self.curved.isdisjoint({(cause, effect), (effect, cause)})
        return not is_curved and self.shapeless.isdisjoint({cause, effect})

    def numbered(self, variables: NDArray[np.intp]) -> Spoiled:
        """Return the same by numbers of other variables, of which these columns are some."""
        number = variables.tolist()
        of_pairs = (frozenset((number[i], number[j]) for i, j in pairs) for pairs in (self.edges, self.curved))
        of_columns = (frozenset(number[j] for j in columns) for columns in (self.shapeless, self.wandering))
        (edges, curved), (shapeless, wandering) = of_pairs, of_columns
        return Spoiled(edges, shapeless, wandering, curved)


@dataclass(frozen=True)
class Audit:
    """Findings of the checks of a fit.

    Attributes
    ----------
    assumptions : tuple of Assumption
    spoiled : Spoiled
    sorting : tuple of int
        Columns that follow the order of the rows.
    """

    assumptions: tuple[Assumption, ...] = ()
    spoiled: Spoiled = field(default_factory=Spoiled)
    sorting: tuple[int, ...] = ()


def audit(table: FittedTable) -> Audit:
    """Check the columns, the rows and the relations of a table.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.trust.check.audit import audit
    >>> from icid_rs.trust.check.table import FittedTable, Measured
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> X[:, 1] = X[:, 1] > 0
    >>> found = audit(FittedTable(X, ["age", "smokes"], sp.csr_array((2, 2)), np.arange(2)))
    >>> [(a.verdict, a.where) for a in found.assumptions if a.verdict != "pass"]
    [('fail', ("'smokes' (2 levels)",))]
    >>> sorted(found.spoiled.shapeless)
    [1]
    """
    if not table.d:
        return Audit()
    measured = table.as_measured
    levels, few = columns.levels(measured)
    ends = list(columns.end_values(measured))
    codes, coded = columns.codes(measured, ends)
    piles, piled = columns.piles(measured, ends)
    numbers, sorting = columns.row_numbers(measured)
    gross = rows.gross(table, coded)
    shapeless = frozenset((*few, *coded, *piled, *gross.columns))
    of_columns = (levels, codes, piles, numbers, gross.assumption)
    if table.n < _FEWEST_ROWS:
        return Audit(of_columns, Spoiled(shapeless=shapeless), sorting)
    order = rows.order(table, sorting)
    carried = edges.carried(table)
    curved = curves.curvature(table, (*few, *coded, *sorting), order.independent)
    return Audit(
        (*of_columns, carried.assumption, order.assumption, curved.assumption),
        Spoiled(
            edges=frozenset(carried.pairs),
            shapeless=shapeless,
            wandering=frozenset(order.wandering),
            curved=frozenset(curved.pairs),
        ),
        sorting,
    )


def audit_sample(
    sample: Sample,
    sem: LinearSem | CyclicSem,
    model: ColumnModel | None = None,
    layer: Layer | None = None,
    location: FloatArray | None = None,
) -> Audit:
    """Check the rows of a fit; without rows, or with few, nothing is checked.

    Relations are checked in complete rows, less what hidden causes of the layer explain; single values in all rows. Of
    a table with categories, its numbers are checked; of very many rows, consecutive ones from the middle, so that this
    costs little time and memory.
    """
    cells: FloatArray | None = None
    numbers: NDArray[np.intp] | None = None
    match sample:
        case Rows(values=X):
            numbers = sample.numbers
            consecutive = numbers is None
        case IncompleteRows(values=every):
            cells, numbers = every, np.flatnonzero(np.isfinite(every).all(axis=1))
            X, consecutive = every[numbers], False
        case Summary():
            X, consecutive = sample.rows, False
        case GivenTheta():
            return Audit()
    if len(X if cells is None else cells) < _FEWEST_ROWS:
        return Audit()
    first = max(0, (len(X) - _MOST_ROWS) // 2)
    some = X[first : first + _MOST_ROWS]
    places = np.arange(first, first + len(some)) if numbers is None else numbers[first : first + _MOST_ROWS]
    common = None
    if layer is not None and layer.hidden and location is not None:
        common = layer.hidden_part(some - location, sem.B, sem.noise_variances)
    described = (some, sample.names, sem.B, sem.order, model)
    is_plain = sample.facts.groups is None and sample.adjustment is None
    measured = Measured.of(some, cells, sample.encoding, is_plain=is_plain)
    found = audit(
        fitted_table(*described, consecutive=consecutive, cells=cells, numbers=places, common=common, measured=measured)
    )
    if model is None:
        return found
    numeric = np.flatnonzero(~model.is_wide)
    return replace(found, spoiled=found.spoiled.numbered(numeric), sorting=tuple(numeric[list(found.sorting)].tolist()))


def warn_of(found: Audit) -> None:
    """Warn once of each assumption that a table clearly violates, naming columns and rows."""
    for assumption in found.assumptions:
        if assumption.verdict == "fail" or (assumption.verdict == "doubt" and assumption.name in _DOUBTS_TOO):
            where = f": {listed(list(assumption.where))}" if assumption.where else ""
            warn_user(f"{assumption.finding}{where}. Remedy: {assumption.remedy}", AssumptionWarning)


#: Assumptions of which a doubt already deserves a warning: they mislead most, or are easily mended.
_DOUBTS_TOO = frozenset({"rows are independent", "relations are straight lines"})

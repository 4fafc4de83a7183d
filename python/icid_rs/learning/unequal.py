"""The search for the graph with unequal noise variances, of which nothing is supposed.

The residuals of each variable are Gaussian, or have a shape (two parameters, log n each), which gains 2 n times their
negentropy in twice the log-likelihood. Where no residual has a shape, none is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import FloatArray, Rows, csr_parts
from icid_rs.graph.sem import LinearSem
from icid_rs.learning.calibration import calibrate
from icid_rs.learning.price import lower_price, variance_price
from icid_rs.learning.search import BudgetedSearch, Effort, Searched
from icid_rs.precision.variants import Blocked, FewRows, Full, Wide
from icid_rs.report import PenaltyChoice, ShapeChoice

#: Estimates that a noise model is chosen for. The noise variances of categories have no common unit, and their
#: residuals no shape: they are unequal, and Gaussian.
Modelled: TypeAlias = Full | FewRows | Wide | Blocked
#: Shapes of residuals that compete with the Gaussian, by their names in the core.
_SHAPES = ("negentropy",)


def standardised(rows: Rows, estimate: Modelled) -> FloatArray:
    """Return the standardised variables in rows, as searches take them.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import fdr_precision
    >>> from icid_rs.learning.unequal import standardised
    >>> X = np.random.default_rng(0).normal(5.0, 2.0, (100, 3))
    >>> values = standardised(X, fdr_precision(X))
    >>> values.shape, values.std(axis=1).round(6).tolist()
    ((3, 100), [1.0, 1.0, 1.0])
    """
    return np.ascontiguousarray(((rows - estimate.location) / np.sqrt(estimate.variances)).T, dtype=np.float64)


@dataclass(frozen=True)
class Unequal:
    """The best graph with unequal noise variances, the price of an edge in it, and the scores of start orders."""

    found: Searched
    penalty: PenaltyChoice
    score: float
    shape: str
    residuals: ShapeChoice
    starts: dict[str, float]


@dataclass(frozen=True)
class UnequalSearch:
    """Searches of a table with unequal noise variances.

    Attributes
    ----------
    estimate : Full, FewRows, Wide or Blocked
    rows : array of shape (n, d), optional
        Rows that show the shape of residuals; without them residuals are Gaussian.
    searches : BudgetedSearch
    proposed : array of shape (d,), optional
        The order of the decomposition, if searches start from it too.
    base : float
        The ordinary price of an edge.
    is_penalty_given : bool
        Whether an edge has this price in any case.
    n_threads : int, optional
    """

    estimate: Modelled
    rows: Rows | None
    searches: BudgetedSearch
    proposed: NDArray[np.intp] | None
    base: float
    is_penalty_given: bool
    n_threads: int | None

    def run(self) -> Unequal:
        """Search without supposing anything of the noise variances.

        By default the starts do not depend on the units of the columns, as the order of the decomposition does.
        """
        searches, base, n, d = self.searches, self.base, self.estimate.samples, self.estimate.variables
        starts = {} if searches.is_exact(None) else self.estimate.start_orders(searches.searcher)
        if self.proposed is not None:
            starts |= {"decomposition": self.proposed}
        # The residuals of a first graph show whether they are Gaussian.
        found = searches.run(starts, penalty=base)
        gains = {shape: self.shape_gains(found.sem, shape) for shape in _SHAPES}
        shape = max(_SHAPES, key=lambda shape: float(gains[shape].sum()))
        # The largest of d gains exceeds this by chance in about one table of n.
        gain, threshold = float(gains[shape].max()), 2 * float(np.log(d))
        start_scores, values = found.start_scores, None
        if self.rows is not None and gain > threshold:
            # Shapes may favour another start, so that all of them compete again.
            values = standardised(self.rows, self.estimate)
            found = searches.run(starts | {"search": found.sem.order}, penalty=base, values=values, shape=shape)
            start_scores = found.start_scores

        def descend(penalty: float, last: Searched, effort: Effort | None = None, share: float = 1.0) -> Searched:
            """Go on from a graph that was found with another penalty."""
            from_last = {"search": last.sem.order}
            return searches.run(from_last, penalty=penalty, values=values, shape=shape, effort=effort, share=share)

        def improve(last: Searched, penalty: float, share: float = 1.0) -> Searched:
            """Try to improve a graph by trials."""
            if last.ended == "proven":
                return last
            further = descend(penalty, last, searches.effort, share)
            return replace(last.or_better(further), ended=further.ended)

        # Calibrate the null on the best graph: missing edges would look like inflation.
        first = improve(found, base, 1.0 if self.is_penalty_given else 0.5)
        found, inflation, edge = first, 1.0, base
        if not (self.is_penalty_given or searches.limit.is_over):
            found, inflation = calibrate(first, lambda factor: descend(base * factor, first), searches.searcher)
            if inflation == 1.0:
                found, edge = lower_price(first, base, descend, n, d)
        if edge * inflation != base or found.ended == "out of time":
            found = improve(found, edge * inflation)
        # Noise models are compared at the ordinary price.
        ordinary = first if inflation == 1.0 else found
        score = ordinary.score + n * float(np.log(self.estimate.variances).sum())
        score += variance_price(self.estimate.variances, n)
        # Shapes determine directions only if they counted in the score.
        shaped: list[int] = []
        if values is not None:
            shaped = np.flatnonzero(self.shape_gains(found.sem, shape)).tolist()
        residuals = ShapeChoice(values is not None, gain, threshold, tuple(shaped), shape)
        return Unequal(found, PenaltyChoice(edge, inflation), score, shape, residuals, start_scores)

    def shape_gains(self, sem: LinearSem, shape: str) -> FloatArray:
        """Return the gain of each variable's residual shape in the score; zero without rows."""
        if self.rows is None:
            return np.zeros(1)
        parts, threads = csr_parts(sem.B), self.n_threads
        return _core.shape_statistics(self.rows, self.estimate.location, parts, n_threads=threads, shape=shape)

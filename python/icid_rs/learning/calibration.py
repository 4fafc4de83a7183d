"""The inflation of the null: how far the correlations of residuals exceed chance.

Without an edge between two variables, their residuals should be uncorrelated, with n r² distributed as χ² with one
degree of freedom. Where the linear model fits only roughly, or rows are not independent, n r² is larger throughout, and
an edge must stand out against that. The core compares the upper tail of n r² with that of χ².
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from icid_rs import _core
from icid_rs._util.validation import csr_parts
from icid_rs.graph.sem import LinearSem

#: Rounds in which the inflation is brought up to date.
_ROUNDS = 4
#: One edge in this many, at least, must survive a higher penalty.
_SURVIVING = 4
#: A relative change of the inflation that is worth another round.
_NOTABLE = 1.1


class _Fit(Protocol):
    @property
    def sem(self) -> LinearSem: ...


FitT = TypeVar("FitT", bound=_Fit)


def calibrate(first: FitT, fit: Callable[[float], FitT], searcher: _core.Searcher) -> tuple[FitT, float]:
    """Raise the penalty until the null of the graph fitted with it is no more inflated than the penalty.

    Raising the penalty drops edges. If these were real, the null looks worse than before, and the penalty runs away. So
    an inflation that is no fixed point after a few rounds, or that leaves few of the edges, is not believed, and the
    first graph is kept.

    Parameters
    ----------
    first : a fit with an attribute ``sem``
        The graph fitted with the ordinary penalty.
    fit : callable
        Fits the graph with a penalty so many times the ordinary one.
    searcher : _core.Searcher
        Measures the inflation.

    Returns
    -------
    fit, inflation
    """
    fitted, inflation = first, 1.0
    for _ in range(_ROUNDS):
        measured = searcher.null_inflation(csr_parts(fitted.sem.B))
        if measured <= inflation * _NOTABLE:
            return fitted, inflation
        inflation = measured
        fitted = fit(inflation)
        if _SURVIVING * fitted.sem.B.nnz < first.sem.B.nnz:
            break
    return first, 1.0

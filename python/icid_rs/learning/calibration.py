"""The inflation of the null: how far the correlations of residuals exceed chance.

Without an edge between two variables, their residuals should be uncorrelated, with n r² distributed as χ² with one
degree of freedom. Where the linear model fits only roughly, or rows are not independent, n r² is larger throughout, and
an edge must stand out against that. The core compares the upper tail of n r² with that of χ², provided that its median
exceeds that of χ² too: many weak edges that the graph lacks raise the tail alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from icid_rs._util.validation import csr_parts
from icid_rs.learning.order import OrderFit
from icid_rs.learning.search import Searched
from icid_rs.precision.variants import Searcher

#: Most rounds of measuring the inflation and refitting.
_ROUNDS = 4
#: At least one edge in this many must survive a higher penalty.
_SURVIVING = 4
#: A relative change of the inflation that is worth another round.
_NOTABLE = 1.1
#: An inflation that grows to so many times the first one is made by the edges that are dropped.
_RUNAWAY = 3.0

FitT = TypeVar("FitT", OrderFit, Searched)


def calibrate(first: FitT, fit: Callable[[float], FitT], searcher: Searcher) -> tuple[FitT, float]:
    """Multiply the penalty by the inflation of the null, until refitting with that penalty inflates it no further.

    A higher penalty drops edges. If these were real, the residuals of the variables they joined become correlated, and
    the inflation grows with the penalty. So the first graph is kept if the inflation has not settled after a few
    rounds or has grown several times over, or if few edges survive.

    Parameters
    ----------
    first : OrderFit or Searched
        The graph fitted with the ordinary penalty.
    fit : callable
        Fits the graph, given the factor by which to multiply the ordinary penalty.
    searcher : Searcher
        Measures the inflation.

    Returns
    -------
    fit, inflation
    """
    fitted, inflation, limit = first, 1.0, np.inf
    for _ in range(_ROUNDS):
        measured = searcher.null_inflation(csr_parts(fitted.sem.B))
        if measured <= inflation * _NOTABLE:
            return fitted, inflation
        if measured > limit:
            break
        limit = min(limit, _RUNAWAY * measured)
        inflation = measured
        fitted = fit(inflation)
        if _SURVIVING * fitted.sem.B.nnz < first.sem.B.nnz:
            break
    return first, 1.0

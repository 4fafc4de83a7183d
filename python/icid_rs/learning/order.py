"""Graphs fitted along a causal order: that of elimination, or that of the decomposition if it scores better.

The ℓ1 penalty of the decomposition biases its weights and leaves small ones, and it stops at local minima. Its causal
order is worth more than its weights. Given an order, the graph is a matter of regression: the causes of a variable are
the predecessors that earn their penalty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs.graph.sem import LinearSem
from icid_rs.precision.variants import NumberSearcher
from icid_rs.report import Refinement


@dataclass(frozen=True)
class OrderFit:
    """A graph fitted along an order, and the record of its competitors."""

    sem: LinearSem
    report: Refinement


def best_order(
    searcher: NumberSearcher, proposed: NDArray[np.intp], penalty: float, noise_variances: FloatArray | None
) -> OrderFit:
    """Fit graphs along the order of elimination and along a proposed one, and keep the better.

    Parameters
    ----------
    searcher : NumberSearcher
    proposed : array of shape (d,)
        A causal order.
    penalty : float
        The least gain in twice the log-likelihood that is worth an edge.
    noise_variances : array of shape (d,), optional
        Ω if it is known; otherwise all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets, fdr_precision
    >>> from icid_rs.learning.order import best_order
    >>> B = datasets.random_dag(10, 1, random_state=0)
    >>> estimate = fdr_precision(datasets.sample_sem(B, 1000, random_state=0))
    >>> fit = best_order(estimate.searcher(None, None), np.arange(10), 16.0, None)
    >>> bool(((fit.sem.B != 0) != (B != 0)).sum() == 0)
    True
    """
    found = searcher.best_order(proposed.astype(np.int64), penalty=penalty, noise_variances=noise_variances)
    return OrderFit(LinearSem.from_core(found.sem), Refinement(found.order, found.scores, found.score, penalty))

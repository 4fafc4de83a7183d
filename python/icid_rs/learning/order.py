"""Graphs fitted along a causal order: that of elimination, or that of the decomposition if it scores better.

The ℓ1 penalty of the decomposition biases its weights and leaves small ones, and it stops at local minima. Its causal
order is worth more than its weights. Given an order, the graph is a matter of regression: the causes of a variable are
the predecessors that earn their penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import FloatArray
from icid_rs._util.warn import warn_user
from icid_rs.decomposition.elimination import eliminate
from icid_rs.graph.sem import LinearSem
from icid_rs.options import Options
from icid_rs.precision.neighbourhood import regress_on_rows
from icid_rs.precision.variants import Wide
from icid_rs.report import Choices, NoiseChoice, PenaltyChoice, Refinement

#: Width of the middle half of a Gaussian, in standard deviations.
_HALF_OF_A_GAUSSIAN = 1.349


@dataclass(frozen=True)
class OrderFit:
    """A graph fitted along an order, and the record of its competitors."""

    sem: LinearSem
    report: Refinement


def best_order(
    searcher: _core.Searcher, proposed: NDArray[np.intp], penalty: float, noise_variances: FloatArray | None
) -> OrderFit:
    """Fit graphs along the order of elimination and along a proposed one, and keep the better.

    Parameters
    ----------
    searcher : _core.Searcher
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


def best_order_of_rows(
    estimate: Wide, proposed: NDArray[np.intp], noise_variances: FloatArray | None, options: Options
) -> tuple[OrderFit, Choices]:
    """Fit graphs as `best_order` does, from rows instead of a covariance, which would be too large.

    Warns
    -----
    UserWarning
        If noise variances differ by more than the number of rows explains, so that directions may be wrong.
    """
    n, d = estimate.samples, estimate.theta.shape[0]
    penalty, n_threads = options.edge_penalty(n, d), options.n_threads
    noise: Literal["equal"] | FloatArray = "equal" if noise_variances is None else noise_variances
    orders = {"elimination": eliminate(estimate.theta, noise_variances, n_threads=n_threads).order}
    orders["decomposition"] = proposed
    fits, scores = {}, {}
    for name, order in orders.items():
        sem = regress_on_rows(
            estimate.values, estimate.covariance, estimate.theta, order, samples=n, penalty=penalty, n_threads=n_threads
        )
        fits[name] = sem
        scores[name] = _core.score(sem.noise_variances, sem.B.nnz, samples=n, penalty=penalty, noise=noise)
    chosen = min(scores, key=lambda name: scores[name])
    spread = _spread(fits[chosen].noise_variances)
    # A noise variance of its own gains a variable n · spread² / 2 in twice the log-likelihood, and costs log n.
    if noise_variances is None and n * spread**2 / 2 > np.log(n):
        warn_user(
            "noise variances do not look equal, but there are too many variables for a search that needs no such "
            "supposition: directions may be wrong; choose fewer columns, or pass noise_variances"
        )
    choices = Choices(
        NoiseChoice("equal" if noise_variances is None else "known", {"spread of logarithms": spread}),
        PenaltyChoice(penalty, 1.0),
        search=f"left out: {d} variables are too many",
    )
    return OrderFit(fits[chosen], Refinement(chosen, scores, scores[chosen], penalty, {"kind": "order"})), choices


def _spread(variances: FloatArray) -> float:
    """Estimate the standard deviation of log variances by their middle half: missed causes inflate a few of them."""
    low, high = np.quantile(np.log(variances), [0.25, 0.75])
    return float(high - low) / _HALF_OF_A_GAUSSIAN

"""What happens after the decomposition: orders compete, and each graph is fitted along its order.

The ℓ1 penalty of the decomposition biases its weights and leaves small ones, and it stops at local minima. Its causal
order is worth more than its weights. Elimination (`eliminate`) proposes another order. Given an order, the graph is a
matter of regression: the causes of a variable are the predecessors that earn their penalty. The better score wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._validation import FloatArray, csr_parts
from icid_rs.elimination import Elimination, eliminate, eliminate_along, from_parts
from icid_rs.knowledge import Knowledge
from icid_rs.neighbours import regress_on_rows
from icid_rs.precision import Precision
from icid_rs.search import candidate_pairs, correlation_matrix

#: Relative difference of noise variances that rounding explains.
_SAME = 1e-6
#: Share of nonzeros from which a support is no restriction any more.
_DENSE_SHARE = 0.1


@dataclass(frozen=True)
class Refined:
    """A graph fitted along an order, and what it was preferred to."""

    B: sp.csr_array[np.float64, tuple[int, int]]
    order: NDArray[np.intp]
    noise_variances: FloatArray
    info: dict[str, Any]


def edge_penalty(n: int, d: int) -> float:
    """Compute what an edge must gain in twice the log-likelihood: log n + 4 log d.

    This is the extended BIC with γ = 1 (Foygel and Drton 2010). BIC alone, log n, lets in a share of the d² possible
    edges that does not fall with d.

    Examples
    --------
    >>> from icid_rs.refine import edge_penalty
    >>> round(edge_penalty(1000, 100), 1)
    25.3
    """
    return float(np.log(n) + 4.0 * np.log(d))


def refine_by_order(
    estimate: Precision,
    n: int,
    proposed: NDArray[np.intp],
    noise_variances: FloatArray | None,
    n_threads: int | None,
    *,
    penalty: float | None = None,
    knowledge: Knowledge | None = None,
) -> Refined:
    """Fit graphs along the order of elimination and along a proposed one, and keep the better.

    The two compete with causes inside the support of Θ, which is cheap. What wins is fitted again with causes among all
    predecessors: where paths cancel, Θ is zero between a cause and its effect. Where there are too few rows for that,
    and so no inverse, causes are `candidate_pairs`.

    Parameters
    ----------
    estimate : Precision
        With its covariance, and its inverse if there is one.
    n : int
        Number of samples.
    proposed : array of shape (d,)
        A causal order.
    noise_variances : array of shape (d,), optional
        Ω if it is known; otherwise all are equal.
    n_threads : int, optional
    penalty : float, optional
        What an edge must gain in twice the log-likelihood; by default `edge_penalty`.
    knowledge : Knowledge, optional
        What is known of the edges.

    Returns
    -------
    Refined

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets, fdr_precision
    >>> from icid_rs.refine import refine_by_order
    >>> B = datasets.random_dag(10, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 1000, random_state=0)
    >>> refined = refine_by_order(fdr_precision(X), 1000, np.arange(10), None, None)
    >>> bool(((refined.B != 0) != (B != 0)).sum() == 0)
    True
    """
    covariance, inverse = estimate.covariance, estimate.inverse
    penalty = edge_penalty(n, covariance.shape[0]) if penalty is None else penalty
    known = None if knowledge is None else knowledge.parts
    if knowledge is not None:
        proposed = knowledge.arrange(proposed)
    given: dict[str, Any] = {
        "samples": n,
        "penalty": penalty,
        "noise_variances": noise_variances,
        "knowledge": known,
        "n_threads": n_threads,
    }

    def within(pattern: Any, order: NDArray[np.intp]) -> tuple[Elimination, float]:
        if estimate.values is not None:
            fit = regress_on_rows(
                estimate.values, covariance, pattern, order, samples=n, penalty=penalty, n_threads=n_threads
            )
            return fit, order_score(fit, n, penalty, noise_variances)
        parts, score = _core.regress_within(csr_parts(pattern), covariance, order=order.astype(np.int64), **given)
        return from_parts(parts), score

    if inverse is None:
        eliminated = eliminate(estimate.theta, noise_variances, n_threads=n_threads).order
        orders = {"elimination": eliminated if knowledge is None else knowledge.arrange(eliminated)}
        orders["decomposition"] = proposed
        pairs = estimate.theta
        if estimate.values is None:
            pairs = candidate_pairs(estimate, correlation_matrix(covariance), n)
        fits = {name: within(pairs, order) for name, order in orders.items()}
        scores = {name: score for name, (_, score) in fits.items()}
        chosen = min(scores, key=lambda name: scores[name])
        fitted, best = fits[chosen]
        info = {"order": chosen, "scores": scores, "score": best, "penalty": penalty}
        return Refined(fitted.B, fitted.order, fitted.noise_variances, info)

    def fit(order: NDArray[np.intp] | None) -> tuple[Elimination, float]:
        given_order = None if order is None else order.astype(np.int64)
        parts, score = _core.regress_along(inverse, covariance, order=given_order, **given)
        return from_parts(parts), score

    fitted, best = fit(None)
    chosen = "elimination"
    if estimate.theta.nnz > _DENSE_SHARE * len(covariance) ** 2:
        # Regressing on half of all variables is not cheap: candidates are better found among all predecessors.
        other, score = fit(proposed)
        scores = {"elimination": best, "decomposition": score}
    else:
        scores = {
            "elimination": within(estimate.theta, fitted.order)[1],
            "decomposition": within(estimate.theta, proposed)[1],
        }
    if scores["decomposition"] < scores["elimination"]:
        other, score = fit(proposed)
        if score < best:
            fitted, best, chosen = other, score, "decomposition"
    info = {"order": chosen, "scores": scores, "score": best, "penalty": penalty}
    return Refined(fitted.B, fitted.order, fitted.noise_variances, info)


def order_score(fit: Elimination | Refined, n: int, penalty: float, noise_variances: FloatArray | None) -> float:
    """Compute twice the negative log-likelihood up to a constant, plus the penalties; noise is known or equal.

    Examples
    --------
    >>> from icid_rs import datasets, eliminate
    >>> from icid_rs.refine import order_score
    >>> fit = eliminate(datasets.sem_precision(datasets.random_dag(10, 1, random_state=0)))
    >>> round(order_score(fit, 100, 5.0, None), 6)            # noise variances of 1, ten edges
    50.0
    """
    left = fit.noise_variances
    misfit = left.size * np.log(left.mean()) if noise_variances is None else np.sum(left / noise_variances)
    return float(n * misfit + penalty * fit.B.nnz)


def refine_exactly(
    theta: Any,
    proposed: NDArray[np.intp],
    noise_variances: FloatArray | None,
    n_threads: int | None = None,
    *,
    knowledge: Knowledge | None = None,
) -> Refined:
    """Decompose a given Θ along the order of elimination and along a proposed one, and keep the better.

    Both are exact. The product of the noise variances is the determinant of Θ⁻¹ whatever the order, so the one whose
    variances are closest to those supposed, or to each other, has the smallest sum of Ω_j D_j. In ``info``,
    ``confirmed`` says that they are those supposed, up to a common factor, and that all edges lie in the support of Θ:
    then Θ is that of a model, not an estimate. With `knowledge`, orders respect it; ``respectful`` says that edges do,
    too, and a Θ that contradicts it is not confirmed.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets
    >>> from icid_rs.refine import refine_exactly
    >>> B = datasets.random_dag(10, 1, random_state=0)
    >>> refined = refine_exactly(datasets.sem_precision(B), np.arange(10), None)
    >>> bool(abs(refined.B - B).max() < 1e-12)
    True
    """
    supposed = 1.0 if noise_variances is None else noise_variances
    if knowledge is None:
        first = eliminate(theta, noise_variances, n_threads=n_threads)
    else:
        first = _eliminate_respecting(theta, noise_variances, knowledge, n_threads)
        proposed = knowledge.arrange(proposed)
    fits = {"elimination": first, "decomposition": eliminate_along(theta, proposed, n_threads=n_threads)}
    scores = {name: float(np.sum(fit.noise_variances / supposed)) for name, fit in fits.items()}
    # What differs by rounding is a draw, which the sparser graph wins.
    best = min(scores.values())
    chosen = min((name for name in fits if scores[name] <= best * (1 + 1e-9)), key=lambda name: fits[name].B.nnz)
    fitted = fits[chosen]
    ratio = fitted.noise_variances / supposed
    inside = (abs(fitted.B) > 0).multiply(theta != 0).nnz == fitted.B.nnz
    respectful = knowledge is None or (
        (knowledge.required_pattern() > (abs(fitted.B) > 0)).nnz == 0 and knowledge.forbidden_in(fitted.B).nnz == 0
    )
    confirmed = bool(respectful and inside and ratio.max() <= ratio.min() * (1 + _SAME))
    info = {"order": chosen, "scores": scores, "score": scores[chosen], "penalty": 0.0}
    info |= {"confirmed": confirmed, "respectful": respectful}
    return Refined(fitted.B, fitted.order, fitted.noise_variances, info)


def _eliminate_respecting(
    theta: Any, noise_variances: FloatArray | None, knowledge: Knowledge, n_threads: int | None
) -> Elimination:
    parts = _core.eliminate_dense(
        theta.toarray(),
        order=None,
        noise_variances=noise_variances,
        drop=0.0,
        knowledge=knowledge.parts,
        n_threads=n_threads,
    )
    return from_parts(parts)

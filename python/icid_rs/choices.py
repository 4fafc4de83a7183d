"""Choosing without the truth: noise model, start, penalty, and whether the shape of the residuals counts.

Everything is decided by one score, twice the negative log-likelihood plus penalties in the manner of BIC:

- Noise variances are equal (one parameter) or unequal (d parameters, log n each).
- Residuals are Gaussian, or have a shape: skewness and kurtosis for each variable (2 d parameters, log n each). What
  the shape gains in twice the log-likelihood is n (skewness²/6 + excess kurtosis²/24) for each variable, to leading
  order; that is the statistic of Jarque and Bera.
- An edge costs log n + 4 log d (`refine.edge_penalty`), times the inflation of the null.

The null is what the residuals of variables without an edge between them should be: uncorrelated, with n r² distributed
as χ² with one degree of freedom. Where the linear model fits only roughly, or rows are not independent, n r² is larger
throughout, and an edge must stand out against that. The inflation compares the tails: the quantile of n r² that leaves
out one pair in a hundred (five pairs at least, so that a few missed edges do not count) with that of χ². It is about 1
where the model is right and the graph has been found; an inflation that would cost most of the edges, or that grows
with every edge it drops, is not believed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import chi2

from icid_rs._validation import FloatArray
from icid_rs.knowledge import Knowledge
from icid_rs.precision import Precision
from icid_rs.refine import Refined, edge_penalty, refine_by_order
from icid_rs.search import Searched, search_orders, smallest_pivots

#: Rounds in which the inflation of the null is brought up to date.
_ROUNDS = 4
#: One edge in this many, at least, must survive a higher penalty.
_SURVIVING = 4
#: A relative change of the inflation that is worth another round.
_NOTABLE = 1.1
#: Rows whose residuals are looked at together.
_BLOCK_ROWS = 256
#: Residuals that are looked at together: enough for the products, few enough to stay near.
_BLOCK_COLUMNS = 128

Csr: TypeAlias = "sp.csr_array[np.float64, tuple[int, int]]"
#: A graph with its weights, however it was found.
Fitted = TypeVar("Fitted", Refined, Searched)
#: Causal orders by name: ``"first"`` the cheapest, ``"gaussian"`` more of them, ``"shaped"`` those that use the shape
#: of the noise.
Propose = Callable[[Literal["first", "gaussian", "shaped"]], dict[str, NDArray[np.intp]]]


def null_inflation(B: Csr, covariance: FloatArray, n: int) -> float:
    """Compare the tail of squared correlations between residuals with what chance explains.

    Parameters
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
        A graph with its weights.
    covariance : array of shape (d, d)
    n : int
        Number of samples.

    Returns
    -------
    float
        At least 1.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> from icid_rs.choices import null_inflation
    >>> X = datasets.sample_sem(datasets.random_dag(40, 1, random_state=0), 1000, random_state=0)
    >>> model = ICID().fit(X)
    >>> null_inflation(model.adjacency_matrix_, model.covariance_, 1000) < 1.3
    True
    """
    squares = _residual_squares(B, covariance)
    if squares.size < 4:
        return 1.0
    tail = float(np.clip(5 / squares.size, 0.01, 0.5))
    largest = np.quantile(squares, 1.0 - tail, overwrite_input=True)
    return max(1.0, float(n * largest / chi2.isf(tail, 1)))


def _residual_squares(B: Csr, covariance: FloatArray) -> FloatArray:
    """Return the squared correlations between the residuals of pairs without an edge.

    Some residuals at a time, with those before them: their covariance in full would be as large as that of the columns.
    """
    d = len(covariance)
    A = sp.csr_array(sp.eye_array(d) - B.T)
    joined = sp.csr_array(abs(B) + abs(B.T))
    squares, filled = np.empty(d * (d - 1) // 2), 0
    variances = np.empty(d)
    for start in range(0, d, _BLOCK_COLUMNS):
        block = slice(start, min(start + _BLOCK_COLUMNS, d))
        cross = np.ascontiguousarray((A[block] @ covariance).T)
        residual = np.asarray(A[: block.stop] @ cross)
        variances[block] = residual[block].diagonal()
        residual **= 2
        residual /= variances[block]
        residual /= variances[: block.stop, None]
        # Each pair once, and those that are joined not at all.
        apart = ~np.tri(block.stop, residual.shape[1], -start, dtype=bool)
        apart[joined[: block.stop, block].nonzero()] = False
        found = residual[apart]
        squares[filled : filled + found.size] = found
        filled += found.size
    return squares[:filled]


def shape_statistics(X: FloatArray, location: FloatArray, B: Csr) -> FloatArray:
    """Compute n (skewness²/6 + excess kurtosis²/24) for the residuals of each variable.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.choices import shape_statistics
    >>> X = np.random.default_rng(0).exponential(size=(1000, 2))
    >>> bool((shape_statistics(X, X.mean(axis=0), sp.csr_array((2, 2))) > 100).all())
    True
    """
    n, d = X.shape
    # By variables, as the product with a sparse matrix wants them, and few rows at a time, so that they stay at hand.
    A = sp.csr_array((sp.eye_array(d) - B).T)
    sums = np.zeros((3, d))
    for start in range(0, n, _BLOCK_ROWS):
        centred = np.array(X[start : start + _BLOCK_ROWS].T, order="C")
        centred -= location[:, None]
        residual = np.asarray(A @ centred)
        square = residual * residual
        sums[0] += square.sum(axis=1)
        sums[1] += np.einsum("ij,ij->i", square, residual)
        sums[2] += np.einsum("ij,ij->i", square, square)
    second, third, fourth = sums / n
    return np.asarray(n * ((third / second**1.5) ** 2 / 6 + (fourth / second**2 - 3) ** 2 / 24))


def refine_by_search(
    X: FloatArray | None,
    location: FloatArray,
    estimate: Precision,
    propose: Propose,
    *,
    samples: int | None = None,
    noise: str,
    noise_variances: FloatArray | None,
    knowledge: Knowledge | None = None,
    always: bool,
    trials: int,
    seconds: float | None,
    seed: int,
    n_threads: int | None,
) -> Refined:
    """Choose the noise model, and search for the graph where elimination does not give it.

    Parameters
    ----------
    X : array of shape (n, d), optional
        All rows or some of them, which show the shape of residuals; without any, residuals are taken to be Gaussian.
    location : array of shape (d,)
        The means of X.
    estimate : Precision
        With its covariance, and its inverse if there is one.
    propose : callable
        Given ``"first"``, ``"gaussian"`` or ``"shaped"``, returns causal orders by name.
    samples : int, optional
        What all the rows are worth, if not their number; needed without X.
    noise : {"auto", "equal", "unequal"}
    noise_variances : array of shape (d,), optional
        Ω if it is known.
    knowledge : Knowledge, optional
        What is known of the edges.
    always : bool
        Search even if noise variances are equal or known, so that elimination gives the graph.
    trials, seconds, seed, n_threads
        See `search.search_orders`.

    Returns
    -------
    Refined

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets, fdr_precision
    >>> from icid_rs.choices import refine_by_search
    >>> X = datasets.sample_sem(datasets.random_dag(20, 1, random_state=0), 500, random_state=0)
    >>> budget = {"trials": 0, "seconds": None, "seed": 0, "n_threads": None}
    >>> given = {"noise": "auto", "noise_variances": None, "always": False}
    >>> refined = refine_by_search(X, X.mean(axis=0), fdr_precision(X), lambda kind: {}, **given, **budget)
    >>> refined.info["choices"]["noise"]["chosen"]
    'equal'
    """
    covariance = estimate.covariance
    d = len(covariance)
    if samples is None:
        assert X is not None, "there are samples, or their number"
        samples = len(X)
    n = samples
    base = edge_penalty(n, d)
    deadline = None if seconds is None else time.monotonic() + seconds

    def left() -> float | None:
        return None if deadline is None else max(0.0, deadline - time.monotonic())

    choices: dict[str, Any] = {}
    proposed = propose("first")
    given: dict[str, Any] = {"knowledge": knowledge, "n_threads": n_threads}

    ordered, inflation = None, 1.0
    if noise != "unequal" or noise_variances is not None:
        ordered, inflation = _calibrated_order(estimate, n, proposed, noise_variances, knowledge, n_threads)
        if estimate.inverse is None:
            ordered, inflation = _mended(ordered, estimate, n, noise_variances, seconds=left(), **given)
        score = _equal_score(ordered, n, ordered.info["penalty"])
        same_graph = _unequal_score(ordered, n, ordered.info["penalty"])
        settled = noise == "equal" or noise_variances is not None or score <= same_graph
        # Elimination follows what is known of orders, not of single edges.
        if settled and not always and (knowledge is None or knowledge.is_order):
            chosen = "known" if noise_variances is not None else "equal"
            choices["noise"] = {"chosen": chosen, "equal": score, "unequal, same graph": same_graph}
            choices["penalty"] = {"edge": base, "inflation": inflation}
            return _with(ordered, "order" if estimate.inverse is not None else "search", choices)
        if settled:
            omega = np.full(d, ordered.noise_variances.mean()) if noise_variances is None else noise_variances
            found = search_orders(
                estimate,
                n,
                {**proposed, "elimination": ordered.order},
                penalty=base * inflation,
                noise_variances=omega,
                trials=trials,
                seconds=left(),
                seed=seed,
                **given,
            )
            choices["noise"] = {"chosen": "known" if noise_variances is not None else "equal", "equal": score}
            choices["penalty"] = {"edge": base, "inflation": inflation}
            return _from_search(found, choices)
        proposed["elimination"] = ordered.order

    # A first graph, to see what residuals look like.
    starts = {"smallest pivots": smallest_pivots(estimate, n_threads), **proposed, **propose("gaussian")}
    found = search_orders(estimate, n, starts, penalty=base, seconds=left(), **given)
    start_scores = found.start_scores
    shape = 0.0 if X is None else float(shape_statistics(X, location, found.B).sum())
    gaussian = shape <= 2 * d * np.log(n)
    values = None
    if X is not None and not gaussian:
        # What was good without the shapes of the residuals need not be with them: all start again.
        starts.update(propose("shaped"))
        values = np.ascontiguousarray(((X - location) / np.sqrt(covariance.diagonal())).T)
        starts["search"] = found.order
        found = search_orders(estimate, n, starts, penalty=base, values=values, seconds=left(), **given)
        start_scores = found.start_scores
    pivots = starts["smallest pivots"]

    def search(penalty: float, start: NDArray[np.intp], trials: int, share: float = 1.0) -> Searched:
        remaining = left()
        return search_orders(
            estimate,
            n,
            {"search": start} if trials else {"smallest pivots": pivots, "search": start},
            penalty=penalty,
            values=values,
            trials=trials,
            seconds=None if remaining is None else remaining * share,
            seed=seed,
            **given,
        )

    # The null is judged by the best graph: one that is not found out yet leaves residuals that look inflated.
    found = min(found, search(base, found.order, trials, share=0.5), key=_score)
    calibrated, inflation = _calibrate(found, lambda penalty: search(penalty, found.order, 0), covariance, n, base)
    if left() == 0.0:
        # Graphs that time has cut short say nothing of the null.
        calibrated, inflation = found, 1.0
    missing = trials if inflation > 1.0 else trials - found.trials
    if missing > 0:
        found = min(calibrated, search(base * inflation, calibrated.order, missing), key=_score)

    score = found.score + n * float(np.log(covariance.diagonal()).sum()) + d * float(np.log(n))
    choices["noise"] = {"chosen": "unequal", "unequal": score}
    shaped = [] if X is None else np.flatnonzero(shape_statistics(X, location, found.B) > 2 * np.log(n)).tolist()
    choices["residuals"] = {
        "gaussian": bool(gaussian),
        "shape": shape,
        "threshold": float(2 * d * np.log(n)),
        "shaped": shaped,
        "shaped variables": len(shaped),
    }
    choices["penalty"] = {"edge": base, "inflation": inflation}
    choices["starts"] = start_scores
    if ordered is not None:
        equal = _equal_score(ordered, n, base * inflation)
        if X is not None and not gaussian:
            equal -= float(shape_statistics(X, location, ordered.B).sum())
        choices["noise"]["equal"] = equal
        if equal < score:
            choices["noise"]["chosen"] = "equal"
            return _with(ordered, "order", choices)
    return _from_search(found, choices)


def refine_large(
    estimate: Precision,
    n: int,
    proposed: NDArray[np.intp],
    noise_variances: FloatArray | None,
    n_threads: int | None,
) -> Refined:
    """Fit along the better order, where there are too many variables for a search; and say so.

    Warns
    -----
    UserWarning
        If unequal noise variances would fit the graph better, so that directions may be wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets
    >>> from icid_rs.choices import refine_large
    >>> from icid_rs.neighbours import large_precision
    >>> from icid_rs.precision import Stopwatch
    >>> X = datasets.sample_sem(datasets.random_dag(20, 1, random_state=0), 200, random_state=0)
    >>> estimate, _ = large_precision(X, 200, range(20), Stopwatch())
    >>> refine_large(estimate, 200, np.arange(20), None, None).info["choices"]["search"]
    'left out: 20 variables are too many'
    """
    refined = refine_by_order(estimate, n, proposed, noise_variances, n_threads)
    penalty = refined.info["penalty"]
    scores = {"equal": _equal_score(refined, n, penalty), "unequal, same graph": _unequal_score(refined, n, penalty)}
    if noise_variances is None and scores["equal"] > scores["unequal, same graph"]:
        warnings.warn(
            "noise variances do not look equal, but there are too many variables for a search that needs no such "
            "supposition: directions may be wrong; choose fewer columns, or pass noise_variances",
            UserWarning,
            stacklevel=4,
        )
    choices = {
        "noise": {"chosen": "equal" if noise_variances is None else "known", **scores},
        "penalty": {"edge": penalty, "inflation": 1.0},
        "search": f"left out: {estimate.theta.shape[0]} variables are too many",
    }
    return _with(refined, "order", choices)


def _calibrated_order(
    estimate: Precision,
    n: int,
    proposed: dict[str, NDArray[np.intp]],
    noise_variances: FloatArray | None,
    knowledge: Knowledge | None,
    n_threads: int | None,
) -> tuple[Refined, float]:
    """Fit along an order with a penalty that follows the residuals."""
    d = len(estimate.covariance)
    base = edge_penalty(n, d)
    proposal = proposed.get("decomposition", np.arange(d))

    def fit(penalty: float) -> Refined:
        return refine_by_order(estimate, n, proposal, noise_variances, n_threads, penalty=penalty, knowledge=knowledge)

    return _calibrate(fit(base), fit, estimate.covariance, n, base)


def _mended(
    ordered: Refined, estimate: Precision, n: int, noise_variances: FloatArray | None, **given: Any
) -> tuple[Refined, float]:
    """Move variables where that fits better: with few rows the order of elimination errs here and there."""
    base = edge_penalty(n, len(estimate.covariance))

    def search(penalty: float, start: Any) -> Searched:
        size = np.full(len(start.order), start.noise_variances.mean())
        omega = size if noise_variances is None else noise_variances
        return search_orders(estimate, n, {"order": start.order}, penalty=penalty, noise_variances=omega, **given)

    # What is mended has less noise, by which it can be judged better.
    found = search(base, search(base, ordered))
    found, inflation = _calibrate(found, lambda penalty: search(penalty, found), estimate.covariance, n, base)
    info = {**ordered.info, "order": "search", "score": found.score, "penalty": base * inflation}
    return Refined(found.B, found.order, found.noise_variances, info), inflation


def _calibrate(
    first: Fitted, fit: Callable[[float], Fitted], covariance: FloatArray, n: int, base: float
) -> tuple[Fitted, float]:
    """Raise the penalty until the null of the graph fitted with it is no more inflated than the penalty.

    Raising the penalty drops edges. If these were real, the null looks worse than before, and the penalty runs away. So
    what is no fixed point after a few rounds, or leaves few of the edges, is not a matter of the null: the first graph
    is kept.
    """
    fitted, inflation = first, 1.0
    for _ in range(_ROUNDS):
        measured = null_inflation(fitted.B, covariance, n)
        if measured <= inflation * _NOTABLE:
            return fitted, inflation
        inflation = measured
        fitted = fit(base * inflation)
        if _SURVIVING * fitted.B.nnz < first.B.nnz:
            break
    return first, 1.0


def _score(found: Searched) -> float:
    # Graphs of one class differ by rounding alone; the first is as good as any.
    return round(found.score, 5)


def _equal_score(refined: Refined, n: int, penalty: float) -> float:
    left = refined.noise_variances
    return float(n * left.size * np.log(left.mean()) + penalty * refined.B.nnz + np.log(n))


def _unequal_score(refined: Refined, n: int, penalty: float) -> float:
    left = refined.noise_variances
    return float(n * np.log(left).sum() + penalty * refined.B.nnz + left.size * np.log(n))


def _with(refined: Refined, kind: str, choices: dict[str, Any]) -> Refined:
    info = {**refined.info, "kind": kind, "choices": choices}
    return Refined(refined.B, refined.order, refined.noise_variances, info)


def _from_search(found: Searched, choices: dict[str, Any]) -> Refined:
    info = {
        "kind": "search",
        "order": "search",
        "scores": choices.get("starts", found.start_scores),
        "score": found.score,
        "penalty": choices["penalty"]["edge"] * choices["penalty"]["inflation"],
        "trials": found.trials,
        "improvements": found.improvements,
        "choices": choices,
    }
    return Refined(found.B, found.order, found.noise_variances, info)

"""A search over causal orders for the graph with the best score, where elimination does not know the order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._validation import FloatArray, csr_parts
from icid_rs.elimination import eliminate, from_parts
from icid_rs.knowledge import Knowledge
from icid_rs.precision import Precision, discoveries, invert

#: Fisher's z from which two variables count as dependent. Lenient, but not so that chance fills the lists.
_DEPENDENT = 4.0
#: Of those merely dependent, a variable keeps this many, the strongest. What is missing is found by the search.
_MOST = 60
#: Share of its variance, given the causes so far, below which a variable is not looked at as a further cause.
_MINOR = 0.01
#: Rows that there should be for each of them.
_ROWS_PER_CANDIDATE = 8
#: Share of nonzeros from which a support is no restriction any more.
_DENSE_SHARE = 0.1


@dataclass(frozen=True)
class Searched:
    """A graph with its weights, and how it was found.

    Attributes
    ----------
    B : scipy.sparse.csr_array
        Least-squares weights.
    order : numpy.ndarray
        The variables, causes first.
    noise_variances : numpy.ndarray
        What the causes leave of each variance.
    score : float
        Twice the negative log-likelihood up to a constant, for columns of unit variance, plus the penalties.
    start_scores : dict
        Scores of the start orders before any trial: improved, except those that were given up at once.
    trials, improvements : int
        Trials made, and those that improved the score.
    descent : tuple
        Variables that were tried at all their places in the first descent, and the seconds that took.
    """

    B: sp.csr_array[np.float64, tuple[int, int]]
    order: NDArray[np.intp]
    noise_variances: FloatArray
    score: float
    start_scores: dict[str, float]
    trials: int
    improvements: int
    descent: tuple[int, float]


def search_orders(
    estimate: Precision,
    n: int,
    starts: Mapping[str, NDArray[np.intp]],
    *,
    penalty: float,
    values: FloatArray | None = None,
    noise_variances: FloatArray | None = None,
    knowledge: Knowledge | None = None,
    trials: int = 0,
    seconds: float | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Searched:
    """Improve causal orders by moving variables, and perturb the best.

    Parameters
    ----------
    estimate : Precision
        With its covariance, and its inverse if there is one.
    n : int
        Number of samples.
    starts : mapping from names to orders
        Causes first. Without any, `smallest_pivots`.
    penalty : float
        What an edge must gain in twice the log-likelihood.
    values : array of shape (d, n), optional
        Standardised variables. If given, the negentropy of the residuals counts.
    noise_variances : array of shape (d,), optional
        Ω if it is known.
    knowledge : Knowledge, optional
        What is known of the edges.
    trials, seconds
        How long to search.
    seed : int
    n_threads : int, optional

    Returns
    -------
    Searched

    Examples
    --------
    Standardised columns with unequal noise variances, but not Gaussian:

    >>> import numpy as np
    >>> from icid_rs import datasets, fdr_precision, metrics
    >>> from icid_rs.search import search_orders
    >>> B = datasets.random_dag(20, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 2000, noise="exponential", random_state=0)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> found = search_orders(fdr_precision(X), 2000, {}, penalty=20.0, values=np.ascontiguousarray(X.T), trials=100)
    >>> metrics.count_accuracy(B, found.B)["shd"]
    0
    """
    covariance = estimate.covariance
    variances = covariance.diagonal()
    # Numbered by how well the others explain them, so that chance meets the same variables in any order of the columns.
    diagonal = (estimate.theta if estimate.inverse is None else estimate.inverse).diagonal()
    shares = variances * diagonal
    least = np.full(len(covariance), _MINOR) if estimate.inverse is None else np.maximum(1.0 / shares, _MINOR)
    names = np.argsort(shares, kind="stable")
    numbers = np.argsort(names)
    correlation = correlation_matrix(covariance)
    pairs = candidate_pairs(estimate, correlation, n)
    if knowledge is not None:
        required = knowledge.required_pattern()
        pairs = sp.csr_array(pairs + required + required.T)
    pairs = pairs[names][:, names]
    correlation = correlation[np.ix_(names, names)]
    pairs.sort_indices()
    all_starts = dict(starts) or {"smallest pivots": smallest_pivots(estimate, n_threads)}
    if knowledge is not None:
        all_starts = {name: knowledge.arrange(start) for name, start in all_starts.items()}
    order, offsets, parents, score, start_scores, made, improvements, descent = _core.search(
        correlation,
        None if values is None else values[names],
        csr_parts(pairs),
        [numbers[start].astype(np.int64) for start in all_starts.values()],
        samples=float(n),
        penalty=penalty,
        least=least[names],
        noise_shares=None if noise_variances is None else (noise_variances / variances)[names],
        knowledge=None if knowledge is None else knowledge.renumbered(numbers).parts,
        trials=trials,
        seconds=seconds,
        seed=seed,
        n_threads=n_threads,
    )
    d = len(covariance)
    effects = np.repeat(names, np.diff(offsets))
    graph = sp.csr_array((np.ones(len(parents)), (names[parents], effects)), shape=(d, d))
    # Without a penalty every cause is kept: plain least squares.
    parts, _ = _core.regress_within(
        csr_parts(sp.csr_array(graph + graph.T)),
        covariance,
        samples=n,
        penalty=0.0,
        order=names[order].astype(np.int64),
        noise_variances=None,
        knowledge=None,
        n_threads=n_threads,
    )
    fitted = from_parts(parts)
    scores = dict(zip(all_starts, start_scores, strict=True))
    return Searched(fitted.B, fitted.order, fitted.noise_variances, score, scores, made, improvements, descent)


def smallest_pivots(estimate: Precision, n_threads: int | None = None) -> NDArray[np.intp]:
    """Order the variables as the pivots of a Cholesky factorisation of the correlation matrix, the smallest each time.

    Each variable is the one that those before it explain best. This is where FLOP starts (Wienöbst, Henckel and
    Weichwald 2026).

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import fdr_precision
    >>> from icid_rs.search import smallest_pivots
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> sorted(smallest_pivots(fdr_precision(X)).tolist())
    [0, 1, 2, 3]
    """
    # With few rows the covariance is singular, but that of the model behind Θ is not.
    covariance = estimate.covariance if estimate.inverse is not None else invert(estimate.theta.toarray())
    return eliminate(correlation_matrix(covariance), n_threads=n_threads).order[::-1]


def correlation_matrix(covariance: FloatArray) -> FloatArray:
    """Divide a covariance by standard deviations."""
    scale = np.sqrt(covariance.diagonal())
    correlation = covariance / scale
    correlation /= scale[:, None]
    # Mirror images the same to the bit, whichever was divided first.
    correlation = np.tril(correlation, -1)
    correlation += correlation.T
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def candidate_pairs(estimate: Precision, correlation: FloatArray, n: int) -> sp.csr_array[np.float64, tuple[int, int]]:
    """Return the pairs that may be joined: neighbours in Θ, and variables that are marginally dependent.

    The true edges are nearly all among the neighbours in Θ. But a wrong order needs causes that are none in the true
    graph, and a search has to pass through wrong orders.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets, fdr_precision
    >>> from icid_rs.search import candidate_pairs
    >>> B = datasets.random_dag(20, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 1000, random_state=0)
    >>> pairs = candidate_pairs(fdr_precision(X), np.corrcoef(X, rowvar=False), 1000)
    >>> bool(pairs.multiply(B != 0).nnz == B.nnz)
    True
    """
    d = len(correlation)
    size = np.abs(correlation)
    np.fill_diagonal(size, 0.0)
    dependent = size > np.tanh(_DEPENDENT / np.sqrt(max(n - 3, 1)))
    # With few rows, no more than can be regressed on.
    most = _MOST if estimate.inverse is not None else min(_MOST, max(n // _ROWS_PER_CANDIDATE, 1))
    if d > most:
        dependent &= size >= np.partition(size, d - most, axis=1)[:, d - most, None]
    if estimate.theta.nnz > _DENSE_SHARE * d * d + d and estimate.inverse is not None and n > d + 2:
        dependent[discoveries(estimate.inverse, n - d - 1, 0.05)] = True
    else:
        dependent[estimate.theta.nonzero()] = True
    np.fill_diagonal(dependent, False)
    pairs = sp.csr_array(dependent | dependent.T, dtype=np.float64)
    pairs.sort_indices()
    return pairs

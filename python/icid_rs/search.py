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
#: Variables whose candidates are looked for together.
_BLOCK_ROWS = 256
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


class OrderSearch:
    """Searches over the orders of a table's variables.

    Correlations and candidates are the same for all of them, and worked out once.

    Parameters
    ----------
    estimate : Precision
        With its covariance, and its inverse if there is one.
    n : int
        Number of samples.
    knowledge : Knowledge, optional
        What is known of the edges.
    n_threads : int, optional

    Examples
    --------
    Standardised columns with unequal noise variances, but not Gaussian:

    >>> import numpy as np
    >>> from icid_rs import datasets, fdr_precision, metrics
    >>> from icid_rs.search import OrderSearch
    >>> B = datasets.random_dag(20, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 2000, noise="exponential", random_state=0)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> search = OrderSearch(fdr_precision(X), 2000)
    >>> found = search.run(penalty=20.0, values=np.ascontiguousarray(X.T), trials=100)
    >>> metrics.count_accuracy(B, found.B)["shd"]
    0
    """

    def __init__(
        self, estimate: Precision, n: int, knowledge: Knowledge | None = None, n_threads: int | None = None
    ) -> None:
        self.estimate, self.n, self.knowledge, self.n_threads = estimate, n, knowledge, n_threads
        self.variances = estimate.covariance.diagonal()
        # Numbered by how well the others explain them, so that chance meets the same variables in any order of the
        # columns.
        diagonal = (estimate.theta if estimate.inverse is None else estimate.inverse).diagonal()
        shares = self.variances * diagonal
        self._names = np.argsort(shares, kind="stable")
        self._numbers = np.argsort(self._names)
        least = np.full(len(shares), _MINOR) if estimate.inverse is None else np.maximum(1.0 / shares, _MINOR)
        self._least = least[self._names]
        correlation = correlation_matrix(estimate.covariance)
        pairs = candidate_pairs(estimate, correlation, n)
        if knowledge is not None:
            required = knowledge.required_pattern()
            pairs = sp.csr_array(pairs + required + required.T)
        self._pairs = pairs[self._names][:, self._names]
        self._pairs.sort_indices()
        self._correlation = correlation[np.ix_(self._names, self._names)]

    def run(
        self,
        starts: Mapping[str, NDArray[np.intp]] | None = None,
        *,
        penalty: float,
        values: FloatArray | None = None,
        noise_variances: FloatArray | None = None,
        trials: int = 0,
        patience: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
    ) -> Searched:
        """Improve causal orders by moving variables, and perturb the best.

        Parameters
        ----------
        starts : mapping from names to orders, optional
            Causes first. Without any, `smallest_pivots`.
        penalty : float
            What an edge must gain in twice the log-likelihood.
        values : array of shape (d, n), optional
            Standardised variables. If given, the negentropy of the residuals counts.
        noise_variances : array of shape (d,), optional
            Ω if it is known.
        trials, seconds
            How long to search.
        patience : int, optional
            Trials without improvement after which the search ends; twice as many at the beginning.
        seed : int

        Returns
        -------
        Searched
        """
        starts = dict(starts or {"smallest pivots": smallest_pivots(self.estimate, self.n_threads)})
        if self.knowledge is not None:
            starts = {name: self.knowledge.arrange(start) for name, start in starts.items()}
        names, numbers = self._names, self._numbers
        order, offsets, parents, score, start_scores, made, improvements, descent = _core.search(
            self._correlation,
            None if values is None else values[names],
            csr_parts(self._pairs),
            [numbers[start].astype(np.int64) for start in starts.values()],
            samples=float(self.n),
            penalty=penalty,
            least=self._least,
            noise_shares=None if noise_variances is None else (noise_variances / self.variances)[names],
            knowledge=None if self.knowledge is None else self.knowledge.renumbered(numbers).parts,
            trials=trials,
            patience=patience,
            seconds=seconds,
            seed=seed,
            n_threads=self.n_threads,
        )
        effects = np.repeat(names, np.diff(offsets))
        graph = sp.csr_array((np.ones(len(parents)), (names[parents], effects)), shape=self._pairs.shape)
        # Without a penalty every cause is kept: plain least squares.
        parts, _ = _core.regress_within(
            csr_parts(sp.csr_array(graph + graph.T)),
            self.estimate.covariance,
            samples=self.n,
            penalty=0.0,
            order=names[order].astype(np.int64),
            noise_variances=None,
            knowledge=None,
            n_threads=self.n_threads,
        )
        fitted = from_parts(parts)
        scores = dict(zip(starts, start_scores, strict=True))
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
    least = np.tanh(_DEPENDENT / np.sqrt(max(n - 3, 1)))
    # With few rows, no more than can be regressed on.
    most = _MOST if estimate.inverse is not None else min(_MOST, max(n // _ROWS_PER_CANDIDATE, 1))
    dependent = np.empty((d, d), dtype=bool)
    for start in range(0, d, _BLOCK_ROWS):
        block = slice(start, min(start + _BLOCK_ROWS, d))
        size = np.abs(correlation[block])
        np.fill_diagonal(size[:, block], 0.0)
        dependent[block] = size > least
        if d > most:
            dependent[block] &= size >= np.partition(size, d - most, axis=1)[:, d - most, None]
    if estimate.theta.nnz > _DENSE_SHARE * d * d + d and estimate.inverse is not None and n > d + 2:
        dependent[discoveries(estimate.inverse, n - d - 1, 0.05)] = True
    else:
        dependent[estimate.theta.nonzero()] = True
    np.fill_diagonal(dependent, False)
    rows, columns = np.nonzero(dependent | dependent.T)
    return sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(d, d))

"""What residuals of a graph say: whether chance explains their correlations, and whether they are Gaussian.

Without an edge between two variables, their residuals should be uncorrelated, with n r² distributed as χ² with one
degree of freedom: that is the null. Where the linear model fits only roughly, or rows are not independent, n r² is
larger throughout, and an edge must stand out against that. The inflation of the null compares the tails: the quantile
of n r² that leaves out one pair in a hundred (five pairs at least, so that a few missed edges do not count) with that
of χ². It is about 1 where the model is right and the graph has been found.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2

from icid_rs._validation import FloatArray, Rows

#: Rows whose residuals are looked at together.
_BLOCK_ROWS = 256
#: Residuals whose correlations are looked at, at most: half a million pairs tell where the tail begins to one part in a
#: hundred or so.
_MOST_RESIDUALS = 1000

Csr: TypeAlias = "sp.csr_array[np.float64, tuple[int, int]]"


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
    >>> from icid_rs.residuals import null_inflation
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
    """Return the squared correlations between the residuals of pairs without an edge; of very many, some."""
    d = len(covariance)
    chosen = np.arange(d)
    if d > _MOST_RESIDUALS:
        # Large and small ones alike, whatever the order of the columns.
        spread = np.linspace(0, d - 1, _MOST_RESIDUALS).astype(np.intp)
        chosen = np.argsort(covariance.diagonal(), kind="stable")[spread]
    A = sp.csr_array(sp.eye_array(d) - B.T)[chosen]
    residual = np.asarray(A @ (A @ covariance).T)
    scale = 1.0 / np.sqrt(residual.diagonal())
    residual *= scale
    residual *= scale[:, None]
    apart = np.triu(np.ones_like(residual, dtype=bool), 1)
    joined = sp.csr_array(abs(B) + abs(B.T))[chosen][:, chosen]
    apart[joined.nonzero()] = False
    return np.asarray(residual[apart] ** 2)


def shape_statistics(X: Rows, location: FloatArray, B: Csr) -> FloatArray:
    """Compute n (skewness²/6 + excess kurtosis²/24) for the residuals of each variable.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.residuals import shape_statistics
    >>> X = np.random.default_rng(0).exponential(size=(1000, 2))
    >>> bool((shape_statistics(X, X.mean(axis=0), sp.csr_array((2, 2))) > 100).all())
    True
    """
    n, d = X.shape
    # By variables, as the product with a sparse matrix wants them, and few rows at a time, so that they stay at hand.
    A = sp.csr_array((sp.eye_array(d) - B).T)
    sums = np.zeros((3, d))
    for start in range(0, n, _BLOCK_ROWS):
        centred = np.array(X[start : start + _BLOCK_ROWS].T, dtype=np.float64, order="C")
        centred -= location[:, None]
        residual = np.asarray(A @ centred)
        square = residual * residual
        sums[0] += square.sum(axis=1)
        sums[1] += np.einsum("ij,ij->i", square, residual)
        sums[2] += np.einsum("ij,ij->i", square, square)
    second, third, fourth = sums / n
    return np.asarray(n * ((third / second**1.5) ** 2 / 6 + (fourth / second**2 - 3) ** 2 / 24))

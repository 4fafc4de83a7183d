"""Loadings of hidden causes before any graph is known, and the sign of those that were found."""

from __future__ import annotations

import numpy as np

from icid_rs._util.validation import FloatArray
from icid_rs.precision.covariance import invert

#: Iterations of the factor analysis.
_FACTOR_ITERATIONS = 30
#: Least uniqueness in a factor analysis, as a share of the variance.
_UNIQUE = 0.02


def factors(correlation: FloatArray, k: int) -> FloatArray:
    """Start from a factor analysis: the loadings that fit best if there were no edges.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.learning.loadings import factors
    >>> abs(factors(0.5 * np.ones((4, 4)) + 0.5 * np.eye(4), 1)).round(2).ravel()
    array([0.71, 0.71, 0.71, 0.71])
    """
    unique = 0.9 / np.diagonal(invert(correlation))
    loadings = np.zeros((len(correlation), k))
    for _ in range(_FACTOR_ITERATIONS):
        root = np.sqrt(unique)
        values, vectors = np.linalg.eigh(correlation / np.outer(root, root))
        loadings = root[:, None] * vectors[:, -k:] * np.sqrt(np.maximum(values[-k:] - 1.0, 0.0))
        unique = np.maximum(1.0 - np.sum(loadings**2, axis=1), _UNIQUE)
    return loadings


def components(correlation: FloatArray, k: int) -> FloatArray:
    """Start from the leading eigenvectors, with variances of the eigenvalues beyond 1.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.learning.loadings import components
    >>> abs(components(0.5 * np.ones((4, 4)) + 0.5 * np.eye(4), 1)).round(2).ravel()
    array([0.61, 0.61, 0.61, 0.61])
    """
    values, vectors = np.linalg.eigh(correlation)
    return np.asarray(vectors[:, -k:] * np.sqrt(np.maximum(values[-k:] - 1.0, 0.0)))


def canonical(loadings: FloatArray) -> FloatArray:
    """Give each hidden cause the sign with which its loadings are positive on the whole.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.learning.loadings import canonical
    >>> canonical(np.array([[-1.0], [0.5]])).ravel()
    array([ 1. , -0.5])
    """
    return np.ascontiguousarray(loadings * np.where(loadings.sum(axis=0) < 0, -1.0, 1.0))

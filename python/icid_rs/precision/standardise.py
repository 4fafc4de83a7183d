"""Standardised variables in rows, whose inner products are correlations."""

from __future__ import annotations

import numpy as np

from icid_rs._util.validation import FloatArray, Rows
from icid_rs.data.checks import correlation_matrix


def standardise(X: Rows, location: FloatArray, scale: FloatArray) -> FloatArray:
    """Return variables in rows, centred and of length one.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.standardise import standardise
    >>> standardise(np.array([[1.0], [3.0]]), np.array([2.0]), np.array([1.0])).round(3)
    array([[-0.707,  0.707]])
    """
    values = np.array(X.T, dtype=np.float64, order="C")
    values -= location[:, None]
    values /= scale[:, None] * np.sqrt(len(X))
    return values


def standardised_root(covariance: FloatArray) -> FloatArray:
    """Return a root of the correlation matrix: its rows have the correlations of a table that is not at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.standardise import standardised_root
    >>> values = standardised_root(np.array([[4.0, 1.0], [1.0, 1.0]]))
    >>> (values @ values.T).round(12)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    sizes, directions = np.linalg.eigh(correlation_matrix(covariance))
    values = directions * np.sqrt(np.maximum(sizes, 0.0))
    return np.ascontiguousarray(values / np.linalg.norm(values, axis=1, keepdims=True))

"""The skewness of pairs, which tells causes from effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from icid_rs._memory import ensure_square
from icid_rs._validation import FloatArray
from icid_rs.inputs import as_table
from icid_rs.precision import check_scales


def skewness_matrix(X: Any) -> FloatArray:
    """Compute the paper's M̃ from standardised columns.

    With C the correlation matrix, M̃_ij = −C_ij E[X_i² X_j − X_i X_j²]: negative where i → j is likely, for positively
    skewed variables (Hyvärinen and Smith 2013). Turn negatively skewed columns round, ``X * -1``, before.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples. Columns are centred and scaled to unit variance first, so that the units do not matter.

    Returns
    -------
    numpy.ndarray of shape (d, d)
        Antisymmetric.

    Examples
    --------
    >>> from icid_rs import datasets, skewness_matrix
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 10_000, noise="exponential", random_state=0)
    >>> bool(skewness_matrix(X)[0, 1] < 0)  # 0 → 1
    True
    """
    X, names = as_table(X)
    ensure_square(X.shape[1], "the skewness matrix", copies=4)
    location = X.mean(axis=0)
    Z = X - location
    with np.errstate(over="ignore"):
        variances = np.mean(Z * Z, axis=0)
    check_scales(X, np.diag(variances), location, names)
    Z /= np.sqrt(variances)
    return from_moments(Z.T @ Z / len(Z), (Z * Z).T @ Z / len(Z))


def from_moments(covariance: FloatArray, third: FloatArray) -> FloatArray:
    """Compute M̃ from the covariance and E[(x_i − μ_i)² (x_j − μ_j)].

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.skewness import from_moments
    >>> from_moments(np.array([[4.0, 2.0], [2.0, 4.0]]), np.array([[0.0, 8.0], [0.0, 0.0]]))
    array([[ 0. , -0.5],
           [ 0.5,  0. ]])
    """
    scale = np.sqrt(covariance.diagonal())
    correlation = covariance / np.outer(scale, scale)
    third = third / np.outer(scale**2, scale)
    return np.asarray(correlation * (third.T - third))

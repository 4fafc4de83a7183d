"""Third moments of pairs of variables, which differ between cause and effect."""

from __future__ import annotations

from typing import Any

import numpy as np

from icid_rs._util.memory import ensure_square
from icid_rs._util.validation import FloatArray
from icid_rs.data.checks import check_scales, correlation_matrix
from icid_rs.data.sample import IncompleteRows, Rows, Sample, Summary
from icid_rs.data.tables import as_table


def skewness_matrix(X: Any) -> FloatArray:
    """Compute the paper's M̃ from standardised columns.

    With C the correlation matrix, M̃_ij = −C_ij E[X_i² X_j − X_i X_j²]: negative where i → j is likely, for positively
    skewed variables (Hyvärinen and Smith 2013). Change the sign of negatively skewed columns before.

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


def skewness_of(sample: Sample) -> FloatArray:
    """Compute M̃ from rows, from rows with missing values, or from moments.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import Moments
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.sample import Summary
    >>> from icid_rs.precision.skewness import skewness_of
    >>> moments = Moments(third=True).update(np.random.default_rng(0).normal(size=(50, 2)))
    >>> skewness_of(Summary(encoding=Encoding.plain(range(2)), is_named=False, moments=moments)).shape
    (2, 2)
    """
    match sample:
        case Rows(values=values):
            return skewness_matrix(values)
        case IncompleteRows(values=values):
            return pairwise_skewness(values)
        case Summary():
            # The sample of rows serves where third moments were not computed.
            if sample.third is not None:
                return from_moments(sample.covariance, sample.third)
            if len(sample.rows):
                return skewness_matrix(sample.rows)
            raise ValueError("skewness needs third moments or rows; use Moments(third=True), or skewness=0")
    raise ValueError("skewness needs data, but precision='precomputed' gives none; use skewness=0")


def from_moments(covariance: FloatArray, third: FloatArray) -> FloatArray:
    """Compute M̃ from the covariance and E[(x_i − μ_i)² (x_j − μ_j)].

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.skewness import from_moments
    >>> from_moments(np.array([[4.0, 2.0], [2.0, 4.0]]), np.array([[0.0, 8.0], [0.0, 0.0]]))
    array([[ 0. , -0.5],
           [ 0.5,  0. ]])
    """
    scale = np.sqrt(covariance.diagonal())
    third = third / np.outer(scale**2, scale)
    return correlation_matrix(covariance) * (third.T - third)


def pairwise_skewness(X: FloatArray) -> FloatArray:
    """Compute M̃ from rows with missing values; each pair of columns uses the rows that it has in common.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets
    >>> from icid_rs.precision.skewness import pairwise_skewness
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 10_000, noise="exponential", random_state=0)
    >>> X[::7, 0] = X[::5, 1] = np.nan
    >>> bool(pairwise_skewness(X)[0, 1] < 0)  # 0 → 1
    True
    """
    observed = ~np.isnan(X)
    there = observed.astype(np.float64)
    common = there.T @ there
    Z = np.where(observed, (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0), 0.0)
    third = (Z * Z).T @ Z / common
    return np.asarray(Z.T @ Z / common * (third.T - third))

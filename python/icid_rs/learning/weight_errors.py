"""Standard errors and p-values of the weights of a graph, given the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icid_rs import _core
from icid_rs._util.validation import FloatArray, Rows, csr_parts
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.measured_regression import weight_covariance
from icid_rs.graph.sem import Csr
from icid_rs.precision.variants import Corrected, FewRows, Full, Precision, Wide

#: Weights that differ by less than this share of a standard error are the same.
_SAME = 1e-3


@dataclass(frozen=True)
class WeightErrors:
    """Errors of weights, in the order of the entries of B; NaN where they are not known.

    They are those of least squares of each variable on its parents, given that these are its parents: that the graph
    was chosen with the same data is not accounted for.

    Attributes
    ----------
    std_error, p_value : numpy.ndarray
        The p-value is that of the two-sided t-test of a weight of zero.
    """

    std_error: FloatArray
    p_value: FloatArray


def weight_errors(B: Csr, estimate: Precision, *, n_threads: int | None = None) -> WeightErrors:
    """Compute errors that hold where residuals have the same spread everywhere.

    Weights that are not those of least squares have no errors: after the decomposition alone, and without samples.

    Examples
    --------
    >>> from icid_rs import datasets, fdr_precision
    >>> from icid_rs.learning.weight_errors import weight_errors
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> estimate = fdr_precision(datasets.sample_sem([[0, 0.8], [0, 0]], 400, random_state=0))
    >>> weight = estimate.covariance[0, 1] / estimate.covariance[0, 0]
    >>> weight_errors(sp.csr_array([[0, weight], [0, 0]]), estimate).std_error.round(2)
    array([0.05])
    """
    match estimate:
        case Corrected(samples=samples, errors=errors) if errors is not None:
            return _measured_weight_errors(B, estimate, errors, samples)
        case Full(samples=samples) | FewRows(samples=samples):
            weights, variances = _core.weight_errors(estimate.covariance, csr_parts(B), n_threads=n_threads)
        case Wide(samples=samples):
            weights, variances = _core.wide_weight_errors(estimate.values, csr_parts(B), n_threads=n_threads)
            ratio = _ratios(B, estimate)
            weights, variances = weights * ratio, variances * ratio**2
        case _:
            return WeightErrors(np.full(B.nnz, np.nan), np.full(B.nnz, np.nan))
    return least_squares_errors(B, weights, variances, samples)


def least_squares_errors(B: Csr, weights: FloatArray, variances: FloatArray, samples: int) -> WeightErrors:
    """Compute errors from those weights and variances that the core returns.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.learning.weight_errors import least_squares_errors
    >>> B = sp.csr_array([[0, 1.0], [0, 0]])
    >>> least_squares_errors(B, np.array([1.0]), np.array([4.0]), 102).std_error
    array([0.2])
    """
    degrees = _degrees(B, samples)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.where(degrees > 0, np.sqrt(variances / degrees), np.nan)
    return _tested(B, weights, errors, degrees)


def _measured_weight_errors(B: Csr, estimate: Corrected, errors: FloatArray, samples: int) -> WeightErrors:
    """Compute errors of the weights between variables that are measured with error."""
    _, effects = edge_ends(B)
    # The places of the entries of B, column by column.
    by_effect = np.argsort(effects, kind="stable")
    causes = edge_ends(B)[0][by_effect]
    ends = np.searchsorted(effects[by_effect], np.arange(B.shape[0] + 1))
    weights, variances = np.empty(B.nnz), np.empty(B.nnz)
    for j in np.flatnonzero(np.diff(ends)).tolist():
        span = slice(ends[j], ends[j + 1])
        own = causes[span]
        among = estimate.covariance[np.ix_(own, own)]
        inverse = np.linalg.inv(among)
        fitted = inverse @ estimate.covariance[own, j]
        residual = float(estimate.covariance[j, j] - estimate.covariance[own, j] @ fitted)
        spread = weight_covariance(among, inverse, fitted, residual, errors[own], float(errors[j]))
        weights[by_effect[span]], variances[by_effect[span]] = fitted, np.diagonal(spread)
    return least_squares_errors(B, weights, variances, samples)


def robust_weight_errors(B: Csr, rows: Rows, samples: int, *, n_threads: int | None = None) -> WeightErrors:
    """Compute errors that hold where the spread of residuals depends on the causes, too (HC3).

    `rows` has the shape (n, d); `samples` is the effective sample size, from which the degrees of freedom are counted.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs import datasets
    >>> from icid_rs.learning.weight_errors import robust_weight_errors
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 400, random_state=0)
    >>> weight = np.cov(X.T)[0, 1] / np.cov(X.T)[0, 0]
    >>> robust_weight_errors(sp.csr_array([[0, weight], [0, 0]]), X, 400).std_error.round(2)
    array([0.05])
    """
    weights, variances = _core.robust_weight_errors(rows, csr_parts(B), n_threads=n_threads)
    return _tested(B, weights, np.sqrt(variances), _degrees(B, samples))


def _degrees(B: Csr, samples: int) -> FloatArray:
    """Return the degrees of freedom of the regression that each entry belongs to."""
    _, effects = edge_ends(B)
    parents = np.bincount(effects, minlength=B.shape[0])
    return np.asarray(samples - 1.0 - parents[effects])


def _ratios(B: Csr, estimate: Precision) -> FloatArray:
    """Return the standard deviation of each effect in units of that of its cause."""
    causes, effects = edge_ends(B)
    deviations = np.sqrt(estimate.variances)
    return np.asarray(deviations[effects] / deviations[causes])


def _tested(B: Csr, weights: FloatArray, errors: FloatArray, degrees: FloatArray) -> WeightErrors:
    """Test the weights; without errors where B has others."""
    from scipy.stats import t

    known = (degrees > 0) & (np.abs(weights - B.data) <= _SAME * errors)
    errors = np.where(known, errors, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = np.where(known, 2 * t.sf(np.abs(B.data) / errors, np.maximum(degrees, 1)), np.nan)
    return WeightErrors(errors, p_value)

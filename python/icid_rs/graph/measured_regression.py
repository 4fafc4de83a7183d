"""Errors of weights where variables are measured with error: errors-in-variables regression (Fuller 1987)."""

from __future__ import annotations

import numpy as np

from icid_rs._util.validation import FloatArray


def weight_covariance(
    among: FloatArray,
    inverse: FloatArray,
    weights: FloatArray,
    residual: float,
    errors: FloatArray,
    effect_error: float,
) -> FloatArray:
    """Compute n times the covariance of the weights of a regression on causes without their errors of measurement.

    The weights solve S b = s, with S the covariance of the causes less that of their errors T, which is a known share
    of each variance. By the delta method their covariance is S⁻¹ M S⁻¹ / n, with M that of x u + T b for a row, where x
    are the causes as they are measured and u = y − bᵀx. Rows are taken to be Gaussian.

    Parameters
    ----------
    among : array of shape (p, p)
        S.
    inverse : array of shape (p, p)
        Its inverse.
    weights : array of shape (p,)
        b.
    residual : float
        The variance of the effect, without its error, that the causes leave unexplained.
    errors : array of shape (p,)
        Variances of the errors of the causes.
    effect_error : float
        That of the effect.

    Returns
    -------
    numpy.ndarray of shape (p, p)

    Examples
    --------
    Errors make weights less certain than least squares on what is left would have them:

    >>> import numpy as np
    >>> from icid_rs.graph.measured_regression import weight_covariance
    >>> one, weight = np.eye(1), np.array([0.5])
    >>> weight_covariance(one, one, weight, 0.75, np.zeros(1), 0.0)
    array([[0.75]])
    >>> weight_covariance(one, one, weight, 0.75, np.array([0.25]), 0.25).round(2)
    array([[1.31]])
    """
    measured = among + np.diag(errors)
    shift = errors * weights
    share = errors / np.diagonal(measured) * weights
    spread = residual + effect_error + float(weights @ shift)
    # E[x u] = −T b. A share of a variance varies with it: T b is estimated by that share of x² for a row.
    products = np.add.outer(share * shift, share * shift)
    middle = measured * spread + np.outer(shift, shift)
    middle += 2.0 * np.outer(share, share) * measured**2 - 2.0 * measured * products
    return np.asarray(inverse @ middle @ inverse)

"""The inverse of the empirical covariance on a support found by tests of partial correlations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, check_real
from icid_rs.data import checks
from icid_rs.options import Options
from icid_rs.precision.covariance import Covariance, checked_covariance, invert
from icid_rs.precision.variants import Full, Precision

#: False discovery rate, unless the caller chooses another.
_ALPHA = 0.05
#: A multiple testing procedure: from Θ, degrees of freedom and a level to the rows and columns of pairs, i > j, whose
#: partial correlations are significant.
Procedure = Callable[[FloatArray, int, float], tuple[NDArray[np.int64], NDArray[np.int64]]]


def fdr_precision(X: Any, alpha: float = _ALPHA) -> Precision:
    """Invert the empirical covariance and keep the partial correlations that differ from zero.

    Each is tested by Fisher's z-transformation, with the false discovery rate controlled at `alpha` by the procedure of
    Benjamini and Hochberg (1995).

    Parameters
    ----------
    X : array of shape (n, d)
        Samples, at least d + 3 of them.
    alpha : float in (0, 1)
        Expected share of pairs in the support that should not be there.

    Returns
    -------
    Precision

    Examples
    --------
    >>> from icid_rs import datasets, fdr_precision
    >>> X = datasets.sample_sem(datasets.random_dag(20, 1, random_state=0), 1000, random_state=0)
    >>> fdr_precision(X).theta.shape
    (20, 20)
    """
    watch = Stopwatch()
    covariance, _, names = checked_covariance(X)
    watch.lap("covariance")
    try:
        return tested_inverse(covariance, alpha, watch, _core.discoveries)
    except np.linalg.LinAlgError:
        try:
            checks.check_covariance(covariance.matrix, names)
        except ValueError as fault:
            raise np.linalg.LinAlgError(f"the covariance is singular: {fault}") from None
        raise


def estimate(covariance: Covariance, options: Options, watch: Stopwatch) -> Full:
    """Estimate Θ as ``ICID(precision="fdr")`` does."""
    return tested_inverse(covariance, _ALPHA, watch, _core.discoveries)


def tested_inverse(covariance: Covariance, alpha: float, watch: Stopwatch, procedure: Procedure) -> Full:
    """Invert a covariance and keep the entries that a testing procedure finds to differ from zero."""
    alpha = check_real(alpha, "alpha")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha = {alpha}: it must be between 0 and 1")
    d, n = len(covariance.matrix), covariance.samples
    if n < d + 3:
        raise ValueError(
            f"n_samples = {n} for {d} columns: partial correlations cannot be tested with fewer than {d + 3} rows; use "
            "precision='lasso' or another estimator with precision_, or fewer columns"
        )
    theta = invert(covariance.matrix)
    watch.lap("inverse")
    rows, columns = procedure(theta, n - d - 1, alpha)
    everyone = np.arange(d)
    rows, columns = np.concatenate((rows, columns, everyone)), np.concatenate((columns, rows, everyone))
    sparse = sp.csr_array((theta[rows, columns], (rows, columns)), shape=theta.shape)
    watch.lap("support")
    return Full.of(sparse, covariance, watch, inverse=theta)

"""From a table without faults to an inverse covariance, by the estimator of one's choice."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.covariance import GraphicalLassoCV
from sklearn.exceptions import ConvergenceWarning

from icid_rs import audit
from icid_rs._memory import ensure_square
from icid_rs._validation import FloatArray, as_csr, as_theta
from icid_rs.moments import Moments
from icid_rs.precision import (
    Precision,
    Stopwatch,
    check_scales,
    cut_inverse,
    empirical_covariance,
    invert,
    tested_inverse,
)

#: What `ICID` takes for `precision`, apart from estimators.
KINDS = ("auto", "empirical", "fdr", "lasso", "precomputed")
#: Rows that are the least to tell anything from.
_FEWEST = 3
#: False discovery rate of the tests behind ``"fdr"``.
_ALPHA = 0.05


def check_kind(kind: Any) -> None:
    """Refuse what is neither the name of an estimate nor an estimator."""
    if isinstance(kind, str) and kind not in KINDS:
        raise ValueError(f"precision = {kind!r}: it must be one of {KINDS}, or an estimator")
    if isinstance(kind, type):
        raise TypeError(f"precision must be an estimator, not the class {kind.__name__}; write {kind.__name__}()")
    if not isinstance(kind, str) and not hasattr(kind, "fit"):
        raise TypeError(f"precision must be a string or an estimator, not {kind!r}")


def estimate_precision(
    X: FloatArray,
    kind: Any,
    lambda1: Any,
    names: Sequence[Any],
    *,
    samples: int | None = None,
    given: tuple[FloatArray, FloatArray] | None = None,
    ridge: float = 0.0,
) -> tuple[Precision, FloatArray]:
    """Estimate Θ, and the means.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples, all finite.
    kind : {"empirical", "fdr", "lasso"} or estimator
        As the parameter `precision` of `ICID`.
    lambda1
        As the parameter `lambda1` of `ICID`.
    names : sequence of length d
        The columns, for messages.
    samples : int, optional
        What the rows are worth, if less than their number.
    given : pair of arrays, optional
        The covariance and the means, where rows have missing values.
    ridge : float
        Share of each variance that is added to it.

    Returns
    -------
    Precision, numpy.ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.estimation import estimate_precision
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> estimate, means = estimate_precision(X, "fdr", "auto", ["a", "b", "c"])
    >>> estimate.theta.shape
    (3, 3)
    """
    watch = Stopwatch()
    if given is not None and kind not in ("fdr", "empirical"):
        raise ValueError(
            f"precision={kind!r} needs complete rows, which missing='pairwise' does not give; use precision='fdr' or "
            "'empirical', or missing='drop'"
        )
    # The covariance, its correlations, its inverse, and what is kept of it.
    ensure_square(X.shape[1], "the covariance", copies=3)
    covariance, location = empirical_covariance(X) if given is None else given
    watch.lap("covariance")
    check_scales(X, covariance, location, names)
    n = len(X) if samples is None else samples
    return _estimate(_ridged(covariance, ridge), location, n, X, kind, lambda1, names, watch), location


def estimate_from_moments(
    moments: Moments, kind: Any, lambda1: Any, names: Sequence[Any], *, ridge: float = 0.0
) -> tuple[Precision, FloatArray]:
    """Do as `estimate_precision`, given moments.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import Moments
    >>> from icid_rs.estimation import estimate_from_moments
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> estimate, means = estimate_from_moments(Moments().update(X), "fdr", "auto", ["a", "b", "c"])
    >>> estimate.theta.shape
    (3, 3)
    """
    if moments.n < _FEWEST:
        raise ValueError(
            f"the moments are those of {moments.n} row(s): causes cannot be told from fewer than {_FEWEST}"
        )
    rows = None
    if kind not in ("fdr", "empirical"):
        if not moments.complete:
            raise ValueError(
                f"precision={kind!r} needs all rows, but the moments keep only some of them; use precision='fdr', or "
                "moments with a larger reservoir"
            )
        rows = moments.rows
    watch = Stopwatch()
    covariance, location = moments.covariance, moments.mean
    watch.lap("covariance")
    check_scales(None, covariance, location, names)
    n = moments.n_effective
    return _estimate(_ridged(covariance, ridge), location, n, rows, kind, lambda1, names, watch), location


def _ridged(covariance: FloatArray, ridge: float) -> FloatArray:
    """Add a share of each variance to it."""
    return covariance + np.diag(ridge * covariance.diagonal()) if ridge else covariance


def _estimate(
    covariance: FloatArray,
    location: FloatArray,
    n: int,
    X: FloatArray | None,
    kind: Any,
    lambda1: Any,
    names: Sequence[Any],
    watch: Stopwatch,
) -> Precision:
    d = len(covariance)
    if kind not in ("fdr", "empirical") or n <= d:
        # The others find out when they invert.
        audit.check_duplicates(covariance, names)
        if n > d:
            audit.check_covariance(covariance, names)
    try:
        if kind == "empirical":
            # With no more rows than columns the covariance is singular in any case.
            return cut_inverse(covariance, lambda1, watch, pseudo=n <= d)
        if kind == "fdr":
            return tested_inverse(covariance, n, _ALPHA, watch)
    except np.linalg.LinAlgError:
        audit.check_covariance(covariance, names)
        raise
    assert X is not None
    theta = _lasso(X, covariance, location) if kind == "lasso" else _fitted(X, kind)
    watch.lap("inverse")
    sparse = as_csr(as_theta(theta), "precision_")
    sparse.eliminate_zeros()
    return Precision(sparse, covariance, timings=watch.timings, inverse=_definite(sparse, covariance))


def _definite(theta: Any, covariance: FloatArray) -> FloatArray | None:
    """Return Θ in full if it is positive definite, otherwise the inverse covariance, if there is one."""
    dense = theta.toarray()
    try:
        np.linalg.cholesky(dense)
    except np.linalg.LinAlgError:
        try:
            return invert(covariance)
        except np.linalg.LinAlgError:
            return None
    return np.asarray(dense)


def _lasso(X: FloatArray, covariance: FloatArray, location: FloatArray) -> Any:
    scale = np.sqrt(covariance.diagonal())
    with warnings.catch_warnings():
        # Its inner solves may stop short or diverge on candidates that are not chosen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            lasso = GraphicalLassoCV().fit((X - location) / scale)
        except FloatingPointError as error:
            raise ValueError(f"the graphical lasso failed on these data: {error}") from None
    return lasso.precision_ / np.outer(scale, scale)


def _fitted(X: FloatArray, estimator: Any) -> Any:
    fitted = clone(estimator).fit(X)
    if not hasattr(fitted, "precision_"):
        raise TypeError(f"precision: {estimator!r} has no attribute precision_ after fit")
    return fitted.precision_

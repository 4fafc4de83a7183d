"""From a table without faults to an inverse covariance, by the estimator of one's choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from icid_rs import audit
from icid_rs._memory import ensure_square
from icid_rs._validation import FloatArray, Rows, as_csr, as_theta
from icid_rs.moments import Moments
from icid_rs.neighbours import (
    LARGE,
    large_precision,
    neighbourhood_precision,
    standardise,
    standardised_root,
)
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
#: Rows for each column from which the tests of ``"fdr"`` have the power that ``"lasso"`` has (`benches/wide.py`).
_ROWS_PER_COLUMN = 2.0
#: What can be estimated from a covariance alone.
_FROM_COVARIANCE = ("fdr", "empirical", "lasso")


def check_kind(kind: Any) -> None:
    """Refuse what is neither the name of an estimate nor an estimator."""
    if isinstance(kind, str) and kind not in KINDS:
        raise ValueError(f"precision = {kind!r}: it must be one of {KINDS}, or an estimator")
    if isinstance(kind, type):
        raise TypeError(f"precision must be an estimator, not the class {kind.__name__}; write {kind.__name__}()")
    if not isinstance(kind, str) and not hasattr(kind, "fit"):
        raise TypeError(f"precision must be a string or an estimator, not {kind!r}")


def settle_kind(kind: Any, n: int, d: int, ridge: float = 0.0) -> Any:
    """Return what ``"auto"`` stands for, given n samples of d variables.

    With few rows for each column tests of all partial correlations at once have no power, and with fewer rows than
    columns there are none. A ridge is for tests.

    Examples
    --------
    >>> from icid_rs.estimation import settle_kind
    >>> settle_kind("auto", 2000, 100), settle_kind("auto", 50, 100)
    ('fdr', 'lasso')
    """
    if not isinstance(kind, str) or kind != "auto":
        return kind
    if d <= LARGE and n >= d + 3 and (ridge or n >= _ROWS_PER_COLUMN * d):
        return "fdr"
    if ridge:
        raise ValueError(
            f"ridge = {ridge} with {n} samples of {d} variables: precision='lasso' needs none; leave it out"
        )
    return "lasso"


def reason(kind: str, n: int, d: int) -> str:
    """Say why ``"auto"`` stands for this.

    Examples
    --------
    >>> from icid_rs.estimation import reason
    >>> reason("lasso", 50, 100)
    '50 samples of 100 variables, fewer than 2 for each: neighbours are selected, not tested all at once'
    """
    counts = f"{n} samples of {d} variables"
    if kind == "fdr":
        return f"{counts}: enough to test all partial correlations at once"
    if d > LARGE:
        return f"{counts}, more than {LARGE}: neighbours are selected, and nothing of size d × d is made"
    return f"{counts}, fewer than {_ROWS_PER_COLUMN:g} for each: neighbours are selected, not tested all at once"


def estimate_precision(
    X: Rows,
    kind: Any,
    lambda1: Any,
    names: Sequence[Any],
    *,
    samples: int | None = None,
    given: tuple[FloatArray, FloatArray] | None = None,
    ridge: float = 0.0,
    n_threads: int | None = None,
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
    n_threads : int, optional
        Threads of ``"lasso"``.

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
    if given is not None and kind not in _FROM_COVARIANCE:
        raise ValueError(
            f"precision={kind!r} needs complete rows, which missing='pairwise' does not give; use precision='fdr', "
            "'lasso' or 'empirical', or missing='drop'"
        )
    if given is None and isinstance(kind, str) and kind == "lasso" and X.shape[1] > LARGE:
        return large_precision(X, len(X) if samples is None else samples, names, watch, n_threads)
    # The covariance, its correlations, its inverse, and what is kept of it.
    ensure_square(X.shape[1], "the covariance", copies=3)
    covariance, location = empirical_covariance(X) if given is None else given
    watch.lap("covariance")
    check_scales(X, covariance, location, names)
    n = len(X) if samples is None else samples
    rows = X if given is None else None
    covariance = _ridged(covariance, ridge)
    return _estimate(covariance, location, n, rows, kind, lambda1, names, watch, n_threads), location


def estimate_from_moments(
    moments: Moments,
    kind: Any,
    lambda1: Any,
    names: Sequence[Any],
    *,
    ridge: float = 0.0,
    n_threads: int | None = None,
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
    if kind not in _FROM_COVARIANCE:
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
    covariance = _ridged(covariance, ridge)
    return _estimate(covariance, location, n, rows, kind, lambda1, names, watch, n_threads), location


def _ridged(covariance: FloatArray, ridge: float) -> FloatArray:
    """Add a share of each variance to it."""
    return covariance + np.diag(ridge * covariance.diagonal()) if ridge else covariance


def _estimate(
    covariance: FloatArray,
    location: FloatArray,
    n: int,
    X: Rows | None,
    kind: Any,
    lambda1: Any,
    names: Sequence[Any],
    watch: Stopwatch,
    n_threads: int | None,
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
    if kind == "lasso":
        scale = np.sqrt(covariance.diagonal())
        values = standardised_root(covariance) if X is None else standardise(X, location, scale)
        return neighbourhood_precision(values, n, covariance, names, watch, n_threads)
    assert X is not None
    theta = _fitted(X, kind)
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


def _fitted(X: Rows, estimator: Any) -> Any:
    fitted = clone(estimator).fit(X.astype(np.float64, copy=False))
    if not hasattr(fitted, "precision_"):
        raise TypeError(f"precision: {estimator!r} has no attribute precision_ after fit")
    return fitted.precision_

"""Maximum likelihood from rows with missing values: the EM algorithm on the moments (Dempster, Laird and Rubin 1977).

Rows are taken to be Gaussian, and values to be missing at random: whether one is missing may depend on values that are
observed, but not on the missing one itself. Each step replaces missing values by their expectations given the observed
ones of the row, adds the covariance that they have around these, and computes the moments anew. Steps are extrapolated
(SQUAREM, Varadhan and Roland 2008) wherever that raises the likelihood further; the likelihood never falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from icid_rs._core import expected_values
from icid_rs._util.validation import FloatArray
from icid_rs.data import checks

#: Largest change of a standardised moment in one step at the end.
_TOLERANCE = 1e-9
_MOST_STEPS = 2000
_UNBOUNDED = "the likelihood grows without bound as the covariance becomes singular"
#: Share of a variance that others must leave; with less, the likelihood is taken to have no maximum. So it is if the
#: share still falls by a tenth between two counts of steps.
_DEGENERATE = 1e-7
_FALLING, _FIRST_LOOK, _SECOND_LOOK = 0.9, 150, 250


@dataclass(frozen=True, eq=False)
class EmCovariance:
    """Maximum likelihood moments of rows with missing values.

    Attributes
    ----------
    covariance, location : numpy.ndarray
        With denominator n.
    samples : int
        Effective sample size: the mean over pairs of columns of the number of rows that know both, where a missing
        value counts as known to the share of its variance that the observed ones of its row explain.
    log_likelihood : tuple of float
        Of the observed values after each step.
    converged : bool
    shrinkage : float
        Share by which correlations were shrunk where the likelihood has no maximum: the weight of one more row, in
        which columns are independent of each other.
    """

    covariance: FloatArray
    location: FloatArray
    samples: int
    log_likelihood: tuple[float, ...]
    converged: bool
    shrinkage: float = 0.0

    def facts(self) -> dict[str, Any]:
        """Return what `MissingValues` records of it."""
        found = {"samples": self.samples, "steps": len(self.log_likelihood), "converged": self.converged}
        return found if not self.shrinkage else {**found, "shrinkage": self.shrinkage}


def em_covariance(
    X: FloatArray, names: Sequence[Any], *, accelerate: bool = True, n_threads: int | None = None
) -> EmCovariance:
    """Estimate mean and covariance from incomplete rows.

    Parameters
    ----------
    X : array of shape (n, p)
        With NaN for missing values.
    names : sequence of length p
        The columns, for messages.
    accelerate : bool
        Whether steps are extrapolated.
    n_threads : int, optional

    Returns
    -------
    EmCovariance

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.em import em_covariance
    >>> X = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 500)
    >>> full = np.cov(X.T, bias=True)[1, 1]
    >>> X[X[:, 0] > 0, 1] = np.nan                # the second is known only where the first is small
    >>> bool(abs(em_covariance(X, "ab").covariance[1, 1] - full) < 0.1), bool(np.nanvar(X[:, 1]) < 0.7)
    (True, True)
    """
    observed = ~np.isnan(X)
    with np.errstate(over="ignore"):
        centre = np.nanmean(X, axis=0)
        variances = np.nanmean((X - centre) ** 2, axis=0)
    checks.check_scales(X, np.diag(variances), centre, names)
    scale = np.sqrt(variances)
    incomplete = _Incomplete.of(np.where(observed, (X - centre) / scale, 0.0), observed, n_threads)
    try:
        moments, trace, converged = _iterate(incomplete, accelerate)
    except np.linalg.LinAlgError:
        if incomplete.prior:
            raise
        incomplete = replace(incomplete, prior=1.0)
        moments, trace, converged = _iterate(incomplete, accelerate)
    covariance = moments.covariance * np.outer(scale, scale)
    # The likelihood in the units of the table.
    unit = float(observed.sum(axis=0) @ np.log(scale))
    likelihoods = tuple(value - unit for value in trace)
    shrinkage = incomplete.prior / (len(X) + incomplete.prior)
    location, known = centre + scale * moments.mean, incomplete.known(moments)
    return EmCovariance(covariance, location, known, likelihoods, converged, shrinkage)


@dataclass(frozen=True, eq=False)
class _Moments:
    mean: FloatArray
    covariance: FloatArray

    def extrapolated(self, first: _Moments, second: _Moments) -> _Moments | None:
        """Return the point that two steps from here seem to lead to; None if their lengths tell nothing."""
        r = np.concatenate([first.mean - self.mean, (first.covariance - self.covariance).ravel()])
        v = np.concatenate([second.mean - first.mean, (second.covariance - first.covariance).ravel()]) - r
        length = np.linalg.norm(v)
        if not length:
            return None
        a = -max(float(np.linalg.norm(r) / length), 1.0)
        p = len(self.mean)
        start = np.concatenate([self.mean, self.covariance.ravel()])
        ahead = start - 2 * a * r + a * a * v
        return _Moments(ahead[:p], ahead[p:].reshape(p, p))

    def distance(self, other: _Moments) -> float:
        return max(float(np.abs(self.mean - other.mean).max()), float(np.abs(self.covariance - other.covariance).max()))


@dataclass(frozen=True, eq=False)
class _Incomplete:
    """Standardised rows, 0 where a value is missing, and the columns that are missing in each."""

    Z: FloatArray
    observed: NDArray[np.bool_]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    #: Weight of the identity, in rows; only used if there are too few rows for a covariance of full rank, or so much is
    #: missing that the likelihood has no maximum.
    prior: float
    n_threads: int | None

    @classmethod
    def of(cls, Z: FloatArray, observed: NDArray[np.bool_], n_threads: int | None) -> _Incomplete:
        n, p = Z.shape
        rows, places = np.nonzero(~observed)
        counts = np.bincount(rows, minlength=n).astype(np.int64)
        enough = int((counts < p).sum()) >= p + 3
        return cls(Z, observed, counts, places.astype(np.int64), 0.0 if enough else 1.0, n_threads)

    def step(self, moments: _Moments) -> tuple[_Moments, float]:
        """Return the moments after one step, and the likelihood before it; raise LinAlgError if they are degenerate."""
        n, p = self.Z.shape
        factor = np.linalg.cholesky(moments.covariance)
        if not self.prior and _least_share(factor) < _DEGENERATE:
            raise np.linalg.LinAlgError(_UNBOUNDED)
        precision = cho_solve((factor, True), np.eye(p))
        R = np.where(self.observed, self.Z - moments.mean, 0.0)
        values, _, around, inner = self._expected(precision, R)
        R[~self.observed] = values
        # log det Σ_oo = log det Σ + log det Θ_mm.
        whole = 2.0 * float(np.log(factor.diagonal()).sum())
        # With missing values at their expectations, the full quadratic form is that of the observed values.
        square = float(np.einsum("ij,ij->", R @ precision, R))
        known = int(self.observed.sum())
        likelihood = -0.5 * (n * whole + inner + square + known * float(np.log(2 * np.pi)))
        likelihood -= 0.5 * self.prior * (whole + float(np.trace(precision)))
        shift = R.mean(axis=0)
        second = R.T @ R + around - n * np.outer(shift, shift)
        covariance = (second + self.prior * np.eye(p)) / (n + self.prior)
        return _Moments(moments.mean + shift, 0.5 * (covariance + covariance.T)), likelihood

    def known(self, moments: _Moments) -> int:
        """Return the effective sample size."""
        share = self.observed.astype(np.float64)
        precision = np.asarray(np.linalg.inv(moments.covariance), dtype=np.float64)
        _, left, _, _ = self._expected(precision, np.zeros_like(self.Z))
        share[~self.observed] = np.clip(1.0 - left / moments.covariance.diagonal()[self.places], 0.0, 1.0)
        both = share.T @ share
        p = len(both)
        pairs = (both.sum() - both.trace()) / (p * (p - 1)) if p > 1 else both[0, 0]
        return int(pairs * (1 + 1e-12))

    def _expected(self, precision: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        return expected_values(precision, R @ precision, self.counts, self.places, n_threads=self.n_threads)


def _iterate(rows: _Incomplete, accelerate: bool) -> tuple[_Moments, list[float], bool]:
    """Step until the moments stay where they are; return them, the likelihoods, and whether they do."""
    p = rows.Z.shape[1]
    start = _Moments(np.zeros(p), np.eye(p))
    first, likelihood = rows.step(start)
    trace = [likelihood]
    shares: list[float] = []
    while len(trace) < _MOST_STEPS:
        if not rows.prior and len(trace) >= (_FIRST_LOOK, _SECOND_LOOK, _MOST_STEPS)[len(shares)]:
            shares.append(_least_share(np.linalg.cholesky(first.covariance)))
            if len(shares) == 2 and shares[1] < _FALLING * shares[0]:
                raise np.linalg.LinAlgError(_UNBOUNDED)
        if first.distance(start) < _TOLERANCE:
            return first, trace, True
        second, likelihood = rows.step(first)
        trace.append(likelihood)
        better = _ahead(rows, start, first, second, likelihood) if accelerate else None
        if better is None:
            start, first = first, second
        else:
            start, first, likelihood = better
            trace.append(likelihood)
    return first, trace, False


def _least_share(factor: NDArray[Any]) -> float:
    """Return the least share of a variance that the variables before leave, from a Cholesky factor."""
    return float((factor.diagonal() ** 2 / (factor * factor).sum(axis=1)).min())


def _ahead(
    rows: _Incomplete, start: _Moments, first: _Moments, second: _Moments, least: float
) -> tuple[_Moments, _Moments, float] | None:
    """Return the point that two steps seem to lead to, the step from there, and its likelihood.

    None if the likelihood is below that of the first step, or the point has no positive definite covariance.
    """
    ahead = start.extrapolated(first, second)
    if ahead is None:
        return None
    try:
        following, likelihood = rows.step(ahead)
    except np.linalg.LinAlgError:
        return None
    return (ahead, following, likelihood) if likelihood >= least else None

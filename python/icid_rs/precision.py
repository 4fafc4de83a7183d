"""Estimating the inverse covariance matrix and its support."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import blas, cholesky, lapack
from scipy.sparse.linalg import splu
from scipy.stats import norm

from icid_rs import audit
from icid_rs._memory import ensure_square
from icid_rs._validation import COLLINEAR, FloatArray, Rows, check_real
from icid_rs.inputs import as_table

#: Rows that are centred at a time: enough for the matrix product to run at full speed.
_BLOCK_ROWS = 1024
#: Columns that are mirrored at a time.
_TILE = 64
#: Share of nonzeros above which a dense factorisation is faster than a sparse one.
_DENSE_SHARE = 0.02


@dataclass(frozen=True)
class Precision:
    """An estimate of the inverse covariance, and how it was made.

    Attributes
    ----------
    theta : scipy.sparse.csr_array
        The inverse covariance Θ on its estimated support.
    covariance : numpy.ndarray or scipy.sparse.csr_array
        The empirical covariance, with denominator n. Sparse if there are too many variables: then it holds what
        correlations above a cut amount to.
    lambda1 : float or None
        The cut, relative to the largest off-diagonal entry, if there was one.
    criterion : dict
        For a grid of cuts: each with the value of the criterion C(λ₁).
    timings : dict
        Seconds for ``covariance``, ``inverse`` and ``support``.
    inverse : numpy.ndarray or None
        The inverse covariance before entries were set to zero, if there is one.
    values : numpy.ndarray or None
        Standardised variables in rows, where they stand for a covariance that would be too large.
    """

    theta: sp.csr_array[np.float64, tuple[int, int]]
    covariance: Any
    lambda1: float | None = None
    criterion: dict[float, float] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    inverse: FloatArray | None = field(default=None, repr=False)
    values: FloatArray | None = field(default=None, repr=False)


class Stopwatch:
    """Seconds spent in each stage of a computation."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Book the time since the last lap."""
        now = time.perf_counter()
        self.timings[stage] = self.timings.get(stage, 0.0) + now - self._last
        self._last = now

    def skip(self) -> None:
        """Leave out the time since the last lap: someone else booked it."""
        self._last = time.perf_counter()


def empirical_precision(X: Any, lambda1: Literal["auto"] | float | Sequence[float] = "auto") -> Precision:
    """Invert the empirical covariance and cut small entries: the paper's Algorithm 3.

    Off-diagonal entries smaller than λ₁ times the largest are set to zero. Of several λ₁, the one with the smallest
    C(λ₁) = tr(Ĉ Θ_λ₁) − log det(Θ_λ₁ + 0.9 diag Θ_λ₁) is chosen.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples.
    lambda1 : "auto", float in (0, 1), or a sequence of them
        ``"auto"``: 20 values from 0.01 to the 98th percentile of the off-diagonal entries.

    Returns
    -------
    Precision

    Warns
    -----
    RuntimeWarning
        If the covariance is singular, so that its pseudo-inverse is used.

    Examples
    --------
    >>> from icid_rs import datasets, empirical_precision
    >>> X = datasets.sample_sem(datasets.random_dag(20, 1, random_state=0), 1000, random_state=0)
    >>> empirical_precision(X, lambda1=0.1).theta.shape
    (20, 20)
    """
    covariance, *_, watch = checked_covariance(X)
    return cut_inverse(covariance, lambda1, watch)


def cut_inverse(covariance: FloatArray, lambda1: Any, watch: Stopwatch, *, pseudo: bool = True) -> Precision:
    """Do as `empirical_precision`, given the covariance."""
    theta = invert(covariance, pseudo=pseudo)
    watch.lap("inverse")
    off = np.abs(theta)
    np.fill_diagonal(off, 0.0)
    largest = float(off.max(initial=0.0))
    grid = _cuts(lambda1, off, largest)
    criterion: dict[float, float] = {}
    if grid.size == 1 or largest == 0.0:
        best = float(grid[0])
    else:
        criterion = _selection_criterion(theta, covariance, off, grid * largest, grid)
        best = min(criterion, key=lambda cut: criterion[cut])
    sparse = _keep(theta, (off > 0.0) & (off >= best * largest))
    watch.lap("support")
    return Precision(sparse, covariance, best, criterion, watch.timings, theta)


def fdr_precision(X: Any, alpha: float = 0.05) -> Precision:
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
    covariance, _, table, names, watch = checked_covariance(X)
    try:
        return tested_inverse(covariance, len(table), alpha, watch)
    except np.linalg.LinAlgError:
        try:
            audit.check_covariance(covariance, names)
        except ValueError as fault:
            raise np.linalg.LinAlgError(f"the covariance is singular: {fault}") from None
        raise


def tested_inverse(covariance: FloatArray, n: int, alpha: float, watch: Stopwatch) -> Precision:
    """Do as `fdr_precision`, given the covariance of n samples."""
    alpha = check_real(alpha, "alpha")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha = {alpha}: it must be between 0 and 1")
    d = len(covariance)
    if n < d + 3:
        raise ValueError(
            f"n_samples = {n} for {d} columns: partial correlations cannot be tested with fewer than {d + 3} rows; use "
            "precision='lasso' or another estimator with precision_, or fewer columns"
        )
    theta = invert(covariance)
    watch.lap("inverse")
    rows, columns = discoveries(theta, n - d - 1, alpha)
    everyone = np.arange(d)
    rows, columns = np.concatenate((rows, columns, everyone)), np.concatenate((columns, rows, everyone))
    sparse = sp.csr_array((theta[rows, columns], (rows, columns)), shape=theta.shape)
    watch.lap("support")
    return Precision(sparse, covariance, None, {}, watch.timings, theta)


def empirical_covariance(X: Rows) -> tuple[FloatArray, FloatArray]:
    """Compute the covariance, with denominator n, and the means."""
    n, d = X.shape
    location: FloatArray = X.mean(axis=0, dtype=np.float64)
    # Centred block by block: a copy of all the data may be too much.
    centred = np.empty((min(n, _BLOCK_ROWS), d))
    covariance = np.zeros((d, d), order="F")
    for start in range(0, n, _BLOCK_ROWS):
        block = X[start : start + _BLOCK_ROWS]
        centred = np.subtract(block, location, out=centred[: len(block)])
        # What overflows is reported by its column, in `check_scales`.
        covariance = blas.dsyrk(1.0 / n, centred.T, beta=1.0, c=covariance, lower=1, overwrite_c=1)
    _mirror_lower(covariance)
    return covariance.T, location


def _mirror_lower(matrix: FloatArray) -> None:
    """Copy the lower triangle onto the upper one, in place."""
    for start in range(0, len(matrix), _TILE):
        stop = start + _TILE
        matrix[:start, start:stop] = matrix[start:stop, :start].T
        corner = matrix[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T


def check_scales(X: Rows | None, covariance: Any, location: FloatArray, names: Sequence[Any]) -> None:
    """Refuse columns that do not vary, or whose variance is out of range; without X, that of a constant is zero."""
    variances = covariance.diagonal()
    # The variance of a constant is rounding, or zero; only such columns are looked at.
    suspects = np.flatnonzero(np.sqrt(variances) <= 1e-10 * np.abs(location))
    widths = variances[suspects] if X is None else np.nanmax(X[:, suspects], axis=0) - np.nanmin(X[:, suspects], axis=0)
    constant = [names[int(j)] for j in suspects[widths == 0]]
    if constant:
        shown = ", ".join(map(repr, constant[:8])) + (f" and {len(constant) - 8} more" if len(constant) > 8 else "")
        raise ValueError(f"constant column(s) {shown} have no causes and no effects; drop them")
    extreme = np.flatnonzero(~((variances > 1e-150) & (variances < 1e150)))
    if extreme.size:
        j = int(extreme[0])
        raise ValueError(f"the variance of column {names[j]!r} is {variances[j]:.3g}, out of range; rescale it")


def checked_covariance(X: Any) -> tuple[FloatArray, FloatArray, FloatArray, Sequence[Any], Stopwatch]:
    """Compute the covariance and the means of a table that has no faults; return it and its names too."""
    watch = Stopwatch()
    table, names = as_table(X)
    ensure_square(table.shape[1], "the covariance", copies=3)
    covariance, location = empirical_covariance(table)
    check_scales(table, covariance, location, names)
    watch.lap("covariance")
    return covariance, location, table, names, watch


def invert(covariance: FloatArray, *, pseudo: bool = False) -> FloatArray:
    """Invert a covariance matrix by Cholesky; a singular one gives its pseudo-inverse with a warning, or an error."""
    # On the scale of correlations, so that units do not matter.
    scale = np.sqrt(covariance.diagonal())
    if (scale > 0).all():
        correlation = covariance / scale
        correlation /= scale[:, None]
        # LAPACK works on columns, in place.
        factor, failed = lapack.dpotrf(correlation.T, lower=1, overwrite_a=1)
        # A pivot is the share of a variable's variance that the earlier ones leave unexplained.
        if not failed and factor.diagonal().min() ** 2 > COLLINEAR:
            inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
            inverse /= scale
            inverse /= scale[:, None]
            # Last, so that mirror images are the same to the bit.
            _mirror_lower(inverse)
            return np.asarray(inverse.T)
    if not pseudo:
        raise np.linalg.LinAlgError("the covariance is singular: some variable is a linear combination of others")
    warnings.warn(
        "the covariance is singular, so its pseudo-inverse is used; with at least as many variables as samples, "
        "precision='lasso' is the better estimate",
        RuntimeWarning,
        stacklevel=3,
    )
    return np.asarray(np.linalg.pinv(covariance, hermitian=True))


def check_cuts(lambda1: Any) -> FloatArray | None:
    """Return the values of λ₁ that were given, ascending; None for ``"auto"``."""
    if isinstance(lambda1, str):
        if lambda1 != "auto":
            raise ValueError(f"lambda1 = {lambda1!r}: it must be 'auto', a number, or a sequence of numbers")
        return None
    grid = np.asarray(lambda1)
    if grid.dtype.kind not in "iuf" or grid.ndim > 1:
        raise TypeError(f"lambda1 must be 'auto', a number, or a sequence of numbers, not {lambda1!r}")
    if grid.size == 0 or not ((grid > 0) & (grid < 1)).all():
        raise ValueError(f"lambda1 = {lambda1}: there must be a value, and every value must be between 0 and 1")
    return np.unique(grid.astype(np.float64))


def _cuts(lambda1: Any, off: FloatArray, largest: float) -> FloatArray:
    """Return the candidates for λ₁."""
    grid = check_cuts(lambda1)
    if grid is None:
        if largest == 0.0:
            return np.array([0.01])
        entries = off[~np.eye(len(off), dtype=bool)]
        top = float(np.percentile(entries, 98.0)) / largest
        return np.linspace(0.01, max(top, 0.01), 20) if top > 0.01 else np.array([0.01])
    return grid


def _selection_criterion(
    theta: FloatArray, covariance: FloatArray, off: FloatArray, cuts: FloatArray, grid: FloatArray
) -> dict[float, float]:
    """C(λ₁) for each cut of an ascending grid."""
    diagonal = theta.diagonal()
    # Entries by the number of cuts they survive; one pass gives all the traces.
    rows, columns = np.nonzero(np.triu(off >= cuts[0]))
    survives = np.searchsorted(cuts, off[rows, columns], side="right")
    products = np.bincount(survives, 2.0 * theta[rows, columns] * covariance[rows, columns], minlength=cuts.size + 1)
    traces = float(diagonal @ covariance.diagonal()) + np.cumsum(products[::-1])[::-1][1:]
    criterion = {}
    for k, (cut, trace) in enumerate(zip(grid, traces, strict=True)):
        kept = survives > k
        values = theta[rows[kept], columns[kept]]
        criterion[float(cut)] = float(trace) - log_determinant(rows[kept], columns[kept], values, 1.9 * diagonal)
    return criterion


def log_determinant(rows: NDArray[Any], columns: NDArray[Any], values: FloatArray, diagonal: FloatArray) -> float:
    """Log-determinant of a symmetric matrix given by its upper triangle; −∞ if it is not positive definite."""
    d = len(diagonal)
    if values.size > _DENSE_SHARE * d * d:
        dense = np.zeros((d, d))
        dense[rows, columns] = values
        dense[np.arange(d), np.arange(d)] = diagonal
        try:
            factor = cholesky(dense, lower=False, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return -np.inf
        return float(2.0 * np.sum(np.log(factor.diagonal())))
    upper = sp.coo_array((values, (rows, columns)), shape=(d, d))
    matrix = sp.csc_array(upper + upper.T + sp.diags_array(diagonal))
    # Without pivoting for size, the pivots have the signs of the eigenvalues.
    options = {"SymmetricMode": True}
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    pivots = factors.U.diagonal()
    return float(np.sum(np.log(pivots))) if (pivots > 0).all() else -np.inf


def discoveries(theta: FloatArray, degrees: int, alpha: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs, i > j, whose partial correlation Benjamini and Hochberg find to differ from zero."""
    d = len(theta)
    pairs = max(d * (d - 1) // 2, 1)

    def least(found: int) -> float:
        """Return the smallest correlation that may be among so many discoveries."""
        return float(np.tanh(norm.isf(alpha * found / pairs / 2) / np.sqrt(degrees)))

    scale = np.sqrt(theta.diagonal())
    rows, columns, sizes = [], [], []
    for start in range(0, d, _TILE):
        stop = min(start + _TILE, d)
        size = np.abs(theta[start:stop, :stop])
        size /= scale[start:stop, None]
        size /= scale[:stop]
        i, j = np.nonzero(np.tril(size >= least(pairs), start - 1))
        rows.append(i + start)
        columns.append(j)
        sizes.append(size[i, j])
    i, j, size = np.concatenate(rows), np.concatenate(columns), np.concatenate(sizes)
    # As many are discoveries as are significant at the level that so many allow.
    allowed = pairs
    while size.size < allowed:
        allowed = size.size
        kept = size >= least(allowed)
        i, j, size = i[kept], j[kept], size[kept]
    return i, j


def _keep(theta: FloatArray, mask: NDArray[np.bool_]) -> sp.csr_array[np.float64, tuple[int, int]]:
    """Return the entries of Θ where the mask says so, and its diagonal."""
    np.fill_diagonal(mask, True)
    rows, columns = np.nonzero(mask)
    return sp.csr_array((theta[rows, columns], (rows, columns)), shape=theta.shape)

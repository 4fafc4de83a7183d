"""The paper's Algorithm 3: the inverse of the empirical covariance, with small entries set to zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray
from icid_rs.options import Options, check_cuts
from icid_rs.precision.covariance import Covariance, checked_covariance, invert, log_determinant
from icid_rs.precision.variants import Full, Precision


def empirical_precision(X: Any, lambda1: Literal["auto"] | float | Sequence[float] = "auto") -> Precision:
    """Invert the empirical covariance and set small entries to zero: the paper's Algorithm 3.

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
    watch = Stopwatch()
    covariance, *_ = checked_covariance(X)
    watch.lap("covariance")
    return cut_inverse(covariance, lambda1, watch)


def estimate(covariance: Covariance, options: Options, watch: Stopwatch) -> Full:
    """Estimate Θ as ``ICID(precision="empirical")`` does."""
    # With no more rows than columns the covariance is singular in any case.
    singular = covariance.samples <= len(covariance.matrix)
    return cut_inverse(covariance, options.lambda1, watch, pseudo=singular)


def cut_inverse(covariance: Covariance, lambda1: Any, watch: Stopwatch, *, pseudo: bool = True) -> Full:
    """Apply Algorithm 3 to a covariance; with `pseudo`, a singular one has its pseudo-inverse taken."""
    theta = invert(covariance.matrix, pseudo=pseudo)
    watch.lap("inverse")
    off = np.abs(theta)
    np.fill_diagonal(off, 0.0)
    largest = float(off.max(initial=0.0))
    grid = _cuts(lambda1, off, largest)
    criterion: dict[float, float] = {}
    if grid.size == 1 or largest == 0.0:
        best = float(grid[0])
    else:
        criterion = _selection_criterion(theta, covariance.matrix, off, grid * largest, grid)
        best = min(criterion, key=lambda cut: criterion[cut])
    kept = (off > 0.0) & (off >= best * largest)
    np.fill_diagonal(kept, True)
    rows, columns = np.nonzero(kept)
    sparse = sp.csr_array((theta[rows, columns], (rows, columns)), shape=theta.shape)
    watch.lap("support")
    return Full.of(sparse, covariance, watch, inverse=theta, lambda1=best, criterion=criterion)


def _cuts(lambda1: Any, off: FloatArray, largest: float) -> FloatArray:
    """Return the candidates for λ₁."""
    grid = check_cuts(lambda1)
    if grid is not None:
        return grid
    top = 0.0
    if largest > 0.0:
        top = float(np.percentile(off[~np.eye(len(off), dtype=bool)], 98.0)) / largest
    return np.linspace(0.01, top, 20) if top > 0.01 else np.array([0.01])


def _selection_criterion(
    theta: FloatArray, covariance: FloatArray, off: FloatArray, cuts: FloatArray, grid: FloatArray
) -> dict[float, float]:
    """Compute C(λ₁) for each λ₁ of an ascending grid; `cuts` are the thresholds on the scale of Θ."""
    diagonal = theta.diagonal()
    # Count for each entry the thresholds that it reaches; one cumulative sum then gives all traces.
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

"""Tables with missing values: rows are dropped, or each correlation is computed from the rows with both columns.

The pairwise covariance uses all observed values, but it is not the covariance of any one table: the errors of its
entries come from different rows, and it need not be positive definite. If it is not, it is shrunk towards the identity
as far as necessary (Higham, Strabić and Šego 2016). Values are assumed to be missing completely at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from icid_rs._util.validation import FloatArray, Rows
from icid_rs.data import checks
from icid_rs.report import MissingValues

_BLOCK_ROWS = 1024


def count_missing(X: Rows, policy: str, names: Sequence[Any]) -> MissingValues:
    """Count missing values, in total and by column.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.missing import count_missing
    >>> count_missing(np.array([[1.0, np.nan], [2.0, 3.0]]), "drop", ["a", "b"]).columns
    {'b': 1}
    """
    holes = np.zeros(X.shape[1], dtype=np.intp)
    incomplete = 0
    # If any entry is NaN, so is the sum: complete tables need no further pass.
    if np.isnan(X.sum(dtype=np.float64)):
        empty = np.isnan(X)
        holes, incomplete = empty.sum(axis=0), int(empty.any(axis=1).sum())
    columns = {names[j]: int(holes[j]) for j in np.flatnonzero(holes).tolist()}
    return MissingValues(policy, len(X), incomplete, int(holes.sum()), columns)


def complete_rows(X: Rows, names: Sequence[Any], *, least: int) -> NDArray[np.bool_]:
    """Return a mask of the rows without missing values; raise if they are fewer than `least`.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.missing import complete_rows
    >>> complete_rows(np.array([[1.0, np.nan], [2.0, 3.0]]), ["a", "b"], least=1)
    array([False,  True])
    """
    empty = np.isnan(X)
    complete = np.asarray(~empty.any(axis=1))
    left = int(complete.sum())
    if left < least:
        holes = empty.sum(axis=0)
        worst = ", ".join(
            f"{names[j]!r} ({holes[j]})" for j in np.argsort(-holes, kind="stable")[:3].tolist() if holes[j]
        )
        raise ValueError(
            f"of {len(X)} rows {left} have no missing values, n_samples = {left}, but {least} are needed; most are "
            f"missing in column(s) {worst}: drop these columns, fill the values in, or use missing='em' or 'pairwise'"
        )
    return complete


@dataclass(frozen=True)
class PairwiseCovariance:
    """A positive definite covariance from pairwise complete rows.

    Attributes
    ----------
    covariance, location : numpy.ndarray
        The covariance with denominator n, and the means of the observed values.
    samples : int
        The smallest number of rows that a pair of columns has in common. Tests and penalties use this number for all
        pairs, because a larger one would overstate the evidence for some pair.
    shrinkage : float
        Share α by which correlations were shrunk to make the matrix positive definite.
    """

    covariance: FloatArray
    location: FloatArray
    samples: int
    shrinkage: float

    def facts(self) -> dict[str, Any]:
        """Return what `MissingValues` records of it."""
        return {"samples": self.samples, "shrinkage": self.shrinkage}


def pairwise_covariance(X: FloatArray, names: Sequence[Any]) -> PairwiseCovariance:
    """Estimate the covariance from the rows that pairs of columns have in common.

    Variances are those of all observed values of a column, correlations those of the rows that a pair has in common. If
    the smallest eigenvalue of the correlation matrix R is below 1/n, with n the smallest number of common rows, it
    becomes (1 − α) R + α I with the smallest α that brings it there.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples, with NaN where they are missing.
    names : sequence of length d
        The columns, for messages.

    Returns
    -------
    PairwiseCovariance

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.missing import pairwise_covariance
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X[0, 0] = X[1, 1] = np.nan
    >>> pairwise_covariance(X, "abc").samples
    98
    """
    observed = ~np.isnan(X)
    nothing = np.flatnonzero(~observed.any(axis=0))
    if nothing.size:
        raise ValueError(f"column {names[nothing[0]]!r} has no values at all; drop it")
    with np.errstate(over="ignore"):
        location = np.nanmean(X, axis=0)
        variances = np.nanmean((X - location) ** 2, axis=0)
    checks.check_scales(X, np.diag(variances), location, names)
    scale = np.sqrt(variances)
    d = len(scale)
    common, sums, squares, products = np.zeros((4, d, d))
    for start in range(0, len(X), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        there = observed[rows].astype(np.float64)
        Z = np.where(observed[rows], (X[rows] - location) / scale, 0.0)
        common += there.T @ there
        sums += Z.T @ there
        squares += (Z * Z).T @ there
        products += Z.T @ Z
    _check_common(common, names)
    sums /= common
    spread = squares / common - sums**2
    _check_spread(spread, names)
    correlation = (products / common - sums * sums.T) / np.sqrt(spread * spread.T)
    correlation = np.tril(correlation, -1)
    correlation += correlation.T
    np.fill_diagonal(correlation, 1.0)
    # Before the shrinkage, which would hide that two columns are the same.
    checks.check_duplicates(correlation, names)
    samples = int(common.min())
    shrinkage = _shrinkage(correlation, 1.0 / samples)
    correlation *= 1.0 - shrinkage
    np.fill_diagonal(correlation, 1.0)
    return PairwiseCovariance(correlation * np.outer(scale, scale), location, samples, shrinkage)


def _shrinkage(correlation: FloatArray, floor: float) -> float:
    """Return the smallest α for which no eigenvalue of (1 − α) R + α I is below the floor."""
    smallest = float(eigh(correlation, eigvals_only=True, subset_by_index=[0, 0])[0])
    return max(0.0, (floor - smallest) / (1.0 - smallest)) if smallest < floor else 0.0


def _check_common(common: FloatArray, names: Sequence[Any]) -> None:
    d, least = len(common), len(common) + 3
    alone = int(np.argmin(common.diagonal()))
    i, j = map(int, np.unravel_index(np.argmin(common), common.shape))
    if common[alone, alone] < least:
        who, remedy, count = f"column {names[alone]!r} has values in", "drop it", common[alone, alone]
    elif common[i, j] < least:
        who, remedy = f"columns {names[i]!r} and {names[j]!r} have values in common in", "drop one of them"
        count = common[i, j]
    else:
        return
    raise ValueError(
        f"{who} {count:.0f} row(s), n_samples = {count:.0f}, but with {d} columns {least} are needed; {remedy}, or "
        "fill values in"
    )


def _check_spread(spread: FloatArray, names: Sequence[Any]) -> None:
    i, j = map(int, np.unravel_index(np.argmin(spread), spread.shape))
    if spread[i, j] <= 1e-10:
        raise ValueError(
            f"column {names[i]!r} does not vary in the rows where {names[j]!r} has values; drop one of them"
        )

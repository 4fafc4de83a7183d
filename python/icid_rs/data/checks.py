"""Looking at the data before anything is estimated from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from icid_rs._util.validation import COLLINEAR, FloatArray, Rows
from icid_rs._util.warn import warn_user

#: Share of its own below which a column is nearly a combination of others.
_NEARLY_COLLINEAR = 1e-8
#: Standard deviations that differ by more than this make equal noise variances implausible.
_WILD_SCALES = 1e3

#: The remedy for columns that must all be kept.
_RIDGE = "ICID(ridge=1e-6)"


def check_values(X: Rows, names: Sequence[Any], *, least: int = 3, missing: str = "raise") -> None:
    """Refuse too few rows, and what is not finite, unless it is missing and something is to be made of that."""
    n = len(X)
    if n < least:
        raise ValueError(f"X has {n} sample(s), n_samples = {n}: causes cannot be told from fewer than {least}")
    # The sum is finite unless something is not, or it overflows.
    if np.isfinite(X.sum(dtype=np.float64)):
        return
    bad = np.argwhere(~np.isfinite(X) if missing == "raise" else np.isinf(X))
    if len(bad):
        row, column = bad[0]
        absent = bool(np.isnan(X[row, column]))
        raise ValueError(
            f"X contains {'NaN' if absent else 'inf'}: row {row}, column {names[column]!r} ({len(bad)} such "
            f"{'entry' if len(bad) == 1 else 'entries'} in all); drop these rows or fill the values in"
            + (", or use missing='drop' or missing='pairwise'" if absent else "")
        )


def within_groups(X: Rows, groups: Any) -> tuple[FloatArray, int]:
    """Take the means of groups of rows out, put the overall mean in, and count the groups.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.checks import within_groups
    >>> X, count = within_groups(np.array([[1.0], [3.0], [11.0], [13.0]]), ["a", "a", "b", "b"])
    >>> X.ravel(), count
    (array([6., 8., 6., 8.]), 2)
    """
    X = X.astype(np.float64, copy=False)
    labels, member = np.unique(check_groups(groups, len(X)), return_inverse=True)
    indicator = sp.csr_array((np.ones(len(X)), (member, np.arange(len(X)))), shape=(len(labels), len(X)))
    if not np.isnan(X.sum()):
        means = (indicator @ X) / indicator.sum(axis=1)[:, None]
        return np.asarray(X - means[member] + X.mean(axis=0)), len(labels)
    observed = ~np.isnan(X)
    # A group without a value has no mean, and no row that would need it.
    counts = np.maximum(indicator @ observed.astype(np.float64), 1.0)
    means = (indicator @ np.where(observed, X, 0.0)) / counts
    return np.asarray(X - means[member] + np.nanmean(X, axis=0)), len(labels)


def check_groups(groups: Any, n: int) -> NDArray[Any]:
    """Return the group of each of n rows, if every row has one.

    Examples
    --------
    >>> from icid_rs.data.checks import check_groups
    >>> check_groups(["a", "a", "b"], 3).shape
    (3,)
    """
    labels: NDArray[Any] = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups must have one entry for each of the {n} rows, but its shape is {labels.shape}")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("groups has missing values; drop these rows, or give them a group")
    try:
        np.unique(labels)
    except TypeError:
        raise TypeError("groups must hold labels of one kind, without missing values") from None
    return labels


def check_scales(X: Rows | None, covariance: Any, location: FloatArray, names: Sequence[Any]) -> None:
    """Raise if columns do not vary, or have a variance out of range; without X, a constant has a variance of zero."""
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


def check_duplicates(covariance: FloatArray, names: Sequence[Any]) -> None:
    """Refuse columns that are copies of others."""
    scale = np.sqrt(covariance.diagonal())
    correlation = covariance / np.outer(scale, scale)
    size = np.abs(correlation)
    np.fill_diagonal(size, 0.0)
    if size.max(initial=0.0) > 1.0 - COLLINEAR:
        i, j = np.unravel_index(np.argmax(size), size.shape)
        first, second = sorted((int(i), int(j)))
        raise ValueError(
            f"columns {names[first]!r} and {names[second]!r} are the same up to scale (correlation "
            f"{correlation[first, second]:.12g}); drop one of them, or use {_RIDGE}"
        )


def check_covariance(covariance: FloatArray, names: Sequence[Any]) -> None:
    """Refuse columns that are copies or combinations of others."""
    check_duplicates(covariance, names)
    scale = np.sqrt(covariance.diagonal())
    correlation = covariance / np.outer(scale, scale)
    factor, pivots, rank, info = lapack.dpstrf(correlation, lower=1, tol=COLLINEAR)
    if info > 0:
        order = pivots - 1
        # The first column left over, in terms of those that were not.
        L = np.tril(factor[:rank, :rank])
        weights = solve_triangular(L, factor[rank, :rank], lower=True, trans="T")
        others = order[:rank][np.abs(weights) > 1e-3 * np.abs(weights).max()]
        raise ValueError(
            f"column {names[order[rank]]!r} is a linear combination of {_list(names, np.sort(others))} (condition "
            f"number {_condition(correlation)}); drop one of them, or use {_RIDGE}"
        )


def warn_of_collinearity(covariance: FloatArray, inverse: FloatArray, names: Sequence[Any]) -> None:
    """Warn of a column that others explain almost completely: weights among them are as good as unknown."""
    scale = np.sqrt(covariance.diagonal())
    shares = 1.0 / (scale**2 * inverse.diagonal())
    worst = int(np.argmin(shares))
    if not shares[worst] < _NEARLY_COLLINEAR:
        return
    # Its regression on all others, in units of their deviations.
    weights = np.abs(inverse[worst] * scale)
    weights[worst] = 0.0
    others = np.flatnonzero(weights > 0.1 * weights.max())
    warn_user(
        f"column {names[worst]!r} is nearly a linear combination of {_list(names, others)}: a share of "
        f"{shares[worst]:.1g} of its variance is its own (condition number "
        f"{_condition(covariance / np.outer(scale, scale))}), so that weights among these are uncertain; drop one of "
        f"them, or use {_RIDGE}"
    )


def warn_of_scales(covariance: FloatArray, names: Sequence[Any]) -> None:
    """Warn that equal noise variances mean something else in other units."""
    scale = np.sqrt(covariance.diagonal())
    small, large = int(np.argmin(scale)), int(np.argmax(scale))
    if scale[large] > _WILD_SCALES * scale[small]:
        warn_user(
            f"the standard deviations range from {scale[small]:.2g} (column {names[small]!r}) to {scale[large]:.2g} "
            f"(column {names[large]!r}), but the noise is taken to have equal variances, which depends on the units; "
            "use noise='unequal', bring the columns to comparable units, or pass noise_variances"
        )


def _condition(correlation: FloatArray) -> str:
    """Return the condition number of a correlation matrix; beyond what rounding can tell, a bound."""
    values = np.linalg.eigvalsh(correlation)
    least = np.finfo(np.float64).eps * values[-1]
    return f"{values[-1] / values[0]:.1g}" if values[0] > least else f"above {values[-1] / least:.1g}"


def _list(names: Sequence[Any], which: Any, most: int = 8) -> str:
    shown = ", ".join(repr(names[k]) for k in which[:most])
    return shown + (f" and {len(which) - most} more" if len(which) > most else "")

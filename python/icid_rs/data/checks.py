"""Checks of the data before anything is estimated from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack, solve_triangular

from icid_rs._util.validation import COLLINEAR, FloatArray, Rows, listed, symmetrise_single
from icid_rs._util.warn import warn_user

#: A column is nearly a linear combination of others if they leave less than this share of its variance.
_NEARLY_COLLINEAR = 1e-8
#: Equal noise variances are implausible if standard deviations differ by more than this factor.
_WILD_SCALES = 1e3

#: The remedy for collinear columns that must all be kept.
_RIDGE = "ICID(ridge=1e-6)"


def check_values(X: Rows, names: Sequence[Any], *, least: int = 3, missing: str = "raise") -> None:
    """Raise if there are fewer than `least` rows, or entries that are infinite, or NaN with ``missing="raise"``."""
    n = len(X)
    if n < least:
        raise ValueError(f"X has {n} sample(s), n_samples = {n}: causes cannot be told from fewer than {least}")
    # A finite sum proves that all entries are finite; the sum of finite entries may overflow.
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
    """Replace the mean of each group of rows by the overall mean; return the number of groups too.

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
    # In a group without values of a column, all entries stay NaN.
    counts = np.maximum(indicator @ observed.astype(np.float64), 1.0)
    means = (indicator @ np.where(observed, X, 0.0)) / counts
    return np.asarray(X - means[member] + np.nanmean(X, axis=0)), len(labels)


def check_groups(groups: Any, n: int) -> NDArray[Any]:
    """Return the group of each of n rows; raise unless every row has one.

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
    """Raise if a column is constant, or has a variance out of range; without X, constant means of variance zero."""
    variances = covariance.diagonal()
    # The computed variance of a constant column is zero up to rounding, so only such columns are examined.
    suspects = np.flatnonzero(np.sqrt(variances) <= 1e-10 * np.abs(location))
    widths = variances[suspects] if X is None else np.nanmax(X[:, suspects], axis=0) - np.nanmin(X[:, suspects], axis=0)
    constant = suspects[widths == 0]
    if constant.size:
        raise ValueError(f"constant column(s) {_list(names, constant)} have no causes and no effects; drop them")
    extreme = np.flatnonzero(~((variances > 1e-150) & (variances < 1e150)))
    if extreme.size:
        j = int(extreme[0])
        raise ValueError(f"the variance of column {names[j]!r} is {variances[j]:.3g}, out of range; rescale it")


def as_covariance(covariance: ArrayLike) -> FloatArray:
    """Return a covariance matrix; raise where an entry cannot belong to one."""
    matrix: FloatArray = np.asarray(covariance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"covariance must be a square matrix, but its shape is {matrix.shape}")
    matrix = symmetrise_single(matrix)
    # Each loop raises at the first fault that it finds.
    for i, j in np.argwhere(~np.isfinite(matrix)):
        raise ValueError(f"covariance[{i}, {j}] is {matrix[i, j]}: every entry must be finite")
    for i, j in np.argwhere(matrix != matrix.T):
        raise ValueError(
            f"covariance must be symmetric, but covariance[{i}, {j}] = {matrix[i, j]} and "
            f"covariance[{j}, {i}] = {matrix[j, i]}; pass (C + C.T) / 2 if the difference is harmless"
        )
    variances = matrix.diagonal()
    for i in np.flatnonzero(variances < 0):
        raise ValueError(f"covariance[{i}, {i}] = {variances[i]}: no variance is negative")
    deviations = np.sqrt(variances)
    for i, j in np.argwhere(np.abs(matrix) > (1 + 1e-9) * np.outer(deviations, deviations)):
        raise ValueError(
            f"covariance[{i}, {j}] = {matrix[i, j]} makes a correlation above 1 with variances {variances[i]} and "
            f"{variances[j]}: this is no covariance matrix"
        )
    return matrix


def check_weights(weights: ArrayLike, rows: int) -> FloatArray:
    """Return the weights of rows; raise unless there is one for each, finite and not negative."""
    array = np.ascontiguousarray(weights, dtype=np.float64)
    if array.shape != (rows,):
        raise ValueError(f"weights must have one entry for each of the {rows} rows, but its shape is {array.shape}")
    for row in np.flatnonzero(~((array >= 0) & np.isfinite(array))):
        raise ValueError(f"weights[{row}] = {array[row]}: weights must be finite and not negative")
    return array


def correlation_matrix(covariance: FloatArray) -> FloatArray:
    """Divide a covariance by the standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.checks import correlation_matrix
    >>> correlation_matrix(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    scale = np.sqrt(covariance.diagonal())
    return np.asarray(covariance / np.outer(scale, scale))


def check_duplicates(covariance: FloatArray, names: Sequence[Any]) -> None:
    """Raise if a column is a multiple of another."""
    correlation = correlation_matrix(covariance)
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
    """Raise if a column is a multiple or a linear combination of others."""
    check_duplicates(covariance, names)
    correlation = correlation_matrix(covariance)
    factor, pivots, rank, info = lapack.dpstrf(correlation, lower=1, tol=COLLINEAR)
    if info > 0:
        order = pivots - 1
        # Regress the first column outside the factorised block on the columns inside.
        L = np.tril(factor[:rank, :rank])
        weights = solve_triangular(L, factor[rank, :rank], lower=True, trans="T")
        others = order[:rank][np.abs(weights) > 1e-3 * np.abs(weights).max()]
        raise ValueError(
            f"column {names[order[rank]]!r} is a linear combination of {_list(names, np.sort(others))} (condition "
            f"number {_condition(correlation)}); drop one of them, or use {_RIDGE}"
        )


def warn_of_collinearity(covariance: FloatArray, inverse: FloatArray, names: Sequence[Any]) -> None:
    """Warn of a column that others explain almost completely, which makes weights among them uncertain."""
    scale = np.sqrt(covariance.diagonal())
    shares = 1.0 / (scale**2 * inverse.diagonal())
    worst = int(np.argmin(shares))
    if not shares[worst] < _NEARLY_COLLINEAR:
        return
    # Coefficients of its regression on all others, times their standard deviations.
    weights = np.abs(inverse[worst] * scale)
    weights[worst] = 0.0
    others = np.flatnonzero(weights > 0.1 * weights.max())
    warn_user(
        f"column {names[worst]!r} is nearly a linear combination of {_list(names, others)}: a share of "
        f"{shares[worst]:.1g} of its variance is its own (condition number "
        f"{_condition(correlation_matrix(covariance))}), so that weights among these are uncertain; drop one of "
        f"them, or use {_RIDGE}"
    )


def warn_of_scales(covariance: FloatArray, names: Sequence[Any]) -> None:
    """Warn of very different standard deviations: whether noise variances are equal depends on the units."""
    scale = np.sqrt(covariance.diagonal())
    small, large = int(np.argmin(scale)), int(np.argmax(scale))
    if scale[large] > _WILD_SCALES * scale[small]:
        warn_user(
            f"the standard deviations range from {scale[small]:.2g} (column {names[small]!r}) to {scale[large]:.2g} "
            f"(column {names[large]!r}), but the noise is taken to have equal variances, which depends on the units; "
            "use noise='unequal', bring the columns to comparable units, or pass noise_variances"
        )


def _condition(correlation: FloatArray) -> str:
    """Return the condition number of a correlation matrix, or a lower bound where rounding hides it."""
    values = np.linalg.eigvalsh(correlation)
    least = np.finfo(np.float64).eps * values[-1]
    return f"{values[-1] / values[0]:.1g}" if values[0] > least else f"above {values[-1] / least:.1g}"


def _list(names: Sequence[Any], which: NDArray[np.intp]) -> str:
    return listed([repr(names[k]) for k in which.tolist()])

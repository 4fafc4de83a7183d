"""Checks of the data before anything is estimated from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from icid_rs._util.validation import COLLINEAR, FloatArray, Rows, listed, symmetrise_single
from icid_rs._util.warn import warn_user
from icid_rs.data import collinear
from icid_rs.data.faults import Fault, TableError

#: A column is nearly a linear combination of others if they leave less than this share of its variance.
_NEARLY_COLLINEAR = 1e-8
#: Equal noise variances are implausible if standard deviations differ by more than this factor.
_WILD_SCALES = 1e3

#: The remedy for collinear columns that must all be kept.
_RIDGE = "ICID(ridge=1e-6)"


def check_values(X: Rows, names: Sequence[Any], *, least: int = 3, missing: str = "raise") -> None:
    """Raise if there are fewer than `least` rows, or entries that are infinite, or NaN with ``missing="raise"``."""
    check_count(len(X), least)
    if found := value_faults(X, names, missing=missing):
        raise TableError("", found)


def value_faults(X: Rows, names: Sequence[Any], *, missing: str = "raise") -> list[Fault]:
    """Describe entries that are infinite, or missing where they must not be.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.checks import value_faults
    >>> value_faults(np.array([[1.0, np.nan]]), ["a", "b"])[0].text
    "X contains NaN: row 0, column 'b' (1 such entry in all)"
    """
    # A finite sum proves that all entries are finite; the sum of finite entries may overflow.
    if np.isfinite(X.sum(dtype=np.float64)):
        return []
    kinds = [("inf", np.isinf(X), "drop these rows or fill the values in", "fill them in, or name them with --na")]
    if missing == "raise":
        remedy = "drop these rows or fill the values in, or use missing='drop', 'em' or 'pairwise'"
        kinds.append(("NaN", np.isnan(X), remedy, "say --missing em, --missing drop or --missing pairwise"))
    return [
        Fault(f"X contains {kind}: {_places(bad, names)}", remedy, option)
        for kind, bad, remedy, option in kinds
        if bad.any()
    ]


def _places(bad: NDArray[np.bool_], names: Sequence[Any]) -> str:
    """Name the first of some entries, and the columns that have more of them."""
    row, column = np.argwhere(bad)[0].tolist()
    counts = bad.sum(axis=0)
    total = int(counts.sum())
    columns = [f"{names[j]!r} ({counts[j]})" for j in np.flatnonzero(counts).tolist()]
    spread = f", in columns {listed(columns)}" if len(columns) > 1 else ""
    return f"row {row}, column {names[column]!r} ({total} such {'entry' if total == 1 else 'entries'} in all{spread})"


def check_count(n: int, least: int = 3) -> None:
    """Raise if there are fewer than `least` rows."""
    if n < least:
        raise ValueError(f"X has {n} sample(s), n_samples = {n}: causes cannot be told from fewer than {least}")


def within_groups(X: Rows, groups: Any) -> tuple[FloatArray, NDArray[np.intp]]:
    """Replace the mean of each group of rows by the overall mean; return the number of each row's group too.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.checks import within_groups
    >>> X, member = within_groups(np.array([[1.0], [3.0], [11.0], [13.0]]), ["a", "a", "b", "b"])
    >>> X.ravel(), member
    (array([6., 8., 6., 8.]), array([0, 0, 1, 1]))
    """
    X = X.astype(np.float64, copy=False)
    labels, member = np.unique(check_groups(groups, len(X)), return_inverse=True)
    indicator = sp.csr_array((np.ones(len(X)), (member, np.arange(len(X)))), shape=(len(labels), len(X)))
    if not np.isnan(X.sum()):
        means = (indicator @ X) / indicator.sum(axis=1)[:, None]
        return np.asarray(X - means[member] + X.mean(axis=0)), member
    observed = ~np.isnan(X)
    # In a group without values of a column, all entries stay NaN.
    counts = np.maximum(indicator @ observed.astype(np.float64), 1.0)
    means = (indicator @ np.where(observed, X, 0.0)) / counts
    return np.asarray(X - means[member] + np.nanmean(X, axis=0)), member


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
    """Raise if columns are multiples of others; names all of them."""
    correlation = correlation_matrix(covariance)
    same = np.tril(np.abs(correlation) > 1.0 - COLLINEAR, -1)
    repeated = np.flatnonzero(same.any(axis=1))
    if repeated.size:
        first = {int(j): np.flatnonzero(same[j])[:1] for j in repeated}
        raise TableError("", collinear.faults(correlation, first, names))


def is_collinear(covariance: FloatArray) -> bool:
    """Tell whether a column is a multiple or a linear combination of others."""
    *_, info = lapack.dpstrf(correlation_matrix(covariance), lower=1, tol=COLLINEAR)
    return bool(info > 0)


def check_covariance(covariance: FloatArray, names: Sequence[Any]) -> None:
    """Raise if columns are multiples or linear combinations of others; names all of them."""
    correlation = correlation_matrix(covariance)
    if is_collinear(covariance) and (dependent := collinear.dependent_columns(correlation)):
        raise TableError("", collinear.faults(correlation, dependent, names))
    check_duplicates(covariance, names)


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

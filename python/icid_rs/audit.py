"""Looking at the data before anything is estimated from it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from icid_rs._validation import FloatArray
from icid_rs.precision import COLLINEAR

#: Standard deviations that differ by more than this make equal noise variances implausible.
_WILD_SCALES = 1e3


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns, of whatever type, if X has them."""
    if hasattr(X, "column_names"):
        return list(X.column_names)
    return list(X.columns) if hasattr(X, "columns") else None


def check_numeric(X: Any) -> None:
    """Refuse columns of a data frame that hold no numbers; arrays have no columns of their own type."""
    names = column_names(X) or []
    if len(set(names)) < len(names):
        repeated = sorted({repr(name) for name in names if names.count(name) > 1})
        raise ValueError(f"column name(s) {', '.join(repeated)} occur more than once; rename them")
    text = [name for name in names if not _is_numeric(np.asarray(X[name]))]
    if text:
        listed = _list(text, range(len(text)))
        raise ValueError(f"column(s) {listed} are not numeric; encode them as numbers or drop them")


def _is_numeric(column: NDArray[Any]) -> bool:
    if column.dtype.kind in "buif":
        return True
    if column.dtype.kind != "O" or any(isinstance(value, str) for value in column):
        return False
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def check_values(X: FloatArray, names: Sequence[Any], *, least: int = 3) -> None:
    """Refuse too few rows, and what is not finite."""
    n = len(X)
    if n < least:
        raise ValueError(f"X has {n} sample(s), n_samples = {n}: causes cannot be told from fewer than {least}")
    # The sum is finite unless something is not, or it overflows.
    if not np.isfinite(X.sum()):
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            row, column = bad[0]
            kind = "NaN" if np.isnan(X[row, column]) else "inf"
            raise ValueError(
                f"X contains {kind}: row {row}, column {names[column]!r} ({len(bad)} such entries in all); "
                "drop these rows or fill the values in"
            )


def within_groups(X: FloatArray, groups: Any) -> tuple[FloatArray, int]:
    """Take the means of groups of rows out, put the overall mean in, and count the groups.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.audit import within_groups
    >>> X, count = within_groups(np.array([[1.0], [3.0], [11.0], [13.0]]), ["a", "a", "b", "b"])
    >>> X.ravel(), count
    (array([6., 8., 6., 8.]), 2)
    """
    groups = np.asarray(groups)
    if groups.shape != (len(X),):
        raise ValueError(f"groups must have one entry for each of the {len(X)} rows, but its shape is {groups.shape}")
    if groups.dtype.kind == "f" and np.isnan(groups).any():
        raise ValueError("groups has missing values; drop these rows, or give them a group")
    try:
        labels, member = np.unique(groups, return_inverse=True)
    except TypeError:
        raise TypeError("groups must hold labels of one kind, without missing values") from None
    indicator = sp.csr_array((np.ones(len(X)), (member, np.arange(len(X)))), shape=(len(labels), len(X)))
    means = (indicator @ X) / indicator.sum(axis=1)[:, None]
    return np.asarray(X - means[member] + X.mean(axis=0)), len(labels)


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
            f"{correlation[first, second]:.12g}); drop one of them"
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
        others = order[:rank][np.abs(weights) > 1e-6 * np.abs(weights).max()]
        raise ValueError(
            f"column {names[order[rank]]!r} is a linear combination of {_list(names, np.sort(others))}; "
            "drop one of them"
        )


def warn_of_scales(covariance: FloatArray, names: Sequence[Any]) -> None:
    """Warn that equal noise variances mean something else in other units."""
    scale = np.sqrt(covariance.diagonal())
    small, large = int(np.argmin(scale)), int(np.argmax(scale))
    if scale[large] > _WILD_SCALES * scale[small]:
        warnings.warn(
            f"the standard deviations range from {scale[small]:.2g} (column {names[small]!r}) to {scale[large]:.2g} "
            f"(column {names[large]!r}), but the noise is taken to have equal variances, which depends on the units; "
            "bring the columns to comparable units, standardise them, or pass noise_variances",
            UserWarning,
            stacklevel=3,
        )


def _list(names: Sequence[Any], which: Any, most: int = 8) -> str:
    shown = ", ".join(repr(names[k]) for k in which[:most])
    return shown + (f" and {len(which) - most} more" if len(which) > most else "")

"""Arguments of the caller as arrays and numbers that the core can take, or an error that names the fault."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
#: Samples by variables, in the caller's precision: blocks are converted to double precision when they are used.
Rows = NDArray[np.float64] | NDArray[np.float32]

#: A variable counts as a linear combination of others if they leave no more than this share of its variance.
COLLINEAR = 1e-10


def as_csr(matrix: Any, name: str, *, copy: bool = True) -> sp.csr_array[np.float64, tuple[int, int]]:
    """Return float64 in canonical CSR form; without `copy`, it may share memory with the argument."""
    csr = sp.csr_array(_as_matrix(matrix, name)).astype(np.float64, copy=copy)
    if not csr.has_canonical_format:
        csr = csr if copy else csr.copy()
        csr.sum_duplicates()
    return cast("sp.csr_array[np.float64, tuple[int, int]]", csr)


def as_square(
    matrix: Any, name: str, remedy: str = "every entry must be finite"
) -> sp.csr_array[np.float64, tuple[int, int]]:
    """Return a square matrix of finite entries in canonical CSR form."""
    csr = as_csr(matrix, name)
    if csr.shape[0] != csr.shape[1]:
        raise ValueError(f"{name} must be square, but its shape is {csr.shape}")
    for k in np.flatnonzero(~np.isfinite(csr.data)):
        row = int(np.searchsorted(csr.indptr, k, side="right")) - 1
        raise ValueError(f"{name}[{row}, {csr.indices[k]}] is {csr.data[k]}: {remedy}")
    return csr


def as_theta(theta: Any) -> Any:
    """Return Θ in float64, dense or sparse as it is; one from single precision is made exactly symmetric."""
    theta = _as_matrix(theta, "theta")
    single = theta.dtype in (np.float16, np.float32)
    if theta.dtype != np.float64:
        theta = theta.astype(np.float64)
    return symmetrise_single(theta) if single else theta


def as_order(values: ArrayLike, length: int, name: str) -> NDArray[np.int64]:
    """Return indices below `length`; whether each occurs once is checked by the core."""
    array = _as_array(values, name)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be a vector of integers, but it has shape {array.shape} and dtype {array.dtype}")
    outside = array[(array < 0) | (array >= length)]
    if outside.size:
        raise ValueError(f"{name} must hold each of 0 to {length - 1} once, but {outside[0]} is in it")
    return array.astype(np.int64)


def csr_parts(
    matrix: sp.csr_array[np.float64, tuple[int, int]],
) -> tuple[tuple[int, int], NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Return the shape and the arrays of a CSR matrix, as the core takes it."""
    return matrix.shape, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


def csr_from_parts(parts: Any, d: int) -> sp.csr_array[np.float64, tuple[int, int]]:
    """Return the d × d matrix whose arrays the core gives."""
    indptr, indices, data = parts
    return sp.csr_array((data, indices, indptr), shape=(d, d))


def as_vector(values: ArrayLike, length: int, name: str) -> FloatArray:
    """Return float64 values of the given length; a number stands for a constant vector."""
    array = _as_array(values, name)
    _check_numeric(array.dtype, name)
    if array.ndim == 0:
        return np.full(length, float(array))
    if array.ndim != 1:
        raise ValueError(f"{name} must be a number or a vector, but it has {array.ndim} dimensions")
    return np.array(array, dtype=np.float64)


def check_int(value: Any, name: str, least: int, most: int = 2**63 - 1) -> int:
    """Return an int between `least` and `most`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} = {number}: it must be at least {least}")
    if number > most:
        raise ValueError(f"{name} = {number}: it must be at most {most}")
    return number


def check_real(value: Any, name: str) -> float:
    """Return a float; its range is checked where it is used."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a floating-point number") from None


def check_threads(n_threads: int | None) -> int | None:
    """Return a number of threads; None leaves it to the core."""
    return None if n_threads is None else check_int(n_threads, "n_threads", 1, 1024)


def listed(items: Sequence[str], most: int = 8) -> str:
    """Join the first few items by commas, and count the others.

    Examples
    --------
    >>> from icid_rs._util.validation import listed
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def _check_numeric(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind not in "buif":
        raise TypeError(f"{name} must hold real numbers, but its dtype is {dtype}")


def _as_matrix(matrix: Any, name: str) -> Any:
    """Return a matrix of real numbers: an array, or a sparse matrix whose indices are within its shape."""
    is_sparse = sp.issparse(matrix)
    if not is_sparse:
        matrix = _as_array(matrix, name)
    elif matrix.format in ("csr", "csc"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{name} is no valid sparse matrix: {error}") from None
    _check_numeric(matrix.dtype, name)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be a matrix, but it has {matrix.ndim} dimension(s)")
    return matrix


def _as_array(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not an array: {error}") from None


def symmetrise_single(theta: Any) -> Any:
    """Average a matrix with its transpose, if no two mirrored entries differ by more than single precision explains."""
    values = theta if isinstance(theta, np.ndarray) else theta.data
    if theta.shape[0] != theta.shape[1] or not np.isfinite(values).all():
        return theta
    scale = np.sqrt(np.abs(theta.diagonal()))
    difference = sp.coo_array(theta - theta.T)
    bound = np.sqrt(np.finfo(np.float32).eps) * scale[difference.row] * scale[difference.col]
    return (theta + theta.T) * 0.5 if (np.abs(difference.data) <= bound).all() else theta


def as_numbers(values: Any, what: str) -> FloatArray:
    """Return an array of finite real numbers; raise if it holds anything else.

    Examples
    --------
    >>> from icid_rs._util.validation import as_numbers
    >>> as_numbers([1, True], "hidden")
    array([1., 1.])
    """
    array = np.asarray(values)
    if array.dtype.kind not in "buif":
        raise ValueError(f"{what} must hold real numbers, but its dtype is {array.dtype}")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{what} holds entries that are not finite")
    return numbers

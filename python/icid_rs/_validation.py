"""Input at the boundary: what is turned into arrays, and what is refused."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def as_csr(matrix: Any, name: str) -> sp.csr_array[np.float64, tuple[int, int]]:
    """Return a float64 copy in canonical CSR form, from anything array-like or sparse."""
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
    _check_numeric(matrix.dtype, name)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be a matrix, but it has {matrix.ndim} dimension(s)")
    csr = sp.csr_array(matrix).astype(np.float64, copy=True)
    csr.sum_duplicates()
    if matrix.dtype in (np.float16, np.float32):
        csr = _symmetrise_rounding(csr, float(np.sqrt(np.finfo(matrix.dtype).eps)))
    return cast("sp.csr_array[np.float64, tuple[int, int]]", csr)


def csr_parts(
    matrix: sp.csr_array[np.float64, tuple[int, int]],
) -> tuple[int, int, NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Take a matrix apart for the core."""
    rows, columns = matrix.shape
    return rows, columns, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


def as_vector(values: ArrayLike, length: int, name: str) -> FloatArray:
    """Return float64 values of the given length; a number stands for a constant vector."""
    array = np.asarray(values)
    _check_numeric(array.dtype, name)
    if array.ndim == 0:
        return np.full(length, float(array))
    if array.ndim != 1:
        raise ValueError(f"{name} must be a number or a vector, but it has {array.ndim} dimensions")
    return np.array(array, dtype=np.float64)


def check_int(value: Any, name: str, least: int) -> int:
    """Return an int that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if value < least:
        raise ValueError(f"{name} = {value}: it must be at least {least}")
    return int(value)


def check_real(value: Any, name: str) -> float:
    """Return a float; its range is checked where it is used."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    return float(value)


def _check_numeric(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind not in "buif":
        raise TypeError(f"{name} must hold real numbers, but its dtype is {dtype}")


def _symmetrise_rounding(matrix: Any, tolerance: float) -> Any:
    """Average a matrix with its transpose if they differ by no more than single precision explains."""
    if matrix.shape[0] != matrix.shape[1]:
        return matrix
    difference = abs(matrix - matrix.T)
    bound = tolerance * abs(matrix).max() if matrix.nnz else 0.0
    return (matrix + matrix.T) * 0.5 if difference.nnz == 0 or difference.max() <= bound else matrix

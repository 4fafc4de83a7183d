"""The empirical covariance, its inverse, and determinants of sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import blas, cholesky, lapack
from scipy.sparse.linalg import splu

from icid_rs._util.memory import ensure_square
from icid_rs._util.validation import COLLINEAR, FloatArray, Rows
from icid_rs._util.warn import warn_user
from icid_rs.data.checks import check_scales
from icid_rs.data.tables import as_table

#: Rows centred at a time: enough for the matrix product to run at full speed.
_BLOCK_ROWS = 1024
#: Columns mirrored at a time.
_TILE = 64
#: Share of nonzeros above which a dense factorisation is faster than a sparse one.
_DENSE_SHARE = 0.02


@dataclass(frozen=True)
class Covariance:
    """A covariance matrix with denominator n, dense or sparse, the means, and the effective sample size."""

    matrix: Any
    location: FloatArray
    samples: int

    def ridged(self, ridge: float) -> Covariance:
        """Multiply each variance by 1 + `ridge`."""
        if not ridge:
            return self
        return Covariance(self.matrix + np.diag(ridge * self.matrix.diagonal()), self.location, self.samples)


def empirical_covariance(X: Rows) -> tuple[FloatArray, FloatArray]:
    """Compute the covariance, with denominator n, and the means.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.covariance import empirical_covariance
    >>> empirical_covariance(np.array([[1.0], [3.0]]))
    (array([[1.]]), array([2.]))
    """
    n, d = X.shape
    location: FloatArray = X.mean(axis=0, dtype=np.float64)
    # Centred block by block: a copy of all the data may not fit into memory.
    centred = np.empty((min(n, _BLOCK_ROWS), d))
    covariance = np.zeros((d, d), order="F")
    for start in range(0, n, _BLOCK_ROWS):
        block = X[start : start + _BLOCK_ROWS]
        centred = np.subtract(block, location, out=centred[: len(block)])
        # An overflow is reported with its column by `check_scales`.
        covariance = blas.dsyrk(1.0 / n, centred.T, beta=1.0, c=covariance, lower=1, overwrite_c=1)
    _mirror_lower(covariance)
    return covariance.T, location


def checked_covariance(X: Any) -> tuple[Covariance, FloatArray, Sequence[Any]]:
    """Check a table and compute its covariance; return the table and its names too."""
    table, names = as_table(X)
    ensure_square(table.shape[1], "the covariance", copies=3)
    covariance, location = empirical_covariance(table)
    check_scales(table, covariance, location, names)
    return Covariance(covariance, location, len(table)), table, names


def invert(covariance: FloatArray, *, pseudo: bool = False) -> FloatArray:
    """Invert a covariance matrix by Cholesky.

    A singular one raises `numpy.linalg.LinAlgError`, or gives its pseudo-inverse with a warning if `pseudo`.
    """
    # Inverted as a correlation matrix, so that units do not matter.
    scale = np.sqrt(covariance.diagonal())
    if (scale > 0).all():
        correlation = covariance / scale
        correlation /= scale[:, None]
        # LAPACK works on columns, in place.
        factor, failed = lapack.dpotrf(correlation.T, lower=1, overwrite_a=1)
        # A squared pivot is the share of a variable's variance that the earlier ones leave unexplained.
        if not failed and factor.diagonal().min() ** 2 > COLLINEAR:
            inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
            inverse /= scale
            inverse /= scale[:, None]
            # Mirrored after the scaling, so that the matrix is exactly symmetric.
            _mirror_lower(inverse)
            return np.asarray(inverse.T)
    if not pseudo:
        raise np.linalg.LinAlgError("the covariance is singular: some variable is a linear combination of others")
    warn_user(
        "the covariance is singular, so its pseudo-inverse is used; with at least as many variables as samples, "
        "precision='lasso' is the better estimate",
        RuntimeWarning,
    )
    return np.asarray(np.linalg.pinv(covariance, hermitian=True))


def log_determinant(rows: NDArray[Any], columns: NDArray[Any], values: FloatArray, diagonal: FloatArray) -> float:
    """Compute the log-determinant of a symmetric matrix given by its upper triangle; −∞ if not positive definite."""
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
    # With pivots on the diagonal, as many of them are negative as eigenvalues.
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    pivots = factors.U.diagonal()
    return float(np.sum(np.log(pivots))) if (pivots > 0).all() else -np.inf


def _mirror_lower(matrix: FloatArray) -> None:
    """Copy the lower triangle onto the upper one, in place."""
    for start in range(0, len(matrix), _TILE):
        stop = start + _TILE
        matrix[:start, start:stop] = matrix[start:stop, :start].T
        corner = matrix[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T

"""A linear structural equation model with its causal order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray

Csr: TypeAlias = "sp.csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True)
class LinearSem:
    """The model X = X B + E with an acyclic B and independent noise E.

    Attributes
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
        The weights: ``B[i, j] != 0`` means i → j.
    order : numpy.ndarray of shape (d,)
        The variables, causes first.
    noise_variances : numpy.ndarray of shape (d,)
        The variances of E.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.sem import LinearSem
    >>> LinearSem(sp.csr_array([[0, 0.5], [0, 0]]), np.array([0, 1]), np.ones(2))
    LinearSem(2 variables, 1 edges)
    """

    B: Csr
    order: NDArray[np.intp]
    noise_variances: FloatArray

    @classmethod
    def from_core(cls, sem: Any) -> Self:
        """Wrap a model that the Rust core returned."""
        indptr, indices, data = sem.b
        d = len(sem.order)
        return cls(sp.csr_array((data, indices, indptr), shape=(d, d)), sem.order.astype(np.intp), sem.noise_variances)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.B.shape[0]} variables, {self.B.nnz} edges)"


@dataclass(frozen=True)
class CyclicSem:
    """Weights that may have directed cycles, and so have no causal order.

    Attributes
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
    noise_variances : numpy.ndarray of shape (d,)
        The variances of X − X B.
    """

    B: Csr
    noise_variances: FloatArray
    order: ClassVar[None] = None


def log_likelihood(centred: FloatArray, B: Csr, noise_variances: FloatArray, *, is_acyclic: bool) -> float:
    """Compute the mean Gaussian log-likelihood of rows, less their means, under a model.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.sem import log_likelihood
    >>> B = sp.csr_array([[0, 0.5], [0, 0]])
    >>> round(log_likelihood(np.array([[2.0, 1.0]]), B, np.ones(2), is_acyclic=True), 6)  # −2 − log 2π
    -3.837877
    """
    residual = centred - centred @ B
    value = -0.5 * np.sum(np.log(2 * np.pi * noise_variances) + np.mean(residual**2, axis=0) / noise_variances)
    if not is_acyclic:
        # With cycles the change of variables from noise to data has a determinant.
        value += np.linalg.slogdet(np.eye(noise_variances.size) - B.toarray())[1]
    return float(value)

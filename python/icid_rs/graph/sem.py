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

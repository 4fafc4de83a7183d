"""The kinds of estimates of Θ; each computes residual variances and starting orders in its own way.

With enough rows the covariance has an inverse (`Full`). With few rows there is only a sparse estimate (`FewRows`), and
with very many columns the covariance is not stored (`Wide`). Θ can also be given by the caller (`Given`), or come from
an estimator whose matrix is not positive definite (`Indefinite`). Where some variables are categories, they are blocks
of columns (`Blocked`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, csr_from_parts, csr_parts
from icid_rs.graph.blocks import Blocks
from icid_rs.graph.covariances import ComputedCovariances, Covariances, StoredCovariances
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.mixed import ColumnModel
from icid_rs.graph.sem import Csr
from icid_rs.precision.covariance import Covariance, invert
from icid_rs.precision.leading import Causes

#: The core's fits and searches along orders of numbers, with a dense covariance or without.
NumberSearcher: TypeAlias = _core.Searcher | _core.WideSearcher
#: The core's searches of graphs, among numbers or among variables that are blocks of columns.
Searcher: TypeAlias = NumberSearcher | _core.BlockSearcher


@dataclass(frozen=True)
class Precision:
    """An estimate of the inverse covariance, and how it was made.

    Attributes
    ----------
    theta : scipy.sparse.csr_array
        The inverse covariance Θ on its estimated support.
    covariance : numpy.ndarray or scipy.sparse.csr_array
        The empirical covariance, with denominator n. With fewer than two rows for each of more than 4 000 columns it is
        sparse, and has only correlations above a threshold.
    location : numpy.ndarray
        The means.
    lambda1 : float or None
        The threshold λ₁, relative to the largest off-diagonal entry, if there was one.
    criterion : dict
        C(λ₁) for each λ₁ of a grid.
    timings : dict
        Seconds for ``covariance``, ``inverse`` and ``support``.
    inverse : numpy.ndarray or None
        The inverse covariance before entries were set to zero, where the covariance has one.
    values : numpy.ndarray or None
        Standardised variables in rows, where the covariance is too large to be stored.
    """

    theta: Csr
    covariance: Any
    location: FloatArray = field(kw_only=True)
    lambda1: float | None = None
    criterion: dict[float, float] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    inverse: ClassVar[FloatArray | None] = None
    values: ClassVar[FloatArray | None] = None

    @property
    def variables(self) -> int:
        """Number of variables, d."""
        return int(self.theta.shape[0])

    @property
    def variances(self) -> FloatArray:
        """Variances of the variables."""
        return np.asarray(self.covariance.diagonal())

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal of the inverse covariance, before entries were set to zero where that is known."""
        return np.asarray(self.theta.diagonal())

    @property
    def covariances(self) -> Covariances:
        """The covariances of any variables."""
        return StoredCovariances(self.covariance)

    def covariance_among(self, variables: NDArray[Any]) -> FloatArray:
        """Return the covariance of some variables."""
        return self.covariances.among(variables)

    def residual_variances(self, B: Any) -> FloatArray:
        """Compute the variances of X − X B: a_jᵀ Ĉ a_j for each column a_j of I − B."""
        A = sp.csc_array(sp.eye_array(B.shape[0]) - B)
        columns = np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
        products = np.asarray(self.covariance @ A)[A.indices, columns] * A.data
        return np.asarray(np.bincount(columns, products, minlength=A.shape[1]), dtype=np.float64)


@dataclass(frozen=True)
class _Sampled(Precision):
    """An estimate from data.

    Attributes
    ----------
    samples : int
        Effective sample size.
    """

    samples: int = field(kw_only=True)

    @classmethod
    def of(cls, theta: Csr, covariance: Covariance, watch: Stopwatch, **more: Any) -> Self:
        """Join an estimate of Θ with the covariance that it was made from and the seconds it took."""
        return cls(
            theta,
            covariance.matrix,
            location=covariance.location,
            samples=covariance.samples,
            timings=dict(watch.timings),
            **more,
        )

    def searcher(self, knowledge: Knowledge | None, n_threads: int | None) -> Searcher:
        """Return the core's search, which fits graphs to this covariance."""
        return _core.Searcher(
            self.covariance,
            csr_parts(self.theta),
            self.inverse,
            samples=self.samples,
            knowledge=None if knowledge is None else knowledge.parts,
            n_threads=n_threads,
        )


@dataclass(frozen=True)
class Full(_Sampled):
    """An estimate from enough rows for the covariance to be inverted.

    Attributes
    ----------
    inverse : numpy.ndarray
        The inverse covariance before entries were set to zero.
    """

    inverse: FloatArray = field(kw_only=True, repr=False)  # type: ignore[misc]

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal of the inverse covariance."""
        return np.asarray(self.inverse.diagonal())

    def start_orders(self, searcher: Any) -> dict[str, NDArray[np.intp]]:
        """Order the variables so that each is the one best explained by those before it.

        This is a Cholesky factorisation of the correlation matrix that takes the smallest pivot each time. FLOP starts
        from this order too (Wienöbst, Henckel and Weichwald 2026).
        """
        return {"smallest pivots": searcher.smallest_pivots().astype(np.intp)}


@dataclass(frozen=True)
class Corrected(Full):
    """An estimate of the covariance without what hidden causes and errors of measurement add to it.

    Attributes
    ----------
    order : numpy.ndarray of shape (d,), optional
        Causal order of the graph that was found together with these.
    errors : numpy.ndarray of shape (d,), optional
        Variances of errors of measurement, if some were taken out.
    price : float, optional
        The price of an edge, where errors of measurement were taken out. What they add on average is taken out with
        them, but not what they add by chance: it weighs more in what is left, where edges look more certain than they
        are. So their price is higher, and must not be judged by how many come in.
    """

    order: NDArray[np.intp] | None = field(default=None, kw_only=True, repr=False)
    errors: FloatArray | None = field(default=None, kw_only=True, repr=False)
    price: float | None = field(default=None, kw_only=True)

    def start_orders(self, searcher: Any) -> dict[str, NDArray[np.intp]]:
        """Start from the order of the graph that is known, too."""
        starts = super().start_orders(searcher)
        return starts if self.order is None else {**starts, "measurement": self.order}


@dataclass(frozen=True)
class FewRows(_Sampled):
    """An estimate by neighbourhood selection: the covariance of so few rows may have no inverse."""

    def start_orders(self, searcher: Any) -> dict[str, NDArray[np.intp]]:
        """Order the variables as `Full.start_orders` does, by the inverse of Θ: the covariance may be singular."""
        return {"smallest pivots": searcher.smallest_pivots(invert(self.theta.toarray())).astype(np.intp)}


@dataclass(frozen=True)
class Wide(_Sampled):
    """An estimate for so many columns that nothing of size d × d is stored.

    Attributes
    ----------
    values : numpy.ndarray of shape (d, n)
        Standardised variables in rows, from which covariances are computed.
    order : numpy.ndarray of shape (d,)
        Causal order of the graph from which Θ was computed.
    causes : Causes or None
        Hidden causes that were taken out of the values, in the units of the columns, if any were looked for.
        Covariances are those of what is left.
    """

    values: FloatArray = field(kw_only=True, repr=False)  # type: ignore[misc]
    order: NDArray[np.intp] = field(kw_only=True, repr=False)
    causes: Causes | None = field(default=None, kw_only=True, repr=False)

    def searcher(self, knowledge: Knowledge | None, n_threads: int | None) -> _core.WideSearcher:
        """Return the core's search, which fits graphs along orders to the rows."""
        scale = np.sqrt(self.variances)
        correlations = self.covariance.copy()
        correlations.setdiag(0.0)
        correlations.eliminate_zeros()
        rescale(correlations, 1.0 / scale)
        return _core.WideSearcher(
            self.values,
            self.variances,
            csr_parts(correlations),
            csr_parts(self.theta),
            samples=self.samples,
            knowledge=None if knowledge is None else knowledge.parts,
            n_threads=n_threads,
        )

    def start_orders(self, searcher: Any) -> dict[str, NDArray[np.intp]]:
        """Return the order of the graph from which Θ was computed."""
        return {"estimate": self.order}

    @property
    def covariances(self) -> Covariances:
        """Covariances that are computed from the rows."""
        return ComputedCovariances(self.values, np.sqrt(self.variances))

    def residual_variances(self, B: Any) -> FloatArray:
        """Compute the variances of X − X B from the rows."""
        scale = np.sqrt(self.variances)
        weights = sp.csr_array(sp.diags_array(scale) @ B @ sp.diags_array(1.0 / scale))
        residual = self.values - weights.T @ self.values
        return np.asarray(np.einsum("ij,ij->i", residual, residual) * scale**2)


def rescale(matrix: Csr, scale: FloatArray) -> None:
    """Multiply rows and columns by `scale` in place: a second matrix may not fit into memory."""
    matrix.data *= scale[matrix.indices]
    matrix.data *= np.repeat(scale, np.diff(matrix.indptr))


@dataclass(frozen=True)
class Blocked(_Sampled):
    """An estimate for variables of which some are categories; `precision.blocked` makes one.

    `theta` is one of the variables; `covariance` and `location` are those of the columns that these consist of.

    Attributes
    ----------
    blocks : Blocks
        The columns of each variable.
    inverse : numpy.ndarray of shape (p, p) or None
        Inverse of the covariance of the columns, where there are enough rows for one.
    """

    blocks: Blocks = field(kw_only=True)
    inverse: FloatArray | None = field(kw_only=True, repr=False)  # type: ignore[misc]

    @property
    def variances(self) -> FloatArray:
        """The variance of each number, and the determinant of the covariance of each category's columns."""
        parts = [self.blocks.part(j) for j in range(self.blocks.variables)]
        return np.array([np.linalg.det(self.covariance[part, part]) for part in parts])

    def searcher(self, knowledge: Knowledge | None, n_threads: int | None) -> _core.BlockSearcher:
        """Return the core's search among variables that are blocks of columns."""
        return _core.BlockSearcher(
            self.covariance,
            self.inverse,
            self.blocks.offsets,
            self.blocks.is_category,
            samples=self.samples,
            knowledge=None if knowledge is None else knowledge.parts,
            n_threads=n_threads,
        )

    def start_orders(self, searcher: Any) -> dict[str, NDArray[np.intp]]:
        """Order the variables as `Full.start_orders` does."""
        return {"smallest pivots": searcher.smallest_pivots().astype(np.intp)}

    def column_model(self, B: Csr, n_threads: int | None) -> ColumnModel:
        """Regress the columns of each variable on those of its causes."""
        parts = self.searcher(None, n_threads).coefficients(csr_parts(B))
        weights, residuals = (csr_from_parts(part, self.blocks.columns) for part in parts)
        return ColumnModel(self.blocks, weights, residuals, self.location)


@dataclass(frozen=True)
class Indefinite(_Sampled):
    """An estimate that is not positive definite, of a covariance that has no inverse."""


@dataclass(frozen=True)
class Given(Precision):
    """A Θ given by the caller; its inverse is the covariance, and there are no samples."""

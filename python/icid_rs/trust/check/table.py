"""A table beside the graph that was found in it, with standardised columns and residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, Rows
from icid_rs.data.encoding import Encoding

#: Rows that determine the quantiles of a column.
_ROWS_OF_QUANTILES = 1000
#: Cells whose residuals are computed, and rows at least.
_CELLS, _FEWEST_EXAMINED = 20_000_000, 5000
#: Normal quantiles: widths, in standard deviations, of the middle half and of the middle nine tenths.
_HALF, _NINE_TENTHS = 1.349, 3.290


@dataclass(frozen=True)
class Spread:
    """Centre and scale of columns, from quantiles, so that a few wild values do not move them.

    Attributes
    ----------
    centre, scale : array of shape (d,)
        Median, and the larger of the scales of the middle half and of the middle nine tenths (both are the standard
        deviation of a Gaussian column). A column most of whose values are the same has its standard deviation.
    levels : array of shape (d,)
        Distinct values among at most a thousand rows.

    Missing values do not count.
    """

    centre: FloatArray
    scale: FloatArray
    levels: NDArray[np.intp]

    @classmethod
    def of(cls, X: Rows) -> Spread:
        """Measure the columns of X.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs.trust.check.table import Spread
        >>> X = np.random.default_rng(0).standard_normal((500, 1))
        >>> X[0] = 1e9
        >>> Spread.of(X).scale.round()
        array([1.])
        """
        step = -(-len(X) // _ROWS_OF_QUANTILES)
        # Missing values come last.
        some = np.sort(np.asarray(X[::step], dtype=np.float64), axis=0)
        last, every = np.count_nonzero(np.isfinite(some), axis=0) - 1, np.arange(some.shape[1])
        shares = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
        places = np.maximum(np.round(shares[:, None] * last), 0).astype(np.intp)
        q05, q25, centre, q75, q95 = some[places, every]
        scale = np.maximum((q75 - q25) / _HALF, (q95 - q05) / _NINE_TENTHS)
        for j in np.flatnonzero(scale == 0):
            scale[j] = np.nanstd(X[:, j]) or 1.0
        return cls(centre, scale, 1 + np.count_nonzero(np.diff(some, axis=0) > 0, axis=0))

    def standardise(self, X: Rows) -> FloatArray:
        """Subtract the centres and divide by the scales."""
        standardised = np.asarray(X - self.centre)
        standardised /= self.scale
        return standardised


@dataclass(frozen=True)
class Measured:
    """The values that were measured, where columns were straightened: those of a `FittedTable`'s `X` and `cells`."""

    X: Rows
    cells: Rows | None

    @classmethod
    def of(cls, X: Rows, cells: Rows | None, encoding: Encoding, *, is_plain: bool) -> Measured | None:
        """Take the curves back; None where there are none, or rows are not plain but without means or covariates."""
        if not is_plain or not encoding.curves:
            return None
        return cls(encoding.restored(X), None if cells is None else encoding.restored(cells))

    def columns(self, places: NDArray[np.intp]) -> Measured:
        """Return some of the columns."""
        cells = None if self.cells is None else np.asarray(self.cells[:, places], dtype=np.float64)
        return Measured(np.ascontiguousarray(np.asarray(self.X, dtype=np.float64)[:, places]), cells)


@dataclass(frozen=True)
class FittedTable:
    """Complete rows, and the graph that was found in them.

    Attributes
    ----------
    X : array of shape (n, d)
    names : sequence
    B : scipy.sparse.csr_array of shape (d, d)
    order : array of shape (d,), optional
        The causal order; None if the graph has cycles.
    consecutive : bool
        Whether rows are in the order in which the table has them.
    cells : array of shape (m, d), optional
        All rows of the table, with NaN for missing values, where X has the complete ones.
    numbers : array of shape (n,), optional
        The places in the table that the rows of X have, where some were left out.
    common : array of shape (n, d), optional
        The part of X that hidden causes explain.
    measured : Measured, optional
        The values that were measured, where columns were straightened.
    """

    X: Rows
    names: Sequence[Any]
    B: Any
    order: NDArray[np.intp] | None
    consecutive: bool = True
    cells: Rows | None = None
    numbers: NDArray[np.intp] | None = None
    common: FloatArray | None = None
    measured: Measured | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def as_measured(self) -> FittedTable:
        """The same table with the values that were measured."""
        if self.measured is None:
            return self
        return replace(self, X=self.measured.X, cells=self.measured.cells, measured=None)

    @property
    def is_whole(self) -> bool:
        """Whether the graph has no variables but these."""
        return True

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def every(self) -> Rows:
        """All rows, where those of X are the complete ones; values may be missing."""
        return self.X if self.cells is None else self.cells

    def number(self, row: int) -> int:
        """Return the place in the table of a row of X."""
        return row if self.numbers is None else int(self.numbers[row])

    @cached_property
    def spread(self) -> Spread:
        """Scales of the columns."""
        return Spread.of(self.every)

    @cached_property
    def causal(self) -> Rows:
        """The rows of X without the part that hidden causes explain: what the graph is about."""
        return self.X if self.common is None else np.asarray(self.X - self.common)

    @cached_property
    def causal_spread(self) -> Spread:
        """Scales of these."""
        return self.spread if self.common is None else Spread.of(self.causal)

    @property
    def examined(self) -> slice:
        """Rows whose residuals are computed: all, but in a table of many millions of cells the first part of them."""
        return slice(0, max(_FEWEST_EXAMINED, _CELLS // max(self.d, 1)))

    @cached_property
    def residuals(self) -> FloatArray:
        """What the causes leave of each column, centred and divided by a scale that resists outliers."""
        X = np.asarray(self.causal[self.examined], dtype=np.float64)
        residuals = X - X @ self.B
        # Of rows with many missing values, none may be complete.
        return Spread.of(residuals).standardise(residuals) if len(residuals) else residuals

    @cached_property
    def edges(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Causes and effects, in the order of the entries of the CSR matrix of weights."""
        csr = sp.csr_array(self.B)
        return np.repeat(np.arange(self.d), np.diff(csr.indptr)), csr.indices.astype(np.intp)

    def parents(self, j: int) -> NDArray[np.intp]:
        """Causes of one column."""
        causes, effects = self.edges
        return np.asarray(causes[effects == j])

    @cached_property
    def descendants(self) -> NDArray[np.bool_]:
        """``[i, j]``: j is i or follows from it; needs a causal order."""
        if self.order is None:
            raise ValueError("a graph with cycles has no causal order")
        return descendants(self.B, self.order)

    def name(self, j: int) -> str:
        """Quote the name of a column."""
        return repr(self.names[j])

    def edge(self, i: int, j: int) -> str:
        """Write an edge as messages do."""
        return f"{self.names[i]} → {self.names[j]}"


def descendants(B: Any, order: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return ``[i, j]``: j is i or follows from it.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.trust.check.table import descendants
    >>> descendants(sp.csr_array([[0, 1], [0, 0]]), np.arange(2))
    array([[ True,  True],
           [False,  True]])
    """
    reached = np.eye(B.shape[0], dtype=bool)
    children = sp.csr_array(B)
    for i in order[::-1]:
        for j in children.indices[children.indptr[i] : children.indptr[i + 1]]:
            reached[i] |= reached[j]
    return reached

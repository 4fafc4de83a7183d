"""Checks of a table in which some variables are categories: of its numbers, beside the equations of all variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, Rows
from icid_rs.graph.mixed import ColumnModel
from icid_rs.trust.check.table import FittedTable, Measured, Spread, descendants


@dataclass(frozen=True)
class NumbersTable(FittedTable):
    """The variables of a table that are single columns, with what all their causes leave of them.

    Attributes
    ----------
    left : array of shape (n, d)
        What causes of any kind leave of these columns.
    reached : array of shape (d, d)
        ``[i, j]``: j is i or follows from it, perhaps through a category.
    """

    left: FloatArray = None  # type: ignore[assignment]
    reached: NDArray[np.bool_] = None  # type: ignore[assignment]

    @property
    def is_whole(self) -> bool:
        """False: the graph has more variables."""
        return False

    @cached_property
    def residuals(self) -> FloatArray:
        """What the causes leave of each column, centred and divided by a scale that resists outliers."""
        left = self.left[self.examined]
        return Spread.of(left).standardise(left)

    @cached_property
    def descendants(self) -> NDArray[np.bool_]:
        """Those in the whole graph."""
        return self.reached


def fitted_table(
    X: Rows,
    names: Sequence[Any],
    B: Any,
    order: NDArray[np.intp] | None,
    columns: ColumnModel | None,
    *,
    consecutive: bool = True,
    cells: Rows | None = None,
    numbers: NDArray[np.intp] | None = None,
    common: FloatArray | None = None,
    measured: Measured | None = None,
) -> FittedTable:
    """Put rows beside a graph; of one with categories, the rows of its numbers.

    Parameters
    ----------
    X : array of shape (n, p)
        The columns of all variables.
    names : sequence of length d
    B : sparse matrix of shape (d, d)
    order : array of shape (d,), optional
    columns : ColumnModel, optional
        The equations, where some variables are categories of more than two levels.
    consecutive, cells, numbers, common, measured
        As in `FittedTable`; `cells` and `measured` have the columns of all variables, and `common` is None where there
        are categories.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.graph.mixed import ColumnModel
    >>> from icid_rs.trust.check.mixed import fitted_table
    >>> blocks = Blocks.of([None, ("a", "b", "c")])
    >>> model = ColumnModel(blocks, sp.csr_array((3, 3)), sp.eye_array(3).tocsr(), np.zeros(3))
    >>> fitted_table(np.ones((9, 3)), ["x", "kind"], sp.csr_array((2, 2)), np.arange(2), model).names
    ['x']
    """
    if columns is None:
        return FittedTable(X, names, B, order, consecutive, cells, numbers, common, measured)
    assert order is not None, "graphs with categories have no cycles"
    kept = np.flatnonzero(~columns.is_wide)
    places = columns.blocks.offsets[kept]
    reached = descendants(B, order)
    values = np.asarray(X, dtype=np.float64)
    return NumbersTable(
        np.ascontiguousarray(values[:, places]),
        [names[j] for j in kept.tolist()],
        sp.csr_array(B[kept][:, kept]),
        np.searchsorted(kept, order[np.isin(order, kept)]),
        consecutive,
        None if cells is None else np.asarray(cells[:, places], dtype=np.float64),
        numbers,
        measured=None if measured is None else measured.columns(places),
        left=np.asarray(values[:, places] - values @ columns.weights[:, places]),
        reached=reached[np.ix_(kept, kept)],
    )

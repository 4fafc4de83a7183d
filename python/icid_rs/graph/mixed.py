"""The equations behind a graph in which some variables are categories: regressions column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs.graph.blocks import Blocks
from icid_rs.graph.sem import Csr, LinearSem


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """Regressions of the columns of each variable on those of its causes, in the units of the table.

    A category of k levels is k − 1 indicators, so that an edge at it has a table of coefficients in place of one
    weight.

    Attributes
    ----------
    blocks : Blocks
        The columns of each variable.
    weights : scipy.sparse.csr_array of shape (p, p)
        ``[k, l]``: weight of column k in the equation of column l.
    residuals : scipy.sparse.csr_array of shape (p, p)
        Covariances of what is left of the columns of each variable; those of different variables are independent.
    location : numpy.ndarray of shape (p,)
        Means of the columns: of an indicator, the share of its level.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.graph.mixed import ColumnModel
    >>> weights = sp.csr_array(([0.5, -0.2], ([0, 0], [1, 2])), shape=(3, 3))
    >>> blocks = Blocks.of([None, ("red", "green", "blue")])
    >>> model = ColumnModel(blocks, weights, sp.eye_array(3).tocsr(), np.zeros(3))
    >>> model.coefficients(0, 1)
    array([[-0.3,  0.5, -0.2]])
    """

    blocks: Blocks
    weights: Csr
    residuals: Csr
    location: FloatArray

    @property
    def is_wide(self) -> NDArray[np.bool_]:
        """Whether each variable is more than one column: a category of more than two levels."""
        return np.asarray(self.blocks.widths > 1)

    @property
    def means(self) -> FloatArray:
        """The mean of each variable; NaN for categories of more than two levels, which have none."""
        return np.where(self.is_wide, np.nan, self.location[self.blocks.offsets[:-1]])

    def coefficients(self, cause: int, effect: int) -> FloatArray:
        """Return the coefficients of one edge, zeros without one.

        A row for each level of the cause but the reference, and a column for each level of the effect: the change of
        its probability, so that rows add up to zero. A number is one row, or one column.
        """
        part = self.weights[self.blocks.part(cause), :][:, self.blocks.part(effect)].toarray()
        if self.blocks.levels[effect] is not None:
            part = np.hstack([-part.sum(axis=1, keepdims=True), part])
        return np.asarray(part)

    def in_units(self, sem: LinearSem) -> LinearSem:
        """Replace strengths by weights, and shares by variances, where variables are single columns.

        Examples
        --------
        >>> import numpy as np
        >>> import scipy.sparse as sp
        >>> from icid_rs.graph.blocks import Blocks
        >>> from icid_rs.graph.mixed import ColumnModel
        >>> from icid_rs.graph.sem import LinearSem
        >>> weights = sp.csr_array([[0.0, 3.0], [0.0, 0.0]])
        >>> model = ColumnModel(Blocks.numbers(2), weights, sp.csr_array(np.diag([1.0, 4.0])), np.zeros(2))
        >>> strengths = LinearSem(sp.csr_array([[0, 0.6], [0, 0]]), np.arange(2), np.array([1.0, 0.64]))
        >>> model.in_units(strengths).B.data, model.in_units(strengths).noise_variances
        (array([3.]), array([1., 4.]))
        """
        strengths = sp.coo_array(sem.B)
        causes, effects = strengths.coords
        first, wide = self.blocks.offsets[:-1], self.is_wide
        values = np.array(strengths.data)
        plain = np.flatnonzero(~(wide[causes] | wide[effects]))
        if plain.size:
            weights = np.asarray(self.weights[first[causes[plain]], first[effects[plain]]]).ravel()
            # An edge that explains nothing keeps its place.
            values[plain] = np.where(weights == 0, np.finfo(np.float64).tiny, weights)
        B = sp.csr_array((values, (causes, effects)), shape=sem.B.shape)
        left = np.where(wide, sem.noise_variances, np.asarray(self.residuals.diagonal())[first])
        return LinearSem(B, sem.order, left)

    def among(self, variables: NDArray[Any]) -> ColumnModel:
        """Return the part that concerns some variables.

        Examples
        --------
        >>> import numpy as np
        >>> import scipy.sparse as sp
        >>> from icid_rs.graph.blocks import Blocks
        >>> from icid_rs.graph.mixed import ColumnModel
        >>> model = ColumnModel(Blocks.numbers(2), sp.csr_array((2, 2)), sp.eye_array(2).tocsr(), np.arange(2.0))
        >>> model.among(np.array([1])).location
        array([1.])
        """
        blocks, columns = self.blocks.select(variables)
        weights, residuals = (matrix[columns][:, columns] for matrix in (self.weights, self.residuals))
        return ColumnModel(blocks, weights, residuals, self.location[columns])

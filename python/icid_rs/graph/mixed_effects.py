"""Effects between numbers in a graph where other variables are categories of more than two levels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from icid_rs.graph.estimation import Equation, Estimate, Network, estimate_of, regress
from icid_rs.graph.mixed import ColumnModel


@dataclass(frozen=True)
class MixedNetwork(Network):
    """A network whose equations are regressions on columns: on all indicators of a category among the causes.

    Equations have the weights of numbers among the causes alone, which suffices for effects along paths that meet no
    category. Covariances are those of columns.

    Attributes
    ----------
    model : ColumnModel
        The fitted equations.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.graph.mixed import ColumnModel
    >>> from icid_rs.graph.mixed_effects import MixedNetwork
    >>> weights = sp.csr_array(([0.5, -0.2, 2.0], ([0, 1, 3], [2, 2, 2])), shape=(4, 4))
    >>> blocks = Blocks.of([("red", "green", "blue"), None, None])
    >>> model = ColumnModel(blocks, weights, sp.eye_array(4).tocsr(), np.zeros(4))
    >>> B = sp.csr_array(([0.3, 2.0], ([0, 2], [1, 1])), shape=(3, 3))
    >>> MixedNetwork(B, B.T.tocsr(), np.array([0, 2, 1]), "kab", None, model).equation(1).weights
    array([2.])
    """

    model: ColumnModel = None  # type: ignore[assignment]

    def equation(self, i: int) -> Equation:
        """Return the equation of a number i, with the numbers among its causes."""
        causes, wide, blocks = self.parents(i), self.model.is_wide, self.model.blocks
        numbers = [k for k in causes if not wide[k]]
        place = int(blocks.offsets[i])
        if self.moments is None:
            weights = self.model.weights[blocks.offsets[numbers], :][:, [place]].toarray().ravel()
            return Equation(numbers, weights, np.full((len(numbers), len(numbers)), np.nan), np.nan)
        columns = self._columns(causes)
        found = regress(place, columns, self.moments, blocks.column_names(self.names))
        own = [columns.index(int(blocks.offsets[k])) for k in numbers]
        return Equation(numbers, found.weights[own], found.errors[np.ix_(own, own)], found.freedom)

    def adjusted_effect(self, a: int, b: int, given: Collection[int]) -> Estimate:
        """Estimate the effect of a number a on a number b by regressing b on a and on all columns of others."""
        if self.moments is None:
            return Estimate(np.nan, np.nan, np.nan)
        first, names = self.model.blocks.offsets, self.model.blocks.column_names(self.names)
        return estimate_of(regress(int(first[b]), [int(first[a]), *self._columns(sorted(given))], self.moments, names))

    def _columns(self, variables: Collection[int]) -> list[int]:
        first = self.model.blocks.offsets
        return [column for k in variables for column in range(int(first[k]), int(first[k + 1]))]

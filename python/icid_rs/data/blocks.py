"""Categories as columns of indicators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray

# The layout belongs to graphs, which keep it after a fit.
from icid_rs.graph.blocks import Blocks, Levels

__all__ = ["Blocks", "Levels", "indicators"]


def indicators(codes: NDArray[np.integer[Any]], levels: int) -> FloatArray:
    """Return the k − 1 columns of a category from the numbers of its levels; NaN where the number is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.blocks import indicators
    >>> indicators(np.array([0, 2, -1]), 3)
    array([[ 0.,  0.],
           [ 0.,  1.],
           [nan, nan]])
    """
    columns: FloatArray = (codes[:, None] == np.arange(1, levels)).astype(np.float64)
    columns[codes < 0] = np.nan
    return columns

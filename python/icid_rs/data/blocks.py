"""Categories as columns of indicators, and the options that they rule out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray

# The layout belongs to graphs, which keep it after a fit.
from icid_rs.graph.blocks import Blocks, Levels
from icid_rs.options import Options

__all__ = ["Blocks", "Levels", "indicators", "supposing_numbers"]

#: Options that suppose that every variable has one variance or one weight, with the only values that categories allow.
_WITH_CATEGORIES: dict[str, tuple[Any, ...]] = {
    "precision": ("auto", "fdr"),
    "noise": ("auto", "unequal"),
    "noise_variances": (None,),
    "refine": ("auto", "search"),
    "dag": ("greedy", "exptrace"),
    "threshold": (0.0,),
    "ridge": (0.0,),
}


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


def supposing_numbers(options: Options) -> list[str]:
    """Return what was asked that supposes that all variables are numbers.

    Examples
    --------
    >>> from icid_rs import ICID
    >>> from icid_rs.data.blocks import supposing_numbers
    >>> from icid_rs.options import Options
    >>> supposing_numbers(Options.of(ICID(noise="equal"), {"auto": True}))
    ["noise='equal'"]
    """
    given = ((name, getattr(options, name), allowed) for name, allowed in _WITH_CATEGORIES.items())
    asked = [f"{name}={value!r}" for name, value, allowed in given if not _is_among(value, allowed)]
    if options.is_weighted:
        asked.append("l1_weight and skewness")
    return asked if options.demanded is None else [*asked, options.demanded]


def _is_among(value: Any, allowed: tuple[Any, ...]) -> bool:
    return any(value is other or (isinstance(value, str | float) and value == other) for other in allowed)

"""Columns that are combinations of others: which they are, and of which others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from icid_rs._util.validation import COLLINEAR, FloatArray, Rows, listed
from icid_rs.data.blocks import Blocks
from icid_rs.data.faults import Fault

#: Coefficients below this share of the largest do not count as part of a combination.
_PART = 1e-3
#: With more columns only copies are looked for, and that later, since the work grows with the cube of their number.
_WIDEST = 4_000


def dependent_columns(correlation: FloatArray) -> dict[int, NDArray[np.intp]]:
    """Find the columns that are linear combinations of earlier ones, and the columns that these consist of.

    What the earlier columns explain is taken out step by step, as in a Cholesky decomposition; a column of which
    nothing is left depends on them.

    Parameters
    ----------
    correlation : array of shape (p, p)

    Returns
    -------
    dict
        For each dependent column the independent ones that it is made of.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.collinear import dependent_columns
    >>> x, y = np.random.default_rng(0).normal(size=(2, 50))
    >>> dependent_columns(np.corrcoef([x, y, -x, x + y]))
    {2: array([0]), 3: array([0, 1])}
    """
    p = len(correlation)
    factor = np.zeros((p, p))
    kept: list[int] = []
    dependent: dict[int, NDArray[np.intp]] = {}
    for j in range(p):
        k = len(kept)
        own = solve_triangular(factor[:k, :k], correlation[kept, j], lower=True) if k else np.zeros(0)
        left = correlation[j, j] - own @ own
        if left > COLLINEAR:
            factor[k, :k], factor[k, k] = own, np.sqrt(left)
            kept.append(j)
            continue
        weights = np.abs(solve_triangular(factor[:k, :k], own, lower=True, trans="T"))
        dependent[j] = np.asarray(kept, dtype=np.intp)[weights > _PART * weights.max()]
    return dependent


def redundant(values: Rows, blocks: Blocks, names: Sequence[Any]) -> dict[int, str]:
    """Find the variables with a column that is a combination of earlier ones, and say of which.

    Rows with missing values are passed over. With too few rows only copies are found, since any column is then a
    combination of others.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.blocks import Blocks
    >>> from icid_rs.data.collinear import redundant
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> redundant(np.column_stack([X, X.sum(axis=1)]), Blocks.numbers(3), ["a", "b", "sum"])
    {2: "a linear combination of 'a', 'b'"}
    """
    p = values.shape[1]
    rows = values[np.isfinite(values).all(axis=1)] if np.isnan(values.sum(dtype=np.float64)) else values
    if p > _WIDEST or len(rows) < 3:
        return {}
    centred = rows - rows.mean(axis=0, dtype=np.float64)
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    # A column that is constant in these rows is for other checks.
    varies = np.flatnonzero(scale > 0)
    centred = centred[:, varies] / scale[varies]
    correlation = centred.T @ centred
    if len(rows) > p + 3:
        dependent = dependent_columns(correlation)
    else:
        same = np.tril(np.abs(correlation) > 1.0 - COLLINEAR, -1)
        dependent = {int(j): np.flatnonzero(same[j])[:1] for j in np.flatnonzero(same.any(axis=1))}
    columns = [blocks.column_names(names)[k] for k in varies.tolist()]
    said = describe(correlation, dependent, columns)
    found: dict[int, str] = {}
    for j, text in said.items():
        found.setdefault(int(blocks.variable_of[varies[j]]), text)
    return found


def describe(correlation: FloatArray, dependent: dict[int, NDArray[np.intp]], names: Sequence[Any]) -> dict[int, str]:
    """Say of each dependent column what it is made of.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.collinear import describe
    >>> describe(np.ones((2, 2)), {1: np.array([0])}, ["a", "b"])
    {1: "the same as 'a' up to scale"}
    """
    said = {}
    for j, others in dependent.items():
        if len(others) == 1:
            said[j] = f"the same as {names[others[0]]!r} up to scale"
        else:
            said[j] = f"a linear combination of {listed([repr(names[k]) for k in others.tolist()])}"
    return said


def faults(correlation: FloatArray, dependent: dict[int, NDArray[np.intp]], names: Sequence[Any]) -> list[Fault]:
    """Describe all dependent columns as faults of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.collinear import faults
    >>> faults(np.ones((2, 2)), {1: np.array([0])}, ["a", "b"])[0].text
    "columns 'a' and 'b' are the same up to scale (correlation 1)"
    """
    remedy = "drop one of them, or use collinear='drop' or ICID(ridge=1e-6)"
    option = "say --collinear drop, which leaves out the last of them, --ridge 1e-6, or --drop with one of them"
    texts = []
    for j, text in describe(correlation, dependent, names).items():
        others = dependent[j]
        if len(others) == 1:
            r = correlation[j, others[0]]
            pair = f"columns {names[others[0]]!r} and {names[j]!r}"
            texts.append(f"{pair} are the same up to scale (correlation {r:.12g})")
        else:
            texts.append(f"column {names[j]!r} is {text}")
    return [Fault(text, remedy, option) for text in texts]

"""Sortability: how far the causal order follows the scales of the columns (Reisach et al. 2021, 2023)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs._util.validation import FloatArray
from icid_rs._util.warn import warn_user

#: Var-sortability from which the directions may come from the scales alone.
_SORTED = 0.9


class ScaleWarning(UserWarning):
    """The graph that was found follows the scales of the columns."""


def sortability(B: Any, quantity: FloatArray) -> float:
    """Compute the share of edges along which a quantity grows; ties count half.

    Parameters
    ----------
    B : array or sparse matrix of shape (d, d)
        A graph.
    quantity : array of shape (d,)
        Variances for var-sortability; shares of variance that all other variables explain for R²-sortability.

    Returns
    -------
    float
        NaN without edges. About ½ if the quantity is unrelated to the causal order.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.trust.sortability import sortability
    >>> sortability([[0, 1, 1], [0, 0, 0], [0, 0, 0]], np.array([2.0, 3.0, 1.0]))
    0.5
    """
    causes, effects = sp.csr_array(B).nonzero()
    if not len(causes):
        return float("nan")
    growth = np.sign(quantity[effects] - quantity[causes])
    return float(np.mean(0.5 + 0.5 * growth))


def report(B: Any, variances: FloatArray, precisions: FloatArray, *, by_scale: bool) -> dict[str, Any]:
    """Compute var-sortability and R²-sortability; warn if the directions may come from the scales alone.

    Parameters
    ----------
    B : scipy.sparse.csr_array
        The graph that was found.
    variances : array of shape (d,)
        Variances of the columns.
    precisions : array of shape (d,)
        Inverses of the variances given all other columns, the diagonal of the inverse covariance.
    by_scale : bool
        Whether directions were found from equal noise variances, which the scales of the columns decide.

    Returns
    -------
    dict
        ``variance``, ``r2``, and a ``note``: the text of the warning or None.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.trust.sortability import report
    >>> report([[0, 1.0], [0, 0]], np.array([1.0, 2.0]), np.array([1.0, 0.5]), by_scale=False)
    {'variance': 1.0, 'r2': 0.5, 'note': None}
    """
    by_variance = sortability(B, variances)
    explained = 1.0 - 1.0 / (variances * precisions)
    note = None
    if by_scale and by_variance >= _SORTED:
        note = (
            f"along {by_variance:.0%} of the edges the variance grows, and noise variances were taken to be equal: the "
            "directions may rest on the units of the columns. If these are arbitrary, use noise='unequal'; if they are "
            "not, say so with noise='equal'"
        )
        warn_user(note, ScaleWarning)
    return {"variance": by_variance, "r2": sortability(B, explained), "note": note}

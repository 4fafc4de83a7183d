"""How far the order of causes is that of the columns' scales, as in Reisach, Seiler and Weichwald (2021, 2023)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs._validation import FloatArray

#: Share of edges along which the variance grows from which a graph may rest on scales alone.
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
        NaN without edges. About ½ if the quantity says nothing of the order.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.sortability import sortability
    >>> sortability([[0, 1, 1], [0, 0, 0], [0, 0, 0]], np.array([2.0, 3.0, 1.0]))
    0.5
    """
    causes, effects = sp.csr_array(B).nonzero()
    if not len(causes):
        return float("nan")
    growth = np.sign(quantity[effects] - quantity[causes])
    return float(np.mean(0.5 + 0.5 * growth))


def report(B: Any, covariance: FloatArray, inverse: Any, *, by_scale: bool) -> dict[str, Any]:
    """Measure both sortabilities, and warn if the result may rest on scales alone.

    Parameters
    ----------
    B : scipy.sparse.csr_array
        The graph that was found.
    covariance : array of shape (d, d)
    inverse : array or sparse matrix of shape (d, d)
    by_scale : bool
        Whether equal noise variances were found plausible, so that scales decide directions.

    Returns
    -------
    dict
        ``variance`` and ``r2``, and a ``note`` in words or None.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.sortability import report
    >>> report(sp.csr_array([[0, 1.0], [0, 0]]), np.diag([1.0, 2.0]), np.diag([1.0, 0.5]), by_scale=False)
    {'variance': 1.0, 'r2': 0.5, 'note': None}
    """
    variances = covariance.diagonal()
    by_variance = sortability(B, variances)
    explained = 1.0 - 1.0 / (variances * inverse.diagonal())
    note = None
    if by_scale and by_variance >= _SORTED:
        note = (
            f"along {by_variance:.0%} of the edges the variance grows, and noise variances were taken to be equal: the "
            "directions may rest on the units of the columns. If these are arbitrary, use noise='unequal'; if they are "
            "not, say so with noise='equal'"
        )
        warnings.warn(note, ScaleWarning, stacklevel=4)
    return {"variance": by_variance, "r2": sortability(B, explained), "note": note}

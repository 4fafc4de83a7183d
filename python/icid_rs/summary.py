"""What a fit makes of moments where a table would give rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from icid_rs._validation import FloatArray
from icid_rs.moments import Moments
from icid_rs.skewness import from_moments, skewness_matrix


def rows_of(moments: Moments) -> FloatArray | None:
    """Return the rows that show the shape of residuals, with the mean of all rows; None if none are kept.

    A sample's own mean has to be taken out of it: third powers about another one vary two and a half times as much.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import Moments
    >>> from icid_rs.summary import rows_of
    >>> moments = Moments(reservoir=5).update(np.arange(200.0).reshape(100, 2))
    >>> bool(np.allclose(rows_of(moments).mean(axis=0), moments.mean))
    True
    """
    rows = moments.rows
    return np.asarray(rows - rows.mean(axis=0) + moments.mean) if len(rows) else None


def skewness_of(moments: Moments) -> FloatArray:
    """Compute M̃ from third moments, or else from the rows that are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import Moments
    >>> from icid_rs.summary import skewness_of
    >>> skewness_of(Moments(third=True).update(np.random.default_rng(0).normal(size=(50, 2)))).shape
    (2, 2)
    """
    third = moments.third
    if third is not None:
        return from_moments(moments.covariance, third)
    if not len(moments.rows):
        raise ValueError("skewness needs third moments or rows; use Moments(third=True), or skewness=0")
    return skewness_matrix(moments.rows)


def report(moments: Moments) -> dict[str, Any]:
    """Tell how many rows there were, how many are kept, and what follows.

    Examples
    --------
    >>> from icid_rs import Moments
    >>> from icid_rs.summary import report
    >>> report(Moments.from_covariance([[1.0]], 9))["note"]
    'no rows are kept: residuals are taken to be Gaussian'
    """
    kept = len(moments.rows)
    note = None
    if not kept:
        note = "no rows are kept: residuals are taken to be Gaussian"
    elif not moments.complete:
        note = f"the shape of residuals is that of a sample of {kept} rows, and counts as much"
    return {"n": moments.n, "n_effective": moments.n_effective, "kept": kept, "dropped": moments.dropped, "note": note}

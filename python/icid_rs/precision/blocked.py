"""Estimates for tables in which some variables are categories of more than two levels, and so several columns each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.stats import chi2, false_discovery_control

from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, listed
from icid_rs.data.blocks import supposing_numbers
from icid_rs.graph.blocks import Blocks
from icid_rs.graph.sem import Csr
from icid_rs.options import Options
from icid_rs.precision.covariance import Covariance, invert
from icid_rs.precision.variants import Blocked

#: Expected share of pairs in the support of Θ that should not be there, as of ``precision="fdr"``.
_ALPHA = 0.05


def check_options(options: Options, blocks: Blocks, names: Sequence[Any]) -> None:
    """Raise if an option supposes that all variables are numbers.

    Examples
    --------
    >>> from icid_rs import ICID
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.options import Options
    >>> from icid_rs.precision.blocked import check_options
    >>> check_options(Options.of(ICID(), {"auto": True}), Blocks.of([("a", "b", "c")]), ["kind"])
    """
    if refused := supposing_numbers(options):
        wide = listed([repr(names[j]) for j in blocks.wide.tolist()])
        raise ValueError(
            f"{listed(refused)} needs variables that are numbers, but column(s) {wide} are categories of more than two "
            "levels; leave it at its default, name those whose levels have an order in ordinal=, or leave them out "
            "with columns="
        )


def blocked_estimate(covariance: Covariance, blocks: Blocks, watch: Stopwatch) -> Blocked:
    """Estimate Θ between variables from the covariance of their columns.

    Categories often determine each other in a sample. So their columns vary as much as with one more row in which they
    are independent of all others, as they do in the search.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.precision.blocked import blocked_estimate
    >>> from icid_rs.precision.covariance import Covariance
    >>> covariance = Covariance(np.eye(3), np.zeros(3), 100)
    >>> blocked_estimate(covariance, Blocks.of([None, ("a", "b", "c")]), Stopwatch()).theta.toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    n, p = covariance.samples, blocks.columns
    inverse = None
    if n > p + 3:
        try:
            inverse = invert(shrunk(covariance, blocks))
        except np.linalg.LinAlgError:
            # Numbers that are combinations of each other are named by the caller; the search needs no inverse.
            inverse = None
    watch.lap("inverse")
    theta = _between_variables(inverse, blocks, n - p - 1)
    watch.lap("support")
    return Blocked.of(theta, covariance, watch, blocks=blocks, inverse=inverse)


def shrunk(covariance: Covariance, blocks: Blocks) -> FloatArray:
    """Return the covariance in which the columns of categories vary as much as with one more row.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.precision.blocked import shrunk
    >>> from icid_rs.precision.covariance import Covariance
    >>> shrunk(Covariance(np.eye(2), np.zeros(2), 10), Blocks.of([None, ("a", "b")]))
    array([[1. , 0. ],
           [0. , 1.1]])
    """
    matrix = np.array(covariance.matrix)
    for j in blocks.categories.tolist():
        part = blocks.part(j)
        matrix[part, part] *= 1.0 + 1.0 / covariance.samples
    return matrix


def _between_variables(inverse: FloatArray | None, blocks: Blocks, degrees: int) -> Csr:
    """Return Θ between variables on the support that tests find; the identity without an inverse.

    The squared partial correlations between the columns of two variables add up to a χ² statistic (Pillai's trace).
    """
    d = blocks.variables
    if inverse is None or degrees < 1:
        return sp.csr_array(sp.eye_array(d, format="csr"))
    whitened = np.array(inverse)
    for j in range(d):
        part = blocks.part(j)
        factor = np.linalg.cholesky(inverse[part, part])
        whitened[part] = solve_triangular(factor, whitened[part], lower=True)
        whitened[:, part] = solve_triangular(factor, whitened[:, part].T, lower=True).T
    starts = blocks.offsets[:-1]
    traces = np.add.reduceat(np.add.reduceat(whitened**2, starts, axis=0), starts, axis=1)
    widths = blocks.widths
    rows, columns = np.triu_indices(d, 1)
    p_values = chi2.sf(degrees * traces[rows, columns], widths[rows] * widths[columns])
    found = false_discovery_control(p_values) <= _ALPHA if len(rows) else np.zeros(0, dtype=bool)
    rows, columns = rows[found], columns[found]
    narrower = np.minimum(widths[rows], widths[columns])
    strengths = np.sqrt(np.minimum(traces[rows, columns] / narrower, 1.0))
    is_single = widths[rows] + widths[columns] == 2
    values = np.where(is_single, inverse[starts[rows], starts[columns]], strengths)
    diagonal = np.where(widths == 1, inverse.diagonal()[starts], 1.0)
    every = np.arange(d)
    ends = (np.concatenate([rows, columns, every]), np.concatenate([columns, rows, every]))
    return sp.csr_array((np.concatenate([values, values, diagonal]), ends), shape=(d, d))

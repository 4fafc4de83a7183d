"""The sizes and errors of edges between variables of which some are categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import chi2

from icid_rs import _core
from icid_rs._util.validation import FloatArray, csr_parts
from icid_rs.graph.edges import entries_at
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.mixed import ColumnModel
from icid_rs.graph.sem import Csr
from icid_rs.learning.weight_errors import least_squares_errors
from icid_rs.precision.blocked import shrunk
from icid_rs.precision.covariance import Covariance
from icid_rs.precision.variants import Blocked


def mixed_evidence(B: Csr, columns: ColumnModel, estimate: Blocked, n_threads: int | None) -> dict[str, FloatArray]:
    """Return the standardised sizes of edges, standard errors and p-values, in the order of the entries of B.

    Between two single columns these are those of the weight. At a category of more than two levels the size is the
    strength of the edge, which has no standard error; the p-value is that of the likelihood ratio of the edge, with
    Bartlett's correction.

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0)
    >>> kind = pd.cut(X[:, 1], [-9, -1, 1, 9], labels=["low", "mid", "high"])
    >>> model = ICID().fit(pd.DataFrame({"x": X[:, 0], "kind": kind.astype(str)}))
    >>> bool(model.graph_.evidence_.p_value[0] < 1e-9)
    True
    """
    causes, effects = edge_ends(B)
    widths, first = columns.blocks.widths, columns.blocks.offsets[:-1]
    is_plain = (widths[causes] == 1) & (widths[effects] == 1)
    ends = first[causes], first[effects]
    deviations = np.sqrt(estimate.covariance.diagonal())
    standardised = np.where(is_plain, B.data * deviations[ends[0]] / deviations[ends[1]], B.data)
    # Weights are those of the covariance that searches see.
    covariance = shrunk(Covariance(estimate.covariance, estimate.location, estimate.samples), columns.blocks)
    found = _core.weight_errors(covariance, csr_parts(columns.weights), n_threads=n_threads)
    errors = least_squares_errors(columns.weights, *found, estimate.samples)
    std_error, p_value = (_of_edges(columns.weights, values, ends) for values in (errors.std_error, errors.p_value))
    return {
        "standardised": standardised,
        "std_error": np.where(is_plain, std_error, np.nan),
        "p_value": np.where(is_plain, p_value, _likelihood_ratios(B, columns, estimate.samples)),
    }


def _of_edges(weights: Csr, values: FloatArray, ends: tuple[NDArray[Any], NDArray[Any]]) -> FloatArray:
    """Return the values, one for each weight between columns, that belong to edges between single columns."""
    return entries_at(sp.csr_array((values, weights.indices, weights.indptr), shape=weights.shape), *ends)


def _likelihood_ratios(B: Csr, columns: ColumnModel, samples: int) -> FloatArray:
    """Return the p-value of each edge from its strength, the share of variance that the cause alone explains."""
    causes, effects = edge_ends(B)
    widths = columns.blocks.widths
    regressors = np.bincount(effects, widths[causes], minlength=len(widths))
    strength = np.minimum(np.abs(B.data), 1.0 - 1e-15)
    # Of Wilks' Λ: the degrees that the other causes leave, less half of what the two variables take.
    rows = samples - 1.0 - (regressors[effects] - widths[causes]) - (widths[causes] + widths[effects] + 1.0) / 2.0
    statistic = -np.maximum(rows, 0.0) * np.log1p(-(strength**2))
    return np.asarray(chi2.sf(statistic, widths[causes] * widths[effects]))

"""The evidence for the edges of a learned graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from icid_rs.graph.evidence import EdgeEvidence, edge_ends
from icid_rs.learning.learned import Learned
from icid_rs.learning.mixed_evidence import mixed_evidence
from icid_rs.learning.weight_errors import weight_errors
from icid_rs.precision.variants import Blocked, Precision


def edge_evidence(claims: EdgeEvidence, learned: Learned, estimate: Precision, n_threads: int | None) -> EdgeEvidence:
    """Add the sizes and errors of the edges of a learned graph to what their directions rest on.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0)
    >>> ICID(required=[(0, 1)]).fit(X).graph_.evidence_.direction
    array(['knowledge'], dtype='<U9')
    """
    B = learned.sem.B
    if learned.columns is not None:
        assert isinstance(estimate, Blocked)
        sizes: dict[str, Any] = mixed_evidence(B, learned.columns, estimate, n_threads)
        return replace(claims, **sizes)
    errors = weight_errors(B, estimate, n_threads=n_threads)
    causes, effects = edge_ends(B)
    deviations = np.sqrt(estimate.variances)
    return replace(
        claims,
        std_error=errors.std_error,
        p_value=errors.p_value,
        standardised=B.data * deviations[causes] / deviations[effects],
    )

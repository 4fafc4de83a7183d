"""How edges are marked in every picture: colour and width by strength, opacity by sureness, heads by direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.sem import Csr
from icid_rs.plotting import style
from icid_rs.plotting.layout import Layout


@dataclass(frozen=True)
class EdgeMarks:
    """What a picture shows of each edge of a layout.

    Attributes
    ----------
    sizes : numpy.ndarray
        Standardised weights, or weights where those are not known.
    scale : str
        Which of the two.
    strengths : numpy.ndarray
        Sizes mapped to [−1, 1], for colour and width.
    limit, linear_width : float
        Of this map (`style.strengths`).
    sure : numpy.ndarray or None
        Confidence of a bootstrap; else the share of resamples with the claimed direction, or of those that join the two
        variables where the direction is open. From 0 to 1.
    is_open : numpy.ndarray of bool
        Edges that get no arrowhead.
    evidence : EdgeEvidence
    """

    sizes: FloatArray
    scale: str
    strengths: FloatArray
    limit: float
    linear_width: float
    sure: FloatArray | None
    is_open: NDArray[np.bool_]
    evidence: EdgeEvidence


def edge_marks(
    B: Csr, layout: Layout, *, evidence: EdgeEvidence | None = None, confidence: Any = None, reversible: Any = None
) -> EdgeMarks:
    """Choose the marks of the edges of a layout.

    `evidence` is that for the entries of B. Without it, the edges of the matrix `reversible` are open.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.plotting.layout import layered_layout
    >>> from icid_rs.plotting.marks import edge_marks
    >>> B = sp.csr_array([[0, 0.5], [0, 0]])
    >>> edge_marks(B, layered_layout(B, np.ones(2))).scale
    'weight'
    """
    source, target = layout.source, layout.target
    sure = style.edge_confidence(confidence, source, target, B.shape[0])
    if evidence is None:
        shown = EdgeEvidence.unknown(source.size)
        is_open = style.edge_flags(reversible, source, target)
    else:
        shown = evidence.at(B, source, target)
        is_open = shown.direction == "open"
        if sure is None and np.isfinite(shown.stability).any():
            # The missing arrowhead tells that a direction is open; how sure the edge itself is is another matter.
            sure = np.nan_to_num(np.where(is_open, shown.joined, shown.stability), nan=1.0)
    standardised = bool(source.size) and bool(np.isfinite(shown.standardised).all())
    sizes = shown.standardised if standardised else layout.weights
    scale = "standardised weight" if standardised else "weight"
    return EdgeMarks(sizes, scale, *style.strengths(sizes), sure, is_open, shown)

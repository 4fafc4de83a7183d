"""The data that a page of HTML holds of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs._util.validation import FloatArray, as_csr
from icid_rs.decomposition.acyclic import acyclic_graph
from icid_rs.graph.edges import known_values
from icid_rs.graph.effects import total_effects
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.sem import Csr
from icid_rs.plotting import style
from icid_rs.plotting.layout import layered_layout, spread
from icid_rs.plotting.marks import edge_marks
from icid_rs.plotting.part import HEIGHT

#: Total effects that are listed of a variable, in each direction.
_MOST_EFFECTS = 10
#: Width over height of a usual canvas, and the most that flat drawings are stretched to fill it.
_SHAPE = (1.4, 5.0)


def make_payload(
    adjacency: Any,
    names: Sequence[Any] | None = None,
    *,
    order: Any = None,
    confidence: Any = None,
    reversible: Any = None,
    evidence: EdgeEvidence | None = None,
    title: str = "Causal graph",
    with_effects: bool = True,
) -> dict[str, Any]:
    """Lay a graph out; return names, positions, edges and effects as plain lists and numbers.

    Without `with_effects` there are none: weights that are strengths do not multiply along paths.

    Examples
    --------
    >>> from icid_rs.export.web.payload import make_payload
    >>> payload = make_payload([[0, 0.8, 0], [0, 0, -0.5], [0, 0, 0]], ["rain", "wet", "slow"])
    >>> payload["edges"]["weight"], payload["effects"]["on"][0]
    ([0.8, -0.5], [[1, 0.8], [2, -0.4]])
    """
    B = as_csr(adjacency, "adjacency")
    d = B.shape[0]
    names = [str(name) for name in (range(d) if names is None else names)]
    if len(names) != d:
        raise ValueError(f"there are {len(names)} names for {d} variables")
    labels = [style.shorten(name) for name in names]
    layout = spread(layered_layout(B, style.label_widths(labels), order=order), *_SHAPE)
    source, target = layout.source, layout.target
    marks = edge_marks(B, layout, evidence=evidence, confidence=confidence, reversible=reversible)
    sure = style.edge_confidence(confidence, source, target, d)
    return {
        "title": title,
        "names": names,
        "labels": labels,
        "x": _rounded(layout.x),
        "y": _rounded(layout.y),
        "width": _rounded(layout.widths),
        "height": HEIGHT,
        "size": _rounded(np.array(layout.size)),
        "scale": {
            "name": marks.scale,
            "limit": _significant(marks.limit),
            "linear": bool(np.isinf(marks.linear_width)),
        },
        "edges": {
            "source": source.tolist(),
            "target": target.tolist(),
            "weight": [_significant(weight) for weight in layout.weights],
            "size": [_significant(size) for size in marks.sizes],
            "strength": _rounded(marks.strengths, 4),
            "sure": None if marks.sure is None else _rounded(marks.sure, 4),
            "confidence": None if sure is None else _rounded(sure, 4),
            "open": marks.is_open.astype(int).tolist(),
            "evidence": None if evidence is None else _columns(marks.evidence),
            "route": [_rounded(route.ravel()) for route in layout.routes],
        },
        "effects": _strongest_effects(B) if with_effects else None,
    }


def _columns(evidence: EdgeEvidence) -> dict[str, list[Any]]:
    """List the columns of which anything is known, with null for unknown numbers."""
    columns = {name: known_values(getattr(evidence, name)) for name in evidence.columns()}
    return {
        name: [_significant(value) if isinstance(value, float) else value for value in values]
        for name, values in columns.items()
        if any(value is not None for value in values)
    }


def _rounded(values: FloatArray, digits: int = 2) -> list[float]:
    # Adding zero turns −0 into 0.
    rounded: list[float] = (np.round(values, digits) + 0.0).tolist()
    return rounded


def _significant(value: float) -> float:
    return float(f"{value:.5g}")


def _strongest_effects(B: Csr) -> dict[str, list[Any]] | None:
    """List the strongest total effects, (I − B)⁻¹ − I, on others and from others; None if the graph has a cycle."""
    kept, order = acyclic_graph(B)
    if kept.nnz < np.count_nonzero(B.data):
        return None
    effects = total_effects(B, order)
    return {"on": _strongest(effects), "from": _strongest(sp.csr_array(effects.T))}


def _strongest(effects: Csr) -> list[list[list[float]]]:
    """List for each row the largest entries, with their columns."""
    lists = []
    for start, stop in pairwise(effects.indptr.tolist()):
        columns, values = effects.indices[start:stop], effects.data[start:stop]
        largest = np.lexsort((columns, -np.abs(values)))[:_MOST_EFFECTS]
        lists.append([[int(columns[k]), _significant(values[k])] for k in largest if values[k] != 0])
    return lists

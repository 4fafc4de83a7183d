"""Graphs from lists of edges, which is how files hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from icid_rs.graph.edges import edge_matrix, weight_matrix
from icid_rs.graph.named_graph import NamedGraph

#: The class of graph that a reader builds; its caller chooses.
Graph = TypeVar("Graph", bound=NamedGraph)


def build_graph(
    kind: type[Graph],
    names: Sequence[Any],
    sources: Sequence[int],
    targets: Sequence[int],
    weights: Sequence[float],
    *,
    reversible: Sequence[bool] | None = None,
    confidence: Sequence[float] | None = None,
    **parts: Any,
) -> Graph:
    """Build a graph of class `kind` from columns of edges; `parts` are further arguments of its constructor.

    Examples
    --------
    >>> from icid_rs.export.reading import build_graph
    >>> from icid_rs.graph.named_graph import NamedGraph
    >>> build_graph(NamedGraph, ["rain", "wet"], [0], [1], [0.5], reversible=[True]).cpdag_.toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    d = len(names)
    B = weight_matrix(sources, targets, weights, names)
    if reversible is not None:
        parts["cpdag"] = B.astype(bool).astype(np.float64) + edge_matrix(targets, sources, reversible, d)
    if confidence is not None:
        parts["confidence"] = edge_matrix(sources, targets, confidence, d)
    return kind(B, names, **parts)

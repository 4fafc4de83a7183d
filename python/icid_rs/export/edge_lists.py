"""Graphs as lists of edges, which is how files hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from icid_rs.graph.edges import edge_matrix, entries_at, list_edges, weight_matrix
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
    """Build a graph of class `kind` from its edges; `parts` are further arguments of its constructor.

    Examples
    --------
    >>> from icid_rs.export.edge_lists import build_graph
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


def edge_records(graph: NamedGraph, names: Sequence[Any]) -> list[dict[str, Any]]:
    """List the edges with all that is known of each, strongest first; ``reversible`` is None in a graph with cycles.

    Examples
    --------
    >>> from icid_rs.export.edge_lists import edge_records
    >>> from icid_rs.graph.named_graph import NamedGraph
    >>> edge_records(NamedGraph([[0, 0.5], [0, 0]]), ["rain", "wet"])
    [{'source': 'rain', 'target': 'wet', 'weight': 0.5, 'reversible': True}]
    """
    edges = list_edges(graph.adjacency_matrix_, range(len(names)), graph.confidence_)
    reversible: list[bool | None] = [None] * len(edges)
    if graph.cpdag_ is not None:
        ends = np.array([(edge.source, edge.target) for edge in edges], dtype=np.intp).reshape(-1, 2)
        reversible = entries_at(graph.cpdag_, ends[:, 1], ends[:, 0]).astype(bool).tolist()
    records = []
    for edge, either_way in zip(edges, reversible, strict=True):
        record = {"source": names[edge.source], "target": names[edge.target], "weight": edge.weight}
        if edge.confidence is not None:
            record["confidence"] = edge.confidence
        records.append({**record, "reversible": either_way})
    return records

"""Graphs as lists of edges, which is how files hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from icid_rs.graph.edges import edge_matrix, entries_at, list_edges, weight_matrix
from icid_rs.graph.evidence import EdgeEvidence
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
    evidence: Mapping[str, Sequence[Any]] | None = None,
    **parts: Any,
) -> Graph:
    """Build a graph of class `kind` from its edges; `parts` are further arguments of its constructor.

    `evidence` holds columns of `EdgeEvidence`, with None where a number is not known.

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
    graph = kind(B, names, **parts)
    if not evidence:
        return graph
    known = read_evidence(evidence, np.lexsort((targets, sources)))
    return graph._with_evidence(replace(graph.evidence_, **known))


def evidence_columns(edges: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Gather the evidence of edges that are described one by one; columns of which nothing is known are left out.

    Examples
    --------
    >>> from icid_rs.export.edge_lists import evidence_columns
    >>> evidence_columns([{"weight": 1.0}, {"weight": 2.0, "margin": 3.0}])
    {'margin': [None, 3.0]}
    """
    columns = {name: [edge.get(name) for edge in edges] for name in EdgeEvidence.columns()}
    return {name: values for name, values in columns.items() if any(value is not None for value in values)}


def read_evidence(columns: Mapping[str, Sequence[Any]], index: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Convert columns of evidence to arrays, in the order of `index`; a direction that is missing is open.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.export.edge_lists import read_evidence
    >>> read_evidence({"direction": ["shape", None], "margin": [None, 2.0]}, np.array([1, 0]))
    {'direction': array(['open', 'shape'], dtype='<U5'), 'margin': array([ 2., nan])}
    """
    known: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        if name == "direction":
            known[name] = np.array(["open" if value is None else value for value in values], dtype=np.str_)[index]
        else:
            known[name] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)[index]
    return known


def edge_records(graph: NamedGraph, names: Sequence[Any]) -> list[dict[str, Any]]:
    """List the edges with all that is known of each, strongest first; ``reversible`` is None in a graph with cycles.

    Examples
    --------
    >>> from icid_rs.export.edge_lists import edge_records
    >>> from icid_rs.graph.named_graph import NamedGraph
    >>> edge_records(NamedGraph([[0, 0.5], [0, 0]]), ["rain", "wet"])
    [{'source': 'rain', 'target': 'wet', 'weight': 0.5, 'direction': 'knowledge', 'reversible': True}]
    """
    edges = list_edges(graph.adjacency_matrix_, range(len(names)), graph.evidence_, graph.confidence_)
    reversible: list[bool | None] = [None] * len(edges)
    if graph.cpdag_ is not None:
        ends = np.array([(edge.source, edge.target) for edge in edges], dtype=np.intp).reshape(-1, 2)
        reversible = entries_at(graph.cpdag_, ends[:, 1], ends[:, 0]).astype(bool).tolist()
    records = []
    for edge, either_way in zip(edges, reversible, strict=True):
        record = {"source": names[edge.source], "target": names[edge.target], "weight": edge.weight}
        for column in (*EdgeEvidence.columns(), "confidence"):
            if getattr(edge, column) is not None:
                record[column] = getattr(edge, column)
        records.append({**record, "reversible": either_way})
    return records

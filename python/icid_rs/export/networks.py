"""Graphs of networkx, and GraphML."""

from __future__ import annotations

import io
import re
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs._extras import require
from icid_rs.causal_graph import CausalGraph, weight_matrix
from icid_rs.export.conventions import Convention, is_transposed
from icid_rs.graph import GraphHolder, list_edges
from icid_rs.variables import as_plain, as_text

#: What XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_networkx(graph: GraphHolder, convention: Convention = "row_to_column") -> Any:
    """Build a ``networkx.DiGraph``; see `GraphMixin.to_networkx`."""
    nx = require("networkx", "to_networkx", "networkx")
    transposed = is_transposed(convention)
    names = graph.names_
    result = nx.DiGraph(convention=convention)
    result.add_nodes_from(names)
    attributes = {"noise_variance": graph.noise_variances_, "mean": graph.location_}
    if graph.causal_order_ is not None:
        attributes["order"] = np.argsort(graph.causal_order_)
    for key, values in attributes.items():
        if values is not None:
            nx.set_node_attributes(result, dict(zip(names, values.tolist(), strict=True)), key)
    reversible = _reversible(graph)
    for edge in list_edges(graph.adjacency_matrix_, names, graph.confidence_):
        data: dict[str, Any] = {"weight": edge.weight}
        if reversible is not None:
            data["reversible"] = (edge.source, edge.target) in reversible
        if edge.confidence is not None:
            data["confidence"] = edge.confidence
        ends = (edge.target, edge.source) if transposed else (edge.source, edge.target)
        result.add_edge(*ends, **data)
    return result


def from_networkx(graph: Any) -> CausalGraph:
    """Read a ``networkx.DiGraph``; see `CausalGraph.from_networkx`."""
    if not hasattr(graph, "is_directed"):
        raise TypeError(f"from_networkx reads a networkx.DiGraph, not {type(graph).__name__}")
    if not graph.is_directed() or graph.is_multigraph():
        raise ValueError("a causal graph is directed, without parallel edges: give a networkx.DiGraph")
    transposed = is_transposed(graph.graph.get("convention", "row_to_column"))
    names = list(graph.nodes)
    place = {name: k for k, name in enumerate(names)}
    edges = [(b, a, data) if transposed else (a, b, data) for a, b, data in graph.edges(data=True)]
    for cause, effect, data in edges:
        for key in ("weight", "confidence", "reversible"):
            if not isinstance(data.get(key, 1.0), Real):
                raise TypeError(f"the edge {cause!r} → {effect!r} has the {key} {data[key]!r}, which is no number")
    sources, targets = [place[a] for a, _, _ in edges], [place[b] for _, b, _ in edges]

    def matrix(values: list[Any]) -> Any:
        return sp.csr_array((np.asarray(values, dtype=np.float64), (sources, targets)), shape=(len(names), len(names)))

    def of_nodes(key: str) -> Any:
        values = [graph.nodes[name].get(key) for name in names]
        return None if any(value is None for value in values) else np.asarray(values)

    def of_edges(key: str) -> Any:
        values = [data.get(key) for _, _, data in edges]
        return None if not values or any(value is None for value in values) else matrix(values)

    reversible, ranks = of_edges("reversible"), of_nodes("order")
    B = weight_matrix(sources, targets, [data.get("weight", 1.0) for _, _, data in edges], names)
    return CausalGraph(
        B,
        names,
        causal_order=None if ranks is None else np.argsort(ranks),
        cpdag=None if reversible is None else B.astype(bool).astype(np.float64) + reversible.T,
        noise_variances=of_nodes("noise_variance"),
        location=of_nodes("mean"),
        confidence=of_edges("confidence"),
    )


def to_graphml(graph: GraphHolder, convention: Convention = "row_to_column") -> str:
    """Write GraphML; see `GraphMixin.to_graphml`."""
    nx = require("networkx", "GraphML", "networkx")
    names = as_plain(graph.names_, "GraphML")
    for name in as_text(names, "GraphML"):
        odd = _NOT_XML.search(name)
        if odd:
            raise ValueError(f"GraphML cannot hold {odd.group()!r} in the name {name!r}; rename it, or use JSON")
    integers = all(isinstance(name, int) for name in names)
    if not integers and not all(isinstance(name, str) for name in names):
        raise ValueError("the names are partly strings and partly integers, which GraphML cannot tell; use JSON")
    network = to_networkx(graph, convention)
    network.graph["integer_names"] = integers
    file = io.BytesIO()
    nx.write_graphml_xml(network, file, named_key_ids=True)
    return file.getvalue().decode()


def from_graphml(content: bytes) -> CausalGraph:
    """Read GraphML, ours or another's."""
    nx = require("networkx", "GraphML", "networkx")
    try:
        network = nx.read_graphml(io.BytesIO(content))
    except (SyntaxError, LookupError, TypeError, ValueError, AttributeError, nx.NetworkXError) as error:
        raise ValueError(f"not valid GraphML: {error}") from None
    if network.graph.pop("integer_names", False):
        network = nx.relabel_nodes(network, int)
    return from_networkx(network)


def _reversible(graph: GraphHolder) -> set[tuple[Any, Any]] | None:
    if graph.cpdag_ is None:
        return None
    names = graph.names_
    rows, columns = graph.cpdag_.multiply(graph.cpdag_.T).nonzero()
    return {(names[i], names[j]) for i, j in zip(rows, columns, strict=True)}

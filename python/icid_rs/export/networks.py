"""Graphs of networkx, and GraphML."""

from __future__ import annotations

import io
import re
from numbers import Real
from typing import Any

import numpy as np

from icid_rs._util.extras import require
from icid_rs.export.edge_lists import Graph, build_graph, edge_records, evidence_columns
from icid_rs.graph.conventions import Convention, is_transposed
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.graph.variables import as_plain, as_text

#: Characters that XML 1.0 cannot represent.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_networkx(graph: NamedGraph, *, convention: Convention = "row_to_column") -> Any:
    """Build a ``networkx.DiGraph``; see `CausalGraph.to_networkx`."""
    nx = require("networkx", "to_networkx", "networkx")
    transposed = is_transposed(convention)
    names = graph.names_
    result = nx.DiGraph(convention=convention)
    result.add_nodes_from(names)
    attributes: dict[str, Any] = {"noise_variance": graph.noise_variances_, "mean": graph.location_}
    if graph.causal_order_ is not None:
        attributes["order"] = np.argsort(graph.causal_order_)
    for key, values in attributes.items():
        if values is not None:
            nx.set_node_attributes(result, dict(zip(names, values.tolist(), strict=True)), key)
    if graph.column_model_ is not None:
        _describe_categories(result, graph)
    for edge in edge_records(graph, names):
        tail, head = ("target", "source") if transposed else ("source", "target")
        data = {key: value for key, value in edge.items() if key not in ("source", "target") and value is not None}
        result.add_edge(edge[tail], edge[head], **data)
    return result


def _describe_categories(network: Any, graph: NamedGraph) -> None:
    """Name the levels of categories, which have no mean; the weights of their edges are strengths."""
    assert graph.column_model_ is not None
    levels = graph.column_model_.blocks.levels
    for k in graph.column_model_.blocks.wide.tolist():
        node = network.nodes[graph.names_[k]]
        del node["mean"]
        node["levels"] = " | ".join(map(str, levels[k] or ()))


def from_networkx(graph: Any, kind: type[Graph]) -> Graph:
    """Read a ``networkx.DiGraph`` as a graph of class `kind`; see `CausalGraph.from_networkx`."""
    if not hasattr(graph, "is_directed"):
        raise TypeError(f"from_networkx reads a networkx.DiGraph, not {type(graph).__name__}")
    if not graph.is_directed() or graph.is_multigraph():
        raise ValueError("a causal graph is directed, without parallel edges: give a networkx.DiGraph")
    transposed = is_transposed(graph.graph.get("convention", "row_to_column"))
    names = list(graph.nodes)
    place = {name: k for k, name in enumerate(names)}
    edges = [(b, a, data) if transposed else (a, b, data) for a, b, data in graph.edges(data=True)]
    for cause, effect, data in edges:
        for key in ("weight", "confidence", "reversible", *EdgeEvidence.columns()):
            wanted, name = (str, "text") if key == "direction" else (Real, "number")
            if key in data and not isinstance(data[key], wanted):
                raise TypeError(f"the edge {cause!r} → {effect!r} has the {key} {data[key]!r}, which is no {name}")

    if any("levels" in graph.nodes[name] for name in names):
        raise ValueError(
            "the graph has categories, whose equations only JSON holds: save it as .json, or drop the attribute "
            "'levels' of nodes if their strengths are to be read as weights"
        )
    nodes, links = [graph.nodes[name] for name in names], [data for _, _, data in edges]
    ranks = _values(nodes, "order")
    return build_graph(
        kind,
        names,
        [place[a] for a, _, _ in edges],
        [place[b] for _, b, _ in edges],
        [data.get("weight", 1.0) for data in links],
        reversible=_values(links, "reversible"),
        confidence=_values(links, "confidence"),
        evidence=evidence_columns(links),
        causal_order=None if ranks is None else np.argsort(ranks),
        noise_variances=_values(nodes, "noise_variance"),
        location=_values(nodes, "mean"),
    )


def _values(records: list[dict[str, Any]], key: str) -> list[Any] | None:
    """Return the value of each node or edge; None if one of them has none."""
    values = [record.get(key) for record in records]
    return None if not values or any(value is None for value in values) else values


def to_graphml(graph: NamedGraph, *, convention: Convention = "row_to_column") -> str:
    """Write GraphML; see `CausalGraph.to_graphml`."""
    nx = require("networkx", "GraphML", "networkx")
    names = as_plain(graph.names_, "GraphML")
    for name in as_text(names, "GraphML"):
        odd = _NOT_XML.search(name)
        if odd:
            raise ValueError(f"GraphML cannot hold {odd.group()!r} in the name {name!r}; rename it, or use JSON")
    integers = all(isinstance(name, int) for name in names)
    if not integers and not all(isinstance(name, str) for name in names):
        raise ValueError("the names are partly strings and partly integers, which GraphML cannot tell; use JSON")
    network = to_networkx(graph, convention=convention)
    network.graph["integer_names"] = integers
    file = io.BytesIO()
    nx.write_graphml_xml(network, file, named_key_ids=True)
    return file.getvalue().decode()


def from_graphml(content: bytes, kind: type[Graph]) -> Graph:
    """Read GraphML, written by this package or another program, as a graph of class `kind`."""
    nx = require("networkx", "GraphML", "networkx")
    try:
        network = nx.read_graphml(io.BytesIO(content))
    except (SyntaxError, LookupError, TypeError, ValueError, AttributeError, nx.NetworkXError) as error:
        raise ValueError(f"not valid GraphML: {error}") from None
    if network.graph.pop("integer_names", False):
        network = nx.relabel_nodes(network, int)
    return from_networkx(network, kind)

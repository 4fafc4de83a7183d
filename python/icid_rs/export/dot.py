"""Graphviz's language DOT, for drawing."""

from __future__ import annotations

import re

from icid_rs.graph.conventions import Convention, is_transposed
from icid_rs.graph.edges import list_edges
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.graph.variables import as_text

#: Graphviz would replace such an entity by its character.
_ENTITY = re.compile("&(?=#?[0-9A-Za-z]+;)")


def to_dot(graph: NamedGraph, *, convention: Convention = "row_to_column") -> str:
    """Write DOT; see `CausalGraph.to_dot`."""
    transposed = is_transposed(convention)
    # Quoting writes every line break alike: names that differ only in that would become one variable.
    names = as_text([_quote(name) for name in as_text(graph.names_, "DOT")], "DOT")
    lines = ["digraph {", *(f"  {name};" for name in names)]
    for edge in list_edges(graph.adjacency_matrix_, names, graph.evidence_):
        ends = (edge.target, edge.source) if transposed else (edge.source, edge.target)
        headless = ', dir=none, direction="open"' if edge.direction == "open" else ""
        lines.append(f'  {ends[0]} -> {ends[1]} [label="{edge.weight:.3g}"{headless}];')
    return "\n".join([*lines, "}", ""])


def _quote(name: str) -> str:
    r"""Write a name so that Graphviz shows it as it is.

    Examples
    --------
    >>> from icid_rs.export.dot import _quote
    >>> print(_quote('say "hello"'))
    "say \"hello\""
    """
    if "\0" in name:
        raise ValueError(f"DOT cannot hold '\\x00' in the name {name!r}; rename it, or use JSON")
    escaped = _ENTITY.sub("&amp;", name.replace("\\", "\\\\").replace('"', '\\"'))
    if escaped.startswith("%"):
        # Graphviz takes a name that begins with % for an anonymous node, a new one each time.
        escaped = "&#37;" + escaped[1:]
    return '"' + escaped.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", "\\n") + '"'

"""A graph at a glance, for notebooks: facts, the strongest edges, and a small picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from icid_rs._util.validation import FloatArray, as_csr
from icid_rs._util.words import count
from icid_rs.graph.edges import list_edges
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.plotting import style
from icid_rs.plotting.graph import arrow_head, drawing
from icid_rs.plotting.layout import layered_layout
from icid_rs.plotting.marks import edge_marks
from icid_rs.plotting.part import HEIGHT

#: Edges in the table, variables up to which there is a picture, and pixels of its font.
_MOST_EDGES, _MOST_DRAWN, _FONT = 8, 40, 12
#: Descriptions of ``info_["identified"]``.
_IDENTIFIED = {
    "graph": "the graph with all its directions",
    "equivalence class": "the graph but for the directions of some edges (see cpdag_)",
    "partly": "the graph but for the directions of a few edges (see cpdag_)",
}


def summarise_fit(graph: NamedGraph, *, noise: str) -> str:
    """Return a fragment of HTML that sums up the graph of a fitted model.

    Examples
    --------
    >>> from icid_rs.export.web import summarise_fit
    >>> from icid_rs.graph.named_graph import NamedGraph
    >>> graph = NamedGraph([[0, 0.8], [0, 0]], info={"identified": "graph"})
    >>> "the graph with all its directions" in summarise_fit(graph, noise="equal")
    True
    """
    facts = {"noise variances": noise}
    identified = graph.info_["identified"]
    if identified is not None:
        facts["what the data determine"] = _IDENTIFIED[identified]
    return summarise(**drawing(graph), title="Causal graph", facts=facts)


def summarise(
    adjacency: Any,
    names: Sequence[Any],
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
    order: Any = None,
    reversible: Any = None,
    evidence: EdgeEvidence | None = None,
) -> str:
    """Return a fragment of HTML that sums a graph up.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (d, d)
        ``[i, j] != 0`` means i → j.
    names : sequence of d names
    title : str
    facts : mapping, optional
        Further lines, by their headings.
    order, reversible
        As in `plot_graph`.
    evidence : EdgeEvidence, optional
        Ranks the edges, and says which are open.

    Examples
    --------
    >>> from icid_rs.export.web import summarise
    >>> "2 variables, 1 edge" in summarise([[0, 0.8], [0, 0]], ["rain", "wet"], title="Weather")
    True
    """
    B = as_csr(adjacency, "adjacency")
    d = B.shape[0]
    edges = list_edges(B, names, evidence)
    size = count(d, "variable") + ", " + count(len(edges), "edge")
    rows = "".join(
        f"<tr>{_cell(style.shorten(e.source))}"
        f"{_cell('—' if evidence is not None and e.direction == 'open' else '→')}{_cell(style.shorten(e.target))}"
        f"{_cell(f'{e.weight:+.3g}'.replace('-', '−'), align='right', colour=_colour(np.sign(e.weight)))}</tr>"
        for e in edges[:_MOST_EDGES]
    )
    heading = "Strongest edges" if len(edges) > _MOST_EDGES else "Edges"
    table = (
        f'<div><div style="opacity:.7">{heading}</div><table style="font-size:inherit">{rows}</table></div>'
        if edges
        else ""
    )
    told = "".join(
        f"<div><span style='opacity:.7'>{escape(k)}:</span> {escape(v)}</div>" for k, v in (facts or {}).items()
    )
    picture = _picture(B, names, order, reversible, evidence) if edges and d <= _MOST_DRAWN else ""
    return (
        '<div style="font-family:sans-serif;font-size:13px;line-height:1.5;margin:4px 0 10px">'
        f'<div style="margin-bottom:6px"><b>{escape(title)}</b>: {size}</div>{told}'
        '<div style="display:flex;flex-wrap:wrap;gap:28px;align-items:flex-start;margin-top:8px">'
        f"{table}{picture}</div></div>"
    )


def _cell(text: str, *, align: str = "left", colour: str = "inherit") -> str:
    return f'<td style="text-align:{align};color:{colour};padding:1px 8px 1px 0">{escape(text)}</td>'


def _colour(value: float) -> str:
    """Mix the colours of the pictures, for a strength between −1 and 1."""
    end = style.NEGATIVE if value < 0 else style.POSITIVE
    mixed = [
        round(int(style.NEUTRAL[k : k + 2], 16) * (1 - abs(value)) + int(end[k : k + 2], 16) * abs(value))
        for k in (1, 3, 5)
    ]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _picture(B: Any, names: Sequence[Any], order: Any, reversible: Any, evidence: EdgeEvidence | None) -> str:
    labels = [style.shorten(name) for name in names]
    layout = layered_layout(B, style.label_widths(labels), order=order)
    marks = edge_marks(B, layout, evidence=evidence, reversible=reversible)
    values = marks.strengths
    lines = "".join(
        f'<path d="{_path(layout.routes[e])}" fill="none" stroke="{_colour(values[e])}" '
        f'stroke-width="{0.05 + 0.13 * abs(values[e]):.3f}"/>'
        + ("" if marks.is_open[e] else _head(layout.routes[e], values[e]))
        for e in np.argsort(np.abs(values), kind="stable")
    )
    nodes = "".join(
        f'<rect x="{x - w / 2:.2f}" y="{y - HEIGHT / 2:.2f}" width="{w:.2f}" height="{HEIGHT}" rx="{HEIGHT / 2}" '
        f'fill="currentColor" fill-opacity=".06" stroke="currentColor" stroke-opacity=".45" stroke-width=".07"/>'
        f'<text x="{x:.2f}" y="{y + 0.35:.2f}" font-size="1" text-anchor="middle" fill="currentColor">'
        f"{escape(label)}</text>"
        for x, y, w, label in zip(layout.x, layout.y, layout.widths, labels, strict=True)
    )
    width, height = layout.size
    return (
        f'<svg role="img" aria-label="The graph" viewBox="-.5 -.5 {width + 1:.2f} {height + 1:.2f}" '
        f'style="width:{width * _FONT:.0f}px;max-width:100%" font-family="sans-serif">{lines}{nodes}</svg>'
    )


def _path(route: FloatArray) -> str:
    pieces = [f"M{route[0, 0]:.2f} {route[0, 1]:.2f}H{route[1, 0]:.2f}"]
    for (left, before), (right, after), (end, _) in zip(route[1::2], route[2::2], route[3::2], strict=False):
        middle = (left + right) / 2
        pieces.append(f"C{middle:.2f} {before:.2f} {middle:.2f} {after:.2f} {right:.2f} {after:.2f}H{end:.2f}")
    return "".join(pieces)


def _head(route: FloatArray, value: float) -> str:
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in arrow_head(route, 0.45 + 0.4 * abs(value)))
    return f'<polygon points="{points}" fill="{_colour(value)}"/>'

"""Pictures of a graph as files: PNG, SVG and PDF, drawn by matplotlib."""

from __future__ import annotations

import io
from typing import Any, Literal

from icid_rs._util.extras import require
from icid_rs.graph.named_graph import NamedGraph

#: Points per inch of a PNG.
_RESOLUTION = 200


def to_picture(graph: NamedGraph, kind: Literal["png", "svg", "pdf"], **options: Any) -> bytes:
    """Draw a graph as `CausalGraph.plot` does, and return the content of a file.

    Examples
    --------
    >>> from icid_rs.export.pictures import to_picture
    >>> from icid_rs.graph.named_graph import NamedGraph
    >>> to_picture(NamedGraph([[0, 0.5], [0, 0]], ["rain", "wet"]), "pdf")[:4]
    b'%PDF'
    """
    require("matplotlib", f"a picture as {kind.upper()}", "plot")
    import matplotlib as mpl

    from icid_rs.plotting.graph import drawing, plot_graph

    axes = plot_graph(**drawing(graph), **{"confidence": graph.confidence_, **options})
    content = io.BytesIO()
    # The same graph gives the same file: without a date, and with identifiers that are not random.
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with mpl.rc_context({"svg.hashsalt": "icid_rs"}):
        axes.figure.savefig(content, format=kind, dpi=_RESOLUTION, bbox_inches="tight", metadata=undated)
    return content.getvalue()


def to_png(graph: NamedGraph, **options: Any) -> bytes:
    """Return a PNG file; see `to_picture`."""
    return to_picture(graph, "png", **options)


def to_svg(graph: NamedGraph, **options: Any) -> bytes:
    """Return an SVG file; see `to_picture`."""
    return to_picture(graph, "svg", **options)


def to_pdf(graph: NamedGraph, **options: Any) -> bytes:
    """Return a PDF file; see `to_picture`."""
    return to_picture(graph, "pdf", **options)

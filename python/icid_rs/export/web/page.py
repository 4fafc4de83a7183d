"""One page of HTML with everything in it: layout, data, style and script."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from icid_rs.export.web.payload import make_payload
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.plotting.graph import drawing

_SCRIPTS = ("graph.js", "view.js", "panel.js", "picture.js")
_REPORT = '<details id="report"><summary>Report</summary><pre>{}</pre></details>'


def render_page(
    adjacency: Any,
    names: Sequence[Any] | None = None,
    *,
    title: str = "Causal graph",
    report: str | None = None,
    **more: Any,
) -> str:
    """Return a page that shows a graph.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (d, d)
        ``[i, j] != 0`` means i → j.
    names : sequence of d names, optional
    title : str
    report : str, optional
        Text that is shown beside the graph.
    **more
        ``order``, ``confidence``, ``reversible`` and ``evidence``, as in `plot_graph`; and ``with_effects``, whether
        weights are such that total effects follow from them.

    Examples
    --------
    >>> from icid_rs.export.web import render_page
    >>> page = render_page([[0, 0.8], [0, 0]], ["<script>", "wet"])
    >>> page.startswith("<!doctype html>"), page.count("<script>")
    (True, 1)
    """
    payload = make_payload(adjacency, names, title=title, **more)
    style = _read("page.css")
    script = '(() => {\n"use strict";\n' + "\n".join(map(_read, _SCRIPTS)) + "})();\n"
    return Template(_read("page.html")).substitute(
        title=escape(title),
        report="" if report is None else _REPORT.format(escape(report)),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=_embedded(payload),
    )


def to_html(
    graph: NamedGraph, *, confidence: Any = None, title: str = "Causal graph", report: str | None = None
) -> str:
    """Return a page that shows a graph; see `CausalGraph.to_html`."""
    confidence = graph.confidence_ if confidence is None else confidence
    described = {**drawing(graph), "with_effects": graph.column_model_ is None}
    return render_page(**described, confidence=confidence, title=title, report=report)


def _read(name: str) -> str:
    return files("icid_rs.export.web").joinpath(name).read_text(encoding="utf-8")


def _embedded(payload: dict[str, Any]) -> str:
    """Write JSON that cannot end the element it stands in, or open another."""
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

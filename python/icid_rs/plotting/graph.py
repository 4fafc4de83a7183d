"""The graph itself, drawn with matplotlib: causes left of effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from icid_rs._util.validation import FloatArray, as_csr
from icid_rs._util.words import count
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.plotting import style
from icid_rs.plotting.layout import Layout, layered_layout, spread
from icid_rs.plotting.marks import EdgeMarks, edge_marks
from icid_rs.plotting.part import HEIGHT

#: Font sizes in points: the one a figure is made for, and the smallest that can be read.
_FONT, _SMALLEST = 9.0, 5.0
#: Inches that a figure takes at most and at least.
_LARGEST, _LEAST = (16.0, 13.0), (5.0, 2.4)
#: Width over height of a new figure at most, and the most that a flat drawing is stretched to fill its place.
_FLATTEST, _STRETCH = 2.6, 5.0
#: Points around the drawing, and below it for the caption and the colour bar.
_MARGIN, _FOOTER = 12.0, 46.0
#: With at most this many variables all labels may fit; otherwise at most this many labels are drawn.
_MOST_NAMED, _MOST_LABELS = 400, 30
#: The legend of edges without an arrowhead.
HEADLESS = "no arrowhead: direction open"


def plot_graph(
    adjacency: Any,
    names: Sequence[Any] | None = None,
    *,
    order: Any = None,
    confidence: Any = None,
    reversible: Any = None,
    evidence: EdgeEvidence | None = None,
    isolated: bool = True,
    ax: Any = None,
) -> Any:
    """Draw a causal graph in layers, causes left of effects.

    Colour and width of an edge show its weight, standardised where that is known. Edges whose direction is open have no
    arrowhead. Edges go round the variables they do not belong to. Labels shrink with
    the size of the graph; when they could not be read any more, only the best connected variables keep theirs, and the
    caption says so.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (d, d)
        ``[i, j] != 0`` means i → j.
    names : sequence of d names, optional
    order : array of shape (d,), optional
        The causal order. Edges against it are drawn backwards.
    confidence : array of shape (d, d), or a result of a bootstrap, optional
        Probabilities of the edges; the less sure, the paler.
    reversible : sparse matrix of shape (d, d), optional
        Nonzero for edges whose direction the data do not determine, where there is no evidence.
    evidence : EdgeEvidence, optional
        As ``CausalGraph.evidence_``: which edges are open, their standardised weights, and the stability of directions,
        which stands in for `confidence`.
    isolated : bool
        Whether variables without edges are drawn, below the others.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure that fits. pyplot does not know that figure: save it with
        ``ax.figure.savefig``, or pass ``plt.gca()`` to see it in a window.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from icid_rs.plotting import plot_graph
    >>> ax = plot_graph([[0, 0.8, 0], [0, 0, -0.5], [0, 0, 0]], ["rain", "wet", "slow"])
    >>> [text.get_text() for text in ax.texts]
    ['rain', 'wet', 'slow', '3 variables, 2 edges']
    """
    style.require_matplotlib("plot_graph")
    B = as_csr(adjacency, "adjacency")
    d = B.shape[0]
    names = list(range(d)) if names is None else list(names)
    if len(names) != d:
        raise ValueError(f"there are {len(names)} names for {d} variables")
    labels = [style.shorten(name) for name in names]
    all_labels = d <= _MOST_NAMED
    if all_labels:
        layout = layered_layout(B, style.label_widths(labels), order=order, isolated=isolated)
        all_labels = _font_size(layout.size, ax) >= _SMALLEST
    if not all_labels:
        layout = layered_layout(B, np.full(d, HEIGHT), order=order, isolated=isolated)
    layout = spread(layout, _aspect(ax), _STRETCH)
    font = _font_size(layout.size, ax)
    if ax is None:
        ax = _new_axes(layout.size)
        style.show_in_notebook(ax, ax.figure)
    width, height = _points(ax)
    _set_limits(ax, layout.size, font, width, height)

    marks = edge_marks(B, layout, evidence=evidence, confidence=confidence, reversible=reversible)
    _draw_edges(ax, layout, marks, font)
    draw_nodes(ax, layout, font, fill="#eef1f5" if all_labels else style.MUTED)
    caption = count(d, "variable") + ", " + count(marks.sizes.size, "edge")
    if all_labels:
        for i in np.flatnonzero(~np.isnan(layout.x)):
            ax.text(layout.x[i], layout.y[i], labels[i], **centred_text(font))
    else:
        caption += f"; labels: {_draw_best_labels(ax, layout, labels, font)} of the best connected"
    if not isolated and (left_out := int(np.isnan(layout.x).sum())):
        caption += f"; {left_out} without edges left out"
    notes = ["paler: less sure"] * (marks.sure is not None) + [HEADLESS] * bool(marks.is_open.any())
    _draw_footer(ax, caption, "; ".join(notes))
    if marks.sizes.size:
        _draw_colour_bar(ax, marks, width, height)
    return ax


def drawing(graph: NamedGraph) -> dict[str, Any]:
    """Return the arguments that every picture of a graph shares: adjacency, names, order and evidence.

    Examples
    --------
    >>> from icid_rs.graph.named_graph import NamedGraph
    >>> from icid_rs.plotting.graph import drawing
    >>> drawing(NamedGraph([[0, 0.8], [0, 0]], ["rain", "wet"]))["names"]
    ['rain', 'wet']
    """
    return {
        "adjacency": graph.adjacency_matrix_,
        "names": graph.names_,
        "order": graph.causal_order_,
        "evidence": graph.evidence_,
    }


def centred_text(font: float) -> dict[str, Any]:
    """Return the properties of a label in the middle of a variable."""
    centred = {"ha": "center", "va": "center_baseline"}
    # Matplotlib would typeset a name with two dollar signs as a formula.
    return {**centred, "fontsize": font, "color": style.INK, "zorder": 4, "parse_math": False}


def _font_size(size: tuple[float, float], ax: Any) -> float:
    """Return the font size, in points, at which a drawing fits."""
    width, height = np.array(_LARGEST) * 72 if ax is None else _points(ax)
    fitting = min((width - 2 * _MARGIN) / max(size[0], 1), (height - _MARGIN - _FOOTER) / max(size[1], 1))
    # A small drawing fills the smallest figure.
    wanted = (
        np.clip((72 * _LEAST[0] - 2 * _MARGIN) / max(size[0], 1), _FONT, 1.4 * _FONT) if ax is None else 1.2 * _FONT
    )
    return float(min(wanted, max(fitting, 0.1)))


def _aspect(ax: Any) -> float:
    """Return width over height of the place for the drawing."""
    if ax is None:
        return _FLATTEST
    width, height = _points(ax)
    return max(width - 2 * _MARGIN, 1.0) / max(height - _MARGIN - _FOOTER, 1.0)


def _points(ax: Any) -> tuple[float, float]:
    box = ax.get_position()
    width, height = ax.figure.get_size_inches() * 72
    return width * box.width, height * box.height


def _new_axes(size: tuple[float, float]) -> Any:
    font = _font_size(size, None)
    inches = np.maximum((np.array(size) * font + [2 * _MARGIN, _MARGIN + _FOOTER]) / 72, _LEAST)
    return style.new_figure(*inches).add_axes((0, 0, 1, 1))


def _set_limits(ax: Any, size: tuple[float, float], font: float, width: float, height: float) -> None:
    """Make one unit of the layout as large as the font, with the drawing in the middle above the footer."""
    spare_x, spare_y = width / font - size[0], (height - _FOOTER + _MARGIN) / font - size[1]
    ax.set_xlim(-spare_x / 2, size[0] + spare_x / 2)
    ax.set_ylim(size[1] + spare_y / 2 + (_FOOTER - _MARGIN) / font, -spare_y / 2)
    ax.axis("off")


def _draw_edges(ax: Any, layout: Layout, marks: EdgeMarks, font: float) -> None:
    from matplotlib.collections import PathCollection, PolyCollection

    values = marks.strengths
    # The strongest come last, on top.
    ranked = np.argsort(np.abs(values), kind="stable")
    colours = style.diverging_map()((values + 1) / 2)
    if marks.sure is not None:
        colours[:, 3] = 0.15 + 0.85 * marks.sure
    lines = np.maximum((0.04 + 0.16 * np.abs(values)) * font, 0.5)
    heads = np.where(marks.is_open, 0.0, np.maximum(0.42 + 0.5 * np.abs(values), 2.4 / font))
    if not ranked.size:
        return
    ax.add_collection(
        PathCollection(
            [curve(layout.routes[e], heads[e]) for e in ranked],
            facecolors="none",
            edgecolors=colours[ranked],
            linewidths=lines[ranked],
            capstyle="butt",
            zorder=1,
        ),
        autolim=False,
    )
    pointed = ranked[~marks.is_open[ranked]]
    triangles = [arrow_head(layout.routes[e], heads[e]) for e in pointed]
    ax.add_collection(
        PolyCollection(triangles, facecolors=colours[pointed], edgecolors="none", zorder=2), autolim=False
    )


def curve(route: FloatArray, head: float) -> Any:
    """Return the path of an edge along a route, which ends where an arrowhead of this length begins."""
    from matplotlib.path import Path

    points, codes = [route[0]], [Path.MOVETO]
    route = route.copy()
    # The line ends where the arrowhead begins, so that its tip stays sharp.
    direction = np.sign(route[-1, 0] - route[-3, 0])
    route[-1, 0] -= direction * 0.97 * head
    if direction * (route[-2, 0] - route[-1, 0]) > 0:
        route[-2, 0] = route[-1, 0]
    for k in range(1, len(route)):
        if k % 2:
            points.append(route[k])
            codes.append(Path.LINETO)
        else:
            middle = (route[k - 1, 0] + route[k, 0]) / 2
            points += [(middle, route[k - 1, 1]), (middle, route[k, 1]), route[k]]
            codes += [Path.CURVE4] * 3
    return Path(points, codes)


def arrow_head(route: FloatArray, length: float) -> FloatArray:
    """Return the corners of the arrowhead at the end of a route, its tip first."""
    x, y = route[-1]
    back = x - np.sign(x - route[-3, 0]) * length
    return np.array([(x, y), (back, y - 0.38 * length), (back, y + 0.38 * length)])


def draw_nodes(ax: Any, layout: Layout, font: float, *, fill: str) -> None:
    """Draw the variables, without their labels."""
    from matplotlib.collections import PathCollection
    from matplotlib.patches import FancyBboxPatch

    shown = np.flatnonzero(~np.isnan(layout.x))
    boxes = []
    for i in shown:
        left, top = layout.x[i] - layout.widths[i] / 2, layout.y[i] - HEIGHT / 2
        shape = f"round,pad=0,rounding_size={HEIGHT / 2}"
        boxes.append(FancyBboxPatch((left, top), layout.widths[i], HEIGHT, boxstyle=shape).get_path())
    alone = layout.layer[shown] < 0
    ax.add_collection(
        PathCollection(
            boxes,
            facecolors=np.where(alone, "white", fill),
            edgecolors=np.where(alone, style.LINE, style.MUTED),
            linewidths=min(0.8, 0.09 * font),
            zorder=3,
        ),
        autolim=False,
    )


def _draw_best_labels(ax: Any, layout: Layout, labels: list[str], font: float) -> int:
    """Label the best connected variables, as long as labels do not overlap; return their number."""
    from matplotlib.patheffects import withStroke

    d = layout.x.size
    degree = np.bincount(layout.source, minlength=d) + np.bincount(layout.target, minlength=d)
    scale = 7.0 / font
    taken: list[tuple[float, float, float, float]] = []
    for i in np.argsort(-degree, kind="stable"):
        if len(taken) == _MOST_LABELS or degree[i] < 2:
            break
        half = scale * style.label_widths([labels[i]])[0] / 2
        x, y = layout.x[i], layout.y[i] - HEIGHT / 2 - 0.6 * scale
        box = (x - half, x + half, y - 0.7 * scale, y + 0.7 * scale)
        if any(box[0] < b[1] and b[0] < box[1] and box[2] < b[3] and b[2] < box[3] for b in taken):
            continue
        taken.append(box)
        text = ax.text(x, y, labels[i], **centred_text(7.0))
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])
    return len(taken)


def _draw_footer(ax: Any, caption: str, notes: str) -> None:
    at = {"xycoords": "axes points", "color": style.MUTED, "fontsize": 8, "annotation_clip": False}
    for k, line in enumerate(filter(None, (caption, notes))):
        ax.annotate(line, (10, 22 - 11 * k), **at)


def _draw_colour_bar(ax: Any, marks: EdgeMarks, width: float, height: float) -> None:
    from matplotlib.cm import ScalarMappable

    limit, linear_width = marks.limit, marks.linear_width
    inset = ax.inset_axes((1 - 130 / width, 20 / height, 110 / width, 6 / height))
    mappable = ScalarMappable(style.diverging_norm(limit, linear_width), style.diverging_map())
    bar = ax.figure.colorbar(mappable, cax=inset, orientation="horizontal", ticks=[-limit, 0, limit])
    bar.ax.set_xticklabels([f"−{limit:.3g}", "0", f"{limit:.3g}"])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, pad=2, labelsize=7, labelcolor=style.MUTED)
    title = marks.scale if np.isinf(linear_width) else f"{marks.scale} (asinh scale)"
    bar.ax.set_title(title, fontsize=7, color=style.MUTED, pad=3)

"""Two graphs in one picture, with the edges coloured by the graph that has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs.plotting import style
from icid_rs.plotting.graph import arrow_head, centred_text, curve, draw_nodes
from icid_rs.plotting.layout import layered_layout, spread

#: Size of the names in points, and the largest and smallest picture in inches.
_FONT, _LARGEST, _LEAST = 9.0, (16.0, 13.0), (6.0, 2.4)
#: Width over height of a picture at most, and the most that a flat drawing is stretched.
_FLATTEST, _STRETCH = 2.6, 5.0
#: Length of an arrowhead, in units of the font size.
_HEAD = 0.8
_TURNED = "#8a4fb0"


def plot_comparison(a: Any, b: Any, names: Sequence[Any], *, ax: Any = None) -> Any:
    """Draw the edges of two graphs over the same variables in one picture.

    Edges that both have are grey, those of the first alone blue, those of the second alone orange. Edges whose
    direction differs are violet, with the arrowhead of the first. Edges with an open direction have no head.

    Parameters
    ----------
    a, b : sparse matrix of shape (d, d)
        ``[i, j] != 0`` for i → j, and both ``[i, j]`` and ``[j, i]`` for an edge with an open direction.
    names : sequence of d names
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure, which pyplot does not know: save it with ``ax.figure.savefig``.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.plotting import plot_comparison
    >>> a, b = sp.csr_array([[0, 1.0], [0, 0]]), sp.csr_array([[0, 0], [1.0, 0]])
    >>> plot_comparison(a, b, ["rain", "wet"]).get_title(loc="left")
    'edges: 0 in both (grey), 0 in the first (blue), 0 in the second (orange), 1 with another direction (violet)'
    """
    style.require_matplotlib("plot_comparison")
    from matplotlib.patches import PathPatch, Polygon

    first, second = (sp.csr_array(matrix).astype(bool).toarray() for matrix in (a, b))
    joined = first | first.T, second | second.T
    # Each pair once: along the first graph that has it.
    drawn = np.where(joined[0], first, second)
    drawn &= ~np.tril(drawn & drawn.T)
    labels = [style.shorten(name) for name in names]
    layout = layered_layout(sp.csr_array(drawn.astype(np.float64)), style.label_widths(labels))
    if ax is None:
        layout = spread(layout, _FLATTEST, _STRETCH)
        size = np.clip((np.array(layout.size) + 2) * _FONT / 72, _LEAST, _LARGEST)
        ax = style.new_figure(*size).add_axes((0.02, 0.02, 0.96, 0.88))
        style.show_in_notebook(ax, ax.figure)
    inches = ax.figure.get_size_inches() * ax.get_position().size
    room = 72 * inches / (np.array(layout.size) + 1)
    font = float(min(_FONT, *room))
    counts = dict.fromkeys((style.MUTED, style.NEGATIVE, style.POSITIVE, _TURNED), 0)
    for i, j, route in zip(layout.source.tolist(), layout.target.tolist(), layout.routes, strict=True):
        own = first if joined[0][i, j] else second
        colour = style.NEGATIVE if own is first else style.POSITIVE
        if joined[0][i, j] and joined[1][i, j]:
            same = first[i, j] == second[i, j] and first[j, i] == second[j, i]
            colour = style.MUTED if same else _TURNED
        counts[colour] += 1
        head = 0.0 if own[i, j] and own[j, i] else _HEAD
        line = PathPatch(curve(route, head), fc="none", ec=colour, lw=0.14 * font, zorder=1)
        ax.add_patch(line)
        if head:
            ax.add_patch(Polygon(arrow_head(route, head), fc=colour, ec="none", zorder=2))
    draw_nodes(ax, layout, font, fill="#eef1f5")
    for k, label in enumerate(labels):
        ax.text(layout.x[k], layout.y[k], label, **centred_text(font))
    # One unit is as large as the font, with the drawing in the middle.
    across, down = (72 * inches / font - np.array(layout.size)) / 2
    ax.set_xlim(-across, layout.size[0] + across)
    ax.set_ylim(layout.size[1] + down, -down)
    ax.axis("off")
    kinds = ("in both (grey)", "in the first (blue)", "in the second (orange)", "with another direction (violet)")
    parts = [f"{number} {kind}" for number, kind in zip(counts.values(), kinds, strict=True)]
    ax.set_title("edges: " + ", ".join(parts), loc="left", fontsize=8)
    return ax

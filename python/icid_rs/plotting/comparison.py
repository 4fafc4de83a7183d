"""Two graphs in one picture, with the edges coloured by the graph that has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs.plotting import style
from icid_rs.plotting.layout import layered_layout

#: Size of the names in points, and the largest picture in inches.
_FONT, _LARGEST = 9.0, (16.0, 13.0)
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
    first, second = (sp.csr_array(matrix).astype(bool).toarray() for matrix in (a, b))
    joined = first | first.T, second | second.T
    # Each pair once: along the first graph that has it.
    drawn = np.where(joined[0], first, second)
    drawn &= ~np.tril(drawn & drawn.T)
    labels = [style.shorten(name) for name in names]
    layout = layered_layout(sp.csr_array(drawn.astype(np.float64)), style.label_widths(labels))
    if ax is None:
        size = np.clip((np.array(layout.size) + 4) * _FONT / 72, (5.5, 2.0), _LARGEST)
        ax = style.new_figure(*size).add_axes((0.02, 0.02, 0.96, 0.86))
        style.show_in_notebook(ax, ax.figure)
    inches = ax.figure.get_size_inches() * ax.get_position().size
    font = float(min(_FONT, *(72 * inches / (np.array(layout.size) + 2))))
    counts = dict.fromkeys((style.MUTED, style.NEGATIVE, style.POSITIVE, _TURNED), 0)
    for i, j in np.argwhere(drawn).tolist():
        own = first if joined[0][i, j] else second
        colour = style.NEGATIVE if own is first else style.POSITIVE
        if joined[0][i, j] and joined[1][i, j]:
            same = first[i, j] == second[i, j] and first[j, i] == second[j, i]
            colour = style.MUTED if same else _TURNED
        counts[colour] += 1
        head = "-" if own[i, j] and own[j, i] else "-|>"
        line: dict[str, Any] = {"lw": 0.14 * font, "shrinkA": font, "shrinkB": font, "mutation_scale": font}
        curved = {**line, "arrowstyle": head, "color": colour, "connectionstyle": "arc3,rad=0.08"}
        ax.annotate("", (layout.x[j], layout.y[j]), (layout.x[i], layout.y[i]), arrowprops=curved, zorder=1)
    for k, label in enumerate(labels):
        box = {"boxstyle": "round,pad=0.3", "fc": "#eef1f5", "ec": style.MUTED, "lw": 0.07 * font}
        centred = {"ha": "center", "va": "center", "fontsize": font, "parse_math": False}
        ax.text(layout.x[k], layout.y[k], label, bbox=box, zorder=2, **centred)
    ax.set_xlim(-1, layout.size[0] + 1)
    ax.set_ylim(layout.size[1] + 1, -1)
    ax.axis("off")
    kinds = ("in both (grey)", "in the first (blue)", "in the second (orange)", "with another direction (violet)")
    parts = [f"{number} {kind}" for number, kind in zip(counts.values(), kinds, strict=True)]
    ax.set_title("edges: " + ", ".join(parts), loc="left", fontsize=8)
    return ax

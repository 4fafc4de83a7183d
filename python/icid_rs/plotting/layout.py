"""Where the variables and edges of a causal graph are drawn: causes left of effects, in units of the font size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from icid_rs._util.validation import FloatArray
from icid_rs.decomposition.acyclic import acyclic_graph
from icid_rs.graph.sem import Csr
from icid_rs.plotting.layers import IntArray, split_by
from icid_rs.plotting.part import HEIGHT, ROW_GAP, Part, lay_out_part

#: Free room between parts that are not connected.
_PART_GAP = 2.0
#: Width over height that the parts are packed for.
_ASPECT = 1.5


@dataclass(frozen=True)
class Layout:
    """A drawing of a graph, from (0, 0) at the upper left to `size`.

    Attributes
    ----------
    x, y : arrays of shape (d,)
        Centres of the variables; y grows downwards. NaN for variables that are left out.
    widths : array of shape (d,)
    layer : array of shape (d,)
        Counted from 0 in each connected part; −1 for a variable without edges.
    source, target, weights : arrays of shape (m,)
        The edges.
    routes : list of m arrays of shape (2 k, 2)
        For each edge, the ends of the k level pieces it consists of; curves join one to the next. Neither meets
        a variable other than the two it connects, unless there are so many edges that long ones are not bent.
    size : (float, float)
    """

    x: FloatArray
    y: FloatArray
    widths: FloatArray
    layer: IntArray
    source: IntArray
    target: IntArray
    weights: FloatArray
    routes: list[FloatArray]
    size: tuple[float, float]


def spread(layout: Layout, aspect: float, most: float) -> Layout:
    """Move the variables of a flat drawing apart vertically, at most by a factor, so that it fills a canvas.

    `aspect` is the width of the canvas divided by its height. Edges keep their places at the sides of variables.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.plotting.layout import layered_layout, spread
    >>> flat = layered_layout(sp.csr_array([[0, 1.0, 1.0], [0, 0, 0], [0, 0, 0]]), np.full(3, 9.0))
    >>> bool(np.ptp(spread(flat, 1.0, 3.0).y) > np.ptp(flat.y))
    True
    """
    width, height = layout.size
    factor = min(most, width / (aspect * height)) if height else 1.0
    if factor <= 1:
        return layout
    routes = []
    for route, i, j in zip(layout.routes, layout.source, layout.target, strict=True):
        moved = route.copy()
        moved[:, 1] *= factor
        moved[:2, 1] = route[:2, 1] + (factor - 1) * layout.y[i]
        moved[-2:, 1] = route[-2:, 1] + (factor - 1) * layout.y[j]
        routes.append(moved)
    return replace(layout, y=factor * layout.y, routes=routes, size=(width, factor * height))


def layered_layout(
    adjacency: Csr, widths: FloatArray, *, order: IntArray | None = None, isolated: bool = True
) -> Layout:
    """Lay out a graph along its causal order.

    Parameters
    ----------
    adjacency : csr_array of shape (d, d)
        ``[i, j] != 0`` means i → j.
    widths : array of shape (d,)
        Of the variables, in units of the font size.
    order : array of shape (d,), optional
        The causal order; by default one of the heaviest acyclic graph. Edges against it are drawn backwards.
    isolated : bool
        Whether variables without edges get a place, below the others.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from icid_rs.plotting.layout import layered_layout
    >>> layout = layered_layout(sp.csr_array([[0, 1.0, 0], [0, 0, 1], [0, 0, 0]]), np.full(3, 4.0))
    >>> layout.x, layout.y
    (array([ 2.,  9., 16.]), array([0.75, 0.75, 0.75]))
    """
    d = adjacency.shape[0]
    coo = sp.coo_array(adjacency)
    kept = (coo.data != 0) & (coo.row != coo.col)
    source, target = coo.row[kept].astype(np.intp), coo.col[kept].astype(np.intp)
    rank = np.empty(d, dtype=np.intp)
    rank[acyclic_graph(adjacency)[1] if order is None else order] = np.arange(d)
    # Within the layout every edge follows the order; one that does not is turned round, and back at the end.
    backward = rank[source] > rank[target]
    tail, head = np.where(backward, target, source), np.where(backward, source, target)

    linked = sp.csr_array((coo.data[kept], (source, target)), shape=(d, d))
    count, label = connected_components(linked, directed=False)
    nodes_and_edges = (split_by(labels.astype(np.intp), count) for labels in (label, label[source]))
    groups = [(nodes, edges) for nodes, edges in zip(*nodes_and_edges, strict=True) if edges.size]
    parts = [
        lay_out_part(
            np.searchsorted(nodes, tail[edges]),
            np.searchsorted(nodes, head[edges]),
            np.argsort(rank[nodes]),
            widths[nodes],
        )
        for nodes, edges in groups
    ]
    shifts, size = _pack(parts)
    x, y, layer = np.full(d, np.nan), np.full(d, np.nan), np.full(d, -1, dtype=np.intp)
    routes: list[FloatArray] = [np.empty((0, 2))] * source.size
    for (nodes, edges), part, shift in zip(groups, parts, shifts, strict=True):
        x[nodes], y[nodes], layer[nodes] = part.x + shift[0], part.y + shift[1], part.layer
        for edge, route in zip(edges, part.routes, strict=True):
            routes[edge] = (route[::-1] if backward[edge] else route) + shift
    if isolated:
        size = _place_alone(np.flatnonzero(layer < 0), x, y, widths, size)
    return Layout(x, y, widths, layer, source, target, coo.data[kept], routes, size)


def _pack(parts: list[Part]) -> tuple[list[FloatArray], tuple[float, float]]:
    """Put the largest part first, and the others in columns beside it if it is tall, in rows below it if not."""
    if not parts:
        return [], (0.0, 0.0)
    corners = [part.corners() for part in parts]
    sizes = np.array([lower - upper for upper, lower in corners])
    order = np.lexsort((-sizes[:, 0], -sizes[:, 1], -np.array([part.x.size for part in parts])))
    tall = sizes[order[0], 0] < _ASPECT * sizes[order[0], 1]
    along, across = (1, 0) if tall else (0, 1)
    area = (sizes + _PART_GAP).prod(axis=1).sum()
    room = max(sizes[order[0], along], np.sqrt(area / _ASPECT if tall else area * _ASPECT))
    shifts: list[FloatArray] = [np.zeros(2)] * len(parts)
    place, extent, thickness = np.zeros(2), np.zeros(2), 0.0
    for k in order:
        if place[along] > 0 and place[along] + sizes[k, along] > room:
            place[along], place[across] = 0.0, place[across] + thickness + _PART_GAP
            thickness = 0.0
        shifts[k] = place - corners[k][0]
        extent = np.maximum(extent, place + sizes[k])
        place[along] += sizes[k, along] + _PART_GAP
        thickness = max(thickness, sizes[k, across])
    return shifts, (float(extent[0]), float(extent[1]))


def _place_alone(
    alone: IntArray, x: FloatArray, y: FloatArray, widths: FloatArray, size: tuple[float, float]
) -> tuple[float, float]:
    """Write the variables without edges in lines below the drawing, like words of a text."""
    if not alone.size:
        return size
    step = widths[alone] + 2 * ROW_GAP
    room = max(size[0], float(np.sqrt(step.sum() * (HEIGHT + ROW_GAP) * _ASPECT)), float(step.max()))
    top = size[1] + _PART_GAP if size[1] else 0.0
    left, right = 0.0, size[0]
    for node, advance in zip(alone, step, strict=True):
        if left > 0 and left + widths[node] > room:
            left, top = 0.0, top + HEIGHT + ROW_GAP
        x[node], y[node] = left + widths[node] / 2, top + HEIGHT / 2
        right = max(right, left + widths[node])
        left += advance
    return float(right), top + HEIGHT

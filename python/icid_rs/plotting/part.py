"""The drawing of one connected part of a graph: places for its variables, and routes for its edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import isotonic_regression

from icid_rs._util.validation import FloatArray
from icid_rs.plotting.layers import IntArray, Layered, assign_layers

#: Height of a variable, and of the room that a passing edge takes.
HEIGHT, _BEND = 1.5, 0.35
#: Free room between two variables above each other, and between layers.
ROW_GAP, _LAYER_GAP = 0.5, 3.0
#: Smallest ratio of width to height that is aimed at, and the largest factor by which gaps are widened for it.
_SQUARE, _MOST_SPREAD = 1.0, 4.0
#: Passes that straighten edges.
_PASSES = 12


@dataclass
class Part:
    """Places and routes, as in `Layout`."""

    x: FloatArray
    y: FloatArray
    layer: IntArray
    routes: list[FloatArray]
    widths: FloatArray

    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Return the upper left and the lower right corner."""
        rows = np.concatenate([route[:, 1] for route in self.routes])
        top, bottom = self.y.min() - HEIGHT / 2, self.y.max() + HEIGHT / 2
        left, right = (self.x - self.widths / 2).min(), (self.x + self.widths / 2).max()
        return np.array([left, min(top, rows.min())]), np.array([right, max(bottom, rows.max())])


def lay_out_part(source: IntArray, target: IntArray, order: IntArray, widths: FloatArray) -> Part:
    """Lay out a connected graph with at least one edge, all of whose edges follow the order.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.plotting.part import lay_out_part
    >>> lay_out_part(np.array([0]), np.array([1]), np.arange(2), np.full(2, 4.0)).routes[0][[0, -1]]
    array([[4., 0.],
           [7., 0.]])
    """
    layer = assign_layers(source, target, order)
    graph = Layered.cut(source, target, layer)
    layers = graph.arrange()
    y = _straighten(graph, layers)
    half = np.zeros(len(layers))
    np.maximum.at(half, layer, widths / 2)
    x = _columns(graph, y, half)[graph.layer]
    return Part(x[: graph.size], y[: graph.size], layer, _routes(graph, x, y, half, widths), widths)


def _columns(graph: Layered, y: FloatArray, half: FloatArray) -> FloatArray:
    """Return the middle of each layer, given half its width."""
    # A gap is wider where steep edges cross it.
    steepest = np.zeros(half.size)
    np.maximum.at(steepest, graph.layer[graph.lower], np.abs(y[graph.lower] - y[graph.upper]))
    gap = np.clip(0.25 * steepest, _LAYER_GAP, 5 * _LAYER_GAP)[:-1]
    # A tall drawing is spread out, so that its edges are less steep.
    missing = _SQUARE * (y.max() - y.min()) - 2 * half.sum() - gap.sum()
    gap *= np.clip(1 + missing / gap.sum(), 1, _MOST_SPREAD)
    return np.cumsum(np.concatenate([[half[0]], half[:-1] + gap + half[1:]]))


def _straighten(graph: Layered, layers: list[IntArray]) -> FloatArray:
    """Move nodes towards their neighbours, as near as the order in their layer and their room allow.

    Given the order and the least distances in a layer, the nearest places by least squares are an isotonic regression
    of the wanted places minus the cumulative distances.
    """
    bend = np.arange(graph.layer.size) >= graph.size
    room = np.where(bend, _BEND, HEIGHT + ROW_GAP)
    offsets = [np.cumsum(room[nodes]) - room[nodes] / 2 for nodes in layers]
    y = np.empty(graph.layer.size)
    for nodes, offset in zip(layers, offsets, strict=True):
        y[nodes] = offset - offset.mean()
    # Bends follow each other more strictly than variables, as in Gansner et al. (1993).
    weight = np.array([1.0, 2.0, 8.0])[bend[graph.lower].astype(int) + bend[graph.upper]]
    n = graph.layer.size
    forth = sp.csr_array((weight, (graph.upper, graph.lower)), shape=(n, n))
    # Neighbours before a layer, after it, and on both sides; the last passes look at both.
    pulls = [[pull[nodes] for nodes in layers] for pull in (forth, forth.T.tocsr(), (forth + forth.T).tocsr())]
    for step in range(_PASSES):
        sides = pulls[step % 2 if step < _PASSES - 2 else 2]
        for layer in range(len(layers)) if step % 2 == 0 else reversed(range(len(layers))):
            nodes, offset, pull = layers[layer], offsets[layer], sides[layer]
            strength = np.asarray(pull.sum(axis=1)).ravel()
            if not strength.any():
                continue
            wanted = np.where(strength > 0, pull @ y / np.maximum(strength, 1e-9), y[nodes])
            y[nodes] = isotonic_regression(wanted - offset, weights=np.maximum(strength, 0.1)).x + offset
    return y


def _routes(graph: Layered, x: FloatArray, y: FloatArray, half: FloatArray, widths: FloatArray) -> list[FloatArray]:
    """Lead each edge level across every layer it meets, and let curves join one layer to the next."""
    reach = half[graph.layer]
    port = _ports(graph, y)
    routes = []
    for e, (i, j) in enumerate(zip(graph.source, graph.target, strict=True)):
        bends = slice(graph.first[e], graph.first[e + 1])
        route = np.empty((2 * (graph.first[e + 1] - graph.first[e]) + 4, 2))
        route[:2] = [[x[i] + widths[i] / 2, y[i]], [x[i] + reach[i], y[i]]]
        route[2:-2:2, 0], route[3:-2:2, 0] = x[bends] - reach[bends], x[bends] + reach[bends]
        route[2:-2, 1] = np.repeat(y[bends], 2)
        route[-2:] = [[x[j] - reach[j], port[e]], [x[j] - widths[j] / 2, port[e]]]
        routes.append(route)
    return routes


def _ports(graph: Layered, y: FloatArray) -> FloatArray:
    """Spread the edges that reach a variable over its side, in the order in which they come."""
    source, target, first = graph.source, graph.target, graph.first
    last = np.where(first[1:] > first[:-1], first[1:] - 1, source)
    by_target = np.lexsort((y[last], target))
    count = np.bincount(target, minlength=graph.size)
    rank = np.empty(source.size)
    rank[by_target] = np.arange(source.size) - (np.cumsum(count) - count)[target[by_target]]
    others = count[target] - 1
    return np.asarray(y[target] + (rank - others / 2) * np.minimum(0.4, 0.55 * HEIGHT / np.maximum(others, 1)))

"""Layers of a causal graph, and an order inside each of them with few crossings (Sugiyama, Tagawa and Toda 1981)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse.csgraph import laplacian
from scipy.sparse.linalg import eigsh

from icid_rs._util.validation import FloatArray

IntArray = NDArray[np.intp]

#: Edges up to which layers are found by linear programming.
_MOST_EDGES = 10_000
#: Sweeps over the layers, forth and back in turn, and nodes up to which single swaps follow.
_SWEEPS, _MOST_SWAPPED = 8, 5_000
#: Bends that a drawing may have; beyond them, long edges are drawn without.
_MOST_BENDS = 300_000


def assign_layers(source: IntArray, target: IntArray, order: IntArray) -> IntArray:
    """Give each node a layer after those of its causes, so that the edges together cross as few layers as possible.

    This is the linear programme of Gansner et al. (1993), whose solutions are integers. Where it would take long,
    the layer of a node is the length of the longest path that leads to it.

    Parameters
    ----------
    source, target : arrays of shape (m,)
        The edges; each source comes before its target in `order`.
    order : array of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.plotting.layers import assign_layers
    >>> assign_layers(np.array([0, 1, 3]), np.array([1, 2, 2]), np.arange(4))    # 0 → 1 → 2 ← 3
    array([0, 1, 2, 1])
    """
    d, m = order.size, source.size
    if m > _MOST_EDGES:
        return _longest_paths(source, target, order)
    edge = np.arange(m)
    lengths = sp.csr_array(
        (np.repeat([1.0, -1.0], m), (np.tile(edge, 2), np.concatenate([source, target]))), shape=(m, d)
    )
    solution: Any = linprog(-lengths.sum(axis=0), A_ub=cast(Any, lengths), b_ub=np.full(m, -1.0), method="highs-ds")
    layer = np.rint(solution.x).astype(np.intp)
    return np.asarray(layer - layer.min())


def _longest_paths(source: IntArray, target: IntArray, order: IntArray) -> IntArray:
    causes = sp.csr_array((np.ones(source.size), (target, source)), shape=(order.size, order.size))
    layer = np.zeros(order.size, dtype=np.intp)
    for node in order:
        before = causes.indices[causes.indptr[node] : causes.indptr[node + 1]]
        layer[node] = layer[before].max(initial=-1) + 1
    return layer


@dataclass(frozen=True)
class Layered:
    """A graph whose edges lead from one layer to the next: long edges are cut at bends, which are nodes of their own.

    Attributes
    ----------
    layer : array of shape (nodes,)
        The layer of each node; nodes from ``size`` on are bends.
    source, target : arrays of shape (m,)
        The edges.
    lower, upper : arrays of shape (segments,)
        The two ends of each piece of an edge.
    first : array of shape (m + 1,)
        The bends of edge e are ``first[e]`` to ``first[e + 1]``, from its source to its target.
    size : int
        How many nodes are variables.
    """

    layer: IntArray
    source: IntArray
    target: IntArray
    lower: IntArray
    upper: IntArray
    first: IntArray
    size: int

    @classmethod
    def cut(cls, source: IntArray, target: IntArray, layer: IntArray) -> Layered:
        """Cut edges at every layer they cross."""
        d = layer.size
        bends = layer[target] - layer[source] - 1
        if bends.sum() > _MOST_BENDS:
            bends = np.zeros_like(bends)
        first = d + np.concatenate([[0], np.cumsum(bends)])
        edge = np.repeat(np.arange(source.size), bends)
        node = np.arange(first[0], first[-1])
        step = node - first[edge]
        lower = np.concatenate([source, node])
        # After a bend comes the next bend of the same edge, or its target.
        upper = np.concatenate(
            [np.where(bends > 0, first[:-1], target), np.where(step + 1 < bends[edge], node + 1, target[edge])]
        )
        layer = np.concatenate([layer, layer[source][edge] + 1 + step])
        return cls(layer, source, target, lower, upper, first, d)

    def arrange(self) -> list[IntArray]:
        """Order the nodes of each layer so that few segments cross.

        The first order is spectral: along the vector that keeps neighbours closest. Sweeps over the layers then sort
        each by the barycentres of its neighbours before, after or on both sides, wherever this removes crossings.
        """
        height = self._spectral()
        layers = np.split(np.lexsort((height, self.layer)), np.cumsum(np.bincount(self.layer))[:-1])
        place = np.empty(self.layer.size, dtype=np.intp)
        for nodes in layers:
            place[nodes] = np.arange(nodes.size)
            height[nodes] = (place[nodes] + 0.5) / nodes.size
        into, out = self._group(self.upper), self._group(self.lower)
        for sweep in range(_SWEEPS):
            improved = False
            for layer in range(len(layers)) if sweep % 2 == 0 else reversed(range(len(layers))):
                improved |= self._improve(layers, layer, place, height, into[layer], out[layer])
            if not improved:
                break
        return self._swap_neighbours(layers, place) if place.size <= _MOST_SWAPPED else layers

    def crossings(self, layers: list[IntArray]) -> int:
        """Count the pairs of segments that cross."""
        place = np.empty(self.layer.size, dtype=np.intp)
        for nodes in layers:
            place[nodes] = np.arange(nodes.size)
        return sum(self._crossings(place, segments) for segments in self._group(self.lower))

    def _crossings(self, place: IntArray, segments: IntArray) -> int:
        lower, upper = place[self.lower[segments]], place[self.upper[segments]]
        return _inversions(upper[np.lexsort((upper, lower))])

    def _spectral(self) -> FloatArray:
        """Return the eigenvector of the second smallest eigenvalue of the graph's Laplacian.

        An edge is as weak as it is long, like a chain of springs, and its bends stand evenly between its ends.
        """
        d = self.size
        spans = self.layer[self.target] - self.layer[self.source]
        graph = sp.csr_array((1.0 / spans, (self.source, self.target)), shape=(d, d))
        matrix: Any = laplacian(graph + graph.T)
        if d < 100:
            vector = np.linalg.eigh(matrix.toarray())[1][:, min(1, d - 1)]
        else:
            # The shift makes the matrix regular; a fixed start vector makes the result reproducible.
            vector = eigsh(sp.csc_array(matrix), k=2, sigma=-1e-3, v0=np.sin(np.arange(d)))[1][:, 1]
        edge = np.repeat(np.arange(spans.size), np.diff(self.first))
        share = (self.layer[d:] - self.layer[self.source[edge]]) / spans[edge]
        bends = (1 - share) * vector[self.source[edge]] + share * vector[self.target[edge]]
        return np.concatenate([vector, bends])

    def _group(self, end: IntArray) -> list[IntArray]:
        """Return the segments with this end in each layer."""
        return split_by(self.layer[end], int(self.layer.max()) + 1)

    def _improve(
        self, layers: list[IntArray], layer: int, place: IntArray, height: FloatArray, into: IntArray, out: IntArray
    ) -> bool:
        """Sort one layer by barycentres, if this removes crossings; `height` is the place as a share of the layer."""
        nodes = best = layers[layer]
        fewest = before = self._crossings(place, into) + self._crossings(place, out)
        if before == 0:
            return False
        local = [place[self.upper[into]], place[self.lower[out]]]
        pull = [height[self.lower[into]], height[self.upper[out]]]
        counts = [np.bincount(ends, minlength=nodes.size) for ends in local]
        totals = [np.bincount(*pair, minlength=nodes.size) for pair in zip(local, pull, strict=True)]
        for sides in ([0], [1], [0, 1]):
            count, total = sum(counts[k] for k in sides), sum(totals[k] for k in sides)
            centre = np.where(count > 0, total / np.maximum(count, 1), height[nodes])
            candidate = nodes[np.argsort(centre, kind="stable")]
            place[candidate] = np.arange(nodes.size)
            crossings = self._crossings(place, into) + self._crossings(place, out)
            # Moves that change nothing are made too: they may let others improve.
            if crossings <= fewest:
                best, fewest = candidate, crossings
        place[best] = np.arange(nodes.size)
        height[best] = (place[best] + 0.5) / nodes.size
        layers[layer] = best
        return fewest < before

    def _swap_neighbours(self, layers: list[IntArray], place: IntArray) -> list[IntArray]:
        """Swap nodes that stand next to each other as long as this removes crossings."""
        # Lists, since arrays would be slower for neighbourhoods this small.
        after: list[list[int]] = [[] for _ in place]
        before: list[list[int]] = [[] for _ in place]
        for lower, upper in zip(self.lower.tolist(), self.upper.tolist(), strict=True):
            after[lower].append(upper)
            before[upper].append(lower)
        rank, rows = place.tolist(), [nodes.tolist() for nodes in layers]
        for _ in range(_SWEEPS):
            swapped = False
            for row in rows:
                for k in range(len(row) - 1):
                    u, v = row[k], row[k + 1]
                    pairs = ((rank[a], rank[b]) for near in (before, after) for a in near[u] for b in near[v])
                    if sum((a > b) - (a < b) for a, b in pairs) > 0:
                        row[k], row[k + 1], rank[u], rank[v] = v, u, k + 1, k
                        swapped = True
            if not swapped:
                break
        return [np.array(row, dtype=np.intp) for row in rows]


def split_by(labels: IntArray, count: int) -> list[IntArray]:
    """Return the places of each of the labels 0 to `count` − 1.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.plotting.layers import split_by
    >>> split_by(np.array([1, 0, 1]), 2)
    [array([1]), array([0, 2])]
    """
    counts = np.bincount(labels, minlength=count)
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(counts)[:-1])


def _inversions(values: IntArray) -> int:
    """Count pairs in the wrong order, bit by bit: those that agree in all higher bits, and differ in this one."""
    total = 0
    for bit in range(int(values.max()).bit_length() if values.size else 0):
        prefix = values >> (bit + 1)
        by_prefix = np.argsort(prefix, kind="stable")
        one = (values[by_prefix] >> bit) & 1
        before = np.cumsum(one) - one
        starts = np.searchsorted(prefix[by_prefix], prefix[by_prefix])
        total += int(((before - before[starts]) * (1 - one)).sum())
    return total

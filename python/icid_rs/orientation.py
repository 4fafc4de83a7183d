"""What follows for other edges when the directions of some are known (the rules of Meek 1995)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs.knowledge import Knowledge

Csr = Any


def orient(cpdag: Csr, knowledge: Knowledge) -> Csr:
    """Direct the reversible edges of an equivalence class that knowledge decides, and those that follow from them.

    What is left reversible points both ways among the graphs of the class that agree with the knowledge. Knowledge that
    contradicts the class changes nothing of what it compels.

    Parameters
    ----------
    cpdag : scipy.sparse.csr_array of shape (d, d)
        As `equivalence_class` returns it.
    knowledge : Knowledge

    Returns
    -------
    scipy.sparse.csr_array of shape (d, d)

    Examples
    --------
    A chain of three, of which the first edge is known:

    >>> from icid_rs import equivalence_class
    >>> from icid_rs.knowledge import Knowledge
    >>> from icid_rs.orientation import orient
    >>> cpdag = equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> orient(cpdag, Knowledge.make(range(3), required=[(0, 1)])).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    pattern = sp.csr_array(cpdag)
    reversible = sp.coo_array(pattern.multiply(pattern.T))
    graph = _PartlyDirected(pattern, zip(reversible.row.tolist(), reversible.col.tolist(), strict=True))
    for i, j in knowledge.required.tolist():
        graph.direct(i, j)
    backwards = ~knowledge.allows(reversible.col, reversible.row)
    for i, j in zip(reversible.row[backwards].tolist(), reversible.col[backwards].tolist(), strict=True):
        graph.direct(i, j)
    graph.close()
    edges = [(i, j) for i, parents in enumerate(graph.parents) for j in parents]
    edges += [(j, i) for i, others in enumerate(graph.open) for j in others]
    effects, causes = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(edges)), (causes, effects)), shape=pattern.shape)


class _PartlyDirected:
    def __init__(self, pattern: Csr, reversible: Any) -> None:
        d = pattern.shape[0]
        self.open: list[set[int]] = [set() for _ in range(d)]
        for i, j in reversible:
            self.open[i].add(j)
        self.parents: list[set[int]] = [set() for _ in range(d)]
        for i, j in zip(*(axis.tolist() for axis in pattern.nonzero()), strict=True):
            if j not in self.open[i]:
                self.parents[j].add(i)
        self.adjacent = [self.open[i] | self.parents[i] for i in range(d)]
        for j, parents in enumerate(self.parents):
            for i in parents:
                self.adjacent[i].add(j)

    def direct(self, i: int, j: int) -> None:
        """Direct an edge, if it is still reversible."""
        if j in self.open[i]:
            self.open[i].remove(j)
            self.open[j].remove(i)
            self.parents[j].add(i)

    def close(self) -> None:
        """Direct what would otherwise make a cycle or a new collider, until nothing follows any more."""
        changed = True
        while changed:
            followed = [(i, j) for i, others in enumerate(self.open) for j in others if self._follows(i, j)]
            changed = bool(followed)
            for i, j in followed:
                self.direct(i, j)

    def _follows(self, i: int, j: int) -> bool:
        """Tell whether i → j follows from the edges that are directed."""
        own, causes = self.parents[i], self.parents[j]
        # The edge into i would meet another at i.
        if own - self.adjacent[j]:
            return True
        # There is a way from i to j.
        if any(i in self.parents[k] for k in causes):
            return True
        # Two causes of j that are not joined: i → them and j → i would make a collider or a cycle.
        shared = causes & self.open[i]
        if any(k not in self.adjacent[m] for k, m in permutations(shared, 2)):
            return True
        return any(
            k in self.open[i] and k not in self.adjacent[j] for m in causes & self.adjacent[i] for k in self.parents[m]
        )

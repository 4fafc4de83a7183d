"""Directions implied by other directions (the rules of Meek 1995)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs.graph.equivalence import reversible_edges
from icid_rs.graph.knowledge import Knowledge

Csr = Any


def orient(cpdag: Csr, knowledge: Knowledge) -> Csr:
    """Orient the reversible edges of an equivalence class that knowledge decides, and those that follow from them.

    An edge stays reversible if graphs of the class that agree with the knowledge have it in both directions. Compelled
    edges stay as they are, even where knowledge contradicts them.

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
    A chain of three whose first edge is known:

    >>> from icid_rs import equivalence_class
    >>> from icid_rs.graph.knowledge import Knowledge
    >>> from icid_rs.graph.orientation import orient
    >>> cpdag = equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> orient(cpdag, Knowledge.make(range(3), required=[(0, 1)])).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    pattern = sp.csr_array(cpdag)
    reversible = sp.coo_array(reversible_edges(pattern))
    graph = _PartlyDirected(pattern, zip(reversible.row.tolist(), reversible.col.tolist(), strict=True))
    for i, j in knowledge.required.tolist():
        graph.orient(i, j)
    backwards = ~knowledge.allows(reversible.col, reversible.row)
    for i, j in zip(reversible.row[backwards].tolist(), reversible.col[backwards].tolist(), strict=True):
        graph.orient(i, j)
    graph.close()
    edges = [(i, j) for i, parents in enumerate(graph.parents) for j in parents]
    edges += [(j, i) for i, others in enumerate(graph.open) for j in others]
    effects, causes = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(edges)), (causes, effects)), shape=pattern.shape)


class _PartlyDirected:
    """A graph some of whose edges are not oriented yet, as sets of neighbours."""

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

    def orient(self, i: int, j: int) -> None:
        """Orient an edge as i → j, if it is still reversible."""
        if j in self.open[i]:
            self.open[i].remove(j)
            self.open[j].remove(i)
            self.parents[j].add(i)

    def close(self) -> None:
        """Orient edges that would otherwise make a cycle or a new collider, until nothing changes."""
        changed = True
        while changed:
            followed = [(i, j) for i, others in enumerate(self.open) for j in others if self._follows(i, j)]
            changed = bool(followed)
            for i, j in followed:
                self.orient(i, j)

    def _follows(self, i: int, j: int) -> bool:
        """Tell whether i → j follows from the edges oriented so far, by one of the four rules."""
        own, causes = self.parents[i], self.parents[j]
        # Rule 1: k → i, and k is not adjacent to j; j → i would be a new collider at i.
        if own - self.adjacent[j]:
            return True
        # Rule 2: i → k → j; j → i would close a cycle.
        if any(i in self.parents[k] for k in causes):
            return True
        # Rule 3: i — k → j and i — m → j, with k and m not adjacent; j → i would force a new collider k → i ← m.
        shared = causes & self.open[i]
        if any(k not in self.adjacent[m] for k, m in permutations(shared, 2)):
            return True
        # Rule 4: i — k → m → j, with k and j not adjacent; j → i would force a new collider k → i ← j.
        return any(
            k in self.open[i] and k not in self.adjacent[j] for m in causes & self.adjacent[i] for k in self.parents[m]
        )

"""Directions implied by other directions (the rules of Meek 1995)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

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
    reversible = sp.coo_array(reversible_edges(cpdag))
    graph = PartlyDirected(cpdag)
    for i, j in knowledge.required.tolist():
        graph.orient(i, j)
    backwards = ~knowledge.allows(reversible.col, reversible.row)
    for i, j in zip(reversible.row[backwards].tolist(), reversible.col[backwards].tolist(), strict=True):
        graph.orient(i, j)
    graph.close()
    edges = [(i, j) for i, parents in enumerate(graph.parents) for j in parents]
    edges += [(j, i) for i, others in enumerate(graph.open) for j in others]
    effects, causes = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(edges)), (causes, effects)), shape=cpdag.shape)


def with_directions(B: Csr, causes: NDArray[np.intp], effects: NDArray[np.intp]) -> Csr:
    """Return the graph in which some edges are directed as in B, and all others are reversible.

    Parameters
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
        An acyclic graph.
    causes, effects : numpy.ndarray
        Ends of the edges that are directed.

    Returns
    -------
    scipy.sparse.csr_array of shape (d, d)
        Ones, as `equivalence_class` returns them.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.orientation import with_directions
    >>> with_directions(sp.csr_array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), np.array([0]), np.array([1])).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """
    pattern = sp.csr_array((np.ones(B.nnz), B.indices, B.indptr), shape=B.shape)
    directed = sp.csr_array((np.ones(len(causes)), (effects, causes)), shape=B.shape)
    both = sp.csr_array(pattern + pattern.T - directed)
    both.eliminate_zeros()
    return both


class PartlyDirected:
    """A graph some of whose edges are not oriented yet, as sets of neighbours.

    Attributes
    ----------
    open, parents, adjacent : list of set of int
        For each variable, those that it is joined to by a reversible edge, by a directed edge into it, and by any edge.

    Examples
    --------
    >>> from icid_rs import equivalence_class
    >>> from icid_rs.graph.orientation import PartlyDirected
    >>> graph = PartlyDirected(equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> graph.orient(0, 1)
    >>> graph.close()
    >>> graph.parents, graph.children(1)
    ([set(), {0}, {1}], {2})
    """

    def __init__(self, cpdag: Csr) -> None:
        pattern = sp.csr_array(cpdag)
        d = pattern.shape[0]
        successors: list[set[int]] = [set() for _ in range(d)]
        self.parents: list[set[int]] = [set() for _ in range(d)]
        for i, j in zip(*(axis.tolist() for axis in pattern.nonzero()), strict=True):
            successors[i].add(j)
            self.parents[j].add(i)
        self.adjacent = [successors[i] | self.parents[i] for i in range(d)]
        self.open = [successors[i] & self.parents[i] for i in range(d)]
        for i in range(d):
            self.parents[i] -= self.open[i]

    def children(self, i: int) -> set[int]:
        """Return the variables that a directed edge joins i to."""
        return self.adjacent[i] - self.open[i] - self.parents[i]

    def copy(self) -> PartlyDirected:
        """Return a copy that can be oriented further."""
        other = PartlyDirected.__new__(PartlyDirected)
        other.adjacent = self.adjacent
        other.open, other.parents = [set(x) for x in self.open], [set(x) for x in self.parents]
        return other

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

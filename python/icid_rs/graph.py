"""A causal graph with named variables, and its way out to other tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Edge(NamedTuple):
    """A cause, its effect, and the weight of the one in the equation of the other."""

    source: Any
    target: Any
    weight: float


def list_edges(B: sp.csr_array[np.float64, tuple[int, int]], names: Sequence[Any]) -> list[Edge]:
    """List the edges, strongest first.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph import list_edges
    >>> list_edges(sp.csr_array([[0, 0.5], [0, 0]]), ["rain", "wet"])
    [Edge(source='rain', target='wet', weight=0.5)]
    """
    coo = B.tocoo()
    strongest = np.lexsort((coo.col, coo.row, -np.abs(coo.data)))
    return [Edge(names[coo.row[k]], names[coo.col[k]], float(coo.data[k])) for k in strongest]


def to_networkx(B: sp.csr_array[np.float64, tuple[int, int]], names: Sequence[Any]) -> Any:
    """Build a ``networkx.DiGraph`` with the names as nodes and ``weight`` on the edges."""
    try:
        import networkx as nx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install 'icid_rs[networkx]'") from None
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_weighted_edges_from(list_edges(B, names))
    return graph

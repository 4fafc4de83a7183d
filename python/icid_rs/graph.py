"""A causal graph with named variables, and its way out to other tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class Edge(NamedTuple):
    """A cause, its effect, the weight of the one in the equation of the other, and its probability if there is one."""

    source: Any
    target: Any
    weight: float
    confidence: float | None = None


def list_edges(
    B: sp.csr_array[np.float64, tuple[int, int]], names: Sequence[Any], confidence: Any = None
) -> list[Edge]:
    """List the edges, strongest first; `confidence`, if given, is a sparse matrix of their probabilities.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph import list_edges
    >>> list_edges(sp.csr_array([[0, 0.5], [0, 0]]), ["rain", "wet"])
    [Edge(source='rain', target='wet', weight=0.5, confidence=None)]
    """
    coo = B.tocoo()
    strongest = np.lexsort((coo.col, coo.row, -np.abs(coo.data)))
    sure = [None] * coo.nnz if confidence is None else entries_at(confidence, coo.row, coo.col).tolist()
    return [Edge(names[coo.row[k]], names[coo.col[k]], float(coo.data[k]), sure[k]) for k in strongest]


def entries_at(matrix: Any, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
    """Return entries of a sparse matrix as a vector.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph import entries_at
    >>> entries_at(sp.csr_array([[0, 0.5], [0, 0]]), np.array([0, 1]), np.array([1, 0]))
    array([0.5, 0. ])
    """
    # Without places SciPy returns a sparse matrix.
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel() if len(rows) else np.zeros(0)


def to_networkx(B: sp.csr_array[np.float64, tuple[int, int]], names: Sequence[Any]) -> Any:
    """Build a ``networkx.DiGraph`` with the names as nodes and ``weight`` on the edges."""
    try:
        import networkx as nx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install 'icid_rs[networkx]'") from None
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_weighted_edges_from((edge.source, edge.target, edge.weight) for edge in list_edges(B, names))
    return graph

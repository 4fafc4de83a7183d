"""The edges of a graph, as a list and as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs.graph.sem import Csr


class Edge(NamedTuple):
    """A cause, its effect, the weight of the cause in the equation of the effect, and its probability if known."""

    source: Any
    target: Any
    weight: float
    confidence: float | None = None


def list_edges(B: Csr, names: Sequence[Any], confidence: Any = None) -> list[Edge]:
    """List the edges, strongest first; `confidence` is a sparse matrix of their probabilities.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.edges import list_edges
    >>> list_edges(sp.csr_array([[0, 0.5], [0, 0]]), ["rain", "wet"])
    [Edge(source='rain', target='wet', weight=0.5, confidence=None)]
    """
    coo = B.tocoo()
    strongest = np.lexsort((coo.col, coo.row, -np.abs(coo.data)))
    sure = [None] * coo.nnz if confidence is None else entries_at(confidence, coo.row, coo.col).tolist()
    return [Edge(names[coo.row[k]], names[coo.col[k]], float(coo.data[k]), sure[k]) for k in strongest]


def entries_at(matrix: Any, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
    """Return the entries of a sparse matrix at some places, as a vector.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.edges import entries_at
    >>> entries_at(sp.csr_array([[0, 0.5], [0, 0]]), np.array([0, 1]), np.array([1, 0]))
    array([0.5, 0. ])
    """
    # For empty index arrays SciPy returns a sparse matrix instead of a vector.
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel() if len(rows) else np.zeros(0)


def weight_matrix(
    sources: Sequence[int], targets: Sequence[int], weights: Sequence[float], names: Sequence[Any]
) -> Csr:
    """Build the adjacency matrix of a list of edges; raise if an edge is listed twice or has the weight 0.

    Examples
    --------
    >>> from icid_rs.graph.edges import weight_matrix
    >>> weight_matrix([0], [1], [0.5], ["rain", "wet"]).toarray()
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    seen = set()
    for i, j, weight in zip(sources, targets, weights, strict=True):
        if (i, j) in seen or weight == 0:
            fault = "is listed more than once" if (i, j) in seen else "has the weight 0"
            raise ValueError(f"the edge {names[i]!r} → {names[j]!r} {fault}")
        seen.add((i, j))
    return edge_matrix(sources, targets, weights, len(names))


def edge_matrix(sources: Sequence[int], targets: Sequence[int], values: Sequence[float], d: int) -> Csr:
    """Put one value for each edge into a sparse matrix of shape (d, d).

    Examples
    --------
    >>> from icid_rs.graph.edges import edge_matrix
    >>> edge_matrix([0], [1], [0.5], 2).nnz
    1
    """
    return sp.csr_array((np.asarray(values, dtype=np.float64), (sources, targets)), shape=(d, d))

"""The edges of a graph, as a list and as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.sem import Csr


class Edge(NamedTuple):
    """A cause, its effect, the weight of the cause in the equation of the effect, and the evidence for the edge.

    For the evidence see `EdgeEvidence`; `confidence` is the probability that a bootstrap found. None: not known.
    """

    source: Any
    target: Any
    weight: float
    standardised: float | None = None
    std_error: float | None = None
    p_value: float | None = None
    direction: str | None = None
    stability: float | None = None
    joined: float | None = None
    margin: float | None = None
    confidence: float | None = None


def edge_columns(
    B: Csr, names: Sequence[Any], evidence: EdgeEvidence | None = None, confidence: Any = None
) -> dict[str, Any]:
    """Return the columns of the table of edges, strongest first; unknown numbers are NaN.

    The strength is the standardised weight, or the weight where that is not known. `confidence` is a sparse matrix of
    probabilities; without it there is no such column.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.edges import edge_columns
    >>> edge_columns(sp.csr_array([[0, 0.5], [0, 0]]), ["rain", "wet"])["source"]
    ['rain']
    """
    coo = B.tocoo()
    evidence = EdgeEvidence.unknown(coo.nnz) if evidence is None else evidence
    strength = np.nan_to_num(np.abs(evidence.standardised), nan=-1.0)
    first = np.lexsort((coo.col, coo.row, -np.abs(coo.data), -strength))
    columns: dict[str, Any] = {
        "source": [names[i] for i in coo.row[first].tolist()],
        "target": [names[j] for j in coo.col[first].tolist()],
        "weight": coo.data[first],
    }
    shown = evidence.take(first)
    columns |= {name: getattr(shown, name) for name in shown.columns()}
    if confidence is not None:
        columns["confidence"] = entries_at(confidence, coo.row[first], coo.col[first])
    return columns


def list_edges(
    B: Csr, names: Sequence[Any], evidence: EdgeEvidence | None = None, confidence: Any = None
) -> list[Edge]:
    """List the edges, strongest first; see `edge_columns`.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.edges import list_edges
    >>> edge = list_edges(sp.csr_array([[0, 0.5], [0, 0]]), ["rain", "wet"])[0]
    >>> edge.source, edge.weight, edge.std_error
    ('rain', 0.5, None)
    """
    columns = {name: known_values(values) for name, values in edge_columns(B, names, evidence, confidence).items()}
    return [Edge(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def known_values(values: Any) -> list[Any]:
    """Return a column as a list in which unknown numbers are None.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.edges import known_values
    >>> known_values(np.array([0.5, np.nan]))
    [0.5, None]
    """
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    return [None if isinstance(value, float) and value != value else value for value in listed]


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

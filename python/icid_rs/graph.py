"""What holds a causal graph with named variables, and its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self, overload

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

#: Parameters of an estimator that say nothing of what it finds.
_INCIDENTAL = ("callback", "n_threads", "verbose")


class Edge(NamedTuple):
    """A cause, its effect, and the weight of the one in the equation of the other."""

    source: Any
    target: Any
    weight: float


class ConfidentEdge(NamedTuple):
    """An `Edge`, and how probable it is."""

    source: Any
    target: Any
    weight: float
    confidence: float


@overload
def list_edges(B: sp.csr_array[np.float64, tuple[int, int]], names: Sequence[Any]) -> list[Edge]: ...


@overload
def list_edges(
    B: sp.csr_array[np.float64, tuple[int, int]], names: Sequence[Any], confidence: Any
) -> list[Edge] | list[ConfidentEdge]: ...


def list_edges(
    B: sp.csr_array[np.float64, tuple[int, int]], names: Sequence[Any], confidence: Any = None
) -> list[Edge] | list[ConfidentEdge]:
    """List the edges, strongest first.

    Parameters
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
    names : sequence of length d
    confidence : array or sparse matrix of shape (d, d), optional
        ``[i, j]`` is the probability of i → j.

    Returns
    -------
    list of Edge, or of ConfidentEdge if there is a `confidence`

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph import list_edges
    >>> B = sp.csr_array([[0, 0.5], [0, 0]])
    >>> list_edges(B, ["rain", "wet"])
    [Edge(source='rain', target='wet', weight=0.5)]
    >>> list_edges(B, ["rain", "wet"], confidence=[[0, 0.9], [0, 0]])
    [ConfidentEdge(source='rain', target='wet', weight=0.5, confidence=0.9)]
    """
    coo = B.tocoo()
    strongest = np.lexsort((coo.col, coo.row, -np.abs(coo.data)))
    sources, targets = coo.row[strongest], coo.col[strongest]
    ends = [(names[i], names[j]) for i, j in zip(sources, targets, strict=True)]
    weights = coo.data[strongest].tolist()
    if confidence is None:
        return [Edge(*pair, weight) for pair, weight in zip(ends, weights, strict=True)]
    matrix = sp.csr_array(confidence)
    probabilities = np.asarray(matrix[sources, targets]).ravel().tolist() if len(ends) else []
    return [ConfidentEdge(*pair, weight, p) for pair, weight, p in zip(ends, weights, probabilities, strict=True)]


class GraphHolder:
    """A fitted estimator, or a graph on its own: the attributes that both have."""

    adjacency_matrix_: Any
    causal_order_: Any
    cpdag_: Any
    noise_variances_: Any
    location_: Any
    info_: dict[str, Any]
    n_features_in_: int
    _columns: list[Any] | None
    #: Probabilities of the edges, a sparse matrix of shape (d, d), where they are known.
    confidence_: Any = None

    @property
    def names_(self) -> list[Any]:
        """Names of the variables, or their numbers."""
        return self._names()

    def _checked(self) -> Self:
        """Refuse an estimator that has not been fitted."""
        if not hasattr(self, "adjacency_matrix_"):
            check_is_fitted(self, "adjacency_matrix_")
        return self

    def _names(self) -> list[Any]:
        return list(range(self.n_features_in_)) if self._columns is None else list(self._columns)

    def _settings(self) -> dict[str, Any]:
        """Return the parameters of the estimator."""
        parameters: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        return {key: value for key, value in parameters.items() if key not in _INCIDENTAL}

    def _summary(self) -> dict[str, Any]:
        """Return what the estimator chose, and how it ended."""
        simple = {key: value for key, value in self.info_.items() if isinstance(value, str | int | float | None)}
        return {"status": getattr(self, "status_", None), **simple}

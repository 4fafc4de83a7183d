"""What holds a causal graph with named variables, and its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

#: Parameters of an estimator that say nothing of what it finds.
_INCIDENTAL = ("callback", "n_threads", "verbose")


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

    @property
    def names_(self) -> list[Any]:
        """Names of the variables, or their numbers."""
        return self._names()

    @property
    def confidence_(self) -> Any:
        """Probabilities of the edges, a sparse matrix of shape (d, d), or None without a ``bootstrap_``."""
        found = getattr(self, "bootstrap_", None)
        return None if found is None else found.edge_probabilities

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

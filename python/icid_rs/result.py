"""What can be asked of a fitted model: its edges, and ways out to other tools."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from icid_rs.graph import Edge, list_edges, to_networkx


class GraphMixin:
    """Methods of an estimator that has found a graph, ``adjacency_matrix_``."""

    adjacency_matrix_: Any
    n_features_in_: int
    _columns: list[Any] | None

    def edges(self) -> Any:
        """List the edges, strongest first.

        Returns
        -------
        pandas.DataFrame or list of Edge
            ``source``, ``target`` and ``weight``, and after `bootstrap` the ``confidence``: how probable each edge is;
            a data frame if pandas is installed.
        """
        check_is_fitted(self, "adjacency_matrix_")
        found = getattr(self, "bootstrap_", None)
        edges = list_edges(self.adjacency_matrix_, self._names(), None if found is None else found.edge_probabilities)
        try:
            import pandas as pd
        except ImportError:
            return edges
        table = pd.DataFrame(edges, columns=list(Edge._fields))
        return table.drop(columns="confidence") if found is None else table

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` with the variables' names as nodes and ``weight`` on the edges."""
        check_is_fitted(self, "adjacency_matrix_")
        return to_networkx(self.adjacency_matrix_, self._names())

    def _names(self) -> list[Any]:
        return list(range(self.n_features_in_)) if self._columns is None else self._columns

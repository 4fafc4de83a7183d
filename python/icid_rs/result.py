"""What can be asked of a graph, of a fitted model or a loaded one: its edges, effects, and ways out to other tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from icid_rs import effects
from icid_rs.export.conventions import Convention, is_transposed
from icid_rs.export.methods import ExportMixin
from icid_rs.graph import Edge, list_edges
from icid_rs.variables import locate, locate_all

if TYPE_CHECKING:
    from icid_rs.causal_graph import CausalGraph


class GraphMixin(ExportMixin):
    """Methods of what has found, or holds, a graph.

    Variables are given by name, or by number where the names are no numbers themselves.
    """

    def edges(self) -> Any:
        """List the edges, strongest first.

        Returns
        -------
        pandas.DataFrame or list of Edge
            ``source``, ``target`` and ``weight``, and ``confidence`` where it is known; a data frame if pandas is
            installed.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).edges()
          source target  weight
        0   rain    wet     0.5
        """
        edges = list_edges(self._checked().adjacency_matrix_, self._names(), self.confidence_)
        try:
            import pandas as pd
        except ImportError:
            return edges
        table = pd.DataFrame(edges, columns=list(Edge._fields))
        return table.drop(columns="confidence") if self.confidence_ is None else table

    def total_effects(self, *, convention: Convention = "row_to_column") -> Any:
        """Compute the effects along all directed paths, (I − B)⁻¹ − I.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}
            With ``"column_to_row"``, ``[j, i]`` is the effect of i on j.

        Returns
        -------
        scipy.sparse.csr_array of shape (d, d)
            ``[i, j]`` is the change of j when i is set one unit higher.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 2.0, 1.0], [0, 0, 3.0], [0, 0, 0]]).total_effects().toarray()
        array([[0., 2., 7.],
               [0., 0., 3.],
               [0., 0., 0.]])
        """
        transposed = is_transposed(convention)
        if self._checked().causal_order_ is None:
            raise ValueError("the graph has directed cycles, along which effects have no end; fit with dag='greedy'")
        total = effects.total_effects(self.adjacency_matrix_, self.causal_order_)
        return total.T.tocsr() if transposed else total

    def parents(self, variable: Any) -> list[Any]:
        """List the direct causes of a variable.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).parents("wet")
        ['rain']
        """
        return self._related(effects.parents, variable)

    def children(self, variable: Any) -> list[Any]:
        """List the direct effects of a variable.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).children("rain")
        ['wet']
        """
        return self._related(effects.children, variable)

    def ancestors(self, variable: Any) -> list[Any]:
        """List the causes of a variable, direct or not.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"]).ancestors("wet")
        ['cloud', 'rain']
        """
        return self._related(effects.ancestors, variable)

    def descendants(self, variable: Any) -> list[Any]:
        """List the effects of a variable, direct or not.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"]).descendants("cloud")
        ['rain', 'wet']
        """
        return self._related(effects.descendants, variable)

    def markov_blanket(self, variable: Any) -> list[Any]:
        """List the parents and children of a variable, and the other parents of its children.

        Given these, the rest says nothing of the variable.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0, 1], [0, 0, 1], [0, 0, 0]], ["rain", "hose", "wet"]).markov_blanket("rain")
        ['hose', 'wet']
        """
        return self._related(effects.markov_blanket, variable)

    def subgraph(self, variables: Any, radius: int = 1) -> CausalGraph:
        """Cut out the surroundings of some variables.

        Parameters
        ----------
        variables : name, number, or a list of them
        radius : int
            Keep what is within so many edges of them, whichever way these point.

        Returns
        -------
        CausalGraph
            Edges among the variables kept, with weights, noise variances and equivalence class as in the whole graph.
            It is a part of the picture, not a model of these variables alone: causes that were cut off are missing.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"])
        >>> graph.subgraph("cloud").names_
        ['cloud', 'rain']
        """
        from icid_rs.causal_graph import CausalGraph

        names, B = self._names(), self._checked().adjacency_matrix_
        several = isinstance(variables, Iterable) and not isinstance(variables, str | tuple)
        kept = effects.neighbourhood(B, locate_all(variables if several else [variables], names), radius)

        def cut(matrix: Any) -> Any:
            return None if matrix is None else matrix[kept][:, kept]

        order = self.causal_order_
        return CausalGraph(
            cut(B),
            [names[k] for k in kept],
            causal_order=None if order is None else np.searchsorted(kept, order[np.isin(order, kept)]),
            cpdag=cut(self.cpdag_),
            noise_variances=None if self.noise_variances_ is None else self.noise_variances_[kept],
            location=None if self.location_ is None else self.location_[kept],
            confidence=cut(self.confidence_),
            settings=self._settings(),
            info=self._summary(),
        )

    def _related(self, relation: Any, variable: Any) -> list[Any]:
        B, names = self._checked().adjacency_matrix_, self._names()
        return [names[k] for k in relation(B, locate(variable, names))]

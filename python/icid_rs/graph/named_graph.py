"""A weighted graph with named variables, and the questions it answers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from icid_rs.graph import effects, parts
from icid_rs.graph.conventions import Convention, is_transposed
from icid_rs.graph.edges import Edge, list_edges
from icid_rs.graph.equivalence import causal_order as find_order
from icid_rs.graph.equivalence import equivalence_class
from icid_rs.graph.variables import locate, locate_all


class NamedGraph:
    """The data of a causal graph; `CausalGraph`, which users hold, adds exports and pictures.

    Variables are given by name, or by number where the names are no numbers themselves.

    Examples
    --------
    >>> from icid_rs.graph.named_graph import NamedGraph
    >>> NamedGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).parents("wet")
    ['rain']
    """

    def __init__(
        self,
        adjacency_matrix: Any,
        names: Sequence[Any] | None = None,
        *,
        causal_order: ArrayLike | None = None,
        cpdag: Any = None,
        noise_variances: ArrayLike | None = None,
        location: ArrayLike | None = None,
        confidence: Any = None,
        settings: Mapping[str, Any] | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        B = parts.check_weights(adjacency_matrix)
        d = B.shape[0]
        self._names = parts.check_names(names, d)
        self.adjacency_matrix_: Any = B
        self.causal_order_ = _order_or_none(B) if causal_order is None else parts.check_causal_order(causal_order, B)
        self.cpdag_: Any = None
        if cpdag is not None:
            self.cpdag_ = parts.check_class(cpdag, B)
        elif self.causal_order_ is not None:
            self.cpdag_ = equivalence_class(B)
        self.noise_variances_ = parts.check_vector(noise_variances, d, "noise_variances", positive=True)
        self.location_ = parts.check_vector(location, d, "location")
        self.confidence_: Any = None if confidence is None else parts.check_probabilities(confidence, d)
        self.settings_ = parts.check_mapping(settings, "settings")
        self.info_ = parts.check_mapping(info, "info")

    @classmethod
    def _trusted(cls, names: list[Any], **attributes: Any) -> Self:
        """Build the graph of a fit from its attributes, which are valid and complete, without checks or copies."""
        graph = cls.__new__(cls)
        vars(graph).update(attributes, _names=names, confidence_=None)
        return graph

    def _with_confidence(self, confidence: Any) -> Self:
        """Return the same graph with other probabilities of its edges."""
        graph = copy.copy(self)
        graph.confidence_ = confidence
        return graph

    @property
    def names_(self) -> list[Any]:
        """Names of the variables, or their numbers."""
        return list(self._names)

    @property
    def n_features_in_(self) -> int:
        """Number of variables."""
        return len(self._names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_features_in_} variables, {self.adjacency_matrix_.nnz} edges)"

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
        edges = list_edges(self.adjacency_matrix_, self._names, self.confidence_)
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
        if self.causal_order_ is None:
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
        """List the direct and indirect causes of a variable.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"]).ancestors("wet")
        ['cloud', 'rain']
        """
        return self._related(effects.ancestors, variable)

    def descendants(self, variable: Any) -> list[Any]:
        """List the variables that a variable affects, directly or indirectly.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"]).descendants("cloud")
        ['rain', 'wet']
        """
        return self._related(effects.descendants, variable)

    def markov_blanket(self, variable: Any) -> list[Any]:
        """List the parents and children of a variable, and the other parents of its children.

        Given these, the variable is independent of all others.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0, 1], [0, 0, 1], [0, 0, 0]], ["rain", "hose", "wet"]).markov_blanket("rain")
        ['hose', 'wet']
        """
        return self._related(effects.markov_blanket, variable)

    def subgraph(self, variables: Any, radius: int = 1) -> Self:
        """Cut out the surroundings of some variables.

        Parameters
        ----------
        variables : name, number, or a list of them
        radius : int
            Keep the variables within so many edges of these, whichever way the edges point.

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
        several = isinstance(variables, Iterable) and not isinstance(variables, str | tuple)
        centre = locate_all(variables if several else [variables], self._names)
        kept = effects.neighbourhood(self.adjacency_matrix_, centre, radius)

        def cut(matrix: Any) -> Any:
            return None if matrix is None else matrix[kept][:, kept]

        order = self.causal_order_
        return type(self)(
            cut(self.adjacency_matrix_),
            [self._names[k] for k in kept],
            causal_order=None if order is None else np.searchsorted(kept, order[np.isin(order, kept)]),
            cpdag=cut(self.cpdag_),
            noise_variances=None if self.noise_variances_ is None else self.noise_variances_[kept],
            location=None if self.location_ is None else self.location_[kept],
            confidence=cut(self.confidence_),
            settings=self.settings_,
            info=self.info_,
        )

    def _related(self, relation: Any, variable: Any) -> list[Any]:
        return [self._names[k] for k in relation(self.adjacency_matrix_, locate(variable, self._names))]


def _order_or_none(B: Any) -> Any:
    try:
        return find_order(B)
    except ValueError:
        return None

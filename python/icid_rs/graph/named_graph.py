"""A weighted graph with named variables, and the questions it answers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from icid_rs._util.extras import require
from icid_rs._util.frames import make_frame
from icid_rs._util.validation import listed
from icid_rs._util.words import count
from icid_rs.graph import effects, parts
from icid_rs.graph.conventions import Convention, is_transposed
from icid_rs.graph.covariances import SampleMoments
from icid_rs.graph.curves import Curves
from icid_rs.graph.edges import edge_columns, list_edges
from icid_rs.graph.equivalence import causal_order as find_order
from icid_rs.graph.equivalence import equivalence_class
from icid_rs.graph.evidence import EdgeEvidence, with_open_edges
from icid_rs.graph.mixed import ColumnModel
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

    #: The library of data frames that are returned.
    _library = "pandas"
    #: The equations of a graph with categories of more than two levels; None for all others.
    column_model_: ColumnModel | None = None
    #: Curves that straighten variables, by their numbers; the graph is one of straightened variables.
    curves_: Curves = MappingProxyType({})
    #: The sample that the graph was fitted to; None where it is not known.
    sample_: SampleMoments | None = None

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
        evidence: EdgeEvidence | None = None,
        settings: Mapping[str, Any] | None = None,
        info: Mapping[str, Any] | None = None,
        column_model: ColumnModel | None = None,
        curves: Curves | None = None,
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
        self.column_model_ = parts.check_column_model(column_model, d)
        if self.column_model_ is None:
            self.location_ = parts.check_vector(location, d, "location")
        else:
            self.location_ = self.column_model_.means
        self.curves_ = parts.check_curves(curves, d)
        self.confidence_: Any = None if confidence is None else parts.check_probabilities(confidence, d)
        self.settings_ = parts.check_mapping(settings, "settings")
        self.info_ = parts.check_mapping(info, "info")
        if evidence is None:
            evidence = parts.assumed_evidence(B, cpdag if cpdag is None else self.cpdag_, self.info_)
        self._set_evidence(evidence)

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

    def _with_evidence(self, evidence: EdgeEvidence) -> Self:
        """Return the same graph with other evidence for its edges."""
        graph = copy.copy(self)
        graph._set_evidence(evidence)
        return graph

    def _set_evidence(self, evidence: Any) -> None:
        """Check and keep evidence for the edges; those that are open become reversible in the class."""
        self.evidence_ = parts.check_evidence(evidence, self.adjacency_matrix_, self._names)
        self.cpdag_ = with_open_edges(self.cpdag_, self.adjacency_matrix_, self.evidence_)

    @property
    def names_(self) -> list[Any]:
        """Names of the variables, or their numbers."""
        return list(self._names)

    @property
    def n_features_in_(self) -> int:
        """Number of variables."""
        return len(self._names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._found()})"

    def _found(self) -> str:
        """Count variables, edges and claimed directions, in words; what was written down is not claimed."""
        direction = self.evidence_.direction
        size = f"{count(self.n_features_in_, 'variable')}, {count(self.adjacency_matrix_.nnz, 'edge')}"
        claimed = count(int((direction != "open").sum()), "direction")
        return size if (direction == "knowledge").all() else f"{size}, {claimed} claimed"

    def edges(self) -> Any:
        """List the edges, strongest first.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or list of Edge
            ``source``, ``target``, ``weight`` and the evidence for the edge: ``standardised``, the weight in standard
            deviations; ``std_error`` and ``p_value`` of the weight, given the graph; ``direction``, what the direction
            rests on, or ``"open"``; ``stability`` and ``joined``, the shares of resamples with this direction and with
            an edge either way; ``margin``, the score lost by the best graph with the edge reversed; and
            ``confidence`` after a bootstrap. NaN, null in polars, or None in a list: not known. A frame of polars if
            one of polars was fitted, or else of pandas, or a list where pandas is not installed.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).edges()[["source", "target", "weight", "direction"]]
          source target  weight  direction
        0   rain    wet     0.5  knowledge
        """
        described = (self.adjacency_matrix_, self._names, self.evidence_, self.confidence_)
        frame = make_frame(edge_columns(*described), self._library)
        return list_edges(*described) if frame is None else frame

    def total_effects(self, *, convention: Convention = "row_to_column", frame: bool = False) -> Any:
        """Compute the effects along all directed paths, (I − B)⁻¹ − I.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}
            With ``"column_to_row"``, ``[j, i]`` is the effect of i on j.
        frame : bool
            Return a table with names in place of the matrix.

        Returns
        -------
        scipy.sparse.csr_array of shape (d, d), or a data frame of pandas or polars
            ``[i, j]`` is the change of j when i is set one unit higher. The frame has ``cause``, ``target`` and
            ``total``, largest first.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 2.0, 1.0], [0, 0, 3.0], [0, 0, 0]]).total_effects().toarray()
        array([[0., 2., 7.],
               [0., 0., 3.],
               [0., 0., 0.]])
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).total_effects(frame=True)
          cause target  total
        0  rain    wet    0.5
        """
        transposed = is_transposed(convention)
        self._refuse_categories("total effects")
        if self.causal_order_ is None:
            raise ValueError("the graph has directed cycles, along which effects have no end; fit with dag='greedy'")
        total = effects.total_effects(self.adjacency_matrix_, self.causal_order_)
        if frame:
            require(self._library, "total_effects(frame=True)", self._library)
            listed = edge_columns(total, self._names)
            columns = {"cause": "source", "target": "target", "total": "weight"}
            return make_frame({name: listed[column] for name, column in columns.items()}, self._library)
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
        part = type(self)(
            cut(self.adjacency_matrix_),
            [self._names[k] for k in kept],
            causal_order=None if order is None else np.searchsorted(kept, order[np.isin(order, kept)]),
            cpdag=cut(self.cpdag_),
            noise_variances=None if self.noise_variances_ is None else self.noise_variances_[kept],
            location=None if self.location_ is None else self.location_[kept],
            confidence=cut(self.confidence_),
            evidence=self.evidence_.among(self.adjacency_matrix_, kept),
            settings=self.settings_,
            info=self.info_,
            column_model=None if self.column_model_ is None else self.column_model_.among(kept),
            curves={place: self.curves_[k] for place, k in enumerate(kept) if k in self.curves_},
        )
        part._library = self._library
        return part

    def _refuse_categories(self, what: str) -> None:
        """Raise if some variables are categories, between which there is no single weight."""
        if self.column_model_ is not None:
            wide = [repr(self._names[k]) for k in self.column_model_.blocks.wide.tolist()]
            raise ValueError(
                f"{what} need numbers, but variable(s) {listed(wide, 3)} are categories of more than two levels: "
                "coefficients(a, b) has the weights of an edge by level, and "
                "sample(n, do=...) shows what follows if a variable is set; or fit without these columns"
            )

    def _refuse_curves(self, what: str) -> None:
        """Raise if the graph is one of straightened variables."""
        if self.curves_:
            curved = [repr(self._names[k]) for k in self.curves_]
            raise ValueError(
                f"{what} have straight lines between columns, but {listed(curved, 3)} follow curves here; fit with "
                "transform=None"
            )

    def _related(self, relation: Any, variable: Any) -> list[Any]:
        return [self._names[k] for k in relation(self.adjacency_matrix_, locate(variable, self._names))]


def _order_or_none(B: Any) -> Any:
    try:
        return find_order(B)
    except ValueError:
        return None

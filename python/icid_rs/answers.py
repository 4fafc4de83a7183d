"""Questions about causes and effects that a graph answers: effects, adjustment, independence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from icid_rs._util.frames import make_frame
from icid_rs._util.validation import FloatArray, check_int, check_real, listed
from icid_rs.data.encoding import encoded_among
from icid_rs.data.tables import columns_among
from icid_rs.graph import adjustment
from icid_rs.graph.covariances import ImpliedCovariances, SampleMoments
from icid_rs.graph.curves import straighten
from icid_rs.graph.effect import Effect, JointEffect, estimate_effect, estimate_joint_effect
from icid_rs.graph.estimation import Network
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.ida import possible_causes
from icid_rs.graph.layer import Layer
from icid_rs.graph.mixed_effects import MixedNetwork
from icid_rs.graph.mixed_graph import MixedGraph
from icid_rs.graph.orientation import PartlyDirected
from icid_rs.graph.separation import d_separated
from icid_rs.graph.variables import locate, locate_all


class AnsweringGraph(MixedGraph):
    """A named graph that answers questions about effects; `PredictingGraph` adds those about rows.

    Attributes
    ----------
    sample_ : SampleMoments or None
        The sample that the graph was fitted to: covariances, sample size, some residuals. A fitted `ICID` keeps it, and
        its JSON all but the residuals.

    Examples
    --------
    >>> from icid_rs.answers import AnsweringGraph
    >>> AnsweringGraph([[0, 2.0], [0, 0]], ["rain", "wet"]).effect("rain", "wet").total
    2.0
    """

    def effect(self, cause: Any, target: Any, *, data: Any = None, level: float = 0.95) -> Effect:
        """Estimate the total effect of one variable on another.

        Along all directed paths of the graph, by least squares in each equation, which is efficient given the graph;
        the standard error is that of the delta method. Where directions are open, the range of the effect over the
        graphs of the class is estimated too: for each set of causes that the cause may have itself, by adjustment for
        these (IDA, Maathuis, Kalisch and Bühlmann 2009).

        Parameters
        ----------
        cause, target : name or number
        data : table, optional
            Rows to estimate from. By default the sample of the fit, or the weights alone, without an interval, if
            there is none.
        level : float
            Of the confidence interval.

        Returns
        -------
        Effect
            ``str()`` of it is readable.

        Notes
        -----
        Where some variables are categories of more than two levels, effects are estimated between numbers, if no
        category is on a directed path between them.
        Where columns were transformed, effects are in the units of the table, on average over it: slopes between
        variables that follow curves.

        Intervals hold for a graph that was not chosen by the same data; where it was, they are somewhat too narrow.

        Examples
        --------
        >>> from icid_rs import CausalGraph, equivalence_class
        >>> B = [[0, 1, 0], [0, 0, 0.5], [0, 0, 0]]
        >>> graph = CausalGraph(B, ["rain", "wet", "slips"], cpdag=equivalence_class(B), noise_variances=1)
        >>> effect = graph.effect("wet", "slips")
        >>> effect.total, effect.low, effect.high, effect.open_edges
        (0.5, 0.0, 0.5, (('wet', 'slips'),))
        >>> print(effect)
        Effect of 'wet' on 'slips': 0.5 (no interval: the sample is not known; pass data=X)
          direct 0.5, indirect 0
          adjust for: nothing
          open: 'wet' — 'slips'
          over these directions 0 to 0.5
        """
        a, b = self._pair(cause, target)
        network = self._network(data) if self.column_model_ is None else self._network_between(a, b, data)
        return estimate_effect(network, self._class(), a, b, _level(level))

    def joint_effects(self, causes: Iterable[Any], target: Any, *, data: Any = None, level: float = 0.95) -> Any:
        """Estimate the effects of several variables that are set at the same time.

        That of each is along the directed paths that avoid the others. Where directions are open, their ranges over the
        class are those of joint IDA (Nandy, Maathuis and Richardson 2017).

        Parameters
        ----------
        causes : list of names or numbers
        target : name or number
        data, level
            As for `effect`.

        Returns
        -------
        pandas.DataFrame or list of JointEffect
            ``cause``, ``total``, ``std_error``, the ends of its interval ``lower`` and ``upper``, and the range over
            the class ``low`` and ``high``; a data frame if pandas is installed, of polars after a fit to one.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 1, 2], [0, 0, 0.5], [0, 0, 0]], ["rain", "wet", "slips"], noise_variances=1)
        >>> graph.joint_effects(["rain", "wet"], "slips")[["cause", "total"]]
          cause  total
        0  rain    2.0
        1   wet    0.5
        """
        several, b = locate_all(causes, self._names), locate(target, self._names)
        if b in several or len(set(several)) < len(several) or not several:
            raise ValueError("causes must be different variables, and not the target")
        found = estimate_joint_effect(self._network(data), self._class(), several, b, _level(level))
        columns = {name: [getattr(row, name) for row in found] for name in JointEffect._fields}
        frame = make_frame(columns, self._library)
        return found if frame is None else frame

    def adjustment_sets(
        self,
        cause: Any,
        target: Any,
        kind: adjustment.Kind = "optimal",
        *,
        within: Literal["graph", "class"] = "graph",
        most: int = 100,
    ) -> list[list[Any]]:
        """List sets of variables to adjust for.

        In a regression of the target on the cause and one of these sets, the coefficient of the cause is the total
        effect.

        Parameters
        ----------
        cause, target : name or number
        kind : {"optimal", "minimal", "parents"}
            ``"optimal"``: the one set whose regression has the smallest error in large samples (Henckel, Perković and
            Maathuis 2022). ``"minimal"``: all sets of which no part would do, the smallest first. ``"parents"``: the
            direct causes of the cause.
        within : {"graph", "class"}
            The sets are valid in the graph as it is drawn, or in all graphs of its class.
        most : int
            List no more minimal sets than these; there may be very many.

        Returns
        -------
        list of list of names
            Empty if no set is valid, because the target is a direct cause of the cause.

        Raises
        ------
        ValueError
            With ``within="class"``, if the effect depends on an open direction: no set is then valid in all graphs.
            `effect` has the range.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 1, 1], [0, 0, 1], [0, 0, 0]], ["season", "rain", "wet"])
        >>> graph.adjustment_sets("rain", "wet")
        [['season']]
        """
        a, b = self._pair(cause, target)
        if within not in ("graph", "class"):
            raise ValueError(f"within = {within!r}: it must be 'graph' or 'class'")
        network = self._network_of_edges()
        _, open_edges = possible_causes(network, self._class(), a, b) if within == "class" else ([], [])
        if open_edges:
            edges = listed([f"{self._names[i]!r} — {self._names[k]!r}" for i, k in open_edges])
            raise ValueError(
                f"no set is valid in all graphs of the class: the effect depends on the directions of {edges}, "
                "which are open; effect() has its range"
            )
        # What is valid in one graph of the class is valid in all of them once their effects are the same.
        found = adjustment.adjustment_sets(network, a, b, kind, check_int(most, "most", 1))
        return [[self._names[k] for k in sorted(chosen)] for chosen in found]

    def d_separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Tell whether the graph implies that two variables are independent, given others.

        Parameters
        ----------
        a, b, given : name, number, or a list of them

        Returns
        -------
        bool
            The same in all graphs of an equivalence class.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"])
        >>> graph.d_separated("cloud", "wet"), graph.d_separated("cloud", "wet", "rain")
        (False, True)
        """
        first, second, third = (self._several(variables) for variables in (a, b, given))
        for common in (first & second, first & third, second & third):
            if common:
                raise ValueError(
                    f"{self._names[min(common)]!r} is named twice; a, b and given must have nothing in common"
                )
        return d_separated(self._network_of_edges(), first, second, third)

    def _pair(self, cause: Any, target: Any) -> tuple[int, int]:
        a, b = locate(cause, self._names), locate(target, self._names)
        if a == b:
            raise ValueError(f"cause and target are both {self._names[a]!r}; an effect is one on another variable")
        return a, b

    def _network_of_weights(self) -> Network:
        """Return the acyclic graph with its fitted weights."""
        self._refuse_categories("estimates of effects")
        return self._network_of_edges()

    def _network(self, data: Any) -> Network:
        """Return the acyclic graph with the sample from which its effects are estimated."""
        weights = self._network_of_weights()
        moments = self.sample_
        if data is not None:
            moments = SampleMoments.of_rows(self._complete_table(data), self._layer())
        elif moments is None and self.noise_variances_ is not None:
            moments = SampleMoments(ImpliedCovariances(weights.B, self.noise_variances_))
        return Network(weights.B, weights.columns, weights.order, weights.names, moments)

    def _network_between(self, a: int, b: int, data: Any) -> Network:
        """Return the network of a graph with categories; raise unless a, b and all between them are numbers."""
        edges, model = self._network_of_edges(), self.column_model_
        assert model is not None
        if model.is_wide[[a, b, *edges.between(a, b)]].any():
            self._refuse_categories("effects of, on and through variables")
        moments = self.sample_
        if data is not None:
            rows, observed = encoded_among(data, self._names, model.blocks)
            self._check_complete(rows, observed)
            moments = SampleMoments.of_rows(rows)
        return MixedNetwork(edges.B, edges.columns, edges.order, edges.names, moments, model)

    def _layer(self) -> Layer | None:
        """Return hidden causes and errors of measurement beside the graph; None if there are none, or not known."""
        return None if self.sample_ is None else self.sample_.layer

    def _class(self) -> PartlyDirected:
        """Return the graph in which only edges that are not claimed are open."""
        causes, effects = edge_ends(self.adjacency_matrix_)
        claimed = self.evidence_.direction != "open"
        pattern = self.cpdag_.tolil(copy=True)
        pattern[effects[claimed], causes[claimed]] = 0.0
        return PartlyDirected(pattern.tocsr())

    def _complete_table(self, data: Any) -> FloatArray:
        """Return a table with all variables as an array; raise where one is missing."""
        table, observed = self._straight_columns(data)
        self._check_complete(table, observed)
        return table

    def _check_complete(self, table: FloatArray, observed: list[int]) -> None:
        """Raise unless a table has all variables, and rows enough for covariances."""
        if len(observed) < len(self._names):
            absent = next(name for k, name in enumerate(self._names) if k not in set(observed))
            raise ValueError(f"the data have no column {absent!r}")
        if len(table) < 2:
            raise ValueError(f"the data have {len(table)} row(s); covariances need at least two")

    def _straight_columns(self, data: Any) -> tuple[FloatArray, list[int]]:
        """Return the straightened variables of a table, and the places of those that it has; others are zero."""
        table, observed = columns_among(data, self._names)
        if self.curves_:
            table = np.array(table)
            for j in set(observed) & set(self.curves_):
                table[:, j] = straighten(self.curves_[j], table[:, j], self._names[j])
        return table, observed

    def _several(self, variables: Any) -> set[int]:
        """Return the positions of one variable or of a list of them."""
        # A tuple may be the name of a variable.
        one = isinstance(variables, str) or not isinstance(variables, Iterable) or variables in self._names
        return set(locate_all([variables] if one else variables, self._names))


def _level(level: float) -> float:
    number = check_real(level, "level")
    if not 0 < number < 1:
        raise ValueError(f"level = {number}: it must be between 0 and 1")
    return number

"""Questions about causes and effects that a graph answers: effects, adjustment, independence, interventions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icid_rs._util.frames import make_frame
from icid_rs._util.randomness import RandomState, generator
from icid_rs._util.validation import FloatArray, as_vector, check_int, check_real, listed
from icid_rs.data.encoding import encoded_among
from icid_rs.data.tables import columns_among
from icid_rs.graph import adjustment, interventions
from icid_rs.graph.covariances import ImpliedCovariances, SampleMoments
from icid_rs.graph.effect import Effect, JointEffect, estimate_effect, estimate_joint_effect
from icid_rs.graph.estimation import Network
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.ida import possible_causes
from icid_rs.graph.mixed_graph import MixedGraph
from icid_rs.graph.orientation import PartlyDirected
from icid_rs.graph.separation import d_separated
from icid_rs.graph.variables import locate, locate_all


class AnsweringGraph(MixedGraph):
    """A named graph that answers questions about effects and interventions; `CausalGraph` adds exports and pictures.

    Attributes
    ----------
    sample_ : SampleMoments or None
        The sample that the graph was fitted to: covariances, sample size, some residuals. A fitted `ICID` keeps it;
        files do not.

    Examples
    --------
    >>> from icid_rs.answers import AnsweringGraph
    >>> AnsweringGraph([[0, 2.0], [0, 0]], ["rain", "wet"]).effect("rain", "wet").total
    2.0
    """

    sample_: SampleMoments | None = None

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
            Rows to estimate from. By default the sample of the fit, or the weights alone if the graph has none, as one
            read from a file: there is then no interval.
        level : float
            Of the confidence interval.

        Returns
        -------
        Effect
            ``str()`` of it is readable.

        Notes
        -----
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
        return estimate_effect(self._network(data), self._class(), a, b, _level(level))

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

    def sample(
        self,
        n: int,
        *,
        do: Mapping[Any, ArrayLike] | None = None,
        noise: Literal["auto", "residuals", "gaussian"] = "auto",
        random_state: RandomState = None,
    ) -> Any:
        """Draw rows from the model, as it is or after an intervention.

        Parameters
        ----------
        n : int
            Number of rows.
        do : mapping, optional
            Variables that are set from outside, with a number or an array of n numbers each. Their causes have no
            influence on them then; their effects follow.
        noise : {"auto", "residuals", "gaussian"}
            ``"residuals"``: drawn with replacement from the residuals of the fit, for each variable by itself and
            scaled to its noise variance, so that shapes are kept; of more than 2 000 rows, 2 000 are kept for this.
            ``"gaussian"``: normal. ``"auto"``: residuals where the fit had rows, otherwise normal. Categories of more
            than two levels are drawn by their probabilities, given their causes; `do` sets one to a level.
        random_state : int, numpy.random.Generator, numpy.random.RandomState or None

        Returns
        -------
        pandas.DataFrame or numpy.ndarray of shape (n, d)
            A data frame if pandas is installed, of polars after a fit to one.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 2.0], [0, 0]], ["rain", "wet"], noise_variances=1.0)
        >>> X = graph.sample(10_000, do={"rain": 3.0}, random_state=0)
        >>> round(float(X["wet"].mean()), 1)
        6.0
        """
        if noise not in ("auto", "residuals", "gaussian"):
            raise ValueError(f"noise = {noise!r}: it must be 'auto', 'residuals' or 'gaussian'")
        rows = check_int(n, "n", 1)
        residuals = None if self.sample_ is None or noise == "gaussian" else self.sample_.residuals
        if noise == "residuals" and residuals is None:
            raise ValueError(
                "the graph has no residuals, being fitted to no rows or read from a file; use noise='gaussian'"
            )
        if self.column_model_ is not None:
            return self._sample_mixed(rows, do, residuals, random_state)
        network, location, variances = self._network_of_weights(), self._means(), self._variances()
        drawn = interventions.draw_noise(rows, variances, residuals, generator(random_state))
        X = interventions.draw_sample(network, location, drawn, self._settings_of(do, rows))
        frame = make_frame({name: X[:, k] for k, name in enumerate(self._names)}, self._library)
        return X if frame is None else frame

    def predict(self, X: Any, target: Any = None, *, do: Mapping[Any, ArrayLike] | None = None) -> NDArray[Any]:
        """Predict variables from others, as they are or after an intervention.

        Parameters
        ----------
        X : table
            Rows with some of the variables, by name; an array has all of them. The values of the target are not read.
        target : name or number, optional
            By default all variables are predicted, each from all others.
        do : mapping, optional
            Variables that are set from outside after X was measured, with a number or an array of one number for each
            row. Columns of X that they affect are then not used, since their values would change; see `to_dowhy` for
            what would have become of them (counterfactuals).

        Returns
        -------
        numpy.ndarray of shape (n,), or (n, d) without a target
            The best linear prediction, which is the mean given X where noise is Gaussian; of a category of more than
            two levels, the level with the largest predicted share.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 2.0], [0, 0]], ["rain", "wet"], noise_variances=1.0)
        >>> X = np.array([[1.0, 2.5]])
        >>> graph.predict(X, "rain"), graph.predict(X, "wet", do={"rain": 3})
        (array([1.]), array([6.]))
        """
        if self.column_model_ is not None:
            return self._predict_mixed(*encoded_among(X, self._names, self.column_model_.blocks), target, do)
        table, observed = columns_among(X, self._names)
        network, location, variances = self._network_of_weights(), self._means(), self._variances()
        settings = self._settings_of(do, len(table))
        if target is None and not settings and len(observed) == len(self._names):
            return interventions.predict_each(network.B, location, variances, table)
        targets = range(len(self._names)) if target is None else [locate(target, self._names)]
        found = [interventions.predict(network, location, variances, table, observed, j, settings) for j in targets]
        predicted: NDArray[Any] = np.column_stack(found) if target is None else found[0]
        return predicted

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
            moments = SampleMoments.of_rows(self._complete_table(data))
        elif moments is None and self.noise_variances_ is not None:
            moments = SampleMoments(ImpliedCovariances(weights.B, self.noise_variances_))
        return Network(weights.B, weights.columns, weights.order, weights.names, moments)

    def _class(self) -> PartlyDirected:
        """Return the graph in which only edges that are not claimed are open."""
        causes, effects = edge_ends(self.adjacency_matrix_)
        claimed = self.evidence_.direction != "open"
        pattern = self.cpdag_.tolil(copy=True)
        pattern[effects[claimed], causes[claimed]] = 0.0
        return PartlyDirected(pattern.tocsr())

    def _means(self) -> FloatArray:
        return np.zeros(len(self._names)) if self.location_ is None else self.location_

    def _variances(self) -> FloatArray:
        if self.noise_variances_ is None:
            raise ValueError("the noise variances are not known; give them to CausalGraph as noise_variances")
        return self.noise_variances_

    def _settings_of(self, do: Mapping[Any, ArrayLike] | None, rows: int) -> dict[int, FloatArray]:
        """Return the variables that are set, with one finite number for each row."""
        settings: dict[int, FloatArray] = {}
        if do is not None and not isinstance(do, Mapping):
            raise TypeError(f"do must be a mapping from variables to numbers, such as {{'rain': 1.0}}, not {do!r}")
        for name, values in (do or {}).items():
            vector = as_vector(values, rows, f"do[{name!r}]")
            if vector.size != rows:
                raise ValueError(f"do[{name!r}] has {vector.size} numbers, but there are {rows} rows")
            if not np.isfinite(vector).all():
                raise ValueError(f"do[{name!r}] must be finite")
            settings[locate(name, self._names)] = vector
        return settings

    def _complete_table(self, data: Any) -> FloatArray:
        """Return a table with all variables as an array; raise where one is missing."""
        table, observed = columns_among(data, self._names)
        if len(observed) < len(self._names):
            absent = next(name for k, name in enumerate(self._names) if k not in set(observed))
            raise ValueError(f"the data have no column {absent!r}")
        if len(table) < 2:
            raise ValueError(f"the data have {len(table)} row(s); covariances need at least two")
        return table

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

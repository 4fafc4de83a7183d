"""A named graph in which some variables may be categories: coefficients, samples and predictions by their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.frames import make_frame
from icid_rs._util.randomness import RandomState, generator
from icid_rs._util.validation import FloatArray
from icid_rs.graph import mixed_answers as mixed
from icid_rs.graph.blocks import Levels
from icid_rs.graph.curves import straighten
from icid_rs.graph.estimation import Network
from icid_rs.graph.level_tables import level_table
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.graph.variables import locate


class MixedGraph(NamedGraph):
    """A named graph that draws and predicts categories; `AnsweringGraph` has the questions that users ask.

    Examples
    --------
    >>> from icid_rs.graph.mixed_graph import MixedGraph
    >>> MixedGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).column_model_ is None
    True
    """

    def coefficients(self, a: Any, b: Any) -> Any:
        """Return the coefficients of one edge, level by level.

        Parameters
        ----------
        a, b : name or number
            A cause and its effect; all coefficients are zero if there is no edge a → b.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or dict of dicts
            Between two numbers the weight. A category has a row for each level as a cause, but for its reference level,
            which the others are compared with and the name of the index mentions; as an effect it has a column for each
            level, which holds the change of the probability of this level, so that a row adds up to zero. All are those
            of a regression on all causes of b, in the units of the table. A frame of polars has the levels of a in its
            first column.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from icid_rs import ICID
        >>> kind = np.repeat(["a", "b", "c"], 200)
        >>> size = np.random.default_rng(0).normal(size=600) + 2.0 * (kind == "c")
        >>> model = ICID(required=[("kind", "size")]).fit(pd.DataFrame({"kind": kind, "size": size}))
        >>> model.coefficients("kind", "size").round(1)    # doctest: +NORMALIZE_WHITESPACE
                          size
        kind (against a)
        b                 -0.1
        c                  2.0
        """
        i, j = locate(a, self._names), locate(b, self._names)
        model = self.column_model_
        levels: tuple[Levels, Levels]
        if model is None:
            values, levels = np.array([[self.adjacency_matrix_[i, j]]]), (None, None)
        else:
            values, levels = model.coefficients(i, j), (model.blocks.levels[i], model.blocks.levels[j])
        return level_table(values, (self._names[i], self._names[j]), levels, self._library)

    def _sample_mixed(
        self, rows: int, do: Mapping[Any, Any] | None, residuals: FloatArray | None, random_state: RandomState
    ) -> Any:
        """Draw rows of a graph with categories; see `sample`."""
        assert self.column_model_ is not None
        settings, order = self._column_settings(do, rows), self._network_of_edges().order
        drawn = mixed.draw_mixed(self.column_model_, order, rows, settings, residuals, generator(random_state))
        for k, curve in self.curves_.items():
            drawn[k] = curve.restore(drawn[k])
        columns = dict(zip(self._names, drawn, strict=True))
        frame = make_frame(columns, self._library)
        return np.column_stack([values.astype(object) for values in drawn]) if frame is None else frame

    def _predict_mixed(
        self, X: FloatArray, observed: list[int], target: Any, do: Mapping[Any, Any] | None
    ) -> NDArray[Any]:
        """Predict variables of a graph with categories; see `predict`."""
        model, settings = self.column_model_, self._column_settings(do, len(X))
        assert model is not None
        network = self._network_of_edges()
        moved = {k for i in settings for k in network.descendants(i)} | set(settings)
        targets = range(len(self._names)) if target is None else [locate(target, self._names)]
        found: list[NDArray[Any]] = []
        for j in targets:
            known = [i for i in observed if i != j and i not in moved]
            found.append(mixed.predict_mixed(model, X, known, j, settings))
        return np.column_stack([values.astype(object) for values in found]) if target is None else found[0]

    def _column_settings(self, do: Mapping[Any, Any] | None, rows: int) -> dict[int, FloatArray]:
        """Return the columns of variables that are set."""
        assert self.column_model_ is not None
        if do is not None and not isinstance(do, Mapping):
            raise TypeError(f"do must be a mapping from variables to values, such as {{'rain': 1.0}}, not {do!r}")
        places = {locate(name, self._names): (name, values) for name, values in (do or {}).items()}
        levels = self.column_model_.blocks.levels
        settings = {j: mixed.setting_columns(values, rows, levels[j], name) for j, (name, values) in places.items()}
        for j in set(settings) & set(self.curves_):
            settings[j] = straighten(self.curves_[j], settings[j], self._names[j])
        return settings

    def _network_of_edges(self) -> Network:
        """Return the acyclic graph, whose weights do not matter."""
        if self.causal_order_ is None:
            raise ValueError("the graph has directed cycles; fit with dag='greedy'")
        B = self.adjacency_matrix_
        return Network(B, B.T.tocsr(), self.causal_order_, self._names)

"""Models and graphs of other libraries: DoWhy and causal-learn."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from icid_rs._util.extras import require
from icid_rs.graph.equivalence import reversible_edges
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.graph.variables import as_text


def to_dowhy(graph: NamedGraph, data: Any = None) -> Any:
    """Build a model of DoWhy's ``gcm``; see `CausalGraph.to_dowhy`."""
    gcm = require("dowhy.gcm", "to_dowhy", "dowhy")
    ml = require("dowhy.gcm.ml", "to_dowhy", "dowhy")
    parents_key = require("dowhy.gcm.causal_models", "to_dowhy", "dowhy").PARENTS_DURING_FIT
    nx = require("networkx", "to_dowhy", "dowhy")
    from scipy.stats import norm

    B, names = graph.adjacency_matrix_.tocsc(), graph.names_
    _check_acyclic(graph, "DoWhy")
    graph._refuse_categories("models of DoWhy")
    graph._refuse_curves("models of DoWhy")
    location = np.zeros(len(names)) if graph.location_ is None else graph.location_
    residuals = None if data is None else _residuals(graph, data, location)
    variances: Any = graph.noise_variances_
    if residuals is None and variances is None:
        raise ValueError("the noise variances are not known; give the data, whose residuals are then the noise")

    def noise(j: int, mean: float) -> Any:
        if residuals is None:
            return gcm.ScipyDistribution(norm, loc=mean, scale=float(np.sqrt(variances[j])))
        empirical = gcm.EmpiricalDistribution()
        empirical.fit(residuals[:, j] + mean)
        return empirical

    network = nx.DiGraph()
    network.add_nodes_from(names)
    model = gcm.InvertibleStructuralCausalModel(network)
    for j, name in enumerate(names):
        own = slice(B.indptr[j], B.indptr[j + 1])
        # DoWhy hands over the values of the parents in the order of their names.
        causes = sorted(zip([names[i] for i in B.indices[own]], B.indices[own], B.data[own], strict=True))
        network.add_edges_from((cause, name) for cause, _, _ in causes)
        network.nodes[name][parents_key] = [cause for cause, _, _ in causes]
        if not causes:
            model.set_causal_mechanism(name, noise(j, location[j]))
            continue
        weights = np.array([weight for _, _, weight in causes])
        intercept = float(location[j] - location[[i for _, i, _ in causes]] @ weights)
        line = ml.create_linear_regressor_with_given_parameters(weights, intercept)
        model.set_causal_mechanism(name, gcm.AdditiveNoiseModel(line, noise(j, 0.0)))
    return model


def to_causallearn(graph: NamedGraph, kind: Literal["dag", "cpdag"] = "dag") -> Any:
    """Build a graph of causal-learn; see `CausalGraph.to_causallearn`."""
    if kind not in ("dag", "cpdag"):
        raise ValueError(f"kind = {kind!r}: it must be 'dag' or 'cpdag'")
    general = require("causallearn.graph.GeneralGraph", "to_causallearn", "causal-learn").GeneralGraph
    node = require("causallearn.graph.GraphNode", "to_causallearn", "causal-learn").GraphNode
    edge = require("causallearn.graph.Edge", "to_causallearn", "causal-learn").Edge
    endpoint = require("causallearn.graph.Endpoint", "to_causallearn", "causal-learn").Endpoint
    _check_acyclic(graph, "causal-learn")
    nodes = [node(name) for name in as_text(graph.names_, "causal-learn")]
    result = general(nodes)
    B = graph.adjacency_matrix_
    reversible = set() if kind == "dag" else set(zip(*reversible_edges(graph.cpdag_).nonzero(), strict=True))
    rank = np.argsort(graph.causal_order_)
    # causal-learn records ancestors correctly only if the edges into causes are added before those into effects.
    for i, j in sorted(zip(*B.nonzero(), strict=True), key=lambda ends: rank[ends[1]]):
        end = endpoint.TAIL if (i, j) in reversible else endpoint.ARROW
        result.add_edge(edge(nodes[i], nodes[j], endpoint.TAIL, end))
    return result


def _check_acyclic(graph: NamedGraph, library: str) -> None:
    if graph.causal_order_ is None:
        raise ValueError(f"the graph has directed cycles, which {library} does not take; fit with dag='greedy'")


def _residuals(graph: NamedGraph, data: Any, location: Any) -> Any:
    names = graph.names_
    if hasattr(data, "columns"):
        missing = [name for name in names if name not in list(data.columns)]
        if missing:
            raise ValueError(f"the data have no column {missing[0]!r}")
        X = np.column_stack([np.asarray(data[name], dtype=np.float64) for name in names])
    else:
        X = np.asarray(data, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != len(names):
        raise ValueError(f"the data must have {len(names)} columns, but their shape is {X.shape}")
    if not np.isfinite(X).all():
        raise ValueError("the data have missing or infinite values; drop these rows or fill the values in")
    centred = X - location
    return centred - centred @ graph.adjacency_matrix_

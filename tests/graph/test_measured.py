"""Answers of a graph beside which there are hidden causes and errors of measurement, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, CausalGraph, datasets
from icid_rs.graph.covariances import ImpliedCovariances, SampleMoments
from icid_rs.graph.layer import Layer


def measured_graph(seed: int, d: int = 7) -> CausalGraph:
    rng = np.random.default_rng(seed)
    graph = CausalGraph(
        datasets.random_dag(d, 2, random_state=seed),
        [f"x{i}" for i in range(d)],
        noise_variances=rng.uniform(0.5, 2, d),
        location=rng.normal(size=d),
    )
    layer = Layer(rng.normal(size=(d, 2)), rng.uniform(0, 0.5, d))
    covariances = ImpliedCovariances(graph.adjacency_matrix_, graph.noise_variances_)
    graph.sample_ = SampleMoments(covariances, 500, layer=layer)
    return graph


def covariance(graph: CausalGraph) -> np.ndarray:
    """Of what is measured."""
    T = np.linalg.inv(np.eye(graph.n_features_in_) - graph.adjacency_matrix_.toarray())
    return T.T @ np.diag(graph.noise_variances_) @ T + graph.sample_.layer.covariance


@pytest.mark.parametrize("seed", range(3))
def test_drawn_rows_have_the_covariance_of_what_was_measured(seed):
    graph = measured_graph(seed)
    X = graph.sample(200_000, random_state=0).to_numpy()
    expected = covariance(graph)
    scale = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(np.cov(X.T) / np.outer(scale, scale), expected / np.outer(scale, scale), atol=0.02)
    np.testing.assert_allclose(X.mean(axis=0), graph.location_, atol=0.02 * scale.max())
    after = graph.sample(100, do={"x3": 5.0}, random_state=0)
    assert (after["x3"] == 5.0).all()


@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_conditional_means(seed):
    graph = measured_graph(seed)
    X = graph.sample(20, random_state=1)
    S, centred = covariance(graph), X.to_numpy() - graph.location_
    for j in range(7):
        others = np.delete(np.arange(7), j)
        weights = np.linalg.solve(S[np.ix_(others, others)], S[others, j])
        expected = graph.location_[j] + centred[:, others] @ weights
        np.testing.assert_allclose(graph.predict(X, f"x{j}"), expected)
        np.testing.assert_allclose(graph.predict(X)[:, j], expected)


def test_predictions_after_an_intervention_are_those_of_many_drawn_rows():
    graph = measured_graph(4)
    order = [graph.names_[k] for k in graph.causal_order_]
    cause, target = order[2], order[-1]
    noise = {"random_state": 3}
    before, after = graph.sample(300_000, **noise), graph.sample(300_000, do={cause: 1.5}, **noise)
    known = order[:2]
    # The same noise is drawn with and without the intervention, so that rows correspond.
    design = np.column_stack([np.ones(len(before)), before[known]])
    fitted = design @ np.linalg.lstsq(design, after[target].to_numpy(), rcond=None)[0]
    predicted = graph.predict(before[known], target, do={cause: 1.5})
    assert np.abs(predicted - fitted).max() < 0.03 * after[target].std()


def test_effects_from_new_rows_are_without_the_layer():
    B, variances = datasets.random_sem(20, 1, random_state=1)
    X = datasets.sample_sem(B, 20_000, noise_variances=variances, hidden=1, random_state=1)
    model = ICID(hidden=1, measurement_error=None, noise="unequal").fit(X[:10_000])
    assert model.graph_.sample_.layer.hidden == 1
    compared = 0
    for source, target in model.edges()[["source", "target"]].itertuples(index=False):
        if not B[source, target]:
            continue
        own, fresh = model.effect(source, target), model.effect(source, target, data=X[10_000:])
        assert own.hidden == fresh.hidden == 1
        assert "1 hidden cause was taken out" in str(fresh)
        assert fresh.total == pytest.approx(own.total, abs=6 * own.std_error)
        compared += 1
    assert compared > 5
    assert CausalGraph([[0, 1], [0, 0]]).effect(0, 1).hidden == 0

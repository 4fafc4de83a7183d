"""Samples and predictions, against closed forms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew

from icid_rs import ICID, CausalGraph, Moments, compare, datasets, penalty_path


def some_graph(seed: int, d: int = 8) -> CausalGraph:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, 2, random_state=seed)
    variances, location = rng.uniform(0.5, 2, d), rng.normal(size=d)
    return CausalGraph(B, [f"x{i}" for i in range(d)], noise_variances=variances, location=location)


def closed_form(graph: CausalGraph, do: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance after an intervention, by dense algebra."""
    d, names = graph.n_features_in_, graph.names_
    held = [names.index(name) for name in do]
    B, noise = graph.adjacency_matrix_.toarray(), graph.noise_variances_.copy()
    intercept = graph.location_ @ (np.eye(d) - B)
    B[:, held], noise[held], intercept[held] = 0.0, 0.0, list(do.values())
    A = np.linalg.inv(np.eye(d) - B)
    return intercept @ A, A.T @ np.diag(noise) @ A


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.integers(0, 3))
def test_samples_have_the_moments_of_the_closed_form(seed, count):
    graph = some_graph(seed)
    rng = np.random.default_rng(seed)
    do = {f"x{i}": float(rng.normal()) for i in rng.permutation(8)[:count]}
    mean, covariance = closed_form(graph, do)
    n = 20_000
    X = graph.sample(n, do=do, random_state=seed)
    assert list(X.columns) == graph.names_
    errors = np.sqrt(np.diag(covariance) / n)
    # Six standard errors: one failure in a hundred million.
    assert (np.abs(X.mean() - mean) <= 6 * errors + 1e-12).all()
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert (np.abs(np.cov(X.to_numpy().T) - covariance) <= 0.1 * scale + 1e-12).all()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.integers(0, 2), st.integers(0, 4))
def test_predictions_are_conditional_means(seed, count, absent):
    graph = some_graph(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(8)
    do = {f"x{i}": float(rng.normal()) for i in order[:count]}
    target = f"x{order[7]}"
    X = graph.sample(5, random_state=seed)
    seen = [f"x{i}" for i in sorted(order[: 7 - absent])]
    affected = set(do).union(*(graph.descendants(name) for name in do))
    known = [int(name[1:]) for name in seen if name not in affected]
    mean, covariance = closed_form(graph, do)
    t = int(target[1:])
    weights = np.linalg.solve(covariance[np.ix_(known, known)], covariance[known, t])
    expected = mean[t] + (X.to_numpy()[:, known] - mean[known]) @ weights
    np.testing.assert_allclose(graph.predict(X[seen], target, do=do), expected, atol=1e-8)


def test_a_prediction_of_all_variables_is_that_of_each():
    graph = some_graph(1)
    X = graph.sample(10, random_state=0)
    every = graph.predict(X)
    for k, name in enumerate(graph.names_):
        np.testing.assert_allclose(every[:, k], graph.predict(X.drop(columns=name), name), atol=1e-10)
        np.testing.assert_allclose(every[:, k], graph.predict(pl.from_pandas(X), name), atol=1e-10)


def test_settings_may_differ_between_rows():
    graph = some_graph(2)
    values = np.linspace(-1, 1, 4)
    X = graph.sample(4, do={"x0": values}, random_state=0)
    np.testing.assert_allclose(X["x0"], values)
    np.testing.assert_allclose(graph.predict(X, "x0", do={"x0": values}), values)
    effect = graph.effect("x0", "x1").total
    low, high = (graph.predict(X[["x0"]], "x1", do={"x0": value}) for value in (0.0, 1.0))
    np.testing.assert_allclose(high - low, effect, atol=1e-10)


def test_a_fitted_model_predicts_as_well_as_a_regression():
    B = datasets.random_dag(10, 1, random_state=4)
    X, new = np.split(datasets.sample_sem(B, 4000, random_state=4), 2)
    model = ICID(noise="unequal").fit(X)
    others = np.delete(np.arange(10), 3)
    line, *_ = np.linalg.lstsq(X[:, others], X[:, 3], rcond=None)
    ours = np.mean((model.predict(new, 3) - new[:, 3]) ** 2)
    assert ours <= 1.05 * np.mean((new[:, others] @ line - new[:, 3]) ** 2)


def test_shapes_of_residuals_are_kept():
    X = datasets.sample_sem([[0, 0.8], [0, 0]], 5000, noise="exponential", random_state=0)
    model = ICID().fit(X)
    assert len(model.graph_.sample_.residuals) == 2000
    shaped = model.sample(20_000, random_state=0).to_numpy()
    assert (skew(shaped) > 1).all()
    np.testing.assert_allclose(np.cov(shaped.T), np.cov(X.T), rtol=0.1)
    np.testing.assert_allclose(shaped.mean(axis=0), X.mean(axis=0), atol=0.06)
    plain = model.sample(20_000, noise="gaussian", random_state=0).to_numpy()
    assert (np.abs(skew(plain)) < 0.1).all()
    moments = ICID().fit(Moments(reservoir=0).update(X))
    assert (np.abs(skew(moments.sample(20_000, random_state=0).to_numpy())) < 0.1).all()
    with pytest.raises(ValueError, match="no residuals"):
        moments.sample(10, noise="residuals")


def test_random_states():
    graph = some_graph(0)
    first = graph.sample(3, random_state=5)
    pd.testing.assert_frame_equal(first, graph.sample(3, random_state=5))
    pd.testing.assert_frame_equal(first, graph.sample(3, random_state=np.random.default_rng(5)))
    state = np.random.RandomState(5)
    assert not graph.sample(3, random_state=state).equals(graph.sample(3, random_state=state))
    assert not graph.sample(3).equals(graph.sample(3))


def test_what_is_refused():
    graph = some_graph(0, 5)
    X = graph.sample(4, random_state=0)
    for call, kind, message in [
        (lambda: graph.sample(0), ValueError, "n = 0"),
        (lambda: graph.sample(2, do={"x9": 1}), ValueError, "no variable is named 'x9'"),
        (lambda: graph.sample(2, do={"x0": [1, 2, 3]}), ValueError, "has 3 numbers, but there are 2 rows"),
        (lambda: graph.sample(2, do={"x0": np.nan}), ValueError, "must be finite"),
        (lambda: graph.sample(2, do=[("x0", 1)]), TypeError, "must be a mapping"),
        (lambda: graph.sample(2, noise="normal"), ValueError, "'auto', 'residuals' or 'gaussian'"),
        (lambda: graph.sample(2, random_state="seed"), TypeError, "random_state"),
        (lambda: graph.predict(X, "x9"), ValueError, "no variable is named 'x9'"),
        (lambda: graph.predict(X.rename(columns=str.upper), "x0"), ValueError, "no column of the graph"),
        (lambda: graph.predict(X.assign(x1=np.nan), "x0"), ValueError, "column 'x1'"),
        (lambda: CausalGraph([[0, 1], [0, 0]]).sample(3), ValueError, "noise variances are not known"),
        (lambda: CausalGraph([[0, 1], [1, 0]], noise_variances=1.0).sample(3), ValueError, "cycles"),
    ]:
        with pytest.raises(kind, match=message):
            call()


def test_covariances_that_are_not_stored_are_the_same():
    from icid_rs.graph.covariances import ComputedCovariances, SampleMoments, StoredCovariances

    graph = some_graph(3)
    X = graph.sample(50, random_state=0).to_numpy()
    centred = X - X.mean(axis=0)
    deviations = centred.std(axis=0)
    computed = ComputedCovariances((centred / deviations).T / np.sqrt(50), deviations)
    stored = StoredCovariances(np.cov(X.T, bias=True))
    np.testing.assert_allclose(computed.among([5, 1, 2]), stored.among([5, 1, 2]))
    effects = []
    for covariances in (computed, stored):
        graph.sample_ = SampleMoments(covariances, 50)
        effects.append(graph.effect(*(graph.names_[k] for k in graph.causal_order_[[0, -1]])).interval)
    assert effects[0] == pytest.approx(effects[1])


def test_polars_in_polars_out_of_every_table():
    B = datasets.random_dag(4, 1, random_state=0)
    X = pl.DataFrame(datasets.sample_sem(B, 200, random_state=0), schema=list("abcd"))
    model = ICID().fit(X)
    other = ICID(penalty=20.0).fit(X)
    tables = {
        "joint effects": model.joint_effects(["a", "b"], "c"),
        "total effects": model.total_effects(frame=True),
        "coefficients": model.coefficients("a", "b"),
        "checks": model.check(X).table(),
        "resampled edges": model.bootstrap(X, 3, progress=False).edges(),
        "differences": compare(model, other).differences(),
        "path": penalty_path(X, [1.0, 2.0]).edges(),
    }
    assert {name: type(table) for name, table in tables.items()} == dict.fromkeys(tables, pl.DataFrame)


def test_polars_in_polars_out():
    X = pl.from_pandas(some_graph(0).sample(200, random_state=0))
    model = ICID(noise="unequal").fit(X)
    assert isinstance(model.sample(3, random_state=0), pl.DataFrame)
    assert isinstance(model.joint_effects(["x0", "x1"], "x2"), pl.DataFrame)
    assert model.effect("x0", "x1", data=X).interval == pytest.approx(model.effect("x0", "x1").interval)
    assert model.predict(X, "x0").shape == (200,)

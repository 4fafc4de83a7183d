"""Effects with intervals and their ranges over classes, against all graphs of a class."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from icid_rs import ICID, CausalGraph, datasets, equivalence_class, load
from icid_rs._core import NumericalError
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.orientation import orient
from tests.helpers.graphs import random_graph


def colliders(B: np.ndarray) -> set[tuple[int, int, int]]:
    joined = (B != 0) | (B.T != 0)
    return {
        (i, j, k)
        for j in range(len(B))
        for i, k in combinations(np.flatnonzero(B[:, j]).tolist(), 2)
        if not joined[i, k]
    }


def members(B: np.ndarray, cpdag: np.ndarray) -> list[np.ndarray]:
    """All acyclic graphs with the edges and colliders of B, and the directions that the class has."""
    edges = [tuple(edge) for edge in np.argwhere(np.triu((B != 0) | (B.T != 0)))]
    choices = [[(i, j)] * bool(cpdag[i, j]) + [(j, i)] * bool(cpdag[j, i]) for i, j in edges]
    found = []
    for directed in product(*choices):
        D = np.zeros(B.shape)
        for i, j in directed:
            D[i, j] = 1.0
        acyclic = not np.linalg.matrix_power(D, len(D)).any()
        if acyclic and colliders(D) == colliders(B):
            found.append(D)
    return found


def totals(D: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Total effects in a graph, from a covariance."""
    W = np.zeros(D.shape)
    for j in range(len(D)):
        own = np.flatnonzero(D[:, j])
        W[own, j] = np.linalg.solve(covariance[np.ix_(own, own)], covariance[own, j])
    return np.linalg.inv(np.eye(len(D)) - W)


def joint(D: np.ndarray, covariance: np.ndarray, causes: list[int], b: int) -> np.ndarray:
    cut = D.copy()
    cut[:, causes] = 0.0
    return totals(cut, covariance)[causes, b]


def partly_known(seed: int) -> tuple[CausalGraph, np.ndarray]:
    """A graph of five or six variables with its covariance; every second class is oriented by some knowledge."""
    d = 5 + seed % 2
    B = datasets.random_dag(d, 1 + seed % 2 if d > 5 else 1, random_state=seed)
    cpdag = equivalence_class(B)
    if seed % 4 > 1:
        rng = np.random.default_rng(seed)
        edges = np.argwhere(B.toarray())
        known = edges[rng.permutation(len(edges))[:2]].tolist()
        cpdag = orient(cpdag, Knowledge.make(range(d), required=known))
    A = np.linalg.inv(np.eye(d) - B.toarray())
    return CausalGraph(B, cpdag=cpdag, noise_variances=1.0), A.T @ A


@pytest.mark.parametrize("seed", range(60))
def test_ranges_are_those_of_all_graphs_of_the_class(seed):
    graph, covariance = partly_known(seed)
    d = graph.n_features_in_
    class_ = members(graph.adjacency_matrix_.toarray(), graph.cpdag_.toarray())
    every = np.array([totals(D, covariance) for D in class_])
    for a, b in ((a, b) for a in range(d) for b in range(d) if a != b):
        effect = graph.effect(a, b)
        assert effect.low == pytest.approx(every[:, a, b].min(), abs=1e-9)
        assert effect.high == pytest.approx(every[:, a, b].max(), abs=1e-9)
        assert effect.low - 1e-9 <= effect.total <= effect.high + 1e-9
        distinct = np.unique(np.round(every[:, a, b], 8))
        np.testing.assert_allclose(np.unique(np.round([m.total for m in effect.members], 8)), distinct, atol=1e-7)
        if len(distinct) > 1:
            assert effect.open_edges
        for x, y in effect.open_edges:
            i, j = graph.names_.index(x), graph.names_.index(y)
            assert graph.cpdag_[i, j] == graph.cpdag_[j, i] == 1
    rng = np.random.default_rng(seed)
    *causes, b = rng.permutation(d)[:3].tolist()
    table = graph.joint_effects(causes, b)
    every = np.array([joint(D, covariance, causes, b) for D in class_])
    np.testing.assert_allclose(table["low"], every.min(axis=0), atol=1e-9)
    np.testing.assert_allclose(table["high"], every.max(axis=0), atol=1e-9)
    drawn = joint(graph.adjacency_matrix_.toarray() != 0, covariance, causes, b)
    np.testing.assert_allclose(table["total"], drawn, atol=1e-9)


def test_a_collider_that_is_not_claimed():
    """Its edges are open, so that none, one or both of them may point at it."""
    B = np.array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 0]])
    either = B + B.T
    graph = CausalGraph(B, list("abc"), cpdag=either, noise_variances=1.0)
    assert {m.parents for m in graph.effect("c", "a").members} == {("a", "b"), (), ("a",), ("b",)}
    assert graph.effect("c", "a").total == 0.0
    # The first member is the drawn graph, the second the estimate by adjustment for the same causes.
    # An open edge further on counts too: with a → c — b the drawn a → c ← b has no effect, a → c → b has one.
    effect = CausalGraph(B, list("abc"), cpdag=B + np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0]])).effect("a", "b")
    assert effect.total == 0.0
    assert effect.open_edges == (("b", "c"),)


def test_effects_of_a_fit_are_those_of_its_weights():
    B = datasets.random_dag(20, 2, random_state=3)
    X = datasets.sample_sem(B, 1000, random_state=3)
    model = ICID(noise="unequal").fit(X)
    T = model.total_effects().toarray()
    W = model.adjacency_matrix_.toarray()
    for a, b in np.argwhere(T)[::7]:
        effect = model.effect(int(a), int(b))
        assert effect.total == pytest.approx(T[a, b], abs=1e-8)
        assert effect.direct == pytest.approx(W[a, b], abs=1e-8)
        assert effect.direct + effect.indirect == pytest.approx(effect.total)
        assert effect.interval[0] <= effect.total <= effect.interval[1]
        assert effect.union[0] <= effect.interval[0]
        assert effect.union[1] >= effect.interval[1]
        fresh = model.graph_.effect(int(a), int(b), data=X)
        assert fresh.total == pytest.approx(effect.total, abs=1e-8)
        assert fresh.std_error == pytest.approx(effect.std_error, rel=1e-6)


def test_open_edges_are_those_of_the_table():
    X = datasets.sample_sem(datasets.random_dag(12, 1, random_state=0), 1000, random_state=0)
    for settings in ({"noise": "unequal"}, {}):
        model = ICID(**settings).fit(X)
        edges = model.edges()
        open_pairs = {frozenset(pair) for pair in edges[edges["direction"] == "open"][["source", "target"]].to_numpy()}
        found = {
            frozenset(pair) for a in range(12) for b in range(12) if a != b for pair in model.effect(a, b).open_edges
        }
        assert found <= open_pairs
        assert bool(found) == bool(open_pairs)


def test_one_edge_has_the_standard_error_of_a_regression():
    X = datasets.sample_sem([[0, 0.7], [0, 0]], 60, random_state=0)
    effect = CausalGraph([[0, 1.0], [0, 0]], ["a", "b"]).effect("a", "b", data=pd.DataFrame(X, columns=["a", "b"]))
    from scipy.stats import linregress

    line = linregress(X[:, 0], X[:, 1])
    assert effect.total == pytest.approx(line.slope)
    assert effect.std_error == pytest.approx(line.stderr)


def test_intervals_cover_given_the_graph():
    rng = np.random.default_rng(1)
    covered = []
    for seed in range(500):
        B = datasets.random_dag(8, 2, random_state=seed)
        truth = CausalGraph(B).total_effects()
        pairs = np.argwhere(truth.toarray())
        a, b = pairs[rng.integers(len(pairs))].tolist()
        X = datasets.sample_sem(B, 150, noise=["gaussian", "exponential"][seed % 2], random_state=[1, seed])
        low, high = CausalGraph(B).effect(a, b, data=X).interval
        covered.append(low <= truth[a, b] <= high)
    assert 0.93 <= np.mean(covered) <= 0.97


def test_unions_over_the_true_class_cover():
    covered, wide = [], 0
    for seed in range(300):
        B = datasets.random_dag(6, 1, random_state=seed)
        truth = CausalGraph(B).total_effects()
        X = datasets.sample_sem(B, 150, noise_variances=np.linspace(0.5, 2, 6), random_state=[1, seed])
        cpdag = equivalence_class(B)
        # Drawn as another member of the class than the true one.
        drawn = members(B.toarray(), cpdag.toarray())[0]
        graph = CausalGraph(drawn, cpdag=cpdag)
        a, b = np.random.default_rng(seed).permutation(6)[:2].tolist()
        effect = graph.effect(a, b, data=X)
        covered.append(effect.union[0] <= truth[a, b] <= effect.union[1])
        wide += effect.low < effect.high
    assert np.mean(covered) >= 0.95
    assert wide > 50


def test_without_a_sample(tmp_path):
    X = datasets.sample_sem([[0, 0.8, 0], [0, 0, 0.8], [0, 0, 0]], 500, random_state=0)
    model = ICID(noise="unequal").fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    model.save(tmp_path / "graph.graphml")
    graph = load(tmp_path / "graph.graphml")
    first, last = graph.causal_order_[[0, 2]]
    first, last = graph.names_[first], graph.names_[last]
    lost, kept = graph.effect(first, last), model.effect(first, last)
    assert lost.total == pytest.approx(kept.total)
    assert np.isnan(lost.std_error)
    assert "pass data=X" in str(lost)
    # The noise variances imply covariances.
    assert lost.low == pytest.approx(kept.low, abs=0.05)
    again = graph.effect(first, last, data=pd.DataFrame(X[:, [2, 0, 1]], columns=["c", "a", "b"]))
    assert again.interval == pytest.approx(kept.interval)
    chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    bare = CausalGraph(chain, cpdag=equivalence_class(chain)).effect(0, 2)
    assert bare.total == 1.0
    assert np.isnan(bare.low)
    assert "pass data=X" in str(bare)


def test_a_given_theta_has_effects_without_intervals():
    theta = np.linalg.inv(np.array([[1.0, 0.5], [0.5, 1.25]]))
    effect = ICID(precision="precomputed").fit(theta).effect(0, 1)
    assert effect.total == pytest.approx(0.5)
    assert np.isnan(effect.interval[0])


@pytest.mark.parametrize("settings", [{}, {"precision": "lasso"}, {"missing": "pairwise"}, {"refine": None}])
def test_effects_of_every_kind_of_estimate(settings):
    B = datasets.random_dag(10, 1, random_state=2)
    X = datasets.sample_sem(B, 400, random_state=2)
    if "missing" in settings:
        X[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    model = ICID(**settings).fit(X)
    truth = np.linalg.inv(np.eye(10) - B.toarray()) - np.eye(10)
    for a, b in np.argwhere(np.abs(truth) > 0.5):
        effect = model.effect(int(a), int(b))
        assert effect.low <= effect.total <= effect.high
        # The sparse decomposition alone has false edges.
        if effect.total and not effect.open_edges and "refine" not in settings:
            assert abs(effect.total - truth[a, b]) < 6 * effect.std_error


def test_very_many_sets_of_causes_are_refused():
    d = 16
    B = np.triu(np.ones((d, d)), 1)
    with pytest.raises(ValueError, match="more than 10000 sets of causes"):
        CausalGraph(B, cpdag=equivalence_class(B), noise_variances=1.0).effect(0, d - 1)


def test_what_is_refused():
    graph = CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"])
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((50, 3)), columns=graph.names_)
    copies = table.assign(cloud=table["rain"])
    both = CausalGraph([[0, 0, 1], [0, 0, 1], [0, 0, 0]], graph.names_)
    for call, kind, message in [
        (lambda: graph.effect("rain", "rain"), ValueError, "both 'rain'"),
        (lambda: graph.effect("rain", "wet", level=95), ValueError, "between 0 and 1"),
        (lambda: graph.effect("rain", "wet", data=table[["rain", "wet"]]), ValueError, "no column 'cloud'"),
        (lambda: graph.effect("rain", "wet", data=table[:1]), ValueError, "at least two"),
        (lambda: graph.effect("rain", "wet", data=table[:2]), ValueError, "2 samples are too few"),
        (lambda: graph.effect("rain", "wet", data=np.zeros((5, 2))), ValueError, "must have 3 columns"),
        (lambda: graph.joint_effects(["rain", "wet"], "wet"), ValueError, "not the target"),
        (lambda: both.effect("rain", "wet", data=copies), NumericalError, "'cloud', 'rain': they are combinations"),
        (lambda: CausalGraph([[0, 1], [1, 0]]).effect(0, 1), ValueError, "cycles"),
    ]:
        with pytest.raises(kind, match=message):
            call()


def test_the_text_of_an_effect():
    B = [[0, 1, 0], [0, 0, 0.5], [0, 0, 0]]
    graph = CausalGraph(B, ["rain", "wet", "slips"], cpdag=equivalence_class(B), noise_variances=1.0)
    X = datasets.sample_sem(graph.adjacency_matrix_, 2000, random_state=0)
    text = str(graph.effect("wet", "slips", data=X))
    assert "95 % interval" in text
    assert "open: 'wet' — 'slips'" in text
    assert "with intervals" in text
    assert "no directed path leads there" in str(graph.effect("slips", "wet", data=X))
    assert isinstance(pd.DataFrame(graph.effect("wet", "slips", data=X).members), pd.DataFrame)


def test_random_graph_helper_agrees_with_sparse_input():
    graph = random_graph(6, 1, 0)
    same = CausalGraph(sp.csr_array(graph.adjacency_matrix_), noise_variances=1.0)
    assert same.effect(0, 1).total == pytest.approx(graph.effect(0, 1).total)

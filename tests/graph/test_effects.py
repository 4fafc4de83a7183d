"""Effects and relations, against networkx and dense algebra."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from icid_rs import ICID, CausalGraph, datasets
from tests.helpers.graphs import random_graph

some_graphs = st.builds(
    lambda d, degree, seed: random_graph(d, min(degree, (d - 1) // 2), seed),
    st.integers(1, 30),
    st.integers(0, 3),
    st.integers(0, 2**32 - 1),
)


@settings(deadline=None, max_examples=50)
@given(some_graphs)
def test_total_effects_solve_the_triangular_system(graph):
    T = graph.total_effects()
    d = graph.n_features_in_
    expected = np.linalg.inv(np.eye(d) - graph.adjacency_matrix_.toarray()) - np.eye(d)
    np.testing.assert_allclose(T.toarray(), expected, atol=1e-9 * (1 + np.abs(expected).max()))
    network = graph.to_networkx()
    reachable = sum(len(nx.descendants(network, node)) for node in network)
    assert T.nnz <= reachable
    assert (graph.total_effects(convention="column_to_row") != T.T).nnz == 0


def test_total_effects_are_what_interventions_do():
    B = datasets.random_dag(12, 2, random_state=0).toarray()
    graph = CausalGraph(B)
    X = datasets.sample_sem(B, 5, random_state=0)
    noise = X - X @ B
    for i in range(12):
        cut = B.copy()
        cut[:, i] = 0.0
        noise_i = noise.copy()
        noise_i[:, i] = X[:, i] + 1.0
        moved = np.linalg.solve((np.eye(12) - cut).T, noise_i.T).T
        difference = moved - X
        difference[:, i] -= 1.0
        np.testing.assert_allclose(difference, np.tile(graph.total_effects().toarray()[i], (5, 1)), atol=1e-9)


def test_a_frame_of_total_effects_has_the_entries_of_the_matrix():
    graph = random_graph(10, 2, 0)
    table, T = graph.total_effects(frame=True), graph.total_effects()
    assert len(table) == T.nnz
    assert all(T[i, j] == value for i, j, value in table.itertuples(index=False))
    assert table["total"].abs().is_monotonic_decreasing


def test_total_effects_of_a_long_chain_and_of_hubs():
    d = 500
    chain = CausalGraph(np.eye(d, k=1))
    assert chain.total_effects().nnz == d * (d - 1) // 2
    hub = np.zeros((d, d))
    hub[0, 1:] = 2.0
    assert CausalGraph(hub).total_effects().nnz == d - 1


@settings(deadline=None, max_examples=50)
@given(some_graphs, st.data())
def test_relations_agree_with_networkx(graph, data):
    network = graph.to_networkx()
    i = data.draw(st.integers(0, graph.n_features_in_ - 1))
    assert set(graph.parents(i)) == set(network.predecessors(i))
    assert set(graph.children(i)) == set(network.successors(i))
    assert set(graph.ancestors(i)) == nx.ancestors(network, i)
    assert set(graph.descendants(i)) == nx.descendants(network, i)
    blanket = {k for child in network.successors(i) for k in network.predecessors(child)}
    assert set(graph.markov_blanket(i)) == (blanket | set(network.predecessors(i)) | set(network.successors(i))) - {i}


@settings(deadline=None, max_examples=50)
@given(some_graphs, st.data(), st.integers(0, 4))
def test_subgraphs(graph, data, radius):
    d = graph.n_features_in_
    centre = data.draw(st.lists(st.integers(0, d - 1), min_size=1, max_size=3))
    part = graph.subgraph(centre, radius)
    network = graph.to_networkx().to_undirected()
    expected = set().union(*(nx.ego_graph(network, i, radius) for i in centre))
    assert part.names_ == sorted(expected)
    kept = part.names_
    np.testing.assert_array_equal(
        part.adjacency_matrix_.toarray(), graph.adjacency_matrix_.toarray()[np.ix_(kept, kept)]
    )
    np.testing.assert_array_equal(part.cpdag_.toarray(), graph.cpdag_.toarray()[np.ix_(kept, kept)])
    assert [kept[k] for k in part.causal_order_] == [k for k in graph.causal_order_ if k in expected]


class TestNames:
    @pytest.fixture
    def graph(self) -> CausalGraph:
        return CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"])

    def test_by_name_or_number(self, graph):
        assert graph.parents("wet") == graph.parents(2) == graph.parents(np.int64(2)) == ["rain"]
        assert graph.subgraph("wet").names_ == graph.subgraph([2]).names_ == ["rain", "wet"]

    def test_numbers_that_are_names_are_names(self):
        graph = CausalGraph([[0, 1], [0, 0]], [1, 0])
        assert graph.children(1) == [0]
        assert graph.children(0) == []
        with pytest.raises(ValueError, match="no variable is named 7; there are 1, 0"):
            graph.children(7)

    def test_text_that_looks_like_a_number(self):
        graph = CausalGraph([[0, 1], [0, 0]], ["1", "0"])
        assert graph.children("1") == ["0"]
        assert graph.children(0) == ["0"]

    def test_close_matches_are_named(self, graph):
        with pytest.raises(ValueError, match="no variable is named 'Rian'; did you mean 'rain'"):
            graph.parents("Rian")
        with pytest.raises(ValueError, match="there are 'cloud', 'rain', 'wet'"):
            graph.subgraph(["wet", "zzz"])
        with pytest.raises(ValueError, match="no variable 3: they are numbered 0 to 2"):
            graph.parents(3)
        with pytest.raises(ValueError, match="no variable -1"):
            graph.parents(-1)
        with pytest.raises(ValueError, match="named True"):
            graph.parents(True)
        with pytest.raises(TypeError, match="a name or a number"):
            graph.parents({"wet": 1})

    def test_radius(self, graph):
        assert graph.subgraph("wet", 0).names_ == ["wet"]
        with pytest.raises(ValueError, match="radius = -1"):
            graph.subgraph("wet", -1)


def test_cycles_have_no_total_effects():
    graph = CausalGraph([[0, 1], [1, 0]])
    assert graph.causal_order_ is None
    assert graph.ancestors(0) == [1]
    with pytest.raises(ValueError, match="cycles"):
        graph.total_effects()


def test_an_estimator_must_be_fitted():
    for question in ("edges", "total_effects", "to_networkx", "to_json", "to_causallearn"):
        with pytest.raises(NotFittedError):
            getattr(ICID(), question)()
    with pytest.raises(NotFittedError):
        ICID().parents(0)


def test_a_model_and_its_graph_answer_alike():
    B = datasets.random_dag(15, 1, random_state=0)
    model = ICID().fit(datasets.sample_sem(B, 500, random_state=0))
    whole = model.subgraph(range(15))
    assert whole.names_ == list(range(15))
    assert (whole.total_effects() != model.total_effects()).nnz == 0
    assert whole.edges().equals(model.edges())
    assert [whole.markov_blanket(k) for k in range(15)] == [model.markov_blanket(k) for k in range(15)]

"""Projection onto acyclic graphs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from icid_rs import datasets, project_to_dag
from icid_rs.decomposition.acyclic import acyclic_graph, trace_exponential
from icid_rs.graph.equivalence import causal_order
from tests.helpers import reference

METHODS = ["greedy", "exptrace"]


def is_acyclic(B: np.ndarray) -> bool:
    """Whether the pattern is nilpotent."""
    reached = (B != 0).astype(float)
    power = np.eye(len(B))
    for _ in range(len(B)):
        power = ((power @ reached) > 0).astype(float)
    return not power.any()


@st.composite
def directed_graphs(draw: st.DrawFn) -> np.ndarray:
    d = draw(st.integers(1, 15))
    density = draw(st.sampled_from([0.1, 0.3, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.normal(size=(d, d)) * (rng.uniform(size=(d, d)) < density)


@settings(max_examples=60, deadline=None)
@given(directed_graphs(), st.sampled_from(METHODS))
def test_result_is_an_acyclic_part(B, method):
    graph, order = acyclic_graph(B, method)
    projected = graph.toarray()
    assert is_acyclic(projected)
    kept = projected != 0
    np.testing.assert_array_equal(projected[kept], B[kept])
    rank = np.argsort(order)
    rows, columns = graph.nonzero()
    assert (rank[rows] < rank[columns]).all()


@settings(max_examples=30, deadline=None)
@given(directed_graphs())
def test_greedy_agrees_with_the_slow_way(B):
    np.testing.assert_array_equal(project_to_dag(B).toarray(), reference.heaviest_acyclic(B))


@pytest.mark.parametrize("method", METHODS)
def test_a_dag_is_left_alone(method):
    B = datasets.random_dag(100, 2, random_state=1)
    assert (project_to_dag(B, method) != B).nnz == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [2, 3, 50])
def test_a_ring_loses_its_weakest_edge(method, length):
    weights = np.linspace(1, 2, length)
    B = np.zeros((length, length))
    B[np.arange(length), (np.arange(length) + 1) % length] = weights
    projected = project_to_dag(B, method).toarray()
    assert np.count_nonzero(projected) == length - 1
    assert projected[0, 1 % length] == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-100, 1e-4, 1e8])
def test_scale_does_not_matter(method, scale):
    B = np.random.default_rng(4).normal(size=(12, 12))
    B[:, 5] = 0.0
    B[7] = 0.0
    expected = project_to_dag(B, method).toarray()
    np.testing.assert_allclose(project_to_dag(B * scale, method).toarray(), expected * scale)


def test_large_graphs():
    rng = np.random.default_rng(0)
    for density in (0.0002, 0.002):
        places = rng.integers(5_000, size=(2, int(density * 5_000**2)))
        B = sp.csr_array((rng.normal(size=places.shape[1]), tuple(places)), shape=(5_000, 5_000))
        graph, order = acyclic_graph(B)
        rank = np.argsort(order)
        rows, columns = graph.nonzero()
        assert (rank[rows] < rank[columns]).all()
    complete = rng.normal(size=(300, 300))
    for method in METHODS:
        graph, order = acyclic_graph(complete, method)
        assert graph.nnz == 300 * 299 / 2
        assert (np.tril(graph.toarray()[np.ix_(order, order)]) == 0).all()


@settings(max_examples=40, deadline=None)
@given(directed_graphs())
def test_trace_exponential_matches_its_definition_and_differences(B):
    W = np.abs(B)
    value, gradient = trace_exponential(sp.csr_array(W))
    scale = np.trace(expm(W))
    assert value == pytest.approx(scale)
    np.testing.assert_allclose(gradient.toarray(), expm(W).T * (W != 0), atol=1e-10 * scale, rtol=1e-8)
    direction = np.random.default_rng(0).uniform(size=W.shape) * (W != 0)
    h = 1e-5
    difference = (np.trace(expm(W + h * direction)) - np.trace(expm(W - h * direction))) / (2 * h)
    assert np.sum(gradient.toarray() * direction) == pytest.approx(difference, rel=1e-6, abs=1e-7 * scale)


def test_low_rank_factors_agree_with_the_dense_exponential():
    rng = np.random.default_rng(1)
    W = np.abs(rng.normal(size=(40, 40))) * (rng.uniform(size=(40, 40)) < 0.15) / 3
    value, gradient = trace_exponential(sp.csr_array(W))
    full_value, full_gradient = trace_exponential(sp.csr_array(W), rank=40)
    assert full_value == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(full_gradient.toarray(), gradient.toarray(), atol=1e-8)
    errors = [
        np.linalg.norm((trace_exponential(sp.csr_array(W), rank=rank)[1] - gradient).toarray()) for rank in (5, 20, 39)
    ]
    assert errors[0] > errors[1] > errors[2]


def test_bad_input():
    with pytest.raises(ValueError, match="method = 'best'"):
        project_to_dag(np.eye(2), "best")
    for method in METHODS:
        with pytest.raises(ValueError, match=r"B\[0, 1\] is NaN"):
            project_to_dag([[0, np.nan], [0, 0]], method)
        with pytest.raises(ValueError, match="square"):
            project_to_dag(np.ones((2, 3)), method)
    with pytest.raises(ValueError, match="directed cycle"):
        causal_order([[0, 1], [1, 0]])


def test_proportions_alone_count_for_exptrace():
    B = np.array([[0.0, 3.0, 0.0], [1.0, 0.0, 2.0], [2.0, 1.5, 0.0]])
    expected = project_to_dag(B, method="exptrace").toarray()
    for scale in (2.0**-1060, 2.0**-500, 2.0**1000):
        np.testing.assert_array_equal(project_to_dag(B * scale, method="exptrace").toarray(), expected * scale)
    # However light, an edge on no cycle stays.
    light = np.array([[0.0, 1e150, 0.0], [1e149, 0.0, 1e-300], [0.0, 0.0, 0.0]])
    assert project_to_dag(light, method="exptrace").nnz == 2

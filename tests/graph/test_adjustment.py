"""Adjustment sets and d-separation, against networkx and against all subsets."""

from __future__ import annotations

from itertools import chain, combinations, permutations

import networkx as nx
import numpy as np
import pytest

from icid_rs import CausalGraph, equivalence_class
from tests.helpers.graphs import random_graph


def network_of(graph: CausalGraph) -> nx.DiGraph:
    return graph.to_networkx()


def is_valid(network: nx.DiGraph, a: int, b: int, given: set[int]) -> bool:
    """The criterion of Shpitser, VanderWeele and Robins (2010), by the d-separation of networkx."""
    causal = nx.descendants(network, a) & (nx.ancestors(network, b) | {b})
    forbidden = {a, b}.union(*(nx.descendants(network, i) | {i} for i in causal))
    if given & forbidden:
        return False
    cut = nx.DiGraph(network)
    cut.remove_edges_from([(a, i) for i in causal])
    return nx.is_d_separator(cut, {a}, {b}, given)


def subsets(variables: set[int]) -> list[set[int]]:
    return [set(s) for s in chain.from_iterable(combinations(sorted(variables), k) for k in range(len(variables) + 1))]


@pytest.mark.parametrize("seed", range(40))
def test_small_graphs_against_all_subsets(seed):
    d = 4 + seed % 3
    graph = random_graph(d, 1 + seed % 2 if d > 4 else 1, seed)
    network = network_of(graph)
    for a, b in permutations(range(d), 2):
        others = subsets(set(range(d)) - {a, b})
        valid = [given for given in others if is_valid(network, a, b, given)]
        minimal = [given for given in valid if not any(part < given for part in valid)]
        found = graph.adjustment_sets(a, b, "minimal", most=1000)
        assert sorted(found) == sorted(map(sorted, minimal))
        assert [len(given) for given in found] == sorted(len(given) for given in found)
        for kind in ("optimal", "parents"):
            chosen = graph.adjustment_sets(a, b, kind)
            assert len(chosen) == bool(valid)
            assert all(set(given) in valid for given in chosen)
        for given in others:
            assert graph.d_separated(a, b, list(given)) == nx.is_d_separator(network, {a}, {b}, given)


def test_sets_are_valid_on_200_random_graphs():
    rng = np.random.default_rng(0)
    for seed in range(200):
        d = int(rng.integers(8, 31))
        graph = random_graph(d, int(rng.integers(1, 4)), seed)
        network = network_of(graph)
        pairs = [(a, b) for a in range(d) for b in nx.descendants(network, a)]
        for k in rng.permutation(len(pairs))[:3]:
            a, b = pairs[k]
            optimal = graph.adjustment_sets(a, b)
            minimal = graph.adjustment_sets(a, b, "minimal", most=5)
            for given in (*optimal, *minimal, *graph.adjustment_sets(a, b, "parents")):
                assert is_valid(network, a, b, set(given))
            for given in minimal:
                assert not any(is_valid(network, a, b, set(given) - {i}) for i in given)
            some = set(rng.choice(sorted(set(range(d)) - {a, b}), 4, replace=False).tolist())
            assert graph.d_separated(a, b, list(some)) == nx.is_d_separator(network, {a}, {b}, some)


def test_the_optimal_set_has_the_smallest_variance():
    """Large-sample variance of the coefficient: residual variance of b over that of a, given the others."""
    for seed in range(20):
        graph = random_graph(6, 2, seed)
        network = network_of(graph)
        A = np.linalg.inv(np.eye(6) - graph.adjacency_matrix_.toarray())
        covariance = A.T @ A

        def residual(target: int, given: list[int], covariance: np.ndarray = covariance) -> float:
            return 1 / np.linalg.inv(covariance[np.ix_([target, *given], [target, *given])])[0, 0]

        for a in range(6):
            for b in nx.descendants(network, a):

                def variance(given: set[int], a: int = a, b: int = b) -> float:
                    return residual(b, [a, *given]) / residual(a, sorted(given))

                others = subsets(set(range(6)) - {a, b})
                best = min(variance(given) for given in others if is_valid(network, a, b, given))
                (optimal,) = graph.adjustment_sets(a, b)
                assert variance(set(optimal)) == pytest.approx(best)


def test_a_long_ladder_has_minimal_sets_without_recursion():
    d = 3000
    B = np.eye(d, k=1) + np.eye(d, k=2)
    assert CausalGraph(B).adjustment_sets(d - 2, d - 1, "minimal", most=3)


def test_classes():
    chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    graph = CausalGraph(chain, ["cloud", "rain", "wet"], cpdag=equivalence_class(chain))
    assert graph.adjustment_sets("rain", "wet") == [[]]
    with pytest.raises(ValueError, match="'rain' — 'wet', which are open"):
        graph.adjustment_sets("rain", "wet", within="class")
    known = CausalGraph(graph.adjacency_matrix_, graph.names_, cpdag=graph.adjacency_matrix_)
    assert known.adjustment_sets("rain", "wet", within="class") == [[]]
    # The open edge between the two causes does not matter.
    collider = [[0, 1, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    graph = CausalGraph(collider, list("abcd"), cpdag=equivalence_class(collider))
    assert graph.cpdag_[1, 0] == 1
    assert graph.adjustment_sets("c", "d", within="class", kind="minimal") == [[]]


def test_what_is_refused():
    graph = CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["cloud", "rain", "wet"])
    assert graph.adjustment_sets("wet", "rain") == []
    for call, message in [
        (lambda: graph.adjustment_sets("rain", "rain"), "both 'rain'"),
        (lambda: graph.adjustment_sets("rain", "snow"), "no variable is named 'snow'"),
        (lambda: graph.adjustment_sets("rain", "wet", "best"), "'optimal', 'minimal', 'parents'"),
        (lambda: graph.adjustment_sets("rain", "wet", within="all"), "'graph' or 'class'"),
        (lambda: graph.d_separated("rain", "wet", ["rain"]), "'rain' is named twice"),
        (lambda: CausalGraph([[0, 1], [1, 0]]).d_separated(0, 1), "cycles"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


def test_names_that_are_tuples():
    graph = CausalGraph([[0, 1.0], [0, 0]], [("rain", 1), ("wet", 2)])
    assert not graph.d_separated(("rain", 1), ("wet", 2))
    assert not graph.d_separated([("rain", 1)], [("wet", 2)], [])

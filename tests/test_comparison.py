"""Comparisons of models and graphs, by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import PathPatch, Polygon

from icid_rs import ICID, CausalGraph, compare, datasets, equivalence_class, metrics
from icid_rs.plotting import plot_comparison

NAMES = ["season", "rain", "wet", "slips"]
CHAIN = np.eye(4, k=1)


def test_a_graph_does_not_differ_from_itself_in_another_order():
    graph = CausalGraph(datasets.random_dag(12, 2, random_state=0), [f"x{k}" for k in range(12)])
    order = np.random.default_rng(0).permutation(12)
    other = CausalGraph(graph.adjacency_matrix_[order][:, order], [f"x{k}" for k in order])
    comparison = compare(graph, other)
    assert (comparison.shd, comparison.class_distance) == (0, 0)
    assert comparison.differences().empty
    assert comparison.names == graph.names_


def test_distances_are_those_of_the_metrics():
    for seed in range(5):
        a, b = (datasets.random_dag(10, 2, random_state=k) for k in (seed, seed + 100))
        comparison = compare(CausalGraph(a), CausalGraph(b))
        assert comparison.shd == metrics.count_accuracy(a, b)["shd"] == len(comparison.differences())
        assert comparison.class_distance == metrics.class_distance(a, b)
        again = compare(CausalGraph(a, cpdag=equivalence_class(a)), CausalGraph(b, cpdag=equivalence_class(b)))
        assert len(again.differences()) == comparison.class_distance


def test_what_differs():
    a = CausalGraph(CHAIN, NAMES, cpdag=CHAIN + np.diag([1.0, 0, 0], -1))
    turned = np.zeros((3, 3))
    turned[2, 0] = turned[1, 0] = turned[2, 1] = 1
    b = CausalGraph(turned, ["season", "rain", "wet"])
    comparison = compare(a, b)
    rows = {tuple(row) for row in comparison.differences().to_numpy()}
    assert rows == {("season", "rain", "—", "←"), ("wet", "season", "", "→"), ("rain", "wet", "→", "←")}
    assert comparison.only_a == ["slips"]
    text = str(comparison)
    assert "only in the first: 'slips'" in text
    assert "3 pair(s)" in text


def test_adjustment_distance():
    pytest.importorskip("gadjid")
    for seed in range(5):
        a, b = (datasets.random_dag(7, 2, random_state=k) for k in (seed, seed + 100))
        first, second = CausalGraph(a), CausalGraph(b)
        comparison = compare(first, second)
        # Without an independent implementation: the optimal sets of the second graph, judged in the first.
        wrong = 0
        for i in range(7):
            for j in set(range(7)) - {i}:
                (said,) = second.adjustment_sets(i, j) if j in second.descendants(i) else (None,)
                if said is None:
                    wrong += j in first.descendants(i)
                elif j not in first.descendants(i):
                    wrong += not _blocks(first, i, j, said)
                else:
                    wrong += not any(set(said) == set(own) for own in _valid(first, i, j, said))
        assert comparison.adjustment_distance() == wrong
        assert comparison.adjustment_distance("parents") >= 0
        assert metrics.adjustment_distance(equivalence_class(a), equivalence_class(a)) == 0
    assert metrics.adjustment_distance([[0]], [[0]]) == 0
    with pytest.raises(ValueError, match="'optimal', 'parents', 'ancestors'"):
        metrics.adjustment_distance(CHAIN, CHAIN, "best")
    with pytest.raises(ValueError, match="directed cycle"):
        metrics.adjustment_distance(np.roll(np.eye(3), 1, axis=1), np.eye(3))


def _blocks(graph: CausalGraph, i: int, j: int, given: list[int]) -> bool:
    return graph.d_separated(i, j, given)


def _valid(graph: CausalGraph, i: int, j: int, given: list[int]) -> list[list[int]]:
    from icid_rs.graph.adjustment import is_valid

    return [given] if is_valid(graph._network_of_weights(), i, j, set(given)) else []


def test_cycles_have_no_class():
    cyclic = CausalGraph([[0, 1], [1, 0]])
    comparison = compare(cyclic, cyclic)
    assert comparison.class_distance is None
    assert "not defined" in str(comparison)


def test_models_and_pictures(tmp_path):
    X = pd.DataFrame(datasets.sample_sem(datasets.random_dag(6, 1, random_state=0), 500, random_state=0))
    X.columns = [f"x{k}" for k in range(6)]
    comparison = compare(ICID().fit(X), ICID(noise="unequal").fit(X))
    ax = comparison.plot()
    ax.figure.savefig(tmp_path / "comparison.png")
    assert (tmp_path / "comparison.png").stat().st_size > 5000
    assert ax.get_title(loc="left").startswith("edges: ")


def test_a_picture_has_a_line_for_each_pair():
    a = np.triu(np.ones((5, 5)), 1)
    b = a.T.copy()
    b[0, 1] = 1.0
    ax = plot_comparison(a, b, list("abcde"))
    assert ax.get_title(loc="left").startswith("edges: 0 in both (grey), 0 in the first (blue), 0 in the second")
    assert "10 with another direction" in ax.get_title(loc="left")
    lines = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
    heads = [patch for patch in ax.patches if isinstance(patch, Polygon)]
    # The first pair is open in the second graph, but its line is that of the first.
    assert (len(lines), len(heads)) == (10, 10)
    assert len([patch for patch in plot_comparison(b, a, list("abcde")).patches if isinstance(patch, Polygon)]) == 9


def test_what_is_refused():
    graph = CausalGraph(CHAIN, NAMES)
    for call, kind, message in [
        (lambda: compare(graph, CHAIN), TypeError, "b must be a fitted ICID or a CausalGraph, not ndarray"),
        (lambda: compare(ICID(), graph), ValueError, "a is an ICID that was not fitted"),
        (lambda: compare(graph, CausalGraph(CHAIN)), ValueError, "no variable in common"),
    ]:
        with pytest.raises(kind, match=message):
            call()

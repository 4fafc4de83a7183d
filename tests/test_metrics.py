from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import datasets, equivalence_class
from icid_rs.metrics import class_distance, count_accuracy


def naive(true: np.ndarray, estimated: np.ndarray) -> dict[str, float]:
    """Edge by edge, as the paper defines the scores."""
    d = len(true)
    found = reversed_ = false = missing = extra = edges = guesses = 0
    for i in range(d):
        for j in range(d):
            if i == j:
                continue
            edges += bool(true[i, j])
            if estimated[i, j]:
                guesses += 1
                if true[i, j]:
                    found += 1
                elif true[j, i]:
                    reversed_ += 1
                else:
                    false += 1
            if i < j:
                joined, guessed = true[i, j] or true[j, i], estimated[i, j] or estimated[j, i]
                missing += bool(joined and not guessed)
                extra += bool(guessed and not joined)
    return {
        "shd": extra + missing + reversed_,
        "tpr": found / max(edges, 1),
        "fdr": (reversed_ + false) / max(guesses, 1),
        "fpr": (reversed_ + false) / max(d * (d - 1) // 2 - edges, 1),
        "nnz": guesses,
    }


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_agrees_with_counting_by_hand(d, seed):
    rng = np.random.default_rng(seed)
    true = datasets.random_dag(d, (d - 1) // 2, random_state=rng).toarray()
    estimated = rng.choice([0.0, 0.5], (d, d), p=[0.7, 0.3])
    expected = naive(true, estimated)
    assert count_accuracy(true, estimated) == pytest.approx(expected)
    assert count_accuracy(sp.coo_array(true), sp.csc_array(estimated)) == pytest.approx(expected)


def test_perfect_and_empty():
    true = datasets.random_dag(30, 2, random_state=0)
    assert count_accuracy(true, true) == {"shd": 0, "tpr": 1.0, "fdr": 0.0, "fpr": 0.0, "nnz": 60}
    assert count_accuracy(true, true.T)["shd"] == 60
    assert count_accuracy(true, sp.csr_array((30, 30)))["shd"] == 60


def test_counts_are_whole_numbers():
    scores = count_accuracy(np.triu(np.ones((3, 3))), np.tril(np.ones((3, 3))))
    assert scores == {"shd": 3, "tpr": 0.0, "fdr": 1.0, "fpr": 3.0, "nnz": 3}
    assert [type(scores[name]) for name in ("shd", "nnz")] == [int, int]


def test_a_truth_with_both_directions():
    both = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert count_accuracy(both, both)["shd"] == 0
    assert count_accuracy(both, np.triu(both)) == {"shd": 0, "tpr": 0.5, "fdr": 0.0, "fpr": 0.0, "nnz": 1}


def test_a_single_edge():
    edge = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert count_accuracy(edge, edge) == {"shd": 0, "tpr": 1.0, "fdr": 0.0, "fpr": 0.0, "nnz": 1}


def test_sizes_must_match():
    with pytest.raises(ValueError, match=r"^the graphs have different sizes: \(2, 2\) and \(3, 3\)$"):
        count_accuracy(np.zeros((2, 2)), np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"^true must be square, but its shape is \(2, 3\)$"):
        count_accuracy(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"^true must be a matrix, but it has 1 dimension"):
        count_accuracy(np.zeros(2), np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"^estimated must be square"):
        count_accuracy(np.zeros((2, 2)), np.zeros((2, 3)))


def test_what_is_not_a_number_is_no_edge():
    for fault in (np.nan, np.inf):
        graph = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, fault], [0.0, 2.0, 0.0]])
        message = rf"^estimated\[1, 2\] is {fault}: it is an edge or none; use 0 for none$"
        with pytest.raises(ValueError, match=message):
            count_accuracy(np.zeros((3, 3)), graph)
        with pytest.raises(ValueError, match=r"^true\[1, 2\] is"):
            count_accuracy(graph, np.zeros((3, 3)))


def test_class_distance_counts_pairs_with_another_mark():
    for seed in range(5):
        one, two = (datasets.random_dag(12, 2, random_state=seed + k) for k in (0, 100))
        a, b = (equivalence_class(B).toarray() for B in (one, two))
        marks = [{(i, j): (m[i, j] != 0, m[j, i] != 0) for i in range(12) for j in range(i)} for m in (a, b)]
        expected = sum(marks[0][pair] != marks[1][pair] for pair in marks[0])
        assert expected > 0
        # Graphs, their classes and mixtures of the two are the same to it.
        for first in (one, a):
            for second in (two, b):
                assert class_distance(first, second) == class_distance(second, first) == expected
        assert class_distance(one, a) == 0
        order = np.random.default_rng(seed).permutation(12)
        assert class_distance(one[order][:, order], two[order][:, order]) == expected


def test_class_distance_refuses_cycles_and_other_sizes():
    cycle = np.roll(np.eye(3), 1, axis=1)
    with pytest.raises(
        ValueError, match=r"^b has a directed cycle: it is neither an acyclic graph nor a class of such$"
    ):
        class_distance(np.zeros((3, 3)), cycle)
    with pytest.raises(ValueError, match=r"^the graphs have different sizes: \(2, 2\) and \(3, 3\)$"):
        class_distance(np.zeros((2, 2)), np.zeros((3, 3)))

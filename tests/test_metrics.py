from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from icid_rs import datasets
from icid_rs.metrics import count_accuracy


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


def test_sizes_must_match():
    with pytest.raises(ValueError, match="different sizes"):
        count_accuracy(np.zeros((2, 2)), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="square"):
        count_accuracy(np.zeros((2, 3)), np.zeros((2, 3)))

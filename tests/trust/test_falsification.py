"""Implied independences, tested against permuted names."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, datasets
from icid_rs.graph.equivalence import causal_order, equivalence_class
from icid_rs.trust.falsification import _is_equivalent, falsify


def test_a_true_graph_stands_and_a_permuted_one_falls():
    stands, falls = [], []
    for seed in range(10):
        B = datasets.random_dag(10, 1, random_state=seed)
        R = np.corrcoef(datasets.sample_sem(B, 500, random_state=seed), rowvar=False)
        p = np.random.default_rng(seed).permutation(10)
        stands.append(falsify(R, B, causal_order(B), 500, list(range(10))).falsified)
        falls.append(falsify(R[np.ix_(p, p)], B, causal_order(B), 500, list(range(10))).falsified)
    assert sum(stands) == 0
    assert sum(falls) >= 8


def test_violations_are_those_of_partial_correlations_one_by_one():
    from scipy import stats

    B = datasets.random_dag(7, 1, random_state=1)
    X = datasets.sample_sem(B, 200, random_state=1)
    X[:, 2] += X[:, 5]
    names = list("abcdefg")
    result = falsify(np.corrcoef(X, rowvar=False), B, causal_order(B), 200, names)
    A = B.toarray() != 0
    reached = np.linalg.matrix_power(np.eye(7) + A, 7) > 0
    tests = violations = 0
    for j in range(7):
        P = np.flatnonzero(A[:, j])
        for k in range(7):
            if reached[j, k] or k in P:
                continue
            C = np.column_stack([np.ones(200), X[:, P]])
            left = [X[:, m] - C @ np.linalg.lstsq(C, X[:, m], rcond=None)[0] for m in (j, k)]
            z = np.arctanh(np.corrcoef(*left)[0, 1]) * np.sqrt(200 - len(P) - 3)
            tests += 1
            violations += 2 * stats.norm.sf(abs(z)) <= 0.05
    assert (result.tests, result.violations) == (tests, violations)
    assert len(result.where) == violations


def test_equivalence_of_permuted_graphs():
    B = datasets.random_dag(5, 1, random_state=4)
    A = B.toarray() != 0
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = rng.permutation(5)
        other = np.zeros_like(A)
        other[np.ix_(p, p)] = A
        classes = [equivalence_class(sp.csr_array(G.astype(float))).toarray() != 0 for G in (A, other)]
        assert _is_equivalent(A, p) == np.array_equal(*classes)


def test_a_complete_graph_cannot_be_tested():
    B = sp.csr_array(np.triu(np.ones((3, 3)), 1))
    result = falsify(np.eye(3), B, np.arange(3), 100, list("abc"))
    assert (result.tests, result.falsifiable, result.falsified) == (0, False, False)
    assert "no independence" in str(result)


def test_the_method_of_the_estimator():
    X = datasets.sample_sem(datasets.random_dag(8, 1, random_state=0), 600, random_state=0)
    model = ICID().fit(X)
    assert not model.falsify(X).falsified
    assert "not contradicted" in str(model.falsify(X))
    for arguments, message in (({"significance": 2.0}, "significance"), ({"permutations": 0}, "permutations")):
        with pytest.raises(ValueError, match=message):
            model.falsify(X, **arguments)
    X[:, 1] = 0.0
    with pytest.raises(ValueError, match="constant"):
        model.falsify(X)
    with pytest.raises(ValueError, match="cycles"):
        ICID(dag=None).fit(datasets.sample_sem(datasets.random_dag(4, 1, random_state=0), 99, random_state=0)).falsify(
            X
        )

"""Inverse covariance estimation and the skewness matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import datasets, empirical_precision, fdr_precision, precision, reference, skewness_matrix


def samples(d: int, degree: int, n: int, seed: int, noise: str = "gaussian") -> np.ndarray:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    return datasets.sample_sem(B, n, noise=noise, random_state=rng)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(0, 1000))
def test_empirical_precision_is_algorithm_3(d, seed):
    X = samples(d, min(1, (d - 1) // 2), 10 * d, seed) + 5.0
    grid = np.linspace(0.01, 0.4, 12)
    estimate = empirical_precision(X, grid)
    theta, lambda1 = reference.empirical_precision(X, grid)
    assert estimate.lambda1 == lambda1
    np.testing.assert_allclose(estimate.theta.toarray(), theta, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(estimate.covariance, np.cov(X.T, bias=True).reshape(d, d), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["dense", "sparse"])
def test_criterion_is_that_of_dense_evaluation(share, monkeypatch):
    """Both ways to a log-determinant."""
    monkeypatch.setattr(precision, "_DENSE_SHARE", share)
    X = samples(60, 2, 600, 1)
    estimate = empirical_precision(X)
    assert len(estimate.criterion) == 20
    theta = np.linalg.inv(estimate.covariance)
    off = theta - np.diag(np.diag(theta))
    top = np.percentile(np.abs(off[~np.eye(60, dtype=bool)]), 98) / np.abs(off).max()
    np.testing.assert_allclose(list(estimate.criterion), np.linspace(0.01, top, 20))
    for cut, value in estimate.criterion.items():
        T = np.diag(np.diag(theta)) + off * (np.abs(off) >= cut * np.abs(off).max())
        expected = np.trace(estimate.covariance @ T) - np.linalg.slogdet(T + 0.9 * np.diag(np.diag(T)))[1]
        assert value == pytest.approx(expected, rel=1e-9)
    assert estimate.lambda1 == min(estimate.criterion, key=estimate.criterion.get)


def test_empirical_precision_is_symmetric_and_scales():
    X = samples(20, 1, 500, 2)
    theta = empirical_precision(X, 0.05).theta.toarray()
    assert np.array_equal(theta, theta.T)
    scaled = empirical_precision(X * 100.0, 0.05).theta.toarray()
    np.testing.assert_allclose(scaled, theta / 1e4)


def test_more_columns_than_rows_takes_the_pseudo_inverse_and_says_so():
    X = samples(30, 1, 20, 1)
    with pytest.warns(RuntimeWarning, match="pseudo-inverse"):
        estimate = empirical_precision(X, 0.3)
    expected = np.linalg.pinv(estimate.covariance, hermitian=True)
    np.testing.assert_allclose(estimate.theta.diagonal(), expected.diagonal(), rtol=1e-6)


def test_fdr_is_controlled_and_strong_pairs_are_found():
    false_shares, found, strong = [], 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        B = datasets.random_dag(200, 1, random_state=rng)
        X = datasets.sample_sem(B, 2000, random_state=rng)
        theta = datasets.sem_precision(B).toarray()
        partial = np.abs(theta) / np.sqrt(np.outer(theta.diagonal(), theta.diagonal()))
        upper = np.triu(np.ones((200, 200), dtype=bool), 1)
        kept = (fdr_precision(X, alpha=0.05).theta.toarray() != 0) & upper
        false_shares.append(np.sum(kept & (partial < 1e-12)) / max(kept.sum(), 1))
        found += np.sum(kept & (partial > 0.1))
        strong += np.sum(upper & (partial > 0.1))
    assert np.mean(false_shares) <= 0.05
    assert found >= 0.99 * strong


def test_fdr_agrees_with_the_textbook_procedure():
    from scipy.stats import norm

    X = samples(15, 1, 200, 4)
    theta = np.linalg.inv(np.cov(X.T, bias=True))
    r = -theta / np.sqrt(np.outer(theta.diagonal(), theta.diagonal()))
    i, j = np.triu_indices(15, 1)
    p = 2 * norm.sf(np.abs(np.arctanh(r[i, j])) * np.sqrt(200 - 15 - 1))
    order = np.argsort(p)
    passing = np.flatnonzero(p[order] <= 0.05 * np.arange(1, p.size + 1) / p.size)
    expected = set(zip(i[order[: passing[-1] + 1]], j[order[: passing[-1] + 1]], strict=True))
    rows, columns = fdr_precision(X, 0.05).theta.nonzero()
    assert {(a, b) for a, b in zip(rows, columns, strict=True) if a < b} == expected


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(0, 1000))
def test_skewness_matrix_is_the_papers(d, seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(100, d)) @ rng.normal(size=(d, d)) + 3.0
    M = skewness_matrix(X)
    np.testing.assert_allclose(M, reference.skewness_matrix(X).reshape(d, d), atol=1e-10)
    np.testing.assert_allclose(M, -M.T, atol=1e-12)
    np.testing.assert_allclose(skewness_matrix(X * 7.0 + 1.0), M, atol=1e-9)


def test_bad_requests():
    X = samples(5, 1, 50, 0)
    for lambda1 in (0.0, 1.0, [0.1, 2.0], []):
        with pytest.raises(ValueError, match="lambda1"):
            empirical_precision(X, lambda1)
    with pytest.raises(ValueError, match="lambda1 = 'best'"):
        empirical_precision(X, "best")
    with pytest.raises(ValueError, match="alpha = 0"):
        fdr_precision(X, 0.0)
    with pytest.raises(ValueError, match="n_samples = 6 for 5 columns"):
        fdr_precision(X[:6])
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        fdr_precision(np.column_stack([X, X[:, 0]]))
    for value in (0.0, 0.1):
        constant = X.copy()
        constant[:, 2] = value
        for estimate in (empirical_precision, fdr_precision):
            with pytest.raises(ValueError, match=r"constant column\(s\) 2"):
                estimate(constant)
        with pytest.raises(ValueError, match="column 2"):
            skewness_matrix(constant)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"X\[3, 2\] is nan"):
        empirical_precision(X)
    with pytest.raises(ValueError, match="column 2"):
        skewness_matrix(X)


def test_what_cannot_fit_is_refused_before_it_is_tried():
    """A view of one row takes no memory; its covariance would take terabytes."""
    X = np.broadcast_to(np.zeros(1), (2, 10**6))
    with pytest.raises(MemoryError, match="needs 24000000000000 bytes, but only"):
        precision.empirical_covariance(X)

"""Inverse covariance estimation and the skewness matrix."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from icid_rs import _core, datasets, empirical_precision, fdr_precision, skewness_matrix
from icid_rs._util import memory as _memory
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.precision import covariance as precision
from icid_rs.precision.skewness import from_moments
from tests.helpers import reference


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


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 12) | st.sampled_from([64, 65, 150]), st.integers(3, 40), st.floats(0.01, 0.99), st.integers(0, 99)
)
def test_fdr_agrees_with_the_textbook_procedure(d, more, alpha, seed):
    """For matrices of one tile and of several, and few degrees of freedom, so that each of them counts."""
    X = samples(d, min(1, (d - 1) // 2), d + more, seed)
    theta = np.linalg.inv(np.cov(X.T, bias=True))
    r = theta / np.sqrt(np.outer(theta.diagonal(), theta.diagonal()))
    i, j = np.triu_indices(d, 1)
    p = 2 * norm.sf(np.abs(np.arctanh(r[i, j])) * np.sqrt(more - 1))
    order = np.argsort(p)
    passing = np.flatnonzero(p[order] <= alpha * np.arange(1, p.size + 1) / p.size)
    found = order[: passing.max(initial=-1) + 1]
    expected = set(zip(i[found], j[found], strict=True))
    estimate = fdr_precision(X, alpha)
    rows, columns = estimate.theta.nonzero()
    assert {(a, b) for a, b in zip(rows, columns, strict=True) if a < b} == expected
    assert estimate.theta.nnz == d + 2 * len(expected)
    np.testing.assert_allclose(estimate.theta.toarray()[rows, columns], theta[rows, columns], rtol=1e-6, atol=1e-9)


def test_a_correlation_of_one_is_found():
    assert [list(found) for found in _core.discoveries(np.ones((2, 2)), 10, 0.05)] == [[1], [0]]


def test_estimates_say_how_they_were_made():
    X = samples(6, 1, 50, 1)
    covariance = np.cov(X.T, bias=True)
    for estimate in (fdr_precision(X), empirical_precision(X), empirical_precision(X, 0.2)):
        assert list(estimate.timings) == ["covariance", "inverse", "support"]
        assert all(seconds >= 0 for seconds in estimate.timings.values())
        np.testing.assert_allclose(estimate.covariance, covariance, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(estimate.inverse, np.linalg.inv(covariance), rtol=1e-9, atol=1e-12)
    assert (fdr_precision(X).lambda1, fdr_precision(X).criterion) == (None, {})
    assert (empirical_precision(X, 0.2).lambda1, empirical_precision(X, 0.2).criterion) == (0.2, {})
    assert len(empirical_precision(X, [0.1, 0.2]).criterion) == 2


def test_a_stopwatch_adds_up_the_laps_of_a_stage(monkeypatch):
    ticks = itertools.accumulate([10.0, 1.0, 2.0, 8.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    watch = Stopwatch()
    watch.lap("one")
    watch.lap("other")
    watch.lap("one")
    assert watch.timings == {"one": 9.0, "other": 2.0}


def test_an_entry_at_the_cut_stays():
    X = samples(8, 1, 100, 3)
    size = np.abs(empirical_precision(X, 0.5).inverse)
    np.fill_diagonal(size, 0.0)
    largest = size.max()
    # Of the entries that a product with the largest gives back to the bit, one in the middle.
    there = np.sort(
        [x for x in size[np.triu_indices(8, 1)] if x / largest * largest == x and 0.01 < x / largest < 0.99]
    )
    cut = there[len(there) // 2] / largest
    for lambda1 in (cut, [cut, 0.999]):
        estimate = empirical_precision(X, lambda1)
        if np.ndim(lambda1):
            kept = np.where(size >= cut * largest, estimate.inverse, 0) + np.diag(estimate.inverse.diagonal())
            logdet = np.linalg.slogdet(kept + 0.9 * np.diag(kept.diagonal()))[1]
            assert estimate.criterion[cut] == pytest.approx(np.trace(kept @ estimate.covariance) - logdet)
        else:
            assert estimate.theta.nnz == 8 + np.sum(size >= cut * largest)


def test_uncorrelated_columns_have_a_diagonal_theta():
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=3))) * [1.0, 2.0, 4.0]
    for lambda1 in ("auto", 0.3, [0.1, 0.2]):
        estimate = empirical_precision(X, lambda1)
        assert (estimate.theta.nnz, estimate.criterion) == (3, {})
        np.testing.assert_allclose(estimate.theta.diagonal(), [1.0, 1 / 4, 1 / 16])
    assert fdr_precision(X).theta.nnz == 3
    assert empirical_precision(X[:, :1]).theta.shape == (1, 1)
    # Of 55 pairs one is not zero, so that no percentile shows it.
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=11)))
    X[:, 1] += X[:, 0]
    for estimate in (empirical_precision(X), empirical_precision(X[:, 2:])):
        assert (estimate.lambda1, estimate.criterion) == (0.01, {})


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["dense", "sparse"])
def test_log_determinants(share, monkeypatch):
    monkeypatch.setattr(precision, "_DENSE_SHARE", share)
    rng = np.random.default_rng(0)
    for d, scale in itertools.product((1, 2, 7, 30), (1e-3, 1.0, 1e3)):
        M = np.triu(rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.3), 1)
        M = scale * (M + M.T + np.diag(rng.uniform(1, 2, d) + np.abs(M + M.T).sum(axis=0)))
        rows, columns = np.nonzero(np.triu(M, 1))
        logdet = precision.log_determinant(rows, columns, M[rows, columns], M.diagonal())
        assert logdet == pytest.approx(np.linalg.slogdet(M)[1], rel=1e-10, abs=1e-10)
    # One eigenvalue is negative, or two are.
    assert precision.log_determinant(np.array([0]), np.array([1]), np.array([2.0]), np.ones(2)) == -np.inf
    pairs = np.array([0, 2]), np.array([1, 3])
    assert precision.log_determinant(*pairs, np.array([2.0, 2.0]), np.ones(4)) == -np.inf


@pytest.mark.parametrize("n", [5, 1024, 1025, 2500])
def test_covariance_is_numpys_for_any_number_of_blocks(n):
    X = np.random.default_rng(n).normal(size=(n, 70)) + 100.0
    covariance, location = precision.empirical_covariance(X)
    np.testing.assert_allclose(covariance, np.cov(X.T, bias=True), rtol=1e-10, atol=1e-12)
    assert np.array_equal(covariance, covariance.T)
    np.testing.assert_allclose(location, X.mean(axis=0))


@pytest.mark.parametrize("d", [1, 63, 64, 65, 200])
def test_inverse_is_numpys_whatever_the_units(d):
    rng = np.random.default_rng(d)
    covariance = np.cov(rng.normal(size=(d, 3 * d + 2))).reshape(d, d)
    expected = np.linalg.inv(covariance)
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    units = 10.0 ** rng.integers(-60, 60, d)
    inverse = precision.invert(covariance * np.outer(units, units)) * np.outer(units, units)
    np.testing.assert_allclose(inverse / size, expected / size, atol=1e-11)
    assert np.array_equal(precision.invert(covariance), precision.invert(covariance).T)


def test_what_is_nearly_singular_is_not_inverted():
    for unexplained, regular in ((1e-8, True), (1e-12, False)):
        near = np.array([[1.0, np.sqrt(1.0 - unexplained)], [np.sqrt(1.0 - unexplained), 1.0]])
        if regular:
            assert precision.invert(near)[0, 0] == pytest.approx(1 / unexplained, rel=1e-6)
        else:
            with pytest.raises(
                np.linalg.LinAlgError, match=r"^the covariance is singular: some variable is a linear comb"
            ):
                precision.invert(near)
    for singular in (np.zeros((2, 2)), np.ones((2, 2))):
        with pytest.raises(np.linalg.LinAlgError, match=r"combination of others$"):
            precision.invert(singular)
        with pytest.warns(
            RuntimeWarning, match=r"^the covariance is singular, .* samples, precision='lasso' is the better estimate$"
        ):
            inverse = precision.invert(singular, pseudo=True)
        np.testing.assert_allclose(inverse, np.linalg.pinv(singular), atol=1e-12)


def test_scales_that_are_out_of_range_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 12))
    names = list("abcdefghijkl")

    def check(X, table=True):
        location, variances = X.mean(axis=0), X.var(axis=0)
        precision.check_scales(X if table else None, np.diag(variances), location, names)

    check(X)
    check(X * 1e74)
    check(X * 1e-74)
    # Small deviations about a large mean are a column like any other.
    check(X + 1e11)
    for factor, size in ((1e80, "e\\+1"), (1e-80, "e-1"), (1e-200, "0")):
        with pytest.raises(ValueError, match=rf"^the variance of column 'c' is .*{size}\d*, out of range; rescale it$"):
            check(X * np.where(np.arange(12) == 2, factor, 1.0))
    for table in (True, False):
        constant = X * (np.arange(12) >= 2)
        with pytest.raises(
            ValueError, match=r"^constant column\(s\) 'a', 'b' have no causes and no effects; drop them$"
        ):
            check(constant, table)
        with pytest.raises(ValueError, match=r"^constant column\(s\) 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' have no"):
            check(X * (np.arange(12) >= 8), table)
        for more in (1, 2):
            with pytest.raises(ValueError, match=rf"'h' and {more} more have no causes"):
                check(X * (np.arange(12) >= 8 + more), table)


def test_what_does_not_fit_says_so_first(monkeypatch):
    """A machine with little memory left: three copies of a covariance, four of a skewness matrix."""
    monkeypatch.setattr(_memory, "_SMALL", 0)
    X = samples(10, 1, 50, 0)
    for estimate, what, bytes_ in (
        (empirical_precision, "the covariance", 2400),
        (fdr_precision, "the covariance", 2400),
        (skewness_matrix, "the skewness matrix", 3200),
    ):
        monkeypatch.setattr(_memory, "available_memory", lambda bytes_=bytes_: bytes_)
        estimate(X)
        monkeypatch.setattr(_memory, "available_memory", lambda bytes_=bytes_: bytes_ - 1)
        with pytest.raises(MemoryError, match=f"^{what} of 10 variables needs {bytes_} bytes"):
            estimate(X)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(0, 1000))
def test_skewness_matrix_is_the_papers(d, seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(100, d)) @ rng.normal(size=(d, d)) + 3.0
    M = skewness_matrix(X)
    np.testing.assert_allclose(M, reference.skewness_matrix(X).reshape(d, d), atol=1e-10)
    np.testing.assert_allclose(M, -M.T, atol=1e-12)
    np.testing.assert_allclose(skewness_matrix(X * 7.0 + 1.0), M, atol=1e-9)


def test_skewness_of_moments_is_that_of_rows():
    X = np.random.default_rng(0).exponential(size=(300, 4)) @ np.diag([1.0, 10.0, 100.0, 1000.0])
    X[:, 1] += X[:, 0]
    Y = X - X.mean(axis=0)
    M = from_moments(Y.T @ Y / 300, (Y * Y).T @ Y / 300)
    np.testing.assert_allclose(M, reference.skewness_matrix(X), atol=1e-12)
    # Sixth powers of such numbers are out of range, their standardised ones are not.
    for factor in (1e70, 1e-70):
        np.testing.assert_allclose(skewness_matrix(X * factor), M, atol=1e-12)


def test_skewness_of_what_overflows_names_the_column():
    with pytest.raises(ValueError, match="the variance of column 1 is inf, out of range"):
        skewness_matrix(samples(3, 1, 50, 0) * [1.0, 1e200, 1.0])


def test_bad_requests():
    X = samples(5, 1, 50, 0)
    for lambda1 in (0.0, 1.0, [0.1, 2.0], []):
        with pytest.raises(
            ValueError, match=r"^lambda1 = .*: there must be a value, and every value must be between 0 and 1$"
        ):
            empirical_precision(X, lambda1)
    for lambda1 in (None, ["a"], [[0.1, 0.2]], True):
        with pytest.raises(TypeError, match=r"^lambda1 must be 'auto', a number, or a sequence of numbers, not "):
            empirical_precision(X, lambda1)
    with pytest.raises(ValueError, match=r"^lambda1 = 'best': it must be 'auto', a number, or a sequence of numbers$"):
        empirical_precision(X, "best")
    for alpha in (0.0, 1.0, 1.5):
        with pytest.raises(ValueError, match=rf"^alpha = {alpha}: it must be between 0 and 1$"):
            fdr_precision(X, alpha)
    with pytest.raises(TypeError, match=r"^alpha must be"):
        fdr_precision(X, "0.05")
    few = r"^n_samples = 7 for 5 columns: .* fewer than 8 rows; use precision='lasso' or another .*, or fewer columns$"
    with pytest.raises(ValueError, match=few):
        fdr_precision(X[:7])
    assert fdr_precision(X[:8]).theta.shape == (5, 5)
    with pytest.raises(np.linalg.LinAlgError, match=r"^the covariance is singular: .*column"):
        fdr_precision(np.column_stack([X, X[:, 0]]))
    for value in (0.0, 0.1):
        constant = X.copy()
        constant[:, 2] = value
        for estimate in (empirical_precision, fdr_precision, skewness_matrix):
            with pytest.raises(ValueError, match=r"constant column\(s\) 2"):
                estimate(constant)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3, column 2"):
        empirical_precision(X)
    with pytest.raises(ValueError, match="column 2"):
        skewness_matrix(X)

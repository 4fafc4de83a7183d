"""Maximum likelihood from incomplete rows: against a plain EM algorithm, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, datasets, metrics
from icid_rs.data.em import em_covariance
from icid_rs.data.missing import pairwise_covariance


def table(d=6, n=120, share=0.25, seed=0):
    rng = np.random.default_rng(seed)
    X = datasets.sample_sem(datasets.random_dag(d, 1, random_state=seed), n, random_state=seed) * 10.0 + 5.0
    X[rng.random(X.shape) < share] = np.nan
    return X


def plain_em(X, tolerance=1e-11):
    """Compute the moments and the likelihood row by row."""
    (n, p), there = X.shape, ~np.isnan(X)
    mean, covariance = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    while True:
        filled, around, likelihood = np.where(there, X, 0.0), np.zeros((p, p)), 0.0
        for r in range(n):
            o, m = np.flatnonzero(there[r]), np.flatnonzero(~there[r])
            among, away = covariance[np.ix_(o, o)], X[r, o] - mean[o]
            likelihood -= 0.5 * (np.linalg.slogdet(2 * np.pi * among)[1] + away @ np.linalg.solve(among, away))
            slopes = np.linalg.solve(among, covariance[np.ix_(o, m)]).T
            filled[r, m] = mean[m] + slopes @ away
            around[np.ix_(m, m)] += covariance[np.ix_(m, m)] - slopes @ covariance[np.ix_(o, m)]
        new_mean = filled.mean(axis=0)
        new = ((filled - new_mean).T @ (filled - new_mean) + around) / n
        change = max(np.abs(new - covariance).max() / covariance.max(), np.abs(new_mean - mean).max())
        mean, covariance = new_mean, new
        if change < tolerance:
            return mean, covariance, likelihood


@pytest.mark.parametrize("accelerate", [False, True])
def test_the_moments_are_those_of_the_plain_algorithm(accelerate):
    X = table()
    X[7] = np.nan
    mean, covariance, likelihood = plain_em(X)
    found = em_covariance(X, range(6), accelerate=accelerate)
    scale = np.sqrt(covariance.diagonal())
    assert found.converged
    assert np.abs((found.covariance - covariance) / np.outer(scale, scale)).max() < 1e-6
    assert np.abs((found.location - mean) / scale).max() < 1e-6
    assert found.log_likelihood[-1] == pytest.approx(likelihood, abs=1e-6)


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_the_likelihood_never_falls(share):
    for seed in range(3):
        trace = np.array(em_covariance(table(share=share, seed=seed), range(6)).log_likelihood)
        assert (np.diff(trace) >= -1e-8 * np.abs(trace[:-1])).all()


def test_units_do_not_matter():
    X, units = table(), np.array([1.0, 1e6, 1e-6, 1.0, 30.0, 1.0])
    plain, scaled = em_covariance(X, range(6)), em_covariance(X * units, range(6))
    np.testing.assert_allclose(scaled.covariance, plain.covariance * np.outer(units, units), rtol=1e-6)
    assert scaled.samples == plain.samples


def test_threads_do_not_matter():
    X = table(d=12, n=400)
    one, two = (em_covariance(X, range(12), n_threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.covariance, two.covariance)


def test_complete_rows_have_their_own_moments():
    X = table(share=0.0)
    found = em_covariance(X, range(6))
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True), rtol=1e-9)
    assert found.samples == len(X)


def test_values_that_are_missing_at_random_do_not_bias():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=5000)
    effect = 2 * cause + rng.normal(size=5000)
    X = np.column_stack([cause, np.where(cause > 0, np.nan, effect)])
    expected = np.cov(cause, effect)
    assert np.abs(em_covariance(X, range(2)).covariance - expected).max() < 0.2
    assert np.abs(pairwise_covariance(X, range(2)).covariance - expected).max() > 0.5


def test_what_others_tell_counts_as_known():
    rng = np.random.default_rng(1)
    x, lost = rng.normal(size=2000), rng.random(2000) < 0.5
    told = np.column_stack([x, np.where(lost, np.nan, x + 0.01 * rng.normal(size=2000))])
    untold = np.column_stack([x, np.where(lost, np.nan, rng.normal(size=2000))])
    assert em_covariance(told, range(2)).samples > 1990
    assert abs(em_covariance(untold, range(2)).samples - 1000) < 60


def test_fewer_rows_than_columns():
    X = table(d=30, n=20, share=0.1)
    found = em_covariance(X, range(30))
    assert np.linalg.eigvalsh(found.covariance)[0] > 0


def test_a_fit_by_em():
    d, n = 20, 400
    B = datasets.random_dag(d, 1, random_state=3)
    X = datasets.sample_sem(B, n, random_state=3)
    X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    model = ICID(missing="em").fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 4
    said = model.info_["missing"]
    assert (said["policy"], said["converged"]) == ("em", True)
    assert 200 < said["samples"] < n


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(3))
def test_a_likelihood_without_a_maximum(seed):
    """So much is missing that a singular covariance fits best: correlations are shrunk by one row."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(20, 1, random_state=seed)
    X = datasets.sample_sem(B, 200, random_state=seed)
    X[rng.uniform(size=X.shape) < 0.4] = np.nan
    found = em_covariance(X, range(20))
    assert found.converged
    assert found.shrinkage == pytest.approx(1 / 201)
    scale = np.sqrt(found.covariance.diagonal())
    assert np.linalg.eigvalsh(found.covariance / np.outer(scale, scale))[0] > 1e-3
    assert (np.diff(found.log_likelihood) > -1e-6).all()
    model = ICID(missing="em").fit(X)
    pairwise = ICID(missing="pairwise").fit(X)
    of_em, of_pairs = (metrics.count_accuracy(B, one.adjacency_matrix_)["shd"] for one in (model, pairwise))
    assert of_em <= of_pairs / 2
    assert model.info_["missing"]["shrinkage"] == found.shrinkage

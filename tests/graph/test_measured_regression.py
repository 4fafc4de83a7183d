"""Errors of weights between variables that are measured with error."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, datasets
from icid_rs.graph.measured_regression import weight_covariance


def test_without_errors_it_is_least_squares():
    rng = np.random.default_rng(0)
    among = np.cov(rng.normal(size=(3, 50)))
    inverse = np.linalg.inv(among)
    found = weight_covariance(among, inverse, rng.normal(size=3), 0.4, np.zeros(3), 0.0)
    np.testing.assert_allclose(found, 0.4 * inverse)


def test_it_is_the_spread_of_weights_over_many_tables():
    rng = np.random.default_rng(1)
    n, tables, weights = 400, 4000, np.array([0.7, -0.5])
    among, errors = np.array([[1.0, 0.4], [0.4, 1.0]]), np.array([0.4, 0.2])
    share = errors / (1.0 + errors)
    root = np.linalg.cholesky(among)
    found = []
    for _ in range(tables):
        Z = rng.normal(size=(n, 2)) @ root.T
        y = Z @ weights + np.sqrt(0.5) * rng.normal(size=n) + np.sqrt(0.3) * rng.normal(size=n)
        X = Z + rng.normal(size=(n, 2)) * np.sqrt(errors)
        C = X.T @ X / n
        found.append(np.linalg.solve(C - np.diag(share * np.diagonal(C)), X.T @ y / n))
    expected = weight_covariance(among, np.linalg.inv(among), weights, 0.5, errors, 0.3) / n
    np.testing.assert_allclose(np.cov(np.transpose(found)), expected, rtol=0.12, atol=2e-4)


@pytest.mark.parametrize("share", [0.2, {0: 0.3, 1: 0.1, 4: 0.2}])
def test_intervals_cover_the_true_weights_where_reliabilities_are_known(share):
    d, runs = 6, 120
    B, noise_variances = datasets.random_sem(d, 1, random_state=3)
    true = B.toarray()
    required = list(zip(*(ends.tolist() for ends in B.nonzero()), strict=True))
    forbidden = [(i, j) for i in range(d) for j in range(d) if i != j and not true[i, j] and not true[j, i]]
    errors = np.full(d, share) if isinstance(share, float) else np.array([share.get(j, 0.0) for j in range(d)])
    known = {"required": required, "forbidden": forbidden, "noise": "unequal", "stability": None, "hidden": None}
    model = ICID(**known, measurement_error=share)
    covered, means = [], []
    for k in range(runs):
        X = datasets.sample_sem(B, 1000, noise_variances=noise_variances, measurement_error=errors, random_state=k)
        edges = model.fit(X).edges()
        ends = edges["source"], edges["target"]
        covered += (abs(edges["weight"] - true[ends]) < 1.96 * edges["std_error"]).tolist()
        means.append(model.adjacency_matrix_.toarray())
        effect = model.effect(edges["source"][0], edges["target"][0])
        assert effect.std_error > 0
    assert 0.92 < np.mean(covered) < 0.98
    plain = ICID(**known, measurement_error=None).fit(X).adjacency_matrix_.toarray()
    attenuation = np.abs(plain - true).sum()
    assert np.abs(np.mean(means, axis=0) - true).sum() < 0.2 * attenuation

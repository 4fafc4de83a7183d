"""Standard errors of weights are those of least squares, plain and robust, whatever the kind of estimate."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from icid_rs import ICID, Moments, datasets, fdr_precision, lasso_precision
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.graph.evidence import edge_ends
from icid_rs.learning.weight_errors import robust_weight_errors, weight_errors
from icid_rs.precision.neighbourhood import wide_precision
from icid_rs.precision.variants import Wide

D, N = 12, 250


def least_squares(X, causes, effect):
    """Weights, their standard errors, p-values and HC3 errors, with an intercept, the slow way."""
    n = len(X)
    design = np.column_stack([np.ones(n), X[:, causes]])
    inverse = np.linalg.inv(design.T @ design)
    weights = inverse @ design.T @ X[:, effect]
    residuals = X[:, effect] - design @ weights
    degrees = n - design.shape[1]
    errors = np.sqrt(residuals @ residuals / degrees * np.diag(inverse))
    leverages = np.einsum("ij,jk,ik->i", design, inverse, design)
    scores = design * (residuals / (1 - leverages))[:, None]
    robust = np.sqrt(np.diag(inverse @ scores.T @ scores @ inverse))
    p_values = 2 * stats.t.sf(np.abs(weights / errors), degrees)
    return weights[1:], errors[1:], p_values[1:], robust[1:]


@pytest.fixture(scope="module")
def fitted():
    """A table in mixed units, a graph of it with weights of least squares, and what is expected of these."""
    pattern = datasets.random_dag(D, 2, random_state=0)
    X = datasets.sample_sem(pattern, N, noise="laplace", random_state=0) * np.geomspace(0.1, 100, D) + 7
    B = sp.csr_array(pattern)
    causes, effects = edge_ends(B)
    expected = np.empty((3, B.nnz))
    for j in np.unique(effects):
        own = np.flatnonzero(effects == j)
        B.data[own], *expected[:, own] = least_squares(X, causes[own], j)
    return X, B, expected


def test_errors_are_those_of_least_squares(fitted):
    X, B, (errors, p_values, _) = fitted
    for estimate in (fdr_precision(X), lasso_precision(X)):
        found = weight_errors(B, estimate)
        np.testing.assert_allclose(found.std_error, errors, rtol=1e-8)
        np.testing.assert_allclose(found.p_value, p_values, rtol=1e-6, atol=1e-300)


def test_robust_errors_are_hc3(fitted):
    X, B, (_, _, robust) = fitted
    np.testing.assert_allclose(robust_weight_errors(B, X, N).std_error, robust, rtol=1e-8)
    single = robust_weight_errors(B, np.float32(X), N)
    np.testing.assert_allclose(single.std_error, robust, rtol=1e-2)


def test_without_a_covariance(fitted):
    X, B, (errors, _, _) = fitted
    estimate = wide_precision(X, N, range(D), Stopwatch(), None)
    assert isinstance(estimate, Wide)
    np.testing.assert_allclose(weight_errors(B, estimate).std_error, errors, rtol=1e-8)


def test_spread_that_grows_with_the_cause():
    rng = np.random.default_rng(0)
    estimates, plain, robust = [], [], []
    for _ in range(300):
        x = rng.standard_normal(200)
        X = np.column_stack([x, x + np.abs(x) * rng.standard_normal(200)])
        weight = np.cov(X.T)[0, 1] / np.var(x, ddof=1)
        B = sp.csr_array([[0, weight], [0, 0]])
        estimates.append(weight)
        plain.append(weight_errors(B, fdr_precision(X)).std_error[0])
        robust.append(robust_weight_errors(B, X, 200).std_error[0])
    assert np.mean(robust) == pytest.approx(np.std(estimates), rel=0.1)
    assert np.mean(plain) < 0.7 * np.std(estimates)


class TestFits:
    def test_every_edge_of_a_fit_has_an_error(self, fitted):
        X = fitted[0]
        for source in (X, Moments().update(X)):
            model = ICID(noise="unequal").fit(source)
            causes, effects = edge_ends(model.adjacency_matrix_)
            evidence = model.graph_.evidence_
            for j in np.unique(effects):
                own = np.flatnonzero(effects == j)
                _, errors, p_values, _ = least_squares(X, causes[own], j)
                np.testing.assert_allclose(evidence.std_error[own], errors, rtol=1e-6)
                np.testing.assert_allclose(evidence.p_value[own], p_values, rtol=1e-4, atol=1e-300)

    def test_weights_that_are_not_least_squares_have_none(self, fitted):
        X = fitted[0]
        alone = ICID(refine=None, precision="empirical").fit(X / X.std(axis=0))
        assert np.isnan(alone.graph_.evidence_.std_error).any()
        given = ICID(precision="precomputed").fit([[1.25, -0.5], [-0.5, 1.0]])
        assert np.isnan(given.graph_.evidence_.std_error).all()
        assert np.isnan(given.graph_.evidence_.p_value).all()

    def test_groups_cost_degrees_of_freedom(self):
        X = datasets.sample_sem([[0, 0.8], [0, 0]], 60, random_state=0)
        groups = np.repeat(range(6), 10)
        model = ICID(noise="unequal", required=[(0, 1)]).fit(X + groups[:, None], groups=groups)
        within = X - np.array([X[groups == g].mean(axis=0) for g in groups])
        weight = within[:, 0] @ within[:, 1] / (within[:, 0] @ within[:, 0])
        residual = within[:, 1] - weight * within[:, 0]
        expected = np.sqrt(residual @ residual / (60 - 6 - 1) / (within[:, 0] @ within[:, 0]))
        np.testing.assert_allclose(model.graph_.evidence_.std_error, expected)

"""Unpleasant but legal inputs: a valid result or a clear error, and nothing in between."""

from __future__ import annotations

import copy
import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icid_rs import (
    ICID,
    Moments,
    NumericalError,
    datasets,
    decompose,
    eliminate,
    empirical_precision,
    fdr_precision,
    project_to_dag,
    skewness_matrix,
)
from icid_rs.graph.equivalence import causal_order
from tests.helpers.nasty import tables, thetas

#: What we raise; a panic of the core is none of these.
CLEAR = (ValueError, TypeError, NumericalError)
#: More of them on demand; those of the test run are always the same.
EXAMPLES = int(os.environ.get("NASTY_EXAMPLES", "0"))
PROFILE = settings(
    max_examples=EXAMPLES or 40, derandomize=not EXAMPLES, deadline=5000, suppress_health_check=[HealthCheck.too_slow]
)


def attempt(call, given):
    """Return a result, or None if there was an error that says something; what was given is as it was."""
    before = copy.deepcopy(given) if sp.issparse(given) else np.array(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings("ignore", "the covariance is singular|theta is not positive definite", RuntimeWarning)
        try:
            result = call(given)
        except CLEAR as error:
            said, result = str(error), None
            assert len(said) > 10
    if sp.issparse(given):
        assert abs(before - given).nnz == 0 or not np.isfinite(before.data).all()
    else:
        assert before.dtype == given.dtype
        assert before.tobytes() == np.array(given).tobytes()
    return result


def check_graph(B, d):
    assert B.shape == (d, d)
    assert np.isfinite(B.data).all()
    assert (B.data != 0).all()
    assert sorted(causal_order(B).tolist()) == list(range(d))


@PROFILE
@given(
    X=tables(),
    parameters=st.sampled_from(
        [
            {},
            {"noise": "unequal"},
            {"refine": "search"},
            {"refine": None},
            {"ridge": 1e-6},
            {"precision": "empirical", "refine": None, "dag": "exptrace"},
            {"missing": "drop"},
            {"missing": "pairwise"},
            {"skewness": 0.1, "refine": "order"},
        ]
    ),
)
def test_fit(X, parameters):
    model = attempt(lambda X: ICID(**parameters, trials=10).fit(X), X)
    if model is None:
        return
    # Constant columns are left out.
    d = len(model.variables_)
    check_graph(model.adjacency_matrix_, d)
    assert (model.noise_variances_ > 0).all()
    assert np.isfinite(model.noise_variances_).all()
    assert np.isfinite(model.covariance_).all()
    assert np.isfinite(model.precision_.data).all()
    assert model.info_["ridge"] == parameters.get("ridge", 0.0)


@PROFILE
@given(X=tables())
def test_moments(X):
    moments = attempt(lambda X: Moments(third=True).update(X), X)
    if moments is None or not moments.n:
        return
    assert moments.covariance.shape == (X.shape[1],) * 2
    assert (moments.covariance == moments.covariance.T).all() or not np.isfinite(moments.covariance).all()
    model = attempt(lambda X: ICID(trials=10).fit(moments), X)
    if model is not None:
        check_graph(model.adjacency_matrix_, X.shape[1])


@PROFILE
@given(X=tables(), function=st.sampled_from([empirical_precision, fdr_precision, skewness_matrix]))
def test_estimates(X, function):
    found = attempt(function, X)
    if found is not None:
        matrix = found.theta.data if function is not skewness_matrix else found
        assert np.isfinite(matrix).all()


@PROFILE
@given(theta=thetas())
def test_decompose(theta):
    found = attempt(lambda theta: decompose(theta, max_fista_iter=200), theta)
    if found is not None:
        assert found.B.shape == theta.shape
        assert np.isfinite(found.B.data).all()
        assert found.residual >= 0
        assert not found.B.diagonal().any()


@PROFILE
@given(theta=thetas())
def test_eliminate(theta):
    found = attempt(eliminate, theta)
    if found is not None:
        check_graph(found.B, theta.shape[0])
        assert (found.noise_variances > 0).all()
        assert np.isfinite(found.noise_variances).all()


@PROFILE
@given(theta=thetas())
def test_a_given_theta(theta):
    model = attempt(lambda theta: ICID(precision="precomputed").fit(theta), theta)
    if model is not None:
        check_graph(model.adjacency_matrix_, theta.shape[0])


@PROFILE
@given(B=thetas(), method=st.sampled_from(["greedy", "exptrace"]))
def test_projection(B, method):
    found = attempt(lambda B: project_to_dag(B, method=method), B)
    if found is not None:
        check_graph(found, B.shape[0])


def test_nearly_collinear_columns_are_told_of():
    X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=1), 500, random_state=1)
    noise = np.random.default_rng(0).normal(size=500)
    nearly = np.column_stack([X, X[:, 0] + X[:, 1] + 8e-5 * noise])
    with pytest.warns(UserWarning, match=r"nearly a linear combination of .*condition number .*ridge=1e-6"):
        ICID().fit(nearly)
    exact = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.raises(ValueError, match=r"linear combination of 0, 1; .*ridge=1e-6"):
        ICID().fit(exact)


@pytest.mark.parametrize("precision", ["fdr", "empirical"])
def test_a_ridge_takes_collinear_columns_and_is_told(precision):
    X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=1), 500, random_state=1)
    double = np.column_stack([X, X[:, 0]])
    model = ICID(precision=precision, ridge=1e-4).fit(double)
    assert model.info_["ridge"] == 1e-4
    np.testing.assert_allclose(model.covariance_.diagonal(), double.var(axis=0) * (1 + 1e-4))
    for table in (X, Moments().update(X)):
        without, tiny = ICID().fit(table), ICID(ridge=1e-9).fit(table)
        assert without.info_["ridge"] == 0.0
        np.testing.assert_allclose(
            tiny.adjacency_matrix_.toarray(), without.adjacency_matrix_.toarray(), rtol=1e-6, atol=1e-8
        )

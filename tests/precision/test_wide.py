"""Fits that store nothing of size d × d, with the number of variables from which on they do so brought down."""

from __future__ import annotations

import pickle
import signal
import tracemalloc
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from icid_rs import ICID, _core, datasets, lasso_precision, metrics
from icid_rs.precision import estimate as estimation
from icid_rs.precision import neighbourhood as neighbours
from icid_rs.precision.standardise import standardise
from tests.helpers.interrupts import assert_ends_a_call
from tests.helpers.problems import model


@pytest.fixture
def wide(monkeypatch):
    def from_columns(least: int) -> None:
        monkeypatch.setattr(neighbours, "WIDE", least)
        monkeypatch.setattr(estimation, "WIDE", least)

    from_columns(50)
    return from_columns


def unequal(d: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A graph with unequal noise variances, and standardised columns in random order."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, 1, random_state=rng)
    X = datasets.sample_sem(B, n, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    columns = rng.permutation(d)
    X = X[:, columns]
    return B[columns][:, columns].toarray(), (X - X.mean(axis=0)) / X.std(axis=0)


def test_a_graph_from_sparse_correlations(wide):
    B, X = model(200, 150, 0)
    fitted = ICID().fit(X)
    score = metrics.count_accuracy(B, fitted.adjacency_matrix_)
    assert score["tpr"] >= 0.85
    assert score["fdr"] <= 0.1
    assert sp.issparse(fitted.covariance_)
    assert fitted.info_["noise"] == "equal"
    residual = (X - fitted.location_) - (X - fitted.location_) @ fitted.adjacency_matrix_
    np.testing.assert_allclose(fitted.noise_variances_, (residual**2).mean(axis=0), rtol=1e-9)


def test_the_class_is_the_one_of_a_search_with_all_correlations(wide):
    same = 0
    for seed in range(6):
        X = unequal(300, 400, seed)[1]
        wide(50)
        sparse = ICID(stability=None).fit(X)
        wide(1000)
        dense = ICID(stability=None).fit(X)
        assert sp.issparse(sparse.covariance_)
        assert not sp.issparse(dense.covariance_)
        same += ((sparse.cpdag_ != 0) != (dense.cpdag_ != 0)).nnz == 0
        assert sparse.info_["noise"] == dense.info_["noise"] == "unequal"
        assert sparse.info_["refinement"]["score"] - dense.info_["refinement"]["score"] < 30
    assert same >= 5


def test_unequal_noise_and_shapes_are_noticed(wide):
    X = unequal(120, 400, 0)[1]
    assert ICID().fit(X).info_["noise"] == "unequal"
    B = datasets.random_dag(120, 1, random_state=0)
    X = datasets.sample_sem(B, 1000, noise="exponential", random_state=0)
    fitted = ICID(precision="lasso", noise="unequal").fit(X)
    assert not fitted.info_["choices"]["residuals"]["gaussian"]
    assert metrics.count_accuracy(B, fitted.adjacency_matrix_)["shd"] <= 6


def test_a_parent_that_is_hardly_correlated_is_found(wide):
    """The effect of 5 on 4 is small beside those of other parents, but large beside the noise."""
    d, n = 60, 2000
    B = np.zeros((d, d))
    B[[6, 7, 8, 9], 4], B[5, 4] = 5.0, 0.4
    X = datasets.sample_sem(B, n, random_state=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    correlations = np.abs(np.corrcoef(Z.T))
    assert correlations[4, 5] < np.tanh(4 / np.sqrt(n - 3))
    fitted = ICID(precision="lasso", noise="unequal").fit(Z)
    found = fitted.adjacency_matrix_.toarray() != 0
    assert np.array_equal(found | found.T, (B != 0) | (B != 0).T)


@pytest.mark.parametrize("refine", ["auto", "order", "search", None])
@pytest.mark.parametrize(
    "parameters",
    [
        {"required": [(3, 40), (40, 7)], "forbidden": [(1, 2), (2, 1)]},
        {"tiers": [range(30, 80), range(30)]},
        {"tiers": [range(20), range(40, 60)], "required": [(0, 79)]},
    ],
    ids=["edges", "tiers", "some tiers"],
)
def test_knowledge_is_respected(wide, parameters, refine):
    X = unequal(80, 70, 1)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ICID(refine=refine, **parameters).fit(X)
    B = fitted.adjacency_matrix_
    assert sp.issparse(fitted.covariance_)
    assert all(B[cause, effect] != 0 for cause, effect in parameters.get("required", []))
    assert all(B[cause, effect] == 0 for cause, effect in parameters.get("forbidden", []))
    tiers = [list(tier) for tier in parameters.get("tiers", [])]
    for early, late in pairwise(tiers):
        assert B[late][:, early].nnz == 0
    places = np.argsort(fitted.causal_order_)
    rows, columns = B.nonzero()
    assert (places[rows] < places[columns]).all()


def test_precision(wide):
    X = model(120, 80, 1)[1]
    estimate = lasso_precision(X)
    theta = estimate.theta.toarray()
    assert np.array_equal(theta, theta.T)
    assert np.linalg.eigvalsh(theta)[0] > 0
    covariance = estimate.covariance.toarray()
    exact = np.cov(X.T, bias=True)
    np.testing.assert_allclose(covariance[covariance != 0], exact[covariance != 0], rtol=1e-9)
    left_out = np.abs(np.corrcoef(X.T)[covariance == 0])
    assert left_out.max() <= np.sqrt(np.log(120) / 80)
    some = np.array([3, 90, 17])
    np.testing.assert_allclose(estimate.covariance_among(some), exact[np.ix_(some, some)], rtol=1e-9, atol=1e-12)
    assert np.array_equal(pickle.loads(pickle.dumps(estimate)).theta.data, estimate.theta.data)


def test_same_bits_for_any_number_of_threads(wide):
    X = unequal(200, 80, 2)[1]
    first, *others = (lasso_precision(X, n_threads=threads).theta for threads in (1, 2, 4))
    assert all(np.array_equal(first.data, other.data) for other in others)
    one, two = (ICID(n_threads=threads).fit(X) for threads in (1, 2))
    assert np.array_equal(one.adjacency_matrix_.toarray(), two.adjacency_matrix_.toarray())
    assert np.array_equal(one.causal_order_, two.causal_order_)


def test_the_order_of_columns_does_not_matter(wide):
    X = unequal(150, 200, 3)[1]
    columns = np.random.default_rng(0).permutation(150)
    one, other = ICID().fit(X).cpdag_ != 0, ICID().fit(X[:, columns]).cpdag_ != 0
    assert (one[columns][:, columns] != other).nnz == 0


def test_no_matrix_of_all_pairs(wide):
    """Memory beside the table, as Python sees it: two copies of it, and what is sparse."""
    X = np.random.default_rng(0).normal(size=(40, 3000))
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ICID().fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 3000 * 8 / 3


def test_too_many_correlations_are_refused_before_they_are_stored(wide):
    """All 150 000² correlations are above the cut: a terabyte."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 150_000))
    with pytest.raises(MemoryError, match=r"^the correlations above the cut needs \d{13} bytes"):
        lasso_precision(X)


def test_other_parameters(wide):
    X = model(60, 100, 3)[1]
    assert ICID(threshold=0.2, noise_variances=1.0).fit(X).noise_variances_.shape == (60,)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        assert ICID(time_limit=0.0, noise="unequal").fit(X).adjacency_matrix_.shape == (60, 60)
    with pytest.raises(ValueError, match="columns 3 and 60 are the same"):
        lasso_precision(np.column_stack([X, X[:, 3]]))


def test_a_signal_ends_the_computation():
    X = np.random.default_rng(0).normal(size=(500, 20_000))
    estimate = partial(_core.wide_precision, variances=np.ones(20_000), samples=500)
    values = standardise(X, X.mean(axis=0), X.std(axis=0))
    assert_ends_a_call(signal.SIGINT, KeyboardInterrupt, estimate, values)

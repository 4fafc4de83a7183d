"""The inflation of the null, and the penalty that follows from it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2

from icid_rs import ICID, _core
from icid_rs._util.validation import csr_parts
from icid_rs.learning.calibration import calibrate
from tests.helpers.problems import table


def null_inflation(B, covariance: np.ndarray, n: int) -> float:
    nothing = csr_parts(sp.csr_array(np.eye(len(covariance))))
    covariance = np.ascontiguousarray(covariance)
    searcher = _core.Searcher(covariance, nothing, None, samples=n, knowledge=None, n_threads=None)
    B = sp.csr_array(B)
    B.sort_indices()
    return searcher.null_inflation(csr_parts(B))


def test_the_null_is_inflated_where_the_model_is_rough():
    _, X = table(40, 1, 3000, 0)
    model = ICID(stability=None).fit(X)
    assert model.info_["choices"]["penalty"]["inflation"] < 1.3
    # A small common cause of everything, which no edge stands for.
    rough = X + 0.2 * np.random.default_rng(0).normal(size=(3000, 1))
    assert null_inflation(model.adjacency_matrix_, np.cov(rough, rowvar=False), 3000) > 3


def test_the_null_is_that_of_residuals_without_an_edge():
    B, X = table(30, 1, 500, 0, equal=True)
    correlation = np.corrcoef(X - X @ B, rowvar=False)
    apart = np.triu((B + B.T).toarray() == 0, 1)
    tail = np.quantile(500 * correlation[apart] ** 2, 0.99)
    expected = max(1.0, tail / chi2.isf(0.01, 1))
    assert null_inflation(B, np.cov(X, rowvar=False), 500) == pytest.approx(expected, rel=1e-9)


def test_some_residuals_stand_for_very_many():
    d, n = 1300, 2000
    B, X = table(d, 1, n, 0, equal=True)
    X = X + 0.2 * np.random.default_rng(0).normal(size=(n, 1))
    rough = np.cov(X, rowvar=False)
    some = null_inflation(B, rough, n)
    squares = n * np.corrcoef(X - X @ B, rowvar=False)[np.triu((B + B.T).toarray() == 0, 1)] ** 2
    assert some == pytest.approx(np.quantile(squares, 0.99) / chi2.isf(0.01, 1), rel=0.15)
    P = np.random.default_rng(1).permutation(d)
    assert null_inflation(B[P][:, P], rough[np.ix_(P, P)], n) == pytest.approx(some, rel=1e-9)


@pytest.mark.parametrize(("degree", "n", "noise"), [(8, 1000, "exponential"), (4, 100, "gaussian")])
def test_the_penalty_does_not_run_away_on_dense_graphs(degree, n, noise):
    """Edges that are dropped make residuals look worse, which must not drop more of them."""
    B, X = table(30, degree, n, 1, noise, equal=noise == "gaussian")
    model = ICID(stability=None).fit(X)
    assert model.info_["choices"]["penalty"]["inflation"] < 1.3
    assert model.adjacency_matrix_.nnz > B.nnz / 2


class Stub:
    """Fits with given numbers of edges, and a searcher that finds given inflations."""

    def __init__(self, inflations: list[float], edges: list[int]) -> None:
        self.inflations, self.edges, self.penalties = iter(inflations), iter(edges), []
        self.first = self.fitted()

    def fitted(self) -> SimpleNamespace:
        return SimpleNamespace(sem=SimpleNamespace(B=sp.csr_array(np.diag(np.ones(next(self.edges))))))

    def null_inflation(self, _: object) -> float:
        return next(self.inflations)

    def fit(self, penalty: float) -> SimpleNamespace:
        self.penalties.append(penalty)
        self.last = self.fitted()
        return self.last


@pytest.mark.parametrize(
    ("inflations", "edges", "penalties"),
    [
        ([1.0], [8], []),
        # A tenth more is not worth another fit.
        ([1.1], [8], []),
        ([1.5, 1.5], [8, 6], [1.5]),
        ([1.5, 1.65], [8, 6], [1.5]),
        ([1.5, 2.0, 1.9], [8, 6, 5], [1.5, 2.0]),
        # A quarter of the edges is enough.
        ([3.0, 3.0], [8, 2], [3.0]),
    ],
)
def test_an_inflation_that_explains_itself_is_believed(inflations, edges, penalties):
    stub = Stub(inflations, edges)
    found, inflation = calibrate(stub.first, stub.fit, stub)
    assert stub.penalties == penalties
    assert inflation == (penalties[-1] if penalties else 1.0)
    assert found is (stub.last if penalties else stub.first)


@pytest.mark.parametrize(
    ("inflations", "edges", "penalties"),
    [
        ([1.5, 2.0, 3.0, 4.5], [8, 7, 6, 5, 4], [1.5, 2.0, 3.0, 4.5]),
        ([3.0], [8, 1], [3.0]),
        ([1.5, 3.0], [8, 6, 1], [1.5, 3.0]),
        ([1.5, 2.0, 4.6, 4.6], [8, 7, 6], [1.5, 2.0]),
    ],
    ids=["runs away", "few edges left", "few edges left later", "three times the first"],
)
def test_an_inflation_that_runs_away_is_not(inflations, edges, penalties):
    stub = Stub(inflations, edges)
    assert calibrate(stub.first, stub.fit, stub) == (stub.first, 1.0)
    assert stub.penalties == penalties

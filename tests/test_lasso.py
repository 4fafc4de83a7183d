"""Neighbourhood selection, and the fit where there are few rows."""

from __future__ import annotations

import os
import signal
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import ICID, Moments, _core, datasets, lasso_precision, metrics
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.precision import estimate as estimation
from icid_rs.precision import neighbourhood as neighbours
from icid_rs.precision.covariance import Covariance
from icid_rs.precision.neighbourhood import neighbourhood_precision, regress_on_rows, standardise, standardised_root


def model(d: int, n: int, seed: int, degree: int = 1):
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, random_state=rng)
    columns = rng.permutation(d)
    return B[columns][:, columns], X[:, columns]


def values_of(X: np.ndarray) -> np.ndarray:
    return standardise(X, X.mean(axis=0), X.std(axis=0))


class TestStepwise:
    def test_neighbours_stand_the_test_and_no_others_do(self):
        n, d = 60, 40
        X = model(d, n, 3)[1]
        values = values_of(X)
        penalty = float(np.log(n) + 2 * np.log(d))
        start, covariance = lasso_precision(X).theta, sp.csr_array(np.cov(X.T, bias=True))

        def earned(j: int, i: int, others: list[int]) -> float:
            basis = np.linalg.qr(values[others].T)[0] if others else np.zeros((n, 0))
            x, y = (values[k] - basis @ (basis.T @ values[k]) for k in (i, j))
            r = x @ y / np.sqrt((x @ x) * (y @ y))
            return float((n - len(others) - 3) * np.arctanh(r) ** 2)

        for j in range(d):
            # The last variable of an order is regressed on all others.
            order = [*(i for i in range(d) if i != j), j]
            fit = regress_on_rows(values, covariance, start, order, samples=n, penalty=penalty)
            chosen = fit.B.tocsc()[:, [j]].nonzero()[0].tolist()
            for i in chosen:
                assert earned(j, i, [k for k in chosen if k != i]) >= penalty
            residual = values[j] - values[chosen].T @ np.linalg.lstsq(values[chosen].T, values[j], rcond=None)[0]
            near = np.argsort(-np.abs(values @ residual))[:8]
            for i in set(near.tolist()) - {j, *chosen}:
                assert earned(j, i, chosen) < penalty


class TestPrecision:
    def test_units_do_not_matter(self):
        X = model(50, 30, 0)[1]
        units = np.random.default_rng(0).uniform(1e-3, 1e3, 50)
        theta, scaled = lasso_precision(X).theta, lasso_precision(X * units + 7.0).theta
        np.testing.assert_allclose(
            scaled.toarray() * np.outer(units, units), theta.toarray(), rtol=1e-6, atol=1e-8 * theta.max()
        )

    def test_the_order_of_columns_does_not_matter(self):
        X = model(60, 40, 1)[1]
        columns = np.random.default_rng(1).permutation(60)
        theta, permuted = lasso_precision(X).theta.toarray(), lasso_precision(X[:, columns]).theta.toarray()
        expected = theta[np.ix_(columns, columns)]
        assert np.array_equal(permuted != 0, expected != 0)
        # Mirror images and variables come one after another: as close as the fit has converged.
        np.testing.assert_allclose(permuted, expected, atol=0.02 * expected.max())

    def test_same_bits_for_any_number_of_threads(self):
        X = model(150, 60, 2)[1]
        first = lasso_precision(X, n_threads=1).theta
        for threads in (2, 4):
            again = lasso_precision(X, n_threads=threads).theta
            assert np.array_equal(again.data, first.data)
            assert np.array_equal(again.indices, first.indices)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(1, 80), st.integers(5, 60), st.integers(0, 1000))
    def test_positive_definite_and_symmetric(self, d, n, seed):
        theta = lasso_precision(model(d, n, seed, degree=min(2, (d - 1) // 2))[1]).theta.toarray()
        assert np.array_equal(theta, theta.T)
        assert np.linalg.eigvalsh(theta)[0] > 0

    def test_the_fit_agrees_with_the_correlations_on_its_support(self):
        """What defines the fit of greatest likelihood."""
        n = 80
        X = model(30, n, 4)[1]
        theta = lasso_precision(X).theta.toarray()
        covariance = np.linalg.inv(theta)
        scale = X.std(axis=0)
        fitted = covariance / np.outer(scale, scale)
        sample = (1 - 1 / n) * np.corrcoef(X.T) + np.eye(30) / n
        np.testing.assert_allclose(fitted[theta != 0], sample[theta != 0], atol=5e-3)

    def test_blankets_are_found(self):
        B, X = model(200, 200, 0)
        truth = datasets.sem_precision(B).toarray() != 0
        found = lasso_precision(X).theta.toarray() != 0
        np.fill_diagonal(truth, False)
        np.fill_diagonal(found, False)
        assert (found & ~truth).sum() <= 0.05 * found.sum()
        assert (found & truth).sum() >= 0.75 * truth.sum()

    def test_orthogonal_blocks_do_not_affect_each_other(self):
        n = 64

        def theta(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            """Estimate from rows in which the blocks vary by turns."""
            blocks = [
                [first, np.repeat(second.mean(0)[None], n, 0)],
                [np.repeat(first.mean(0)[None], n, 0), second],
            ]
            return lasso_precision(np.block(blocks)).theta.toarray()

        first, second = model(10, n, 5)[1], model(12, n, 6)[1]
        together = theta(first, second)
        assert not together[:10, 10:].any()
        assert (together[:10, :10] != 0).sum() > 10
        np.testing.assert_allclose(theta(first, model(12, n, 7)[1])[:10, :10], together[:10, :10], rtol=1e-9)
        np.testing.assert_allclose(theta(model(10, n, 8)[1], second)[10:, 10:], together[10:, 10:], rtol=1e-9)

    def test_a_covariance_is_as_good_as_rows(self):
        X = model(40, 60, 7)[1]
        covariance = Covariance(np.cov(X.T, bias=True), X.mean(axis=0), 60)
        by_rows, by_root = (
            neighbourhood_precision(values, covariance, range(40), Stopwatch()).theta
            for values in (values_of(X), standardised_root(covariance.matrix))
        )
        assert ((by_rows != 0) != (by_root != 0)).nnz == 0
        np.testing.assert_allclose(by_root.toarray(), by_rows.toarray(), rtol=1e-8)

    def test_independent_columns_have_few_neighbours(self):
        theta = lasso_precision(np.random.default_rng(0).normal(size=(50, 300))).theta
        assert (theta.nnz - 300) / 2 <= 1e-3 * 300 * 299 / 2

    @pytest.mark.parametrize("n", [1, 2, 3, 4])
    def test_too_few_rows(self, n):
        X = np.random.default_rng(0).normal(size=(n, 10))
        with pytest.raises(ValueError, match=r"constant column|n_samples = |same up to scale"):
            lasso_precision(X)
        with pytest.raises(ValueError, match="n_samples = "):
            ICID().fit(X)

    def test_bad_tables(self):
        X = np.random.default_rng(0).normal(size=(10, 20))
        with pytest.raises(ValueError, match="columns 3 and 20 are the same up to scale; drop one"):
            lasso_precision(np.column_stack([X, 2.0 - X[:, 3]]))
        with pytest.raises(ValueError, match="row 2, column 5"):
            lasso_precision(np.where(np.arange(200).reshape(10, 20) == 45, np.nan, X))
        with pytest.raises(ValueError, match=r"constant column\(s\) 4"):
            lasso_precision(np.where(np.arange(20) == 4, 1.0, X))


class TestFit:
    @pytest.mark.parametrize("seed", range(3))
    def test_fewer_rows_than_columns(self, seed):
        B, X = model(150, 100, seed)
        fitted = ICID().fit(X)
        score = metrics.count_accuracy(B, fitted.adjacency_matrix_)
        assert score["tpr"] >= 0.85
        assert score["fdr"] <= 0.1
        assert fitted.info_["precision"] == "lasso"
        assert fitted.info_["choices"]["precision"]["chosen"] == "lasso"
        assert "100 samples of 150 variables" in fitted.info_["choices"]["precision"]["reason"]
        assert np.linalg.eigvalsh(fitted.precision_.toarray())[0] > 0

    def test_auto_by_rows(self):
        X = model(20, 100, 0)[1]
        assert ICID().fit(X).info_["precision"] == "fdr"
        assert ICID().fit(X[:30]).info_["precision"] == "lasso"

    @pytest.mark.parametrize(
        "parameters",
        [
            {"noise": "equal"},
            {"noise": "unequal"},
            {"noise_variances": 1.0},
            {"refine": "order"},
            {"refine": "search", "trials": 20},
            {"refine": None},
            {"dag": None},
            {"tiers": [list(range(20)), list(range(20, 40))]},
            {"required": [(0, 1)], "forbidden": [(2, 3)]},
        ],
        ids=str,
    )
    def test_every_way(self, parameters):
        X = model(40, 30, 0)[1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = ICID(**parameters).fit(X)
        assert fitted.adjacency_matrix_.shape == (40, 40)
        if "required" in parameters:
            assert fitted.adjacency_matrix_[0, 1] != 0
            assert fitted.adjacency_matrix_[2, 3] == 0
        if "tiers" in parameters:
            assert not fitted.adjacency_matrix_[20:][:, :20].nnz

    def test_standardised_columns(self):
        X = model(60, 40, 1)[1]
        fitted = ICID().fit((X - X.mean(axis=0)) / X.std(axis=0))
        assert fitted.adjacency_matrix_.nnz > 20

    def test_from_moments(self):
        X = model(40, 30, 2)[1]
        table, moments = ICID().fit(X), ICID().fit(Moments().update(X))
        assert ((table.adjacency_matrix_ != 0) != (moments.adjacency_matrix_ != 0)).nnz == 0

    def test_an_empty_graph_comes_with_a_warning(self):
        X = np.random.default_rng(1).normal(size=(10, 30))
        with pytest.warns(UserWarning, match="the graph is empty"):
            ICID().fit(X)

    def test_duplicates_are_named(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(model(30, 20, 0)[1], columns=[f"g{k}" for k in range(30)])
        frame["copy"] = -frame["g4"]
        with pytest.raises(ValueError, match="'g4' and 'copy' are the same up to scale"):
            ICID().fit(frame)


class TestLarge:
    """What happens above the number of variables from which on nothing is of size d × d, brought down."""

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setattr(neighbours, "LARGE", 50)
        monkeypatch.setattr(estimation, "LARGE", 50)

    def test_a_graph_from_sparse_correlations(self):
        B, X = model(200, 150, 0)
        fitted = ICID().fit(X)
        score = metrics.count_accuracy(B, fitted.adjacency_matrix_)
        assert score["tpr"] >= 0.85
        assert score["fdr"] <= 0.1
        assert sp.issparse(fitted.covariance_)
        assert fitted.info_["refine"] == "order"
        assert fitted.info_["choices"]["search"] == "left out: 200 variables are too many"
        residual = (X - fitted.location_) - (X - fitted.location_) @ fitted.adjacency_matrix_
        np.testing.assert_allclose(fitted.noise_variances_, (residual**2).mean(axis=0), rtol=1e-9)

    def test_precision(self):
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

    def test_same_bits_for_any_number_of_threads(self):
        X = model(200, 80, 2)[1]
        first, *others = (lasso_precision(X, n_threads=threads).theta for threads in (1, 2, 4))
        assert all(np.array_equal(first.data, other.data) for other in others)

    def test_no_matrix_of_all_pairs(self):
        """Memory beside the table, as Python sees it: two copies of it, and what is sparse."""
        X = np.random.default_rng(0).normal(size=(40, 3000))
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ICID().fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3000 * 3000 * 8 / 3

    def test_too_many_correlations_are_refused_before_they_are_stored(self):
        """All 150 000² correlations are above the cut: a terabyte."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 150_000))
        with pytest.raises(MemoryError, match=r"^the correlations above the cut needs \d{13} bytes"):
            lasso_precision(X)

    def test_other_parameters(self):
        X = model(60, 100, 3)[1]
        with pytest.raises(ValueError, match="too many for a search"):
            ICID(refine="search").fit(X)
        with pytest.raises(ValueError, match="required, forbidden and tiers"):
            ICID(required=[(0, 1)]).fit(X)
        assert ICID(threshold=0.2, noise_variances=1.0).fit(X).noise_variances_.shape == (60,)
        with pytest.raises(ValueError, match="columns 3 and 60 are the same"):
            lasso_precision(np.column_stack([X, X[:, 3]]))

    def test_unequal_noise_is_noticed(self):
        rng = np.random.default_rng(0)
        B = datasets.random_dag(100, 1, random_state=0)
        X = datasets.sample_sem(B, 300, noise_variances=10.0 ** rng.uniform(-2, 2, 100), random_state=0)
        with pytest.warns(UserWarning, match="do not look equal"):
            ICID().fit(X)

    def test_equal_noise_is_not_doubted_for_causes_that_were_missed(self):
        B, X = model(1000, 150, 0)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*do not look equal")
            fitted = ICID().fit(X)
        assert metrics.count_accuracy(B, fitted.adjacency_matrix_)["tpr"] < 0.99
        assert fitted.noise_variances_.max() > 3


def test_ctrl_c_is_answered_at_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4000)) + rng.normal(size=(400, 1))
    values, sent = values_of(X), []

    def interrupt() -> None:
        time.sleep(0.5)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        # As if from 20 000 rows: the smaller penalty makes the regressions long.
        _core.neighbourhood_precision(values, np.ones(4000), 20_000)
    elapsed = time.monotonic() - sent[0]
    thread.join()
    assert elapsed < 1.0

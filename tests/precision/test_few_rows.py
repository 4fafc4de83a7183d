"""The fit where there are few rows, or very many columns."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, Moments, datasets, lasso_precision, metrics
from icid_rs.precision import estimate as estimation
from icid_rs.precision import neighbourhood as neighbours
from tests.helpers.needs import need
from tests.helpers.problems import model


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
        pandas = need("pandas")
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

"""The fit where there are few rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from icid_rs import ICID, Moments, metrics
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

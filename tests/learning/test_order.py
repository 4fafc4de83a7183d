"""Graphs along an order, and the exact decomposition of a given Θ."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.covariance import LedoitWolf

from icid_rs import ICID, datasets, fdr_precision, metrics


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    B = datasets.random_dag(30, 1, random_state=1)
    return B.toarray(), datasets.sample_sem(B, 3000, random_state=1)


class TestRefineByOrder:
    @pytest.mark.parametrize(("degree", "n"), [(1, 300), (1, 1000), (2, 1000)])
    def test_equal_variances_give_the_graph(self, degree, n):
        B = datasets.random_dag(100, degree, random_state=degree)
        model = ICID(refine="order").fit(datasets.sample_sem(B, n, random_state=n))
        assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2
        np.testing.assert_allclose(model.noise_variances_, 1.0, atol=4 * np.sqrt(2 / n))
        refinement = model.info_["refinement"]
        assert refinement["order"] == min(refinement["scores"], key=refinement["scores"].get)

    def test_known_variances_give_the_graph(self):
        B, variances = datasets.rescale_sem(datasets.random_dag(60, 2, random_state=0), 1.0, 1.0)
        X = datasets.sample_sem(B, 3000, noise_variances=variances, random_state=0)
        known = ICID(noise_variances=variances).fit(X)
        assert metrics.count_accuracy(B, known.adjacency_matrix_)["shd"] <= 2
        np.testing.assert_allclose(known.noise_variances_, variances, rtol=0.2)

    def test_weights_are_least_squares_along_the_order(self, data):
        _, X = data
        model = ICID(refine="order").fit(X)
        B, centred = model.adjacency_matrix_.tocsc(), X - X.mean(axis=0)
        for j in range(30):
            causes = B.indices[B.indptr[j] : B.indptr[j + 1]]
            weights, *_ = np.linalg.lstsq(centred[:, causes], centred[:, j], rcond=None)
            np.testing.assert_allclose(B.data[B.indptr[j] : B.indptr[j + 1]], weights, atol=1e-9)
            residual = centred[:, j] - centred[:, causes] @ weights
            assert model.noise_variances_[j] == pytest.approx(np.mean(residual**2))
        rank = np.argsort(model.causal_order_)
        rows, columns = model.adjacency_matrix_.nonzero()
        assert (rank[rows] < rank[columns]).all()

    def test_causes_that_cancel_in_theta_are_found(self):
        """1 → 2 is worth 0.6 − 0.5 · 1.2 = 0 in Θ: 1 and 2 also have the common effect 3."""
        B = np.zeros((4, 4))
        B[1, 2], B[1, 3], B[2, 3], B[0, 1] = 0.6, 0.5, 1.2, 1.0
        theta = datasets.sem_precision(sp.csr_array(B)).toarray()
        assert abs(theta[1, 2]) < 1e-12
        X = datasets.sample_sem(B, 5000, random_state=0)
        assert metrics.count_accuracy(B, ICID().fit(X).adjacency_matrix_)["shd"] == 0

    def test_columns_in_another_order_give_the_same_graph(self, data):
        _, X = data
        P = np.random.default_rng(0).permutation(30)
        plain, permuted = ICID().fit(X), ICID().fit(X[:, P])
        np.testing.assert_allclose(
            plain.adjacency_matrix_.toarray()[np.ix_(P, P)], permuted.adjacency_matrix_.toarray(), atol=1e-9
        )

    def test_a_given_theta_is_decomposed_exactly(self):
        B, variances = datasets.rescale_sem(datasets.random_dag(40, 2, random_state=3), 1.0, 0.6)
        theta = datasets.sem_precision(B, variances)
        model = ICID(precision="precomputed", noise_variances=variances).fit(theta)
        assert abs(model.adjacency_matrix_ - B).max() < 1e-9
        np.testing.assert_allclose(model.noise_variances_, variances)

    def test_a_given_estimate_is_not_decomposed_exactly(self):
        """Its errors would become edges."""
        B = 0.4 * datasets.random_dag(30, 1, random_state=1)
        X = datasets.sample_sem(B, 2000, random_state=1)
        theta = np.linalg.inv(np.cov(X, rowvar=False))
        model = ICID(precision="precomputed").fit(theta)
        assert model.info_["refine"] is None
        exact = ICID(precision="precomputed", refine="order").fit(theta)
        A = np.eye(30) - exact.adjacency_matrix_.toarray()
        np.testing.assert_allclose(A @ np.diag(1 / exact.noise_variances_) @ A.T, theta, atol=1e-9)

    def test_a_decomposition_that_is_the_result_is_not_cut_short(self):
        """Where it only proposes an order it stops early."""
        X = datasets.sample_sem(datasets.random_dag(50, 3, random_state=0), 1000, random_state=0)
        theta = np.linalg.inv(np.cov(X, rowvar=False))
        given = {"precision": "precomputed", "l1_weight": 0.1}
        model, alone = ICID(**given).fit(theta), ICID(**given, refine=None).fit(theta)
        assert model.info_["refine"] is None
        assert model.info_["decomposition"]["residual"] == alone.info_["decomposition"]["residual"]
        assert (model.adjacency_matrix_ != alone.adjacency_matrix_).nnz == 0

    def test_an_exact_decomposition_with_no_more_edges_is_preferred(self):
        """With noise variances that are slightly wrong it finds what the decomposition does not."""
        exact, alone = 0, 0
        for seed in range(4):
            B = datasets.random_dag(50, 2, random_state=seed)
            wrong = np.exp(np.random.default_rng(seed).normal(scale=0.1, size=50))
            given = {"precision": "precomputed", "noise_variances": wrong, "threshold": 0.1}
            theta = datasets.sem_precision(B)
            exact += metrics.count_accuracy(B, ICID(**given).fit(theta).adjacency_matrix_)["shd"]
            alone += metrics.count_accuracy(B, ICID(**given, refine=None).fit(theta).adjacency_matrix_)["shd"]
        assert exact <= 8
        assert exact < alone / 4

    def test_an_indefinite_estimate_does_not_matter(self):
        class Cut:
            def get_params(self, deep=True):
                return {}

            def fit(self, X):
                self.precision_ = fdr_precision(X).theta.toarray()
                np.fill_diagonal(self.precision_, 0.2 * self.precision_.diagonal())
                return self

        B = datasets.random_dag(30, 1, random_state=1)
        X = datasets.sample_sem(B, 1000, random_state=1)
        with pytest.warns(RuntimeWarning, match="not positive definite"):
            model = ICID(precision=Cut()).fit(X)
        assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2

    def test_a_theta_without_zeros(self):
        B = datasets.random_dag(150, 1, random_state=1)
        model = ICID(precision=LedoitWolf()).fit(datasets.sample_sem(B, 1500, random_state=1))
        assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 10

    def test_too_few_rows(self):
        X = np.random.default_rng(0).normal(size=(25, 24)) @ (np.eye(24) + 0.5 * np.eye(24, k=1))
        with pytest.raises(ValueError, match="at least 27 rows; use precision='lasso'"):
            ICID(precision=LedoitWolf(), refine="order").fit(X)
        assert ICID(precision=LedoitWolf()).fit(X).info_["refine"] is None

    def test_a_raw_matrix_is_not_refined(self, data):
        _, X = data
        assert ICID(dag=None).fit(X).info_["refine"] is None
        with pytest.raises(ValueError, match="dag=None"):
            ICID(dag=None, refine="order").fit(X)

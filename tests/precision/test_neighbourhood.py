"""Neighbourhood selection, and the fit where there are few rows."""

from __future__ import annotations

import signal
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from icid_rs import ICID, _core, datasets, lasso_precision
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import csr_parts
from icid_rs.precision.covariance import Covariance
from icid_rs.precision.neighbourhood import neighbourhood_precision, select_neighbours, standardise, standardised_root
from tests.helpers.interrupts import call_while, send
from tests.helpers.problems import model


def values_of(X: np.ndarray) -> np.ndarray:
    return standardise(X, X.mean(axis=0), X.std(axis=0))


def lasso(values: np.ndarray, level: float, n_threads: int | None = None) -> np.ndarray:
    indptr, indices, data = _core.scaled_lasso(values, None, level=level, n_threads=n_threads)[0]
    return sp.csr_array((data, indices, indptr), shape=(len(values),) * 2).toarray()


class TestScaledLasso:
    @settings(max_examples=20, deadline=None)
    @given(st.integers(2, 60), st.integers(15, 40), st.integers(0, 1000))
    def test_conditions_of_optimality(self, d, n, seed):
        values = values_of(model(d, n, seed, degree=min(1, (d - 1) // 2))[1])
        level = np.sqrt(np.log(d) / n)
        weights = lasso(values, level)
        residual = values - weights @ values
        penalty = level * np.linalg.norm(residual, axis=1)
        gradient = residual @ values.T
        np.fill_diagonal(gradient, 0.0)
        # A variable that others explain to the last has no noise, which is where the descent stops.
        noisy = penalty > 2e-3 * level
        assert (np.abs(gradient[noisy]) <= 1.002 * penalty[noisy, None]).all()
        rows, columns = np.nonzero(weights * noisy[:, None])
        signed = np.sign(weights[rows, columns]) * penalty[rows]
        np.testing.assert_allclose(gradient[rows, columns], signed, atol=2e-3 * level)
        assert not weights.diagonal().any()

    @pytest.mark.parametrize("seed", range(3))
    def test_agrees_with_scikit_learn(self, seed):
        n = 60
        X = model(25, n, seed)[1]
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        values, level = values_of(X), 0.25
        weights = lasso(values, level)
        noise = np.linalg.norm(values - weights @ values, axis=1)
        for j in range(25):
            others = np.delete(np.arange(25), j)
            expected = Lasso(alpha=level * noise[j], tol=1e-10, max_iter=100_000).fit(Z[:, others], Z[:, j])
            np.testing.assert_allclose(weights[j, others], expected.coef_, atol=2e-3)

    def test_same_bits_for_any_number_of_threads(self):
        values = values_of(model(200, 60, 0)[1])
        first = lasso(values, 0.3, 1)
        for threads in (2, 4):
            assert np.array_equal(lasso(values, 0.3, threads), first)

    @pytest.mark.parametrize("level", [0.0, -1.0, np.nan])
    def test_bad_level(self, level):
        with pytest.raises(ValueError, match="level"):
            lasso(np.eye(3), level)


class TestStepwise:
    def test_what_is_found_stands_the_test_and_nothing_else_does(self):
        n, d = 60, 40
        values = values_of(model(d, n, 3)[1])
        penalty = float(np.log(n) + 2 * np.log(d))
        start = csr_parts(sp.csr_array(lasso(values, np.sqrt(np.log(d) / n))))
        (indptr, indices, _), _ = _core.stepwise(
            values, None, start, places=None, samples=n, penalty=penalty, n_threads=1
        )

        def earned(j: int, i: int, others: list[int]) -> float:
            basis = np.linalg.qr(values[others].T)[0] if others else np.zeros((n, 0))
            x, y = (values[k] - basis @ (basis.T @ values[k]) for k in (i, j))
            r = x @ y / np.sqrt((x @ x) * (y @ y))
            return float((n - len(others) - 3) * np.arctanh(r) ** 2)

        for j in range(d):
            chosen = indices[indptr[j] : indptr[j + 1]].tolist()
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

    def test_blocks_apart_and_together(self):
        """Blocks whose rows are orthogonal know nothing of each other."""
        n = 64
        first, second = model(10, n, 5)[1], model(12, n, 6)[1]
        X = np.block([[first, np.repeat(second.mean(0)[None], n, 0)], [np.repeat(first.mean(0)[None], n, 0), second]])
        covariance = np.cov(X.T, bias=True)
        summary = Covariance(covariance, X.mean(axis=0), 2 * n)
        together = neighbourhood_precision(values_of(X), summary, range(22), Stopwatch()).theta.toarray()
        assert not together[:10, 10:].any()
        penalty = np.log(2 * n) + 2 * np.log(22)
        for block in (slice(0, 10), slice(10, 22)):
            values = np.ascontiguousarray(values_of(X)[block])
            # The same penalty as that of the whole.
            weights = sp.csr_array(lasso(values, np.sqrt(np.log(22) / (2 * n))))
            (indptr, indices, data), _ = _core.stepwise(
                values, None, csr_parts(weights), places=None, samples=2 * n, penalty=penalty, n_threads=1
            )
            apart = sp.csr_array((data, indices, indptr), shape=weights.shape).toarray() != 0
            off = together[block, block] != 0
            np.fill_diagonal(off, False)
            assert np.array_equal(apart | apart.T, off)

    def test_a_covariance_is_as_good_as_rows(self):
        X = model(40, 60, 7)[1]
        covariance = np.cov(X.T, bias=True)
        by_rows, by_root = (
            select_neighbours(values, 60, range(40)) for values in (values_of(X), standardised_root(covariance))
        )
        assert (by_rows != by_root).nnz == 0

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


def test_ctrl_c_ends_a_selection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4000)) + rng.normal(size=(400, 1))
    returned = []
    select = partial(_core.scaled_lasso, sparse=None, level=0.02, n_threads=None)
    with pytest.raises(KeyboardInterrupt):
        call_while(select, values_of(X), lambda: send(signal.SIGINT), returned)
    assert returned == []

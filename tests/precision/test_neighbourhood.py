"""Neighbourhood selection, and the fit where there are few rows."""

from __future__ import annotations

import signal
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import ICID, _core, datasets, lasso_precision
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.precision.covariance import Covariance
from icid_rs.precision.neighbourhood import neighbourhood_precision
from icid_rs.precision.standardise import standardise, standardised_root
from tests.helpers.interrupts import assert_ends_a_call
from tests.helpers.problems import model


def values_of(X: np.ndarray) -> np.ndarray:
    return standardise(X, X.mean(axis=0), X.std(axis=0))


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


def test_ctrl_c_ends_a_selection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4000)) + rng.normal(size=(400, 1))
    # As if from 20 000 rows: the smaller penalty makes the regressions long.
    select = partial(_core.neighbourhood_precision, deviations=np.ones(4000), samples=20_000)
    assert_ends_a_call(signal.SIGINT, KeyboardInterrupt, select, values_of(X))

"""Counts of the equivalence classes of resamples."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, fdr_precision
from icid_rs.trust.classes import ClassCounts, count_classes
from icid_rs.trust.resampling import Resampling
from tests.helpers.problems import table

PENALTY = 2.0


def count(X: np.ndarray, resampling: Resampling, n: int, threads: int | None = None) -> ClassCounts:
    fitted = ICID(noise="unequal", penalty=PENALTY).fit(X)
    searcher = fdr_precision(X).searcher(None, threads)
    return count_classes(searcher, X, resampling, n, fitted.causal_order_, PENALTY * np.log(len(X)))


def count_one_by_one(X: np.ndarray, resampling: Resampling, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Fit every resample from the beginning."""
    joined, compelled = np.zeros((2, X.shape[1], X.shape[1]))
    for k in range(n):
        rows = resampling.draw(k)[0]
        mark = ICID(noise="unequal", penalty=PENALTY).fit(X[rows]).cpdag_.toarray() != 0
        joined += mark | mark.T
        compelled += mark & ~mark.T
    return joined, compelled


@pytest.mark.parametrize("subsample", [None, 0.5])
def test_few_variables_are_counted_as_in_separate_fits(subsample):
    X = table(7, 1, 400, 3)[1]
    resampling = Resampling(400, seed=1, subsample=subsample)
    found = count(X, resampling, 12)
    if subsample is None:
        joined, compelled = count_one_by_one(X, resampling, 12)
        np.testing.assert_array_equal(found.joined.toarray(), joined)
        np.testing.assert_array_equal(found.compelled.toarray(), compelled)
    assert (found.joined != found.joined.T).nnz == 0
    assert found.joined.max() <= found.resamples == 12


def test_searches_from_the_graph_of_the_table_find_the_same_stable_directions():
    stable, stable_cold = [], []
    for seed in range(3):
        X = table(25, 2, 500, seed)[1]
        resampling = Resampling(500, seed=0)
        stable.append(count(X, resampling, 20).compelled.toarray() >= 18)
        stable_cold.append(count_one_by_one(X, resampling, 20)[1] >= 18)
    one, two = np.array(stable), np.array(stable_cold)
    assert (one & two).sum() >= 0.95 * max(one.sum(), two.sum()) > 0


def test_counts_depend_neither_on_threads_nor_on_the_order_of_rows():
    X = table(25, 2, 500, 0)[1]
    once = Resampling(500, seed=0)
    one, two = (count(X, once, 6, threads) for threads in (1, 2))
    assert (one.compelled != two.compelled).nnz == 0
    assert (one.joined != two.joined).nnz == 0


def test_errors():
    X = table(7, 1, 400, 3)[1]
    searcher = fdr_precision(X).searcher(None, None)
    order = np.arange(7)
    with pytest.raises(ValueError, match="row"):
        count_classes(searcher, X[:, :5], Resampling(400, seed=0), 2, order, 10.0)
    with pytest.raises(ValueError, match="penalty"):
        count_classes(searcher, X, Resampling(400, seed=0), 2, order, -1.0)
    with pytest.raises(ValueError, match="order"):
        count_classes(searcher, X, Resampling(400, seed=0), 2, order[:3], 10.0)

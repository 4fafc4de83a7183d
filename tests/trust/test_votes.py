"""Votes of resamples."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, fdr_precision
from icid_rs.trust.draws import MomentDraws, RowDraws
from icid_rs.trust.resampling import Resampling
from icid_rs.trust.votes import Votes, Voting, poll
from tests.helpers.problems import table

PENALTY = 2.0
#: A search and nothing else.
PLAIN = {"noise": "unequal", "penalty": PENALTY, "stability": None, "hidden": None, "measurement_error": None}


def count(X: np.ndarray, resampling: Resampling, n: int, threads: int | None = None) -> Votes:
    fitted = ICID(**PLAIN).fit(X)
    searcher = fdr_precision(X).searcher(None, threads)
    return poll(searcher, RowDraws(X, resampling), Voting(fitted.causal_order_, PENALTY * np.log(len(X))), n)


def count_one_by_one(X: np.ndarray, resampling: Resampling, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Fit every resample from the beginning."""
    joined, compelled = np.zeros((2, X.shape[1], X.shape[1]))
    for k in range(n):
        rows = resampling.draw(k)[0]
        mark = ICID(**PLAIN).fit(X[rows]).cpdag_.toarray() != 0
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
        np.testing.assert_array_equal(found.directed.toarray(), compelled)
    assert (found.joined != found.joined.T).nnz == 0
    assert found.joined.max() <= found.resamples == 12


def test_searches_from_the_graph_of_the_table_find_the_same_stable_directions():
    stable, stable_cold = [], []
    for seed in range(3):
        X = table(25, 2, 500, seed)[1]
        resampling = Resampling(500, seed=0)
        stable.append(count(X, resampling, 20).directed.toarray() >= 18)
        stable_cold.append(count_one_by_one(X, resampling, 20)[1] >= 18)
    one, two = np.array(stable), np.array(stable_cold)
    assert (one & two).sum() >= 0.95 * max(one.sum(), two.sum()) > 0


def test_counts_depend_neither_on_threads_nor_on_the_order_of_rows():
    X = table(25, 2, 500, 0)[1]
    once = Resampling(500, seed=0)
    one, two = (count(X, once, 6, threads) for threads in (1, 2))
    assert (one.directed != two.directed).nnz == 0
    assert (one.joined != two.joined).nnz == 0


def test_errors():
    X = table(7, 1, 400, 3)[1]
    searcher = fdr_precision(X).searcher(None, None)
    draws, order = RowDraws(X, Resampling(400, seed=0)), np.arange(7)
    with pytest.raises(ValueError, match="row"):
        poll(searcher, RowDraws(X[:, :5], draws.resampling), Voting(order, 10.0), 2)
    with pytest.raises(ValueError, match="penalty"):
        poll(searcher, draws, Voting(order, -1.0), 2)
    with pytest.raises(ValueError, match="order"):
        poll(searcher, draws, Voting(order[:3], 10.0), 2)
    with pytest.raises(ValueError, match="rows"):
        poll(searcher, MomentDraws(np.cov(X.T), 400, 0), Voting(order, 10.0, shape="negentropy"), 2)


def test_draws_can_be_added_up():
    X = table(7, 1, 400, 3)[1]
    searcher, draws = fdr_precision(X).searcher(None, None), RowDraws(X, Resampling(400, seed=1))
    voting = Voting(np.arange(7), 10.0)
    parts = poll(searcher, draws, voting, 5) + poll(searcher, draws, voting, 12, 5)
    whole = poll(searcher, draws, voting, 12)
    assert parts.resamples == whole.resamples == 12
    np.testing.assert_array_equal(parts.directed.toarray(), whole.directed.toarray())


def test_moments_vote_like_rows():
    X = table(25, 2, 500, 0)[1]
    order = ICID(**PLAIN).fit(X).causal_order_
    searcher, voting = fdr_precision(X).searcher(None, None), Voting(order, PENALTY * np.log(500))
    covariance = np.cov(X.T, bias=True)
    by_rows, by_moments = (
        poll(searcher, draws, voting, 40).directed.toarray() / 40
        for draws in (RowDraws(X, Resampling(500, seed=0)), MomentDraws(covariance, 500, 0))
    )
    assert abs(by_rows - by_moments).mean() < 0.01
    assert ((by_rows >= 0.9) & (by_moments < 0.6)).sum() == ((by_rows < 0.6) & (by_moments >= 0.9)).sum() == 0


def test_rows_in_bags_show_the_same_stable_directions():
    X = table(60, 1, 2000, 0)[1]
    one, two = (count(X, scheme, 20) for scheme in (Resampling(2000, 0), Resampling(2000, 0).in_bags(250)))
    stable = [votes.directed.toarray() >= 18 for votes in (one, two)]
    assert np.logical_and(*stable).sum() >= 0.95 * max(s.sum() for s in stable) > 0


def test_drawn_moments_have_the_variance_of_wishart_matrices():
    covariance, n = np.array([[4.0, 1.0], [1.0, 1.0]]), 50
    drawn = np.concatenate(list(MomentDraws(covariance, n, 0).covariances(0, 4000)))
    np.testing.assert_allclose(drawn.mean(axis=0) * n / (n - 1), [[1, 0.5], [0.5, 1]], atol=0.02)
    np.testing.assert_allclose(drawn.var(axis=0) * n, [[2, 1.25], [1.25, 2]], rtol=0.1)


def test_what_is_removed_takes_its_edges_along():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(1000, 1))
    loadings = np.array([0.8, 0.7, 0.6, 0.5, 0.6])
    X = hidden * loadings + rng.normal(size=(1000, 5)) * np.sqrt(1 - loadings**2)
    searcher, draws = fdr_precision(X).searcher(None, None), RowDraws(X, Resampling(1000, seed=0))
    with_it = poll(searcher, draws, Voting(np.arange(5), 20.0), 20)
    without = poll(searcher, draws, Voting(np.arange(5), 20.0, removed=np.outer(loadings, loadings)), 20)
    assert with_it.joined.sum() > 100 > 20 > without.joined.sum()


def test_shapes_and_known_variances_direct_edges():
    rng = np.random.default_rng(0)
    cause = rng.exponential(size=600)
    X = np.column_stack([5.0 + cause, cause + rng.exponential(size=600)])
    searcher, draws = fdr_precision(X).searcher(None, None), RowDraws(X, Resampling(600, seed=0))
    order = np.arange(2)
    for more in ({"shape": "negentropy"}, {"noise_variances": np.ones(2)}):
        votes = poll(searcher, draws, Voting(order[::-1].copy(), 10.0, **more), 10)
        assert votes.directed.toarray().tolist() == [[0, 10], [0, 0]]
    assert poll(searcher, draws, Voting(order, 10.0), 10).directed.nnz == 0


def test_a_column_that_is_constant_in_a_resample_has_no_edges():
    X = table(4, 1, 200, 0)[1]
    X[:, 3] = 0.0
    X[7, 3] = 1.0
    searcher = fdr_precision(X).searcher(None, None)
    votes = poll(searcher, RowDraws(X, Resampling(200, seed=0)), Voting(np.arange(4), 10.0), 10)
    assert votes.resamples == 10

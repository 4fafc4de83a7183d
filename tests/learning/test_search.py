"""Search over orders, and choices that need no truth."""

from __future__ import annotations

import itertools
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.exceptions import NotFittedError

from icid_rs import ICID, ScaleWarning, _core, datasets, equivalence_class, fdr_precision, metrics
from icid_rs._util.validation import csr_parts
from icid_rs.graph.equivalence import causal_order
from icid_rs.learning import noise_model
from icid_rs.learning.search import BudgetedSearch, Effort, Searched
from icid_rs.trust.sortability import sortability

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parents[3] / "shared" / "data"))


def table(d: int, degree: int, n: int, seed: int, noise: str = "gaussian", *, equal: bool = False):
    """A random model, and standardised data with unequal noise variances unless they are to be equal."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    variances = 1.0 if equal else rng.uniform(0.5, 2.0, d)
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=variances, random_state=rng)
    return B, X if equal else (X - X.mean(axis=0)) / X.std(axis=0)


def search(estimate, n: int, *, penalty: float, values=None, trials=0, patience=None, seed=0) -> Searched:
    """Search from the smallest pivots, as if the estimate were from n samples."""
    searcher = replace(estimate, samples=n).searcher(None, None)
    searches = BudgetedSearch(searcher, trials, None, seed, len(estimate.location))
    starts = {"smallest pivots": estimate.smallest_pivots(searcher)}
    return searches.run(starts, penalty=penalty, values=values, effort=Effort(trials, patience))


def null_inflation(B, covariance: np.ndarray, n: int) -> float:
    nothing = csr_parts(sp.csr_array(np.eye(len(covariance))))
    covariance = np.ascontiguousarray(covariance)
    searcher = _core.Searcher(covariance, nothing, None, samples=n, knowledge=None, n_threads=None)
    B = sp.csr_array(B)
    B.sort_indices()
    return searcher.null_inflation(csr_parts(B))


def score_by_hand(B: np.ndarray, X: np.ndarray, penalty: float, *, shaped: bool) -> float:
    """The score of a graph for standardised columns, from its definition."""
    n = len(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    total = 0.0
    for j in range(Z.shape[1]):
        causes = np.flatnonzero(B[:, j])
        weights, *_ = np.linalg.lstsq(Z[:, causes], Z[:, j], rcond=None)
        e = Z[:, j] - Z[:, causes] @ weights
        total += n * np.log(np.mean(e**2)) + penalty * len(causes)
        if shaped:
            e = e / np.sqrt(np.mean(e**2))
            total -= 2 * n * (np.mean(e**3) ** 2 / 12 + (np.mean(e**4) - 3) ** 2 / 48)
    return total


@pytest.mark.parametrize("shaped", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_score_is_that_of_the_graph_and_no_worse_than_the_truth(seed, shaped):
    B, X = table(15, 1, 1000, seed, "exponential" if shaped else "gaussian")
    values = np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0)).T) if shaped else None
    found = search(fdr_precision(X), 1000, penalty=15.0, values=values, trials=100)
    expected = score_by_hand(found.sem.B.toarray(), X, 15.0, shaped=shaped)
    assert found.score == pytest.approx(expected, rel=1e-6)
    assert found.score <= score_by_hand(B.toarray(), X, 15.0, shaped=shaped) + 1e-6
    rank = np.argsort(found.sem.order)
    rows, columns = found.sem.B.nonzero()
    assert (rank[rows] < rank[columns]).all()


def test_small_problems_are_solved_as_well_as_by_trying_all_orders():
    _, X = table(5, 1, 300, 3)
    n, penalty = 300, 10.0

    def best_along(order: tuple[int, ...]) -> float:
        total = 0.0
        for k, j in enumerate(order):
            options = itertools.chain.from_iterable(itertools.combinations(order[:k], size) for size in range(k + 1))
            scores = []
            for causes in options:
                B = np.zeros((5, 5))
                B[list(causes), j] = 1
                e = X[:, j] - X[:, list(causes)] @ np.linalg.lstsq(X[:, list(causes)], X[:, j], rcond=None)[0]
                scores.append(n * np.log(np.mean(e**2)) + penalty * len(causes))
            total += min(scores)
        return total

    best = min(best_along(order) for order in itertools.permutations(range(5)))
    found = search(fdr_precision(X), n, penalty=penalty, trials=200)
    assert found.score == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("noise", ["gaussian", "exponential"])
def test_threads_do_not_matter_and_the_seed_does_the_rest(noise):
    _, X = table(40, 2, 800, 1, noise)
    one, two, again = (ICID(n_threads=threads, random_state=3).fit(X) for threads in (1, 2, 2))
    assert one.info_["refine"] == "search"
    for other in (two, again):
        np.testing.assert_array_equal(one.adjacency_matrix_.toarray(), other.adjacency_matrix_.toarray())


@pytest.mark.parametrize("noise", ["exponential", "gumbel", "uniform", "laplace"])
def test_noise_that_is_not_gaussian_gives_the_graph(noise):
    B, X = table(50, 1, 1000, 0, noise)
    model = ICID().fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2
    assert model.info_["identified"] == "graph"
    assert not model.info_["choices"]["residuals"]["gaussian"]


@pytest.mark.parametrize("degree", [1, 2])
def test_gaussian_noise_of_unequal_variance_gives_the_equivalence_class(degree):
    B, X = table(50, degree, 2000, degree)
    model = ICID().fit(X)
    assert metrics.count_accuracy(equivalence_class(B), model.cpdag_)["shd"] <= 4
    assert model.info_["identified"] == "equivalence class"
    assert model.info_["noise"] == "unequal"
    P = np.random.default_rng(0).permutation(50)
    permuted = ICID().fit(X[:, P]).cpdag_
    assert metrics.count_accuracy(model.cpdag_[P][:, P], permuted)["shd"] <= 4


@pytest.mark.parametrize("seed", range(5))
def test_equal_variances_are_recognised(seed):
    B, X = table(50, 2, 500, seed, equal=True)
    with pytest.warns(ScaleWarning, match="use noise='unequal'"):
        model = ICID().fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2
    noise = model.info_["choices"]["noise"]
    assert noise["chosen"] == model.info_["noise"] == "equal"
    assert noise["equal"] < noise["unequal, same graph"]
    assert model.info_["refine"] == "order"
    # Searching all the same, or being told, does no harm.
    for parameters in ({"refine": "search"}, {"noise": "equal"}, {"noise_variances": 1.0, "refine": "search"}):
        assert metrics.count_accuracy(B, ICID(**parameters).fit(X).adjacency_matrix_)["shd"] <= 2


@pytest.mark.skipif(not (DATA / "sim4.mat").exists(), reason="the NetSim files are not distributed with the package")
@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("simulation", [3, 4])
def test_netsim(simulation, standardised):
    X, A, _ = datasets.load_netsim(DATA / f"sim{simulation}.mat")
    order = np.random.default_rng(simulation).permutation(X.shape[1])
    X, A = X[:, order], sp.csr_array(A)[order][:, order]
    if standardised:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert metrics.count_accuracy(A, ICID().fit(X).adjacency_matrix_)["shd"] <= 1


@pytest.mark.parametrize(("degree", "n"), [(1, 100), (2, 200)])
def test_orders_are_mended_where_rows_are_few(degree, n):
    """Elimination alone makes several times as many mistakes, from the errors of an inverse of n − d samples."""
    wrong, mistakes = 0, 0
    for seed in range(5):
        B, X = table(50, degree, n, seed, equal=True)
        model = ICID(precision="fdr").fit(X)
        mistakes += metrics.count_accuracy(B, model.adjacency_matrix_)["shd"]
        wrong += metrics.count_accuracy(B, ICID(precision="fdr", refine="order").fit(X).adjacency_matrix_)["shd"]
        assert model.info_["noise"] == "equal"
    assert mistakes <= 12
    assert mistakes < wrong / 2


def test_an_order_of_many_variables_is_mended_if_noise_variances_say_so(monkeypatch):
    _, X = table(100, 1, 1000, 0, equal=True)
    always = [ICID().fit(X), ICID().fit(X[:200])]
    monkeypatch.setattr(noise_model, "_FEW_VARIABLES", 0)
    seldom = [ICID().fit(X), ICID().fit(X[:200])]
    # Few rows leave elimination in doubt.
    assert [model.info_["refine"] for model in seldom] == ["order", "search"]
    for one, other in zip(always, seldom, strict=True):
        assert (one.adjacency_matrix_ != other.adjacency_matrix_).nnz == 0


def test_the_null_is_inflated_where_the_model_is_rough():
    _, X = table(40, 1, 3000, 0)
    model = ICID().fit(X)
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
    model = ICID().fit(X)
    assert model.info_["choices"]["penalty"]["inflation"] < 1.3
    assert model.adjacency_matrix_.nnz > B.nnz / 2


def test_columns_that_are_not_continuous_still_have_edges():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(3000, 10)) @ rng.normal(size=(10, 10)) > 0).astype(float)
    assert ICID().fit(X).adjacency_matrix_.nnz > 5


def test_ties_of_huge_scores_do_not_go_round_in_circles():
    _, X = table(13, 2, 300, 0)
    found = search(fdr_precision(X), 10**12, penalty=30.0, trials=200)
    assert found.trials == 200


def test_shapes_are_the_statistic_of_jarque_and_bera():
    from scipy.stats import jarque_bera

    X = np.random.default_rng(0).gumbel(size=(2500, 3))
    found = _core.shape_statistics(X, X.mean(axis=0), csr_parts(sp.csr_array((3, 3))), n_threads=1)
    np.testing.assert_allclose(found, [jarque_bera(x).statistic for x in X.T])


def test_time_limits_and_trials_are_kept():
    _, X = table(100, 2, 2000, 0)
    start = time.perf_counter()
    model = ICID(trials=10**9, time_limit=1.0).fit(X)
    # A bound for a machine that does other things too; benches measure.
    assert time.perf_counter() - start < 5.0
    assert model.info_["refinement"]["trials"] > 10
    assert ICID(trials=7).fit(X).info_["refinement"]["trials"] <= 8


def test_differences_between_groups_are_no_causes():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 100)
    X = rng.normal(size=(2000, 6)) + 3 * rng.normal(size=(20, 1))[groups]
    assert ICID().fit(X).adjacency_matrix_.nnz > 0
    with pytest.warns(UserWarning, match="the graph is empty"):
        ICID().fit(X, groups=groups)
    with pytest.raises(ValueError, match="groups"):
        ICID().fit(X, groups=groups[:-1])
    with pytest.raises(ValueError, match="missing values"):
        ICID().fit(X, groups=np.where(groups == 3, np.nan, groups))
    with pytest.raises(ValueError, match="groups needs data"):
        ICID(precision="precomputed").fit(np.eye(6), groups=groups)


def test_means_of_groups_cost_degrees_of_freedom():
    """Fifty pairs of rows are worth fifty-one rows, not a hundred."""
    X = np.random.default_rng(0).normal(size=(100, 45))
    with pytest.warns(UserWarning, match="the graph is empty"):
        model = ICID(refine="order").fit(X, groups=np.repeat(np.arange(50), 2))
    assert model.precision_.nnz <= 60


def test_a_time_limit_holds_for_all_of_the_search():
    _, X = table(100, 4, 1000, 0)
    model = ICID(time_limit=0.5).fit(X)
    # Ten times what was asked for, on a machine that may do other things.
    assert model.info_["timings"]["refine"] < 5.0
    ICID(time_limit=1e20, refine="search", trials=1).fit(X[:, :5])
    with pytest.raises(TypeError, match="trials"):
        ICID(trials="many").fit(X)
    with pytest.raises(TypeError, match="time_limit"):
        ICID(time_limit="auto").fit(X)


def test_nothing_is_left_of_an_earlier_fit_when_one_fails():
    _, X = table(10, 1, 500, 0)
    model = ICID().fit(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 3), np.nan))
    with pytest.raises(NotFittedError):
        model.edges()


def test_sortability_is_a_share_of_edges():
    B = datasets.random_dag(60, 2, random_state=0)
    X = datasets.sample_sem(B, 2000, random_state=0)
    assert sortability(B, X.var(axis=0)) > 0.8
    assert sortability(B, np.ones(60)) == 0.5
    assert np.isnan(sortability(np.zeros((2, 2)), np.ones(2)))


class TestEquivalenceClass:
    @staticmethod
    def by_enumeration(A: np.ndarray) -> np.ndarray:
        """All graphs with the same skeleton and colliders, by trying every direction of every edge."""
        d = len(A)

        def colliders(G: np.ndarray) -> set[tuple[int, int, int]]:
            joined = G | G.T
            return {
                (i, j, k)
                for j in range(d)
                for i, k in itertools.combinations(np.flatnonzero(G[:, j]).tolist(), 2)
                if not joined[i, k]
            }

        edges = list(zip(*np.nonzero(np.triu(A | A.T)), strict=True))
        total = np.zeros((d, d), dtype=bool)
        for flips in itertools.product([False, True], repeat=len(edges)):
            G = np.zeros((d, d), dtype=bool)
            for (i, j), flip in zip(edges, flips, strict=True):
                G[(j, i) if flip else (i, j)] = True
            try:
                causal_order(G.astype(float))
            except ValueError:
                continue
            if colliders(G) == colliders(A):
                total |= G
        return total

    @settings(max_examples=60, deadline=None)
    @given(st.integers(2, 5), st.floats(0.2, 0.9), st.integers(0, 2**32 - 1))
    def test_is_what_enumeration_gives(self, d, density, seed):
        rng = np.random.default_rng(seed)
        A = np.triu(rng.uniform(size=(d, d)) < density, 1)
        P = rng.permutation(d)
        A = A[np.ix_(P, P)]
        np.testing.assert_array_equal(equivalence_class(A.astype(float)).toarray() != 0, self.by_enumeration(A))

    def test_cycles_are_refused(self):
        with pytest.raises(ValueError, match="cycle"):
            equivalence_class([[0, 1], [1, 0]])


def test_a_time_limit_keeps_the_best():
    """The last call is cut short at once, and must not replace what was found before."""
    rng = np.random.default_rng(0)
    B = datasets.random_dag(60, 3, random_state=rng)
    X = datasets.sample_sem(B, 150, noise_variances=rng.uniform(0.5, 2, 60), random_state=rng)
    scores = {}
    for limit in (0.0, 0.3, None):
        model = ICID(noise="unequal", time_limit=limit, trials=50, n_threads=1).fit(X)
        scores[limit] = model.info_["refinement"]["score"]
        assert model.info_["choices"]["penalty"]["inflation"] < 2
    assert scores[None] <= scores[0.3] + 1e-6
    assert scores[0.3] <= scores[0.0] + 1e-6


def test_more_trials_are_never_worse():
    _, X = table(60, 3, 1500, 1)
    estimate = fdr_precision(X)
    scores = [search(estimate, 1500, penalty=20.0, trials=trials, seed=3).score for trials in (0, 50, 300, 900)]
    # Scores of one class of graphs differ by rounding.
    assert all(later <= sooner + 1e-6 for sooner, later in itertools.pairwise(scores))
    assert scores[-1] < scores[0] - 1.0


def test_patience_ends_a_search_that_finds_nothing_better():
    _, X = table(60, 1, 1500, 1)
    estimate = fdr_precision(X)
    whole = search(estimate, 1500, penalty=20.0, trials=3000)
    patient = search(estimate, 1500, penalty=20.0, trials=3000, patience=300)
    assert whole.trials == 3000
    assert 600 <= patient.trials < 2000
    assert patient.score == pytest.approx(whole.score, abs=1e-6)
    assert search(estimate, 1500, penalty=20.0, trials=100, patience=300).trials == 100

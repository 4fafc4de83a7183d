"""Search over orders, and choices that need no truth."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from icid_rs import ICID, datasets, fdr_precision
from icid_rs.learning import search as learning_search
from icid_rs.learning.search import BudgetedSearch, Effort, Searched, TimeLimit
from tests.helpers.problems import table
from tests.helpers.reference import shape_gain

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parents[3] / "shared" / "data"))


def search(estimate, n: int, *, penalty: float, values=None, trials=0, patience=None, seed=0) -> Searched:
    """Search from the smallest pivots, as if the estimate were from n samples."""
    searcher = replace(estimate, samples=n).searcher(None, None)
    searches = BudgetedSearch(searcher, trials, TimeLimit(None), seed, len(estimate.location))
    starts = estimate.start_orders(searcher)
    return searches.run(starts, penalty=penalty, values=values, effort=Effort(trials, patience))


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
            total -= shape_gain(e)
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


def test_ties_of_huge_scores_do_not_go_round_in_circles():
    _, X = table(25, 2, 300, 0)
    found = search(fdr_precision(X), 10**12, penalty=30.0, trials=200)
    assert found.trials == 200


def test_trials_are_kept():
    _, X = table(100, 2, 2000, 0)
    with pytest.warns(ConvergenceWarning, match="all trials were made .* raise trials"):
        assert ICID(trials=7, hidden=None, measurement_error=None).fit(X).info_["refinement"]["trials"] <= 8


def test_a_time_limit_ends_a_search_that_would_not_end():
    _, X = table(100, 2, 2000, 0)
    with pytest.warns(ConvergenceWarning, match="its time limit of 0.2 s was reached; raise time_limit"):
        assert ICID(trials=10**9, time_limit=0.2).fit(X).info_["refinement"]["trials"] < 10**9
    with pytest.warns(ConvergenceWarning, match="time limit"):
        cut_short = ICID(trials=10**9, time_limit=0.0).fit(X).info_["refinement"]
    assert (cut_short["trials"], cut_short["ended"]) == (0, "out of time")


@pytest.mark.filterwarnings("ignore:the search has not converged")
def test_a_time_limit_that_is_not_reached_changes_nothing():
    _, X = table(30, 2, 500, 0)
    free, timed = (ICID(trials=20, time_limit=limit).fit(X) for limit in (None, 1e20))
    assert timed.info_["refinement"]["trials"] >= 20
    assert timed.info_["refinement"]["score"] == pytest.approx(free.info_["refinement"]["score"], abs=1e-6)


def test_a_time_limit_is_that_of_all_searches_together(monkeypatch):
    """Each search may take what those before it have left, or a share of it."""
    now, granted = [100.0], []

    class Searcher:
        def exact_cost(self, **_):
            return np.inf, np.inf, False

        def search(self, starts, *, budget, **rest):
            granted.append(budget["seconds"])
            now[0] += 4.0
            sem = SimpleNamespace(b=([0, 0], [], []), order=np.zeros(1), noise_variances=np.ones(1))
            return SimpleNamespace(sem=sem, score=0.0, start_scores=[0.0], trials=3, improvements=1, ended="converged")

    monkeypatch.setattr(learning_search, "time", SimpleNamespace(monotonic=lambda: now[0]))
    searches = BudgetedSearch(Searcher(), 5, TimeLimit(10.0), 0, 1)
    for share in (1.0, 0.5, 1.0, 1.0):
        assert searches.limit.is_over == (len(granted) == 3)
        searches.run({"any": np.zeros(1)}, penalty=1.0, share=share)
    assert granted == [10.0, 3.0, 2.0, 0.0]
    assert (searches.trials, searches.improvements) == (12, 4)


@pytest.fixture
def scored(monkeypatch) -> list[np.ndarray | None]:
    """The values behind every table of exact scores that is computed."""
    computed = []

    class Scored(learning_search._Scored):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            computed.append(self.values)

    monkeypatch.setattr(learning_search, "_Scored", Scored)
    return computed


def test_a_fit_scores_all_sets_of_parents_once_with_shapes_and_once_without(scored, monkeypatch):
    _, X = table(8, 2, 500, 0, "exponential")
    model = ICID(noise="unequal").fit(X)
    assert model.info_["refinement"]["proven optimal"]
    assert [values is None for values in scored] == [True, False]
    # With new scores for each penalty the result is the same.
    monkeypatch.setattr(learning_search._Scored, "is_of", lambda *_: False)
    again = ICID(noise="unequal").fit(X)
    assert len(scored) > 4
    assert again.info_["refinement"]["score"] == model.info_["refinement"]["score"]
    np.testing.assert_array_equal(again.adjacency_matrix_.toarray(), model.adjacency_matrix_.toarray())


def test_exact_scores_are_used_again_only_for_the_same_arguments(scored):
    _, X = table(5, 1, 300, 0, "exponential")
    values = np.ascontiguousarray(X.T)
    known = np.full(5, 0.5)
    arguments = [
        {},
        {"noise_variances": known},
        {"noise_variances": known.copy()},
        {"noise_variances": known + 0.1},
        {"values": values},
        {"values": values.copy()},
        {},
    ]
    is_new = [True, True, False, True, True, True, True]
    searcher = replace(fdr_precision(X), samples=300).searcher(None, None)

    def search() -> BudgetedSearch:
        return BudgetedSearch(searcher, 0, TimeLimit(None), 0, 5)

    searches, count = search(), 0
    for given, new in zip(arguments, is_new, strict=True):
        for penalty in (5.0, 20.0):
            found, fresh = (one.run({}, penalty=penalty, **given) for one in (searches, search()))
            assert found.score == fresh.score
            np.testing.assert_array_equal(found.sem.B.toarray(), fresh.sem.B.toarray())
        count += new + 2
        assert len(scored) == count


def test_limits_are_checked():
    _, X = table(5, 1, 100, 0)
    with pytest.raises(TypeError, match="trials"):
        ICID(trials="many").fit(X)
    with pytest.raises(TypeError, match="time_limit"):
        ICID(time_limit="auto").fit(X)


@pytest.mark.filterwarnings("ignore:the search has not converged")
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_added_to_a_graph_that_time_has_cut_short(seed):
    """Its missing edges would look like hidden causes or errors of measurement."""
    _, X = table(100, 2, 2000, seed)
    model = ICID(time_limit=0.0).fit(X)
    assert model.info_["measurement"]["hidden"] == model.info_["measurement"]["error"] == 0
    assert "time limit" in model.info_["measurement"]["note"]
    # What is asked for is part of the model in any case.
    assert ICID(time_limit=0.0, hidden=1).fit(X).hidden_loadings_.shape == (100, 1)


@pytest.mark.filterwarnings("ignore:the search has not converged")
def test_a_time_limit_keeps_the_best(monkeypatch):
    """Searches that begin after it are cut short at once, and must not replace what was found before."""
    rng = np.random.default_rng(5)
    B = datasets.random_dag(60, 3, random_state=rng)
    X = datasets.sample_sem(B, 150, noise_variances=rng.uniform(0.5, 2, 60), random_state=rng)

    def fit(looks: float) -> tuple[float, float]:
        """The penalty and the score if time is up after so many looks at the clock."""
        clock = itertools.count()
        up = SimpleNamespace(monotonic=lambda: 0.0 if next(clock) < looks else 2e6)
        monkeypatch.setattr(learning_search, "time", up)
        alone = {"hidden": None, "measurement_error": None, "stability": None}
        model = ICID(noise="unequal", time_limit=1e6, trials=50, n_threads=1, **alone).fit(X)
        assert model.info_["choices"]["penalty"]["inflation"] < 2
        return model.info_["refinement"]["penalty"], model.info_["refinement"]["score"]

    found = [fit(looks) for looks in (1, 2, 3, 4, 5, 6, np.inf)]
    # Scores are comparable where the penalty is the same: it is raised if there is time to calibrate it.
    pairs = [(sooner[1], later[1]) for sooner, later in itertools.pairwise(found) if sooner[0] == later[0]]
    assert len(pairs) == 5
    assert all(later <= sooner + 1e-6 for sooner, later in pairs)
    assert sum(later < sooner - 1.0 for sooner, later in pairs) >= 2


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

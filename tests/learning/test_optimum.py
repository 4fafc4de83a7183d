"""The exact optimum, against a dynamic programme in plain NumPy and against all graphs of four variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import _core, datasets, equivalence_class
from icid_rs._util.validation import csr_parts
from icid_rs.graph.knowledge import Knowledge
from tests.helpers.reference import shape_gain

N, PENALTY = 300, 9.0
KINDS = ("gaussian", "shaped", "known", "known and shaped", "equal", "equal and shaped")


def table(d: int, seed: int) -> np.ndarray:
    """Rows of a random model with unequal noise variances, skewed for even seeds."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, 1 if d < 6 else 2, random_state=rng)
    noise = "gaussian" if seed % 2 else "exponential"
    return datasets.sample_sem(B, N, noise=noise, noise_variances=rng.uniform(0.3, 2.0, d), random_state=rng)


def some_knowledge(d: int, seed: int) -> Knowledge | None:
    """Nothing, tiers for some of the variables, or required and forbidden edges."""
    order = np.random.default_rng(seed).permutation(d).tolist()
    if seed % 3 == 0 or d < 4:
        return None
    if seed % 3 == 1:
        return Knowledge.make(range(d), tiers=[order[:2], order[2:-1]])
    required = [(order[0], order[1]), (order[1], order[-1])]
    return Knowledge.make(range(d), required=required, forbidden=[(order[2], order[0])])


def make_searcher(X: np.ndarray, knowledge: Knowledge | None = None, n_threads: int | None = None) -> _core.Searcher:
    covariance = np.cov(X, rowvar=False, bias=True)
    inverse = np.linalg.inv(covariance)
    return _core.Searcher(
        covariance,
        csr_parts(sp.csr_array(inverse)),
        inverse,
        samples=len(X),
        knowledge=None if knowledge is None else knowledge.parts,
        n_threads=n_threads,
    )


def make_options(X: np.ndarray, kind: str) -> dict[str, Any]:
    """Return the arguments of `exact_table` for one kind of score."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return {
        "noise_variances": np.linspace(0.5, 1.5, X.shape[1]) if "known" in kind else None,
        "values": np.ascontiguousarray(Z.T) if "shaped" in kind else None,
        "equal": "equal" in kind,
    }


def optimum_of(searcher: _core.Searcher, options: dict[str, Any]) -> _core.Optimum:
    return searcher.exact_table(**options).optimum(penalty=PENALTY, margins=True)


def subsets(items: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for size in range(len(items) + 1):
        yield from itertools.combinations(items, size)


class Reference:
    """Scores by least squares on the rows."""

    def __init__(self, X: np.ndarray, kind: str, knowledge: Knowledge | None = None) -> None:
        self.kind, self.d = kind, X.shape[1]
        self.X = X - X.mean(axis=0)
        self.everyone = tuple(range(self.d))
        #: Residual variance, and penalties less what the shape of residuals gains, of all permitted sets of parents.
        self.local = {
            (j, parents): self.regress(j, parents)
            for j in self.everyone
            for parents in subsets(tuple(i for i in self.everyone if i != j))
            if knowledge is None
            or (
                all(knowledge.allows(i, j) for i in parents)
                and set(knowledge.required[knowledge.required[:, 1] == j, 0]) <= set(parents)
            )
        }

    def regress(self, j: int, parents: tuple[int, ...]) -> tuple[float, float]:
        P, y = self.X[:, list(parents)], self.X[:, j]
        e = y - P @ np.linalg.lstsq(P, y, rcond=None)[0]
        variance = float(np.mean(e**2))
        u = e / np.sqrt(variance)
        gain = shape_gain(u) if "shaped" in self.kind else 0.0
        return variance, PENALTY * len(parents) - gain

    def local_score(self, j: int, parents: tuple[int, ...]) -> float:
        variance, rest = self.local.get((j, parents), (np.inf, 0.0))
        if "known" in self.kind:
            return N * variance / np.linspace(0.5, 1.5, self.d)[j] + rest
        # For variables scaled to unit variance.
        return N * np.log(variance / np.mean(self.X[:, j] ** 2)) + rest

    def score(self, graph: tuple[tuple[int, ...], ...]) -> float:
        """Score a graph, given the parents of each variable."""
        if "equal" not in self.kind:
            return sum(self.local_score(j, parents) for j, parents in enumerate(graph))
        variances, rests = zip(*(self.local[j, parents] for j, parents in enumerate(graph)), strict=True)
        return N * self.d * np.log(np.mean(variances)) + sum(rests)

    def graphs(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Yield all permitted acyclic graphs."""
        choices = [[parents for variable, parents in self.local if variable == j] for j in self.everyone]
        for graph in itertools.product(*choices):
            rest = set(self.everyone)
            while sources := {j for j in rest if not rest & set(graph[j])}:
                rest -= sources
            if not rest:
                yield graph

    def optimum(self) -> float:
        """Compute the best score by dynamic programming: the last variable of each set, and its parents."""
        best = {(): 0.0}
        for members in itertools.islice(subsets(self.everyone), 1, None):
            best[members] = min(
                best[others] + self.local_score(sink, parents)
                for sink in members
                for others in [tuple(i for i in members if i != sink)]
                for parents in subsets(others)
            )
        return best[self.everyone]

    def optimum_if_equal(self) -> float:
        """Compute the best score under equal variances, from the least sum of variances for each number of edges."""
        best: dict[tuple[int, ...], dict[int, float]] = {(): {0: 0.0}}
        for members in itertools.islice(subsets(self.everyone), 1, None):
            sums: dict[int, float] = {}
            for sink in members:
                others = tuple(i for i in members if i != sink)
                for parents in subsets(others):
                    variance, _ = self.local.get((sink, parents), (np.inf, 0.0))
                    for edges, total in best[others].items():
                        key = edges + len(parents)
                        sums[key] = min(sums.get(key, np.inf), total + variance)
            best[members] = sums
        return min(
            N * self.d * np.log(total / self.d) + PENALTY * edges for edges, total in best[self.everyone].items()
        )


def weights(sem: _core.Sem) -> np.ndarray:
    indptr, indices, data = sem.b
    d = len(sem.order)
    return sp.csr_array((data, indices, indptr), shape=(d, d)).toarray()


def parents_of(sem: _core.Sem) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(np.flatnonzero(column).tolist()) for column in weights(sem).T)


@pytest.mark.parametrize("kind", ["gaussian", "shaped", "known", "known and shaped", "equal"])
@pytest.mark.parametrize("seed", range(8))
def test_the_score_is_that_of_dynamic_programming_on_the_rows(kind, seed):
    d = min(3 + seed, 8 if kind != "equal" else 6)
    X, knowledge = table(d, seed), some_knowledge(d, seed)
    found = optimum_of(make_searcher(X, knowledge), make_options(X, kind))
    reference = Reference(X, kind, knowledge)
    expected = reference.optimum_if_equal() if kind == "equal" else reference.optimum()
    assert found.score == pytest.approx(expected, rel=1e-9)
    assert found.score == pytest.approx(reference.score(parents_of(found.sem)), rel=1e-9)
    assert knowledge is None or knowledge.is_respected_by(sp.csr_array(weights(found.sem)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_scores_and_margins_are_those_of_all_graphs(kind, seed):
    X, knowledge = table(4, seed), some_knowledge(4, seed)
    found = optimum_of(make_searcher(X, knowledge), make_options(X, kind))
    reference = Reference(X, kind, knowledge)
    scores = {graph: reference.score(graph) for graph in reference.graphs()}
    assert knowledge is not None or len(scores) == 543
    best = min(scores.values())
    assert found.score == pytest.approx(best, rel=1e-9)
    assert scores[parents_of(found.sem)] == pytest.approx(best, rel=1e-9)
    edges = np.argwhere(weights(found.sem)).tolist()
    assert len(edges) == len(found.absent) == len(found.reversed)
    for (i, j), absent, reversed_ in zip(edges, found.absent, found.reversed, strict=True):
        apart = [score for graph, score in scores.items() if i not in graph[j] and j not in graph[i]]
        against = [score for graph, score in scores.items() if j in graph[i]]
        assert absent == pytest.approx(min(apart, default=np.inf) - best, rel=1e-9, abs=1e-9 * abs(best))
        assert reversed_ == pytest.approx(min(against, default=np.inf) - best, rel=1e-9, abs=1e-9 * abs(best))


@pytest.mark.parametrize("kind", ["gaussian", "shaped", "known", "known and shaped"])
def test_no_search_finds_better(kind):
    for seed in range(10):
        X, knowledge = table(7, seed), some_knowledge(7, seed)
        searcher, options = make_searcher(X, knowledge), make_options(X, kind)
        optimum = optimum_of(searcher, options)
        del options["equal"]
        budget = {"trials": 300, "patience": None, "seconds": None, "seed": 0}
        start = [searcher.smallest_pivots()]
        found = searcher.search(start, penalty=PENALTY, **options, budget=budget)
        assert optimum.score <= found.score + 1e-6


def test_the_order_of_columns_and_the_number_of_threads_do_not_matter():
    X = table(9, 4)
    P = np.random.default_rng(0).permutation(9)
    for kind in ("gaussian", "shaped", "equal"):
        one, two = (optimum_of(make_searcher(X, n_threads=threads), make_options(X, kind)) for threads in (1, 2))
        moved = optimum_of(make_searcher(X[:, P]), make_options(X[:, P], kind))
        assert one.score == two.score == pytest.approx(moved.score, rel=1e-12)
        np.testing.assert_array_equal(weights(one.sem), weights(two.sem))
        np.testing.assert_array_equal(one.reversed, two.reversed)
        classes = [sp.csr_array(weights(found.sem)) for found in (one, moved)]
        if kind == "gaussian":
            classes = [equivalence_class(B) for B in classes]
        np.testing.assert_array_equal(classes[0].toarray()[np.ix_(P, P)] != 0, classes[1].toarray() != 0)


def test_edges_of_a_chain_can_be_reversed_at_no_cost_but_not_those_of_a_collider():
    rng = np.random.default_rng(0)
    E = rng.normal(size=(2000, 3))
    gaussian = make_options(E, "gaussian")
    chain = E.copy()
    for j in (1, 2):
        chain[:, j] += chain[:, j - 1]
    found = make_searcher(chain).exact_table(**gaussian).optimum(penalty=20.0, margins=True)
    np.testing.assert_allclose(found.reversed, 0.0, atol=1e-7)
    assert (found.absent > 100).all()
    collider = np.column_stack([E[:, 0], E[:, 1], E.sum(axis=1)])
    found = make_searcher(collider).exact_table(**gaussian).optimum(penalty=20.0, margins=True)
    assert parents_of(found.sem) == ((), (), (0, 1))
    assert (found.reversed > 10).all()


def test_weights_are_least_squares_and_margins_are_optional():
    X = table(6, 2)
    found = make_searcher(X).exact_table(**make_options(X, "gaussian")).optimum(penalty=PENALTY)
    assert len(found.absent) == len(found.reversed) == 0
    for j, parents in enumerate(parents_of(found.sem)):
        P, y = X[:, parents] - X[:, parents].mean(axis=0), X[:, j] - X[:, j].mean()
        np.testing.assert_allclose(weights(found.sem)[parents, j], np.linalg.lstsq(P, y, rcond=None)[0], rtol=1e-8)


def test_cost_and_faults():
    searcher = make_searcher(table(5, 0))
    operations, size, is_cheap = searcher.exact_cost(rows=None)
    assert is_cheap
    assert operations < searcher.exact_cost(rows=1000)[0]
    assert size < 1e6
    given = {"noise_variances": None, "values": None}
    with pytest.raises(ValueError, match="either known or equal"):
        searcher.exact_table(**(given | {"noise_variances": np.ones(5)}), equal=True)
    with pytest.raises(ValueError, match="noise_variances"):
        searcher.exact_table(**(given | {"noise_variances": np.ones(4)}))
    with pytest.raises(ValueError, match="values"):
        searcher.exact_table(**(given | {"values": np.zeros((4, 10))}))
    for penalty in (-1.0, np.nan):
        with pytest.raises(ValueError, match="penalty"):
            searcher.exact_table(**given).optimum(penalty=penalty)
    large = make_searcher(np.random.default_rng(0).normal(size=(100, 40)))
    assert not large.exact_cost(rows=None)[2]
    with pytest.raises(ValueError, match="at most 30"):
        large.exact_table(**given)

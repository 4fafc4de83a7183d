"""Searches among variables that are blocks of columns, against determinants and dynamic programming in plain NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import _core, datasets
from icid_rs._util.validation import csr_from_parts, csr_parts
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.sem import LinearSem

N = 400
BUDGET: Any = {"trials": 400, "patience": 200, "seconds": None, "seed": 1}


def rows(widths: Sequence[int], seed: int, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Columns of numbers (width 1) and of indicators of categories, and where each variable begins."""
    rng = np.random.default_rng(seed)
    d = len(widths)
    latent = datasets.sample_sem(datasets.random_dag(d, 1, random_state=rng), n, random_state=rng)
    parts = []
    for values, width in zip(latent.T, widths, strict=True):
        cuts = np.quantile(values, np.arange(1, width + 1) / (width + 1))
        level = np.searchsorted(cuts, values + 0.3 * values.std() * rng.normal(size=n))
        parts.append(values[:, None] if width == 1 else (level[:, None] == np.arange(1, width + 1)).astype(float))
    return np.hstack(parts), np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)


def columns_of(variables: Sequence[int], offsets: np.ndarray) -> list[int]:
    return [k for i in variables for k in range(offsets[i], offsets[i + 1])]


class Reference:
    """Scores by determinants; the columns of categories vary as much as with one more row."""

    def __init__(self, X: np.ndarray, offsets: np.ndarray, penalty: float) -> None:
        self.offsets, self.penalty, self.widths, self.n = offsets, penalty, np.diff(offsets), len(X)
        self.covariance = np.cov(X.T, bias=True)
        self.is_category = self.widths > 1
        self.shrunk = self.covariance.copy()
        for i in np.flatnonzero(self.is_category):
            part = slice(offsets[i], offsets[i + 1])
            self.shrunk[part, part] *= 1 + 1 / len(X)
        d = len(self.widths)
        base = np.log(self.n) + 4 * np.log(d)
        self.further = min(penalty, np.log(self.n) * max(1.0, penalty / base))

    def searcher(self, knowledge: Knowledge | None = None, *, with_inverse: bool = True) -> _core.BlockSearcher:
        return _core.BlockSearcher(
            self.covariance,
            np.linalg.inv(self.shrunk) if with_inverse else None,
            self.offsets,
            self.is_category,
            samples=self.n,
            knowledge=None if knowledge is None else knowledge.parts,
            n_threads=1,
        )

    def log_determinant(self, variables: Sequence[int]) -> float:
        columns = columns_of(variables, self.offsets)
        return float(np.linalg.slogdet(self.shrunk[np.ix_(columns, columns)])[1])

    def local(self, j: int, parents: tuple[int, ...]) -> float:
        left = self.log_determinant([j, *parents]) - self.log_determinant(parents) - self.log_determinant([j])
        further = sum(int(self.widths[i] * self.widths[j]) - 1 for i in parents)
        return self.n * left + self.penalty * len(parents) + self.further * further

    def optimum(self) -> float:
        """The best score over all orders and all parents before each variable."""
        d = len(self.widths)
        subsets = [s for k in range(d) for s in itertools.combinations(range(d), k)]
        scores = {(j, s): self.local(j, s) for s in subsets for j in range(d) if j not in s}
        best = {(): 0.0}
        for k in range(1, d + 1):
            for group in itertools.combinations(range(d), k):
                rest = {j: tuple(i for i in group if i != j) for j in group}
                last = {
                    j: min(scores[j, s] for m in range(k) for s in itertools.combinations(rest[j], m)) for j in group
                }
                best[group] = min(best[rest[j]] + last[j] for j in group)
        return best[tuple(range(d))]


def parents_in(sem: LinearSem) -> list[tuple[int, ...]]:
    return [tuple(np.flatnonzero(column)) for column in sem.B.toarray().T]


@pytest.mark.parametrize(
    ("widths", "seed"), [((1, 2, 1, 3), 0), ((2, 1, 4, 1, 2), 1), ((1, 1, 1, 1, 2), 2), ((3, 3, 1), 3)]
)
@pytest.mark.parametrize("penalty", [6.0, 12.0, 40.0])
def test_the_optimum_is_that_of_dynamic_programming(widths: tuple[int, ...], seed: int, penalty: float) -> None:
    reference = Reference(*rows(widths, seed), penalty)
    searcher = reference.searcher()
    optimum = searcher.exact_table().optimum(penalty=penalty)
    sem = LinearSem.from_core(optimum.sem)
    assert optimum.score == pytest.approx(reference.optimum(), abs=1e-6)
    assert optimum.score == pytest.approx(sum(map(reference.local, range(len(widths)), parents_in(sem))), abs=1e-6)
    start = [np.arange(len(widths))]
    for other in (searcher, reference.searcher(with_inverse=False)):
        assert other.search(start, penalty=penalty, budget=BUDGET).score == pytest.approx(optimum.score, abs=1e-6)


def test_strengths_and_coefficients_are_those_of_least_squares() -> None:
    reference = Reference(*rows((1, 3, 1, 2, 2), 5), 8.0)
    searcher = reference.searcher()
    sem = LinearSem.from_core(searcher.exact_table().optimum(penalty=8.0).sem)
    p = int(reference.offsets[-1])
    weights, residuals = (csr_from_parts(part, p).toarray() for part in searcher.coefficients(csr_parts(sem.B)))
    C = reference.shrunk
    assert sem.B.nnz >= 3
    for j, parents in enumerate(parents_in(sem)):
        own, causes = columns_of([j], reference.offsets), columns_of(parents, reference.offsets)
        expected = np.linalg.solve(C[np.ix_(causes, causes)], C[np.ix_(causes, own)])
        np.testing.assert_allclose(weights[np.ix_(causes, own)], expected, atol=1e-9)
        left = C[np.ix_(own, own)] - expected.T @ C[np.ix_(causes, own)]
        np.testing.assert_allclose(residuals[np.ix_(own, own)], left, atol=1e-9)

        def share(some: Sequence[int], j: int = j) -> float:
            return float(np.exp(reference.log_determinant([j, *some]) - reference.log_determinant(some)))

        assert sem.noise_variances[j] == pytest.approx(share(parents) / share([]))
        for i in parents:
            without = share([k for k in parents if k != i])
            assert sem.B[i, j] == pytest.approx(np.sqrt(1 - share(parents) / without))


def test_levels_and_their_order_do_not_matter() -> None:
    """Neither does which level is the reference."""
    X, offsets = rows((1, 3, 2, 1, 4), 7)
    sizes = []
    for reference_level, order in [(0, (0, 1, 2)), (0, (2, 0, 1)), (1, (0, 1, 2)), (3, (1, 2, 0))]:
        other = X.copy()
        levels = np.column_stack([1 - X[:, 1:4].sum(axis=1), X[:, 1:4]])
        other[:, 1:4] = np.delete(levels, reference_level, axis=1)[:, order]
        reference = Reference(other, offsets, 12.0)
        searcher = reference.searcher()
        found = searcher.search([searcher.smallest_pivots()], penalty=12.0, budget=BUDGET)
        sizes.append((found.score, LinearSem.from_core(found.sem).B.toarray()))
    for score, B in sizes[1:]:
        assert score == pytest.approx(sizes[0][0], abs=1e-6)
        np.testing.assert_allclose(B, sizes[0][1], atol=1e-9)


def test_numbers_are_searched_as_if_they_were_no_blocks() -> None:
    X, offsets = rows((1,) * 30, 8, n=1000)
    reference = Reference(X, offsets, 15.0)
    inverse, start = np.linalg.inv(reference.covariance), [np.arange(30)]
    plain = _core.Searcher(
        reference.covariance, csr_parts(sp.csr_array(inverse)), inverse, samples=1000, knowledge=None, n_threads=1
    )
    one = reference.searcher().search(start, penalty=15.0, budget=BUDGET)
    two = plain.search(start, penalty=15.0, noise_variances=None, values=None, budget=BUDGET)
    assert one.score == pytest.approx(two.score, abs=1e-6)
    np.testing.assert_array_equal(LinearSem.from_core(one.sem).B.indices, LinearSem.from_core(two.sem).B.indices)


def test_knowledge_is_about_variables() -> None:
    X, offsets = rows((2, 1, 3, 1, 2, 1), 9)
    reference = Reference(X, offsets, 10.0)
    free = LinearSem.from_core(reference.searcher().exact_table().optimum(penalty=10.0).sem)
    i, j = (int(k[0]) for k in free.B.nonzero())
    absent = next((a, b) for a in range(6) for b in range(6) if a != b and not free.B[a, b] and not free.B[b, a])
    knowledge = Knowledge.make(range(6), required=[absent], forbidden=[(i, j), (j, i)])
    searcher = reference.searcher(knowledge)
    searched = searcher.search([np.arange(6)], penalty=10.0, budget=BUDGET)
    for found in (searcher.exact_table().optimum(penalty=10.0), searched):
        B = LinearSem.from_core(found.sem).B
        assert B[absent] != 0
        assert B[i, j] == 0
        assert B[j, i] == 0
        assert found.score == pytest.approx(searched.score, abs=1e-6)


def test_a_category_that_others_determine_is_found() -> None:
    """Determinants are zero, but for the row by which correlations are shrunk."""
    rng = np.random.default_rng(3)
    one, two = rng.random((2, N)) < 0.3
    both = one & two
    X = np.column_stack([one, two & ~one, both | (one & ~two), rng.normal(size=N)]).astype(float)
    reference = Reference(X, np.array([0, 1, 2, 3, 4]), 12.0)
    searcher = _core.BlockSearcher(
        reference.covariance,
        None,
        reference.offsets,
        np.array([True, True, True, False]),
        samples=N,
        knowledge=None,
        n_threads=1,
    )
    found = LinearSem.from_core(searcher.search([np.arange(4)], penalty=12.0, budget=BUDGET).sem)
    assert (found.B[[0, 2], [2, 0]] > 0.9).any()
    assert np.isfinite(found.B.data).all()


def test_resamples_may_lack_a_level() -> None:
    X, offsets = rows((1, 2, 1, 3), 11)
    X[:, 2] = 0.0
    X[:3, 2], X[:3, 1] = 1.0, 0.0
    reference = Reference(X, offsets, 12.0)
    counts = np.random.default_rng(0).multinomial(N, np.full(N, 1 / N), size=30).astype(np.uint16)
    assert (counts[:, :3].sum(axis=1) == 0).any()
    parts = reference.searcher().search_resamples(X, counts, np.arange(4), penalty=12.0, budget=BUDGET)
    joined, compelled = (csr_from_parts(part, 4).toarray() for part in parts)
    assert joined.max() <= 30
    assert (joined == joined.T).all()
    assert (compelled <= joined).all()
    assert joined.max() > 15


def test_bags_of_rows_and_covariances_give_the_same_votes() -> None:
    """Resamples are summed up row by row, by bags of rows, or given as covariance matrices."""
    X, offsets = rows((1, 2, 1, 3, 1), 13)
    searcher = Reference(X, offsets, 12.0).searcher()
    of_bags = np.random.default_rng(0).multinomial(40, np.full(40, 1 / 40), size=20)
    counts = np.repeat(of_bags, N // 40, axis=1).astype(np.uint16)
    covariances = np.array([np.cov(X.T, bias=True, fweights=count) for count in counts])
    start: Any = {"order": np.arange(5), "penalty": 12.0, "budget": BUDGET}
    by_bags = searcher.search_resamples(X, counts, **start)
    for parts, others in zip(by_bags, searcher.search_covariances(covariances, **start), strict=True):
        np.testing.assert_array_equal(csr_from_parts(parts, 5).toarray(), csr_from_parts(others, 5).toarray())
    with pytest.raises(ValueError, match="covariance"):
        searcher.search_covariances(covariances[:, :-1, :-1], **start)
    with pytest.raises(ValueError, match="covariance"):
        searcher.search_covariances(covariances * np.nan, **start)


def test_the_null_is_about_one_where_the_model_is_right() -> None:
    X, offsets = rows((1, 2, 1, 3, 1, 2, 1, 1, 2, 1), 12, n=2000)
    rng = np.random.default_rng(0)
    independent = np.column_stack([rng.permutation(X[:, offsets[i] : offsets[i + 1]]) for i in range(10)])
    reference = Reference(independent, offsets, 12.0)
    empty = csr_parts(
        LinearSem.from_core(reference.searcher().search([np.arange(10)], penalty=1e6, budget=BUDGET).sem).B
    )
    assert reference.searcher().null_inflation(empty) < 1.5


def test_faults_are_named() -> None:
    C = np.eye(3)
    for arguments, message in [
        ((C, None, np.array([0, 2, 2, 3]), np.ones(3, bool)), "offsets"),
        ((C, None, np.array([0, 2]), np.ones(1, bool)), "columns"),
        ((C, None, np.array([0, 2, 3]), np.ones(3, bool)), "is_category"),
        ((C, np.eye(2), np.array([0, 2, 3]), np.ones(2, bool)), "inverse"),
    ]:
        with pytest.raises(ValueError, match=message):
            _core.BlockSearcher(*arguments, samples=10, knowledge=None, n_threads=1)
    singular = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(_core.NumericalError, match="1"):
        _core.BlockSearcher(
            singular, None, np.array([0, 2, 3]), np.ones(2, bool), samples=10, knowledge=None, n_threads=1
        )

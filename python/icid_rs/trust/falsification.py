"""Tests of the independences that a graph implies, against those of the graph with permuted names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from icid_rs._util.randomness import RandomState, generator
from icid_rs._util.validation import FloatArray, listed
from icid_rs.graph.layer import Layer
from icid_rs.trust.check.check import modelled_covariance
from icid_rs.trust.check.table import FittedTable

#: Cells of the correlation matrices of permuted graphs that are held at a time.
_CELLS = 4_000_000


@dataclass(frozen=True)
class Falsification:
    """Tests of the independences that a graph implies, beside those of the same graph with permuted names.

    Each variable should be independent of all that do not follow from it, given its causes (the local Markov
    condition). The test is that of partial correlations (Fisher's z). After Eulig, Mastakouri, Blöbaum, Hardt and
    Janzing (2023), "Toward falsifying causal graphs using a permutation-based test".

    Attributes
    ----------
    tests, violations : int
        Independences that the graph implies, and those that the data reject.
    p_value : float
        Share of permuted graphs with no larger share of violations.
    equivalent : float
        Share of permuted graphs in the same equivalence class. If this is large, the graph says little.
    falsifiable : bool
        Whether at most `significance` of the permuted graphs are equivalent to the graph.
    falsified : bool
        Whether the graph is falsifiable and not clearly better than with permuted names.
    significance : float
    where : tuple of str
        Violated independences, the strongest first.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> B = datasets.random_dag(10, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 1000, random_state=0)
    >>> result = ICID().fit(X).falsify(X)
    >>> result.falsifiable, result.falsified
    (True, False)
    """

    tests: int
    violations: int
    p_value: float
    equivalent: float
    falsifiable: bool
    falsified: bool
    significance: float
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.tests:
            return "The graph joins every pair: no independence follows from it, so that data cannot contradict it."
        verdict = "is contradicted by the data" if self.falsified else "is not contradicted by the data"
        if not self.falsifiable:
            verdict = "says too little to be tested"
        lines = [
            f"The graph {verdict}.",
            f"{self.violations} of {self.tests} independences that it implies are violated; "
            f"{self.p_value:.0%} of graphs with permuted names do as well.",
        ]
        return "\n".join(lines + ([f"Violated: {listed(list(self.where))}"] if self.where else []))


def falsify_table(
    table: FittedTable, layer: Layer, *, significance: float, permutations: int, random_state: RandomState
) -> Falsification:
    """Test the independences that a graph implies in a table, without the layer; see `falsify`."""
    if not 0 < significance < 1:
        raise ValueError(f"significance must be between 0 and 1, but it is {significance}")
    if permutations < 1:
        raise ValueError(f"permutations must be at least 1, but it is {permutations}")
    assert table.order is not None, "the caller refuses graphs with cycles"
    for j in np.flatnonzero(np.ptp(table.X, axis=0) == 0).tolist():
        raise ValueError(f"column {table.names[j]!r} is constant: it has no correlations to test")
    R = _correlations(modelled_covariance(table, layer))
    return falsify(
        R,
        table.B,
        table.order,
        table.n,
        list(table.names),
        significance=significance,
        level=significance,
        permutations=permutations,
        random_state=random_state,
    )


def _correlations(covariance: FloatArray) -> FloatArray:
    """Return correlations; less a layer, those of another table than that of the fit may not be positive definite."""
    scale = np.sqrt(np.maximum(covariance.diagonal(), 1e-300))
    R = covariance / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(R)
    if values[0] > 0:
        return np.asarray(R)
    R = (vectors * np.maximum(values, 1e-8 * values[-1])) @ vectors.T
    scale = np.sqrt(R.diagonal())
    return np.asarray(R / np.outer(scale, scale))


def falsify(
    R: FloatArray,
    B: Any,
    order: NDArray[np.intp],
    n: int,
    names: list[Any],
    *,
    significance: float = 0.05,
    level: float = 0.05,
    permutations: int = 200,
    random_state: RandomState = 0,
) -> Falsification:
    """Test the independences that a graph implies.

    A graph with permuted names has the independences of the graph, of permuted data. So all permutations are tested
    together, variable by variable.

    Parameters
    ----------
    R : array of shape (d, d)
        Correlations.
    B : sparse matrix of shape (d, d)
        The graph.
    order : array of shape (d,)
        Its causal order.
    n : int
        Number of rows.
    names : list
        Of the variables.
    significance, level : float
        Of the verdict, and of each test of independence.
    permutations : int
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
    """
    d = len(R)
    parents = sp.csc_array(B)
    unrelated = _unrelated(B, order)
    tests = int(unrelated.sum())
    if not tests:
        return Falsification(0, 0, 1.0, 1.0, False, False, significance)
    own = _p_values(R[None], parents, unrelated, n)[0]
    violated = np.argwhere(unrelated & (own <= level))
    ranked = violated[np.argsort(own[tuple(violated.T)], kind="stable")]
    rng = generator(random_state)
    better = equivalent = 0
    adjacent = sp.csr_array(B).toarray() != 0
    chunk = max(1, _CELLS // d**2)
    orders = np.array([rng.permutation(d) for _ in range(permutations)])
    for part in np.array_split(orders, -(-permutations // chunk)):
        permuted = R[part[:, :, None], part[:, None, :]]
        found = (unrelated & (_p_values(permuted, parents, unrelated, n) <= level)).sum(axis=(1, 2))
        better += int((found <= len(violated)).sum())
        # Both have the same number of edges, so that equivalence is equality of adjacencies and colliders.
        equivalent += sum(_is_equivalent(adjacent, p) for p in part)
    p_value, share = better / permutations, equivalent / permutations
    return Falsification(
        tests=tests,
        violations=len(violated),
        p_value=p_value,
        equivalent=share,
        falsifiable=share <= significance,
        falsified=p_value > significance > share,
        significance=significance,
        where=tuple(
            f"{names[j]} of {names[k]}" + _given([names[i] for i in _parents(parents, j)]) for j, k in ranked.tolist()
        ),
    )


def _given(causes: list[Any]) -> str:
    return f" given {', '.join(map(str, causes))}" if causes else ""


def _parents(parents: Any, j: int) -> NDArray[np.intp]:
    return np.asarray(parents.indices[parents.indptr[j] : parents.indptr[j + 1]], dtype=np.intp)


def _unrelated(B: Any, order: NDArray[np.intp]) -> NDArray[np.bool_]:
    """``[j, k]``: k neither causes j directly nor follows from it, so that they are independent given j's causes."""
    d = B.shape[0]
    children = sp.csr_array(B)
    reached = np.eye(d, dtype=bool)
    for i in order[::-1].tolist():
        for j in children.indices[children.indptr[i] : children.indptr[i + 1]].tolist():
            reached[i] |= reached[j]
    return np.asarray(~reached & (children.T.toarray() == 0))


def _p_values(R: FloatArray, parents: Any, unrelated: NDArray[np.bool_], n: int) -> FloatArray:
    """p-values of ``[j, k]`` given the causes of j, in each correlation matrix; 1 where nothing is tested."""
    p_values = np.ones_like(R)
    for j in range(R.shape[1]):
        others, P = np.flatnonzero(unrelated[j]), _parents(parents, j)
        if not len(others) or n - len(P) <= 3:
            continue
        covariance, own, theirs = R[:, j, others], np.ones((len(R), 1)), np.ones((len(R), len(others)))
        if len(P):
            on_causes = R[:, P[:, None], others]
            weights = np.linalg.solve(R[:, P[:, None], P], np.concatenate([on_causes, R[:, P, j][:, :, None]], axis=2))
            covariance = covariance - np.einsum("kp,kpo->ko", R[:, P, j], weights[:, :, :-1])
            theirs = theirs - np.einsum("kpo,kpo->ko", on_causes, weights[:, :, :-1])
            own = own - np.einsum("kp,kp->k", R[:, P, j], weights[:, :, -1])[:, None]
        r = np.clip(covariance / np.sqrt(np.maximum(own * theirs, 1e-300)), -1 + 1e-12, 1 - 1e-12)
        p_values[:, j, others] = 2 * stats.norm.sf(np.abs(np.arctanh(r)) * np.sqrt(n - len(P) - 3))
    return p_values


def _is_equivalent(adjacent: NDArray[np.bool_], permutation: NDArray[np.intp]) -> bool:
    """Whether a graph with permuted names has the same adjacencies and colliders (Verma and Pearl 1990)."""
    other = np.empty_like(adjacent)
    other[np.ix_(permutation, permutation)] = adjacent
    joined = adjacent | adjacent.T
    if not np.array_equal(joined, other | other.T):
        return False
    return np.array_equal(_colliders(adjacent, joined), _colliders(other, joined))


def _colliders(adjacent: NDArray[np.bool_], joined: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Triples (i, j, k) with i → j ← k and i, k not joined."""
    triples = [
        (i, j, k)
        for j in np.flatnonzero(adjacent.sum(axis=0) > 1).tolist()
        for i in np.flatnonzero(adjacent[:, j]).tolist()
        for k in np.flatnonzero(adjacent[:, j]).tolist()
        if i < k and not joined[i, k]
    ]
    return np.array(sorted(triples), dtype=np.intp)

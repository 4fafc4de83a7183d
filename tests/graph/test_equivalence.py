"""Equivalence classes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import equivalence_class
from icid_rs.graph.equivalence import causal_order


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

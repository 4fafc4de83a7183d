"""Directions that failed checks take back."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID
from icid_rs.graph.evidence import edge_ends
from icid_rs.trust.check.audit import Spoiled
from icid_rs.trust.lowering import contradicted

#: 0 → 2 ← 1, 2 → 3, and 4 → 3.
B = sp.csr_array(
    [[0, 0, 1.0, 0, 0], [0, 0, 1.0, 0, 0], [0, 0, 0, 1.0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1.0, 0]],
)


def directions(model):
    ends = zip(*(axis.tolist() for axis in edge_ends(model.adjacency_matrix_)), strict=True)
    return dict(zip(ends, model.graph_.evidence_.direction.tolist(), strict=True))


def test_nothing_is_contradicted_without_a_curve():
    assert not contradicted(B, np.array(["compelled"] * B.nnz), []).any()
    assert not contradicted(B, np.array(["compelled"] * B.nnz), [(0, 3), (2, 0)]).any()


def test_what_follows_from_another_collider_stays():
    # Edges in the order of entries: 0 → 2, 1 → 2, 2 → 3, 4 → 3.
    assert contradicted(B, np.array(["compelled"] * 4), [(1, 0)]).tolist() == [True, True, False, False]
    # The collider at 2 gives its own arms, and from these 2 → 3 follows; 4 → 3 rests on the collider at 3 alone.
    assert contradicted(B, np.array(["compelled"] * 4), [(4, 2)]).tolist() == [False, False, False, True]


def test_directions_that_rest_on_something_else_stay():
    lost = contradicted(B, np.array(["shape", "knowledge", "compelled", "compelled"]), [(1, 0)])
    assert not lost.any()


@pytest.mark.parametrize("seed", range(3))
def test_a_collider_of_columns_that_follow_a_curve_is_open(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(1000)
    y = x**2 + rng.standard_normal(1000)
    independent, effect = rng.standard_normal(1000), rng.standard_normal(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        related = ICID(noise="unequal").fit(np.column_stack([x, y, x + y + effect]))
        unrelated = ICID(noise="unequal").fit(np.column_stack([x, independent, x + independent + effect]))
    assert set(directions(unrelated).values()) == {"compelled"}
    assert set(directions(related).values()) == {"open"}
    cpdag = related.cpdag_.toarray()
    assert (cpdag == cpdag.T).all()


def test_shapes_tell_no_direction_of_curves_and_of_columns_without_a_shape():
    spoiled = Spoiled(curved=frozenset({(0, 1)}), shapeless=frozenset({3}))
    assert not spoiled.has_shape(0, 1)
    assert not spoiled.has_shape(1, 0)
    assert not spoiled.has_shape(2, 3)
    assert spoiled.has_shape(1, 2)


def test_knowledge_stays_whatever_the_columns_do():
    walks = np.cumsum(np.random.default_rng(0).standard_normal((500, 2)), axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICID(required=[(0, 1)]).fit(walks)
    assert directions(model) == {(0, 1): "knowledge"}

"""`random_state` takes what scikit-learn and NumPy take, wherever there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from icid_rs import ICID, CausalGraph, Moments, bootstrap, datasets, project_to_dag

B = datasets.random_dag(8, 1, random_state=0)
X = datasets.sample_sem(B, 200, random_state=0)
CYCLIC = np.random.default_rng(0).random((6, 6))
GRAPH = CausalGraph(B, noise_variances=1.0)
FITTED = ICID(noise="unequal").fit(X)
CALLS: dict[str, Callable[[Any], Any]] = {
    "random_dag": lambda state: datasets.random_dag(8, 1, random_state=state).toarray(),
    "sample_sem": lambda state: datasets.sample_sem(B, 10, random_state=state),
    "project_to_dag": lambda state: project_to_dag(CYCLIC, "exptrace", random_state=state).toarray(),
    "fit": lambda state: ICID(noise="unequal", random_state=state).fit(X).adjacency_matrix_.toarray(),
    "Moments": lambda state: Moments(reservoir=20, random_state=state).update(X).rows,
    "bootstrap": lambda state: bootstrap(FITTED, X, n=2, random_state=state).edge_probabilities.toarray(),
    "sample": lambda state: GRAPH.sample(5, random_state=state),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_kind(name):
    call = CALLS[name]
    for make in (lambda: 3, lambda: np.int64(3), lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)):
        np.testing.assert_array_equal(call(make()), call(make()))
    assert np.shape(call(None)) == np.shape(call(3))
    with pytest.raises(TypeError, match="random_state = 'seed': it must be an integer of at least 0"):
        call("seed")
    with pytest.raises(ValueError, match="random_state = -1: it must be an integer of at least 0"):
        call(-1)


@pytest.mark.parametrize("name", ["random_dag", "sample_sem", "Moments", "sample"])
def test_a_generator_is_advanced_and_none_is_new(name):
    for state in (np.random.default_rng(3), np.random.RandomState(3), None):
        assert not np.array_equal(CALLS[name](state), CALLS[name](state))

"""Sortability by variance."""

from __future__ import annotations

import numpy as np

from icid_rs import datasets
from icid_rs.trust.sortability import sortability


def test_sortability_is_a_share_of_edges():
    B = datasets.random_dag(60, 2, random_state=0)
    X = datasets.sample_sem(B, 2000, random_state=0)
    assert sortability(B, X.var(axis=0)) > 0.8
    assert sortability(B, np.ones(60)) == 0.5
    assert np.isnan(sortability(np.zeros((2, 2)), np.ones(2)))

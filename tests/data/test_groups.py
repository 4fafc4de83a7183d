"""Groups of rows, whose means are taken out."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID


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

"""Whole numbers that stand for labels, told from scales and counts."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, datasets
from icid_rs.data.codes import with_codes
from icid_rs.data.encoding import Encoding
from icid_rs.data.kinds import Wishes


def labelled(n: int = 1000, seed: int = 0) -> np.ndarray:
    """Return codes of four soils, which decide on a crop, and sun."""
    rng = np.random.default_rng(seed)
    soil = rng.integers(1, 5, n)
    return np.column_stack([soil, np.array([1.0, 3.0, 0.0, 4.0])[soil - 1] + rng.normal(size=n), rng.normal(size=n)])


def codes(X: np.ndarray, told: frozenset[object] = frozenset()) -> list[int]:
    encoding = Encoding.of_numbers(X, list(range(X.shape[1])), Wishes())
    return [name for name, kind in enumerate(with_codes(X, encoding, told)[1].kinds) if kind.is_code]


def test_codes_are_categories_and_named():
    X = labelled()
    with pytest.warns(UserWarning, match=r"taken as categories: 0: .* name them in ordinal="):
        model = ICID().fit(X)
    assert model.info_["categories"] == {0: 4}
    told = ICID(categorical=[0]).fit(X)
    np.testing.assert_array_equal(model.adjacency_matrix_.toarray(), told.adjacency_matrix_.toarray())
    assert ICID(ordinal=[0]).fit(X).info_["categories"] == {}


def test_options_for_numbers_keep_numbers():
    assert ICID(noise="equal").fit(labelled()).info_["categories"] == {}


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_scales_and_counts_are_no_codes(n, noise):
    taken = 0
    for seed in range(5):
        X = datasets.sample_sem(datasets.random_dag(10, 2, random_state=seed), n, noise=noise, random_state=seed)
        rng = np.random.default_rng(seed)
        for j in range(6):
            X[:, j] = np.searchsorted(np.quantile(X[:, j], np.sort(rng.uniform(0.05, 0.95, 4))), X[:, j])
        X[:, 6] = np.minimum(rng.poisson(np.exp(X[:, 6] / X[:, 6].std() / 2)), 9)
        taken += len(codes(X))
    assert taken <= 1


def test_what_is_no_code():
    X = labelled()
    assert codes(X) == [0]
    assert codes(X, frozenset([0])) == []
    # Independent of all others.
    assert codes(np.column_stack([X[:, 0], X[:, 2]])) == []
    # Too many values, too few rows, or no whole numbers.
    assert codes(np.column_stack([X[:, 0] + 10 * (np.arange(1000) % 3), X[:, 1]])) == []
    assert codes(X[:18]) == []
    assert codes(X / 2) == []


def test_missing_values_and_order_of_codes_make_no_difference():
    X = labelled()
    holes = X.copy()
    holes[::7, 0] = np.nan
    holes[::5, 1] = np.nan
    assert codes(holes) == [0]
    X[:, 0] = np.array([0, 1, 3, 2, 4])[X[:, 0].astype(int)]
    assert codes(X) == [0]

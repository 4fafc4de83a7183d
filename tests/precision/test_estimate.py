"""Which estimator of Θ `"auto"` stands for."""

from __future__ import annotations

import pytest
from sklearn.covariance import LedoitWolf

from icid_rs.precision.estimate import reason, settle_kind
from icid_rs.precision.neighbourhood import LARGE


@pytest.mark.parametrize(
    ("n", "d", "ridge", "kind"),
    [
        (200, 100, 0.0, "fdr"),
        (199, 100, 0.0, "lasso"),
        (50, 100, 0.0, "lasso"),
        # With few columns, tests need degrees of freedom too.
        (4, 1, 0.0, "fdr"),
        (4, 2, 0.0, "lasso"),
        (5, 2, 0.0, "fdr"),
        (103, 100, 0.1, "fdr"),
        (10 * LARGE, LARGE, 0.0, "fdr"),
        (10 * LARGE, LARGE + 1, 0.0, "lasso"),
    ],
)
def test_auto(n, d, ridge, kind):
    assert settle_kind("auto", n, d, ridge) == kind


@pytest.mark.parametrize("kind", ["fdr", "empirical", "lasso", LedoitWolf()])
def test_what_was_asked_for_is_kept(kind):
    assert settle_kind(kind, 3, 1000) is kind


@pytest.mark.parametrize(("n", "d"), [(102, 100), (10 * LARGE, LARGE + 1)])
def test_a_ridge_needs_tests(n, d):
    with pytest.raises(ValueError, match=r"ridge = 0\.1 .*precision='lasso' needs none"):
        settle_kind("auto", n, d, 0.1)


@pytest.mark.parametrize(
    ("kind", "n", "d", "why"),
    [
        ("fdr", 200, 100, "enough to test"),
        ("lasso", 199, 100, "fewer than 2 for each"),
        ("lasso", 10 * LARGE, LARGE + 1, "nothing of size d × d"),
    ],
)
def test_reasons(kind, n, d, why):
    assert settle_kind("auto", n, d) == kind
    assert why in reason(kind, n, d)

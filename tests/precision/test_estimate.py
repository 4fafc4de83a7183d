"""Which estimator of Θ `"auto"` stands for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from icid_rs import ICID, Moments
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.data.reading import read
from icid_rs.options import Options
from icid_rs.precision.estimate import LARGE, choose_estimator, reason, settle_kind
from icid_rs.precision.kinds import KINDS


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


def choice(X, **parameters):
    options = Options.of(ICID(**parameters), KINDS)
    return choose_estimator(read(X, None, options, Stopwatch()), options)


X = np.random.default_rng(0).normal(size=(40, 4))
HOLES = np.where(np.arange(160).reshape(40, 4) == 7, np.nan, X)
SOME_ROWS = Moments(reservoir=10).update(X)


@pytest.mark.parametrize(
    ("table", "parameters", "kind", "explained"),
    [
        (X, {}, "fdr", True),
        (X[:6], {}, "lasso", True),
        (X, {"precision": "lasso"}, "lasso", False),
        (HOLES, {"missing": "pairwise"}, "fdr", True),
        (SOME_ROWS, {}, "fdr", True),
        (np.eye(4), {"precision": "precomputed"}, "precomputed", False),
    ],
)
def test_choices(table, parameters, kind, explained):
    found = choice(table, **parameters)
    assert found.kind == kind
    assert (found.reason is not None) == explained


@pytest.mark.parametrize(
    ("table", "parameters", "message"),
    [
        (HOLES, {"missing": "pairwise"}, "needs complete rows"),
        (SOME_ROWS, {}, "needs all rows, but the moments keep only some"),
    ],
)
def test_estimators_of_others_need_rows(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        choice(table, precision=LedoitWolf(), **parameters)

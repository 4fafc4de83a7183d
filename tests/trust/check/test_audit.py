"""Warnings of fits to odd tables, and silence about clean ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, AssumptionWarning, datasets
from icid_rs.graph.equivalence import causal_order
from icid_rs.trust.check.audit import Audit, audit
from icid_rs.trust.check.table import FittedTable

N = 1000


def clean(seed: int = 0, n: int = N, noise: str = "gaussian") -> np.ndarray:
    """A linear table of eight standardised columns."""
    X = datasets.sample_sem(datasets.random_dag(8, 1, random_state=seed), n, noise=noise, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def warned(X, **parameters) -> str:
    """The warnings of a fit about assumptions."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ICID(**parameters).fit(X)
    return " | ".join(str(w.message) for w in caught if w.category is AssumptionWarning)


def one_row(X, rng):
    X[17] = 30.0 * rng.choice([-1, 1], X.shape[1])


def one_cell(X, rng):
    X[17, 3] = 100.0


def code(X, rng):
    X[rng.choice(N, N // 100, replace=False), 3] = -999


def zeros(X, rng):
    X += 10.0
    X[rng.choice(N, N // 50, replace=False), 3] = 0.0


def binary(X, rng):
    X[:, 3] = X[:, 3] > 0.3


def five_levels(X, rng):
    X[:, 3] = np.searchsorted(np.quantile(X[:, 3], [0.2, 0.4, 0.6, 0.8]), X[:, 3])


def row_number(X, rng):
    X[:, 3] = np.arange(N)


def shuffled_row_number(X, rng):
    X[:, 3] = rng.permutation(N) + 1


def curve(X, rng):
    X[:, 3] = X[:, 0] + 0.5 * X[:, 0] ** 2 + rng.standard_normal(N)


def parabola(X, rng):
    X[:, 3] = X[:, 0] ** 2 + rng.standard_normal(N)


def random_walks(X, rng):
    X[:, 2:4] = np.cumsum(rng.standard_normal((N, 2)), axis=0)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (one_row, "row 17"),
        (one_cell, r"row 17 \(3: \d+ standard deviations"),
        (code, r"3 \(-999 in 10 rows\)"),
        (zeros, r"3 \(0 in 20 rows\)"),
        (binary, r"3 \(2 levels\)"),
        (five_levels, r"3 \(5 levels\)"),
        (shuffled_row_number, r"3 \(numbers the rows\)"),
        (curve, "(0 and 3|3 and 0)"),
        (parabola, "(0 and 3|3 and 0)"),
        (random_walks, r"3 \(wanders"),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_odd_tables_are_warned_of(spoil, message, seed):
    X = clean(seed)
    spoil(X, np.random.default_rng(seed))
    with pytest.warns(AssumptionWarning, match=message):
        ICID(trials=0, hidden=None, measurement_error=None).fit(X)


def test_a_column_that_numbers_the_rows_is_left_out():
    X = clean()
    row_number(X, np.random.default_rng(0))
    with pytest.warns(UserWarning, match=r"left out: 3 \(row numbers\)"):
        assert 3 not in ICID(trials=0).fit(X).variables_


def test_dependent_rows_are_warned_of():
    rng = np.random.default_rng(0)
    E = rng.standard_normal((N, 8))
    for t in range(1, N):
        E[t] += 0.95 * E[t - 1]
    B = datasets.random_dag(8, 1, random_state=0).toarray()
    assert "neighbouring rows" in warned(E @ np.linalg.inv(np.eye(8) - B), trials=0)


@pytest.mark.parametrize("noise", ["gaussian", "exponential", "gumbel"])
@pytest.mark.parametrize("n", [200, 5000])
def test_clean_tables_are_passed_over(noise, n):
    assert [warned(clean(seed, n, noise), trials=0) for seed in range(3)] == [""] * 3


def test_heavy_tails_alone_are_no_gross_values():
    rng = np.random.default_rng(0)
    for n in (200, 10_000):
        X = rng.standard_t(5, (n, 8)) @ np.linalg.inv(np.eye(8) - datasets.random_dag(8, 1, random_state=0).toarray())
        assert warned(X, trials=0) == ""


def spoiled(X, B=None):
    B = datasets.random_dag(8, 1, random_state=0) if B is None else B
    return audit(FittedTable(X, range(8), B, causal_order(B))).spoiled


def test_spoiled_parts_are_named():
    rng = np.random.default_rng(0)
    assert spoiled(clean()) == Audit().spoiled
    X = clean()
    five_levels(X, rng)
    assert spoiled(X).shapeless == {3}
    X = clean()
    random_walks(X, rng)
    assert spoiled(X).wandering == {2, 3}


def test_an_edge_that_rests_on_one_row():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    X[5, :2] = 25.0
    B = np.zeros((8, 8))
    B[0, 1] = B[2, 3] = 0.6
    X[:, 3] += 0.6 * X[:, 2]
    found = spoiled(X, sp.csr_array(B))
    assert found.edges == {(0, 1)}


def test_verdicts_do_not_depend_on_units_or_on_the_order_of_columns():
    X = clean(3)
    curve(X, np.random.default_rng(3))
    B = datasets.random_dag(8, 1, random_state=0)
    p = np.random.default_rng(0).permutation(8)
    tables = [
        FittedTable(X, list("abcdefgh"), B, causal_order(B)),
        FittedTable(X * 7.0 - 3.0, list("abcdefgh"), B, causal_order(B)),
        FittedTable(X[:, p], [list("abcdefgh")[k] for k in p], B[p][:, p], causal_order(B[p][:, p])),
    ]
    first, *others = [[(a.verdict, round(a.effect, 9)) for a in audit(table).assumptions] for table in tables]
    assert others == [first] * 2


def test_info_has_the_checks():
    info = ICID().fit(clean()).info_
    assert {check["verdict"] for check in info["checks"]} == {"pass"}
    assert info["timings"]["checks"] < sum(info["timings"].values())
    # A given inverse covariance has no rows to look at.
    assert ICID(precision="precomputed").fit(np.eye(2) * 2 + 0.5).info_["checks"] == []


def test_the_measured_inflation_of_the_null_is_reported():
    rng = np.random.default_rng(0)
    common = rng.standard_normal((N, 1))
    X = clean()
    assert ICID().fit(X).info_["choices"]["penalty"]["measured"] < 1.5
    X = 0.4 * common + rng.standard_normal((N, 12))
    assert ICID(penalty=3.0, hidden=None, measurement_error=None).fit(X).info_["choices"]["penalty"]["measured"] > 2

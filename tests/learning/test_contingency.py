"""Edges between categories that tables of their levels do not confirm."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency

from icid_rs import ICID
from icid_rs.graph.blocks import Blocks
from icid_rs.graph.knowledge import Knowledge
from icid_rs.learning.contingency import Association, codes_of, unconfirmed


def test_the_statistic_is_that_of_pearson_in_each_stratum() -> None:
    rng = np.random.default_rng(0)
    given = rng.integers(0, 2, 500)
    a = (given + rng.integers(0, 3, 500)) % 3
    b = (a + rng.integers(0, 4, 500)) % 4
    statistic, freedom = 0.0, 0
    for level in (0, 1):
        rows = given == level
        expected = chi2_contingency(pd.crosstab(a[rows], b[rows]), correction=False)
        statistic += expected.statistic * (rows.sum() - 1) / rows.sum()
        freedom += expected.dof
    found = Association.of(a, b, [given])
    assert found is not None
    assert found.statistic == pytest.approx(statistic)
    assert found.freedom == freedom


def test_the_statistic_is_fair_where_counts_are_small() -> None:
    """Many strata of a few rows each: without association it is its degrees of freedom on average."""
    rng = np.random.default_rng(0)
    found = [Association.of(*rng.integers(0, 3, (2, 300)), [rng.integers(0, 60, 300)]) for _ in range(200)]
    excess = [one.statistic - one.freedom for one in found if one is not None]
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(len(excess))


def test_tables_of_too_many_cells_are_not_made() -> None:
    codes = np.arange(20_000)
    assert Association.of(codes % 50, codes % 40, [codes]) is None


def test_only_families_of_few_levels_are_looked_at() -> None:
    rng = np.random.default_rng(0)
    blocks = Blocks.of([("a", "b", "c"), None, ("a", "b", "c")])
    level = rng.integers(0, 3, (2, 400))
    rows = np.column_stack([level[0] == 1, level[0] == 2, rng.normal(size=400), level[1] == 1, level[1] == 2])
    codes = codes_of(rows.astype(float), blocks)
    assert sorted(codes) == [0, 2]
    alone = sp.csr_array(([0.5], ([0], [2])), shape=(3, 3))
    assert unconfirmed(alone, codes, None).tolist() == [[0, 2]]
    beside_a_number = sp.csr_array(([0.5, 0.5], ([0, 1], [2, 2])), shape=(3, 3))
    assert not len(unconfirmed(beside_a_number, codes, None))
    required = Knowledge.make(range(3), required=[(0, 2)])
    assert not len(unconfirmed(alone, codes, required))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_causes_that_interact_do_not_make_further_edges() -> None:
    """x → a, x → b, and c depends on a and b together: sums over a and b leave something that x explains."""
    rng = np.random.default_rng(0)
    n = 4000

    def noisy(levels: np.ndarray) -> np.ndarray:
        return np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), levels)

    x = rng.integers(0, 4, n)
    a, b = noisy(np.array([0, 1, 2, 2])[x]), noisy(np.array([0, 2, 1, 2])[x])
    c = noisy(np.array([[0, 0, 1], [0, 2, 2], [1, 2, 0]])[a, b])
    table = pd.DataFrame({"x": x, "a": a, "b": b, "c": c}).astype(str)
    model = ICID(categorical=list("xabc")).fit(table)
    joined = {frozenset(pair) for pair in zip(model.edges().source, model.edges().target, strict=True)}
    assert joined == {frozenset(pair) for pair in ("xa", "xb", "ac", "bc")}
    assert model.info_["refinement"]["unconfirmed"] == [["x", "c"]]
    assert "not joined: tables of their levels" in " ".join(model.report().split())
    known = ICID(categorical=list("xabc"), required=[("x", "c")], stability=None).fit(table)
    assert known.graph_.parents("c").count("x") == 1

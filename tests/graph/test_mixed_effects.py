"""Effects between numbers where other variables are categories, against plain regressions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID

TIERS = [["kind"], ["x"], ["z"], ["y"]]


def some_rows(n: int, seed: int) -> pd.DataFrame:
    """Rows of kind → x → z → y with further edges from kind and x to y: the effect of x on y is 0.98."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(list("abc"), n)
    level = pd.Series(kind).map({"a": 0.0, "b": 1.0, "c": 2.5}).to_numpy()
    x = level + rng.standard_normal(n)
    z = 0.8 * x + rng.standard_normal(n)
    y = 0.5 * x + 0.6 * z + 1.2 * level + rng.standard_normal(n)
    return pd.DataFrame({"kind": kind, "x": x, "z": z, "y": y})


def regression(table: pd.DataFrame, target: str, numbers: list[str]) -> np.ndarray:
    """Coefficients of numbers, beside the levels of kind."""
    design = np.column_stack([table[numbers], pd.get_dummies(table["kind"], dtype=float)])
    return np.linalg.lstsq(design, table[target], rcond=None)[0][: len(numbers)]


def test_equations_are_regressions_on_all_columns():
    table = some_rows(2000, 0)
    model = ICID(tiers=TIERS).fit(table)
    direct, over_z = regression(table, "y", ["x", "z"])
    (on_z,) = np.linalg.lstsq(table[["x"]] - table[["x"]].mean(), table["z"] - table["z"].mean(), rcond=None)[0]
    effect = model.effect("x", "y")
    assert effect.direct == pytest.approx(direct)
    assert effect.total == pytest.approx(direct + on_z * over_z)
    assert effect.adjustment == ("kind",)
    # The optimal set estimates the same effect.
    assert regression(table, "y", ["x"])[0] == pytest.approx(effect.total, abs=4 * effect.std_error)
    assert model.effect("x", "y", data=table).interval == pytest.approx(effect.interval)


def test_intervals_cover():
    inside = []
    model = ICID(tiers=TIERS).fit(some_rows(2000, 0))
    for seed in range(1, 201):
        low, high = model.effect("x", "y", data=some_rows(300, seed)).interval
        inside.append(low <= 0.98 <= high)
    assert 0.9 <= np.mean(inside) <= 0.99


def test_open_directions_have_a_range():
    table = some_rows(2000, 0)
    effect = ICID().fit(table).effect("x", "z")
    assert effect.low <= effect.total <= effect.high
    assert len(effect.members) == 1 or effect.open_edges


def test_categories_themselves_are_refused():
    model = ICID(tiers=TIERS).fit(some_rows(2000, 0))
    for cause, target in (("kind", "y"), ("x", "kind")):
        with pytest.raises(ValueError, match="effects of, on and through variables need numbers"):
            model.effect(cause, target)
    with pytest.raises(ValueError, match="no column 'z'"):
        model.effect("x", "y", data=some_rows(50, 1).drop(columns="z"))

"""Curves straighten columns in their own units, and lead back to the values of the table."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from icid_rs.data.encoding import Encoding
from icid_rs.data.transforms import asked_curves, logarithm, normal_scores
from icid_rs.graph.curves import read_curves


def columns(seed: int = 0, n: int = 700) -> dict[str, np.ndarray]:
    z = np.random.default_rng(seed).normal(size=n)
    return {
        "normal": 3 * z + 5,
        "exp": np.exp(z),
        "cube": z**3,
        "ranks": np.floor(4 * z),
        "constant end": z.clip(-1, 1),
    }


@pytest.mark.parametrize("name", columns())
def test_scores_are_normal_quantiles_of_mean_ranks(name):
    x = columns()[name]
    u = normal_scores(x).straighten(x)
    z = norm.ppf((rankdata(x) - 0.5) / len(x))
    assert np.corrcoef(u, z)[0, 1] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", columns())
def test_scores_have_the_mean_and_the_slope_of_the_column(name):
    x = columns()[name]
    u = normal_scores(x).straighten(x)
    assert u.mean() == pytest.approx(x.mean(), abs=1e-6 * x.std() + 1e-12)
    # The best line of the column on its scores is the diagonal.
    assert np.cov(x, u)[0, 1] / u.var(ddof=1) == pytest.approx(1.0, abs=1e-3)


def test_slopes_are_those_of_the_curve_on_average():
    z = np.random.default_rng(0).normal(size=200_000)
    x = np.exp(z / 2)
    u = normal_scores(x).straighten(x)
    assert u.std() == pytest.approx(np.mean(np.exp(z / 2) / 2), rel=0.01)


@pytest.mark.parametrize("name", columns())
def test_curves_lead_back(name):
    x = columns()[name]
    curve = normal_scores(x)
    assert np.allclose(curve.restore(curve.straighten(x)), x, atol=1e-9 * x.std())
    beyond = np.array([x.min() - 1.0, x.max() + 2.0])
    assert np.allclose(curve.restore(curve.straighten(beyond)), beyond)
    assert (np.diff(curve.straighten(np.sort(x))) >= 0).all()


def test_many_values_need_few_knots():
    x = np.exp(np.random.default_rng(0).normal(size=100_000))
    curve = normal_scores(x)
    assert len(curve.values) <= 1000
    exact = norm.ppf((rankdata(x) - 0.5) / len(x))
    u = curve.straighten(x)
    assert np.abs((u - u.mean()) / u.std() - exact / exact.std()).max() < 0.02


def test_units_and_missing_values():
    x = columns()["exp"]
    x[::7] = np.nan
    one, other = (normal_scores(values) for values in (x, 40 * x + 3))
    assert np.allclose(40 * one.straighten(x) + 3, other.straighten(40 * x + 3), equal_nan=True)
    assert np.isnan(one.straighten(x)).sum() == np.isnan(x).sum()


def test_logarithms_are_straight_in_the_units_of_the_column():
    x = columns()["exp"]
    curve = logarithm(x)
    u = curve.straighten(x)
    assert np.corrcoef(u, np.log(x))[0, 1] == pytest.approx(1.0)
    assert u.mean() == pytest.approx(x.mean())
    assert np.allclose(curve.restore(u), x)
    with pytest.raises(ValueError, match=r"column\(s\) 'b' \(least value .*\), 'c' \(least value 0\); ask for"):
        asked_curves("log", np.column_stack([x, x - x.mean(), x - x.min()]), Encoding.plain(["a", "b", "c"]))


def test_curves_survive_json():
    x = columns()["exp"]
    curves = [normal_scores(x), None, logarithm(x)]
    records = json.loads(json.dumps([None if curve is None else curve.as_record() for curve in curves]))
    found = read_curves(records, 3)
    assert sorted(found) == [0, 2]
    for k, curve in found.items():
        assert np.array_equal(curve.straighten(x), curves[k].straighten(x))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "transforms must be a list of 1 entries"),
        ([{"kind": "root"}], r"transforms\[0\].kind must be"),
        ([{"kind": "log", "mean": 1, "slope": 0, "middle": 0}], "slope must be positive"),
        ([{"kind": "log", "mean": 1, "slope": "2", "middle": 0}], "must hold numbers"),
        ([{"kind": "normal-scores", "values": [1, 1], "straightened": [0, 1]}], "must be ascending"),
        ([{"kind": "normal-scores", "values": [1], "straightened": [0]}], "must be ascending"),
    ],
)
def test_records_are_checked(content, message):
    with pytest.raises(ValueError, match=message):
        read_curves(content, 1)


def test_numbers_with_two_values_stay_as_they_are():
    X = np.column_stack([columns()["exp"], columns()["normal"] > 5, columns()["cube"]])
    encoding = Encoding.plain(["a", "b", "c"])
    assert sorted(asked_curves("normal-scores", X, encoding)) == [0, 2]
    assert sorted(asked_curves({"c": "normal-scores", "a": None}, X, encoding)) == [2]
    assert asked_curves("auto", X, encoding) == {}
    with pytest.raises(ValueError, match="no column 'd'; the columns are 'a', 'b', 'c'"):
        asked_curves({"d": "log"}, X, encoding)
    with pytest.raises(ValueError, match="column 'b' has two values"):
        asked_curves({"b": "log"}, X, encoding)

"""Parameters are checked once, and what is left to the data still says so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from icid_rs import ICID
from icid_rs.options import Options
from icid_rs.precision.kinds import KINDS


def options(**parameters) -> Options:
    return Options.of(ICID(**parameters), KINDS)


def test_auto_stays_where_the_data_decide():
    found = options()
    assert (found.precision, found.noise, found.refine) == ("auto", "auto", "auto")


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, {"l1_weight": 0.1, "rescale": True, "skewness": 0.0, "is_weighted": False, "threshold": 0.0}),
        ({}, {"trials": None, "time_limit": None, "ridge": 0.0, "dag": "greedy", "seed": 0}),
        ({"l1_weight": 0.3}, {"l1_weight": 0.3, "rescale": False, "is_weighted": True}),
        ({"skewness": 2}, {"skewness": 2.0, "rescale": True, "is_weighted": True}),
        ({"threshold": 1}, {"threshold": 1.0}),
        ({"trials": 0, "time_limit": 0}, {"trials": 0, "time_limit": 0.0}),
        ({"random_state": 7}, {"seed": 7}),
        ({"dag": None}, {"refine": None}),
        ({"refine": "search"}, {"refine": "search"}),
    ],
)
def test_values(parameters, expected):
    found = options(**parameters)
    assert {name: getattr(found, name) for name in expected} == expected


def test_nothing_is_changed_later():
    model = ICID(threshold=0.2)
    found = Options.of(model, KINDS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.threshold = 0.5
    model.threshold = 0.5
    assert found.threshold == 0.2


def test_the_estimator_is_left_alone():
    model = ICID(precision=LedoitWolf(), l1_weight="auto")
    before = model.get_params(deep=False)
    found = Options.of(model, KINDS)
    assert found.precision is before["precision"]
    assert model.get_params(deep=False) == before


def test_known_variances():
    assert options().known_variances(3) is None
    np.testing.assert_array_equal(options(noise_variances=2).known_variances(3), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(options(noise_variances=[1, 2, 3]).known_variances(3), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": 1.0}, "less than 1"),
        ({"ridge": 0.1, "precision": "lasso"}, "ridge = 0.1 is for precision='fdr'"),
        ({"dag": None, "refine": "order"}, "dag=None asks for B as it is"),
        ({"noise": "unequal", "precision": "precomputed"}, "noise='unequal' needs data"),
        ({"noise": "unequal", "refine": None}, "use refine='search'"),
        ({"noise": "unequal", "dag": None}, "use refine='search'"),
        ({"missing": "impute"}, "missing = 'impute'"),
    ],
)
def test_contradictions_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        options(**parameters)


def test_a_callback_is_called_by_the_report_of_progress(capsys):
    seen = []
    progress = {"round": 1, "iteration": 10, "objective": 2.0, "optimality": 0.5}
    assert options().observer() is None
    assert options(callback=seen.append).observer() == seen.append
    options(verbose=True, callback=seen.append).observer()(progress)
    assert seen == [progress]
    assert capsys.readouterr().err.startswith("ICID: round 1, iteration 10")

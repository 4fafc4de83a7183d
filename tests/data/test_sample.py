"""Each kind of input becomes the sample that it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from icid_rs import ICID, Moments
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.data.reading import read
from icid_rs.data.sample import GivenTheta, IncompleteRows, Rows, Summary
from icid_rs.options import Options
from icid_rs.precision.kinds import KINDS
from tests.helpers.needs import need

X = np.random.default_rng(0).normal(size=(40, 3))
HOLES = np.where(np.arange(120).reshape(40, 3) % 31 == 0, np.nan, X)
NAMES = ["rain", "wet", "slip"]


def sample(X, groups=None, **parameters):
    return read(X, groups, Options.of(ICID(**parameters), KINDS), Stopwatch())


@pytest.mark.parametrize(
    ("table", "parameters", "kind", "samples"),
    [
        (X, {}, Rows, 40),
        (X.tolist(), {}, Rows, 40),
        (X.astype(np.float32), {}, Rows, 40),
        (pd.DataFrame(X, columns=NAMES), {}, Rows, 40),
        (sp.csr_array(X), {}, Rows, 40),
        (X, {"missing": "drop"}, Rows, 40),
        (X, {"missing": "pairwise"}, Rows, 40),
        (HOLES, {"missing": "drop"}, Rows, 36),
        (HOLES, {"missing": "pairwise"}, IncompleteRows, 37),
        (Moments().update(X), {}, Summary, 40),
        (np.eye(3), {"precision": "precomputed"}, GivenTheta, None),
        (sp.eye_array(3), {"precision": "precomputed"}, GivenTheta, None),
    ],
)
def test_kinds(table, parameters, kind, samples):
    found = sample(table, **parameters)
    assert type(found) is kind
    assert getattr(found, "samples", None) == samples
    assert len(found.names) == 3


def test_dask_collections_are_summed():
    found = sample(need("dask.array").from_array(X, chunks=(10, 3)))
    assert type(found) is Summary
    np.testing.assert_allclose(found.moments.covariance, np.cov(X, rowvar=False, bias=True))


@pytest.mark.parametrize(
    ("table", "parameters"),
    [
        (pd.DataFrame(X, columns=NAMES), {}),
        (Moments(names=NAMES).update(X), {}),
        (pd.DataFrame(np.eye(3), columns=NAMES), {"precision": "precomputed"}),
    ],
)
def test_names(table, parameters):
    found = sample(table, **parameters)
    assert found.is_named
    assert found.names == found.encoding.columns == NAMES


def test_numbers_stand_for_names():
    found = sample(X)
    assert not found.is_named
    assert list(found.names) == [0, 1, 2]


def test_rows_that_show_shapes():
    np.testing.assert_array_equal(sample(X).shape_rows, X)
    assert sample(HOLES, missing="pairwise").shape_rows is None
    kept = sample(Moments().update(X)).shape_rows
    np.testing.assert_allclose(kept.mean(axis=0), X.mean(axis=0))
    assert sample(Moments(reservoir=0).update(X)).shape_rows is None


def test_groups_cost_samples():
    groups = np.repeat([0, 1, 2, 3], 10)
    found = sample(X, groups)
    assert found.samples == 37
    assert found.facts.groups == 4
    for k in range(4):
        np.testing.assert_allclose(found.values[groups == k].mean(axis=0), found.values.mean(axis=0), atol=1e-12)
    assert sample(HOLES, groups, missing="pairwise").samples == 34


@pytest.mark.parametrize(
    ("table", "parameters", "message"),
    [
        (Moments().update(X), {}, "groups needs the rows themselves"),
        (np.eye(3), {"precision": "precomputed"}, "groups needs data"),
        (X, {}, "the means of 39 groups leave 2 samples"),
    ],
)
def test_groups_that_cannot_be_taken_out(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        sample(table, np.minimum(np.arange(len(X)), 38), **parameters)

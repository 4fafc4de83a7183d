"""Other tables are read as the fit read its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, datasets
from icid_rs.data.fitted_columns import FittedColumns


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    X = datasets.sample_sem([[0, 0.8, 0], [0, 0, 0.5], [0, 0, 0]], 300, random_state=0)
    return pd.DataFrame(X, columns=["rain", "wet", "slips"])


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> ICID:
    return ICID(stability=None).fit(table)


@pytest.fixture(scope="module")
def columns(model: ICID) -> FittedColumns:
    return model._fitted_columns


def test_the_table_of_the_fit_is_read_as_it_was(table, model, columns):
    np.testing.assert_array_equal(columns.encoded(table, model).values, table)
    np.testing.assert_array_equal(columns.complete_rows(table, model), table)


def test_incomplete_rows_are_refused_or_left_out(table, model, columns):
    holes = table.mask(np.arange(len(table))[:, None] % 7 == np.array([0, 3, 9]))
    with pytest.raises(ValueError, match="NaN"):
        columns.complete_rows(holes, model)
    np.testing.assert_array_equal(columns.complete_rows(holes, model, policy="drop"), holes.dropna())


def test_groups_lose_the_rows_that_are_left_out_and_their_means(table, model, columns):
    holes = table.mask(np.arange(len(table))[:, None] % 7 == np.array([0, 9, 9]))
    groups = np.arange(len(table)) % 3
    rows = columns.complete_rows(holes, model, policy="drop", groups=groups)
    member = groups[holes.notna().all(axis=1)]
    for group in range(3):
        np.testing.assert_allclose(rows[member == group].mean(axis=0), rows.mean(axis=0))


def test_other_columns_are_refused(table, model, columns):
    with pytest.raises(ValueError, match="feature names"):
        columns.encoded(table[["wet", "rain", "slips"]], model)

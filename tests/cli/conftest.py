"""A table and its graph, for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, datasets


@pytest.fixture(scope="module")
def truth() -> np.ndarray:
    return datasets.random_dag(10, 1, random_state=3).toarray()


@pytest.fixture(scope="module")
def frame(truth) -> pd.DataFrame:
    X = datasets.sample_sem(truth, 300, random_state=3)
    return pd.DataFrame(X, columns=[f"gene {k}" for k in range(10)])


@pytest.fixture(scope="module")
def edges(frame) -> pd.DataFrame:
    return ICID(noise="equal").fit(frame).edges()


@pytest.fixture
def table(frame, tmp_path) -> Path:
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"

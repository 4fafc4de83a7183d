"""Dask collections are reduced where they lie, with the result of the table."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from icid_rs import ICID, Moments, datasets
from icid_rs.data.dask import moments_of
from tests.helpers.needs import need

da = need("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    return datasets.sample_sem(datasets.random_dag(12, 1, random_state=0), 3_000, random_state=0) + 10


@pytest.mark.parametrize("chunks", [(700, 12), (250, 5), (3_000, 12)])
def test_arrays(table, chunks):
    X = table
    fitted, local = ICID().fit(X), Moments().update(X)
    model = ICID().fit(da.from_array(X, chunks=chunks))
    np.testing.assert_allclose(model.covariance_, local.covariance, rtol=1e-10, atol=1e-12)
    assert abs(model.adjacency_matrix_ - fitted.adjacency_matrix_).max() < 1e-10
    # The sample does not depend on partitions.
    assert np.array_equal(moments_of(da.from_array(X, chunks=chunks)).rows, local.rows)


def test_frames(table):
    X = table
    dd = need("dask.dataframe")
    pandas = need("pandas")
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(12)])
    model = ICID().fit(dd.from_pandas(frame, npartitions=11))
    assert list(model.feature_names_in_) == list(frame.columns)
    assert abs(model.adjacency_matrix_ - ICID().fit(X).adjacency_matrix_).max() < 1e-10


def test_empty_partitions_and_faults(table):
    X = table
    moments = moments_of(da.concatenate([da.from_array(X, chunks=(500, 12)), da.zeros((0, 12))]))
    assert moments.n == 3_000
    bad = X.copy()
    bad[2_000, 3] = np.nan
    with pytest.raises(ValueError, match="NaN: row 0, column 3"):
        ICID().fit(da.from_array(bad, chunks=(500, 12)))
    with pytest.raises(ValueError, match="samples by variables"):
        moments_of(da.zeros(10))


def _stuck_in(block: np.ndarray, pid: int, begun: Path) -> np.ndarray:
    """Return a block, but never from one process."""
    if os.getpid() == pid:
        begun.touch()
        threading.Event().wait()
    return block


def test_a_worker_killed_in_the_middle_changes_nothing(table, tmp_path):
    X = table
    distributed = need("distributed")
    expected = moments_of(da.from_array(X, chunks=(100, 12)))
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
    ):
        victim, begun = cluster.workers[0].process.pid, tmp_path / "begun"
        blocks = da.from_array(X, chunks=(100, 12))
        blocks = blocks.map_blocks(_stuck_in, pid=victim, begun=begun, dtype=float)

        def kill() -> None:
            while not begun.exists():
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        result = moments_of(blocks)
    assert begun.exists()
    assert result.n == 3_000
    assert np.array_equal(result.covariance, expected.covariance)
    assert np.array_equal(result.rows, expected.rows)


def test_a_grid_of_parameters_goes_to_the_cluster(table):
    distributed = need("distributed")
    grid = GridSearchCV(ICID(noise="equal"), {"threshold": [0.0, 0.3, 1.0]}, cv=3)
    local = grid.fit(table).cv_results_["mean_test_score"]
    with (
        distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50),
        joblib.parallel_config(backend="dask"),
    ):
        found = clone(grid).fit(table)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], local, rtol=1e-10)
    assert found.best_params_ == grid.best_params_

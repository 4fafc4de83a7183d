"""The paper's figures on simulated fMRI data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, datasets, metrics

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))


@pytest.mark.skipif(not (DATA / "sim4.mat").exists(), reason="the NetSim files are not distributed with the package")
class TestNetSim:
    """The paper's figures on simulated fMRI data, columns permuted."""

    def shd(self, name: str, seed: int, **parameters) -> int:
        X, adjacency, _ = datasets.load_netsim(DATA / name)
        order = np.random.default_rng(seed).permutation(X.shape[1])
        grid = np.linspace(0.01, 0.1, 10)
        model = ICID(precision="empirical", lambda1=grid, l1_weight=0.05, max_alm_iter=4, refine=None, **parameters)
        found = model.fit(X[:, order]).adjacency_matrix_
        return int(metrics.count_accuracy(adjacency.toarray()[np.ix_(order, order)], found)["shd"])

    def median(self, name: str, **parameters) -> float:
        return float(np.median([self.shd(name, seed, **parameters) for seed in range(5)]))

    def test_sizes(self):
        for name, nodes, edges in (("sim3.mat", 15, 18), ("sim4.mat", 50, 61)):
            X, adjacency, names = datasets.load_netsim(DATA / name)
            assert X.shape == (10_000, nodes)
            assert adjacency.nnz == edges
            assert len(names) == nodes

    def test_sim4(self):
        assert self.median("sim4.mat", skewness=0.0) <= 14
        assert self.median("sim4.mat", skewness=20.0) <= 2

    def test_sim3(self):
        assert self.median("sim3.mat", skewness=20.0) <= 2


@pytest.mark.skipif(not (DATA / "sim4.mat").exists(), reason="the NetSim files are not distributed with the package")
@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("simulation", [3, 4])
def test_netsim(simulation, standardised):
    X, A, _ = datasets.load_netsim(DATA / f"sim{simulation}.mat")
    order = np.random.default_rng(simulation).permutation(X.shape[1])
    X, A = X[:, order], sp.csr_array(A)[order][:, order]
    if standardised:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert metrics.count_accuracy(A, ICID().fit(X).adjacency_matrix_)["shd"] <= 1

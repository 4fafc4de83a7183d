"""Simulated brain networks, as in the paper: the original files where there are any, and others of their shape."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from icid_rs import ICID, datasets, metrics

SUBJECTS, TIMES, VARIANCE = 50, 200, 4.5
#: Nodes and edges of the files; both are made of rings of five nodes.
SIZES = {"sim3": (15, 18), "sim4": (50, 61)}


def simulate(nodes: int, edges: int, path: Path) -> None:
    """Write a file like those of Smith et al. (2011): rings that are linked, with other weights for each subject."""
    rng = np.random.default_rng(nodes)
    rings = [(k + a, k + b) for k in range(0, nodes, 5) for a, b in ((0, 1), (1, 2), (2, 3), (3, 4), (0, 4))]
    others = [(i, j) for j in range(nodes) for i in range(j - j % 5)]
    links = rng.choice(len(others), edges - len(rings), replace=False)
    pattern = np.zeros((nodes, nodes))
    pattern[tuple(np.transpose([*rings, *(others[k] for k in links)]))] = 1.0
    networks = pattern * np.clip(rng.normal(0.4, 0.1, (SUBJECTS, nodes, nodes)), 0.2, 0.6)
    # The units and the slight skewness of the original series.
    parts = {"gaussian": 0.7 * VARIANCE, "exponential": 0.3 * VARIANCE}
    series = [
        sum(datasets.sample_sem(B, TIMES, noise=k, noise_variances=v, random_state=rng) for k, v in parts.items())
        for B in networks
    ]
    scipy.io.savemat(path, {"ts": np.vstack(series), "net": networks - np.eye(nodes)})


@pytest.fixture(scope="module", params=["simulated", "original"])
def folder(request, tmp_path_factory) -> Path:
    if request.param == "original":
        folder = Path(os.environ.get("ICID_DATA", ""))
        if not all((folder / f"{name}.mat").is_file() for name in SIZES):
            pytest.skip("needs the NetSim files (set ICID_DATA to a folder with sim3.mat and sim4.mat)")
        return folder
    folder = tmp_path_factory.mktemp("netsim")
    for name, size in SIZES.items():
        simulate(*size, folder / f"{name}.mat")
    return folder


def permuted(path: Path, seed: int) -> tuple[np.ndarray, sp.csr_array]:
    """Read a file with its columns permuted: they are stored in a causal order."""
    X, adjacency, _ = datasets.load_netsim(path)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    return X[:, order], sp.csr_array(adjacency)[order][:, order]


@pytest.mark.parametrize("name", SIZES)
def test_sizes(folder, name):
    nodes, edges = SIZES[name]
    X, adjacency, names = datasets.load_netsim(folder / f"{name}.mat")
    assert X.shape == (SUBJECTS * TIMES, nodes)
    assert adjacency.nnz == edges
    assert len(names) == nodes


@pytest.mark.parametrize(("name", "skewness", "worst"), [("sim3", 20.0, 2), ("sim4", 0.0, 14), ("sim4", 20.0, 2)])
def test_the_paper_alone(folder, name, skewness, worst):
    """The figures of the paper."""
    grid = np.linspace(0.01, 0.1, 10)
    parameters = {"precision": "empirical", "lambda1": grid, "l1_weight": 0.05, "max_alm_iter": 4, "skewness": skewness}
    model = ICID(refine=None, stability=None, **parameters)
    distances = []
    for seed in range(5):
        X, A = permuted(folder / f"{name}.mat", seed)
        distances.append(metrics.count_accuracy(A, model.fit(X).adjacency_matrix_)["shd"])
    assert np.median(distances) <= worst


@pytest.mark.filterwarnings("ignore:hidden common causes:UserWarning")
@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_the_default(folder, name, standardised):
    X, A = permuted(folder / f"{name}.mat", int(name[-1]))
    if standardised:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert metrics.count_accuracy(A, ICID(stability=None).fit(X).adjacency_matrix_)["shd"] <= 1

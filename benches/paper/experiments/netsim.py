"""NetSim files, read from the folder in the environment variable ICID_DATA and never stored."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from icid_rs import datasets

#: λ₁' and the grid of λ₁ that the paper uses on these data, and its four rounds.
LAMBDA1 = np.linspace(0.01, 0.1, 10)
SETTING: dict[str, Any] = {"l1_weight": 0.05, "max_alm_iter": 4}
#: The weight of the skewness term, chosen by the true graph, as the paper chose its own (see the grid of λ₂).
SKEWNESS = 20.0


def present(name: str) -> bool:
    folder = os.environ.get("ICID_DATA")
    return folder is not None and _path(folder, name).exists()


def load(name: str, permutation: int) -> tuple[Any, Any]:
    """Samples and true graph of ``"Sim3"`` or ``"Sim4"``, columns permuted: they are stored in a causal order."""
    X, adjacency, _ = datasets.load_netsim(_path(os.environ["ICID_DATA"], name))
    order = np.random.default_rng(permutation).permutation(X.shape[1])
    return np.ascontiguousarray(X[:, order]), adjacency[order][:, order]


def _path(folder: str, name: str) -> Path:
    return Path(folder) / f"{name.lower()}.mat"

"""DAGMA (Bello, Aragam and Ravikumar 2022), by its authors, in Python with NumPy."""

from __future__ import annotations

import numpy as np
from benches.peers.adapters.base import Method


class Dagma(Method):
    name = "DAGMA"
    package = "dagma"
    requirements = ("numpy==2.4.6", "scipy==1.17.1", "tqdm==4.67.1", "igraph==0.11.9")
    # It asks for torch, which only its nonlinear models use.
    bare = ("dagma==1.1.1",)
    kind = "dag"
    settings = "linear, l2, lambda1 = 0.02 as in its own example; weights below 0.3 dropped (default)"

    def __init__(self) -> None:
        from dagma.linear import DagmaLinear

        self.model = DagmaLinear(loss_type="l2")

    def fit(self, X: np.ndarray) -> np.ndarray:
        return self.model.fit(X, lambda1=0.02)

"""FLOP (Wienöbst, Henckel and Weichwald 2025), by its authors, in Rust."""

from __future__ import annotations

import numpy as np
from benches.peers.adapters.base import Method


class Flop(Method):
    name = "FLOP"
    package = "flopsearch"
    requirements = ("flopsearch==0.3.0", "numpy==2.4.6")
    kind = "cpdag"
    settings = "penalty 2.0, as recommended, and 20 restarts, our choice (its example has 50); not seeded"

    def __init__(self) -> None:
        from flopsearch import flop

        self.flop = flop

    def fit(self, X: np.ndarray) -> np.ndarray:
        # 1 at [i, j] is i → j; undirected edges are 2 at [i, j] and [j, i].
        return self.flop(X, 2.0, restarts=20)

"""This package, built from the clone the runner stands in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from benches.peers.adapters.base import Method

ROOT = Path(__file__).resolve().parents[3]


class Icid(Method):
    name = "ICID"
    package = "icid_rs"
    requirements = (str(ROOT), "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1")
    kind = "dag"
    settings = "defaults"

    def __init__(self) -> None:
        from icid_rs import ICID

        self.model = ICID(n_threads=1)

    def fit(self, X: np.ndarray) -> Any:
        return self.model.fit(X).adjacency_matrix_


class Elimination(Method):
    """Ghoshal and Honorio (2018): sinks are eliminated one after another from the inverse covariance."""

    name = "GH18"
    package = Icid.package
    requirements = Icid.requirements
    kind = "dag"
    settings = "`eliminate` on the inverse of the empirical covariance; weights up to 0.3 dropped, as for NOTEARS"

    def __init__(self) -> None:
        from icid_rs import eliminate

        self.eliminate = eliminate

    def fit(self, X: np.ndarray) -> Any:
        return self.eliminate(np.linalg.inv(np.cov(X, rowvar=False)), drop=0.3, n_threads=1).B

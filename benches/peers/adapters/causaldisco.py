"""Sort by variance or by R², then regress (Reisach, Seiler and Weichwald 2021, 2023), by their authors, in Python."""

from __future__ import annotations

import numpy as np
from benches.peers.adapters.base import Method


class _CausalDisco(Method):
    package = "CausalDisco"
    requirements = ("CausalDisco==0.2.4", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1")
    kind = "dag"
    settings = "defaults: BIC of a weighted Lasso"


class VarSort(_CausalDisco):
    name = "var-sortnregress"

    def __init__(self) -> None:
        from CausalDisco.baselines import var_sort_regress

        self.regress = var_sort_regress

    def fit(self, X: np.ndarray) -> np.ndarray:
        return self.regress(X)


class R2Sort(_CausalDisco):
    name = "R²-sortnregress"

    def __init__(self) -> None:
        from CausalDisco.baselines import r2_sort_regress

        self.regress = r2_sort_regress

    def fit(self, X: np.ndarray) -> np.ndarray:
        return self.regress(X)

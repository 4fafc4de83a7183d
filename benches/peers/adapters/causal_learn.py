"""GES, PC and BOSS of causal-learn (Zheng et al. 2024), in Python."""

from __future__ import annotations

import random

import numpy as np
from benches.peers.adapters.base import Method


class _CausalLearn(Method):
    package = "causal-learn"
    requirements = ("causal-learn==0.1.4.8", "numpy==2.4.6", "scipy==1.17.1")
    kind = "cpdag"


def _edges(ends: np.ndarray) -> np.ndarray:
    """Translate: [i, j] holds the mark at i of the edge between i and j, −1 for a tail and 1 for an arrowhead."""
    return (ends == -1).astype(np.int8)


class Ges(_CausalLearn):
    name = "GES (causal-learn)"
    settings = "defaults: BIC"

    def __init__(self) -> None:
        from causallearn.search.ScoreBased.GES import ges

        self.ges = ges

    def fit(self, X: np.ndarray) -> np.ndarray:
        return _edges(self.ges(X)["G"].graph)


class Boss(_CausalLearn):
    name = "BOSS (causal-learn)"
    settings = "defaults: BIC, penalty 2"

    def __init__(self) -> None:
        from causallearn.search.PermutationBased.BOSS import boss

        self.boss = boss

    def fit(self, X: np.ndarray) -> np.ndarray:
        random.seed(0)
        return _edges(self.boss(X, verbose=False).graph)


class Pc(_CausalLearn):
    name = "PC (causal-learn)"
    settings = "defaults: Fisher's z at level 0.05, stable"

    def __init__(self) -> None:
        from causallearn.search.ConstraintBased.PC import pc

        self.pc = pc

    def fit(self, X: np.ndarray) -> np.ndarray:
        return _edges(self.pc(X, show_progress=False).G.graph)

"""NOTEARS (Zheng et al. 2018) and GOLEM (Ng, Ghassami and Zhang 2020) as gCastle has them: NumPy and PyTorch, CPU."""

from __future__ import annotations

import logging

import numpy as np
from benches.peers.adapters.base import Method


class _Castle(Method):
    package = "gcastle"
    requirements = ("gcastle==1.0.4", "torch==2.2.2", "numpy==1.26.4", "scipy==1.13.1")
    kind = "dag"

    def fit(self, X: np.ndarray) -> np.ndarray:
        self.model.learn(X)
        return np.asarray(self.model.causal_matrix)


class Notears(_Castle):
    name = "NOTEARS"
    settings = "defaults: lambda1 = 0.1, weights up to 0.3 dropped"

    def __init__(self) -> None:
        from castle.algorithms import Notears

        logging.disable(logging.INFO)
        self.model = Notears()


class Golem(_Castle):
    name = "GOLEM"
    settings = "defaults: equal variances, 100 000 iterations, weights up to 0.3 dropped"

    def __init__(self) -> None:
        import torch
        from castle.algorithms import GOLEM

        logging.disable(logging.INFO)
        torch.set_num_threads(1)
        self.model = GOLEM()

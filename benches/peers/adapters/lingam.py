"""DirectLiNGAM and ICA-LiNGAM (Shimizu et al. 2006, 2011), by their authors, in Python."""

from __future__ import annotations

import numpy as np
from benches.peers.adapters.base import Method


class _Lingam(Method):
    package = "lingam"
    requirements = ("lingam==1.13.0", "numpy==1.26.4")
    kind = "dag"

    def fit(self, X: np.ndarray) -> np.ndarray:
        # Their B is effect by cause. The cut helps: their pruning leaves many weights close to zero.
        weights = np.nan_to_num(self.model.fit(X).adjacency_matrix_.T)
        return np.where(np.abs(weights) > 0.1, weights, 0.0)


class Direct(_Lingam):
    name = "DirectLiNGAM"
    settings = "defaults; weights up to 0.1 dropped"

    def __init__(self) -> None:
        from lingam import DirectLiNGAM

        self.model = DirectLiNGAM()


class Ica(_Lingam):
    name = "ICA-LiNGAM"
    settings = "defaults; weights up to 0.1 dropped"

    def __init__(self) -> None:
        from lingam import ICALiNGAM

        self.model = ICALiNGAM(random_state=0)

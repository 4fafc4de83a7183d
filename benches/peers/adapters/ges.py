"""GES (Chickering 2002) by Gamella, in Python with NumPy."""

from __future__ import annotations

import numpy as np
from benches.peers.adapters.base import Method


class Ges(Method):
    name = "GES (ges)"
    package = "ges"
    requirements = ("ges==1.1.1", "numpy==2.4.6")
    kind = "cpdag"
    settings = "defaults: BIC, forward, backward and turning phase"

    def __init__(self) -> None:
        import ges

        self.fit_bic = ges.fit_bic

    def fit(self, X: np.ndarray) -> np.ndarray:
        return self.fit_bic(X)[0]

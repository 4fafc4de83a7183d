"""An easy case that every method must solve, so that none loses by a fault of ours."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benches.peers.adapters.base import Method
from benches.peers.runs import SECONDS, fit

from icid_rs import datasets

#: Colliders of colliders: no other graph has the same independences, so that even a method that finds classes must
#: direct every edge. Variances and R² grow along the edges. The names of the variables are in no causal order;
#: among such, they are chosen so that BOSS does not end in a local optimum, as it does for up to half of them.
EDGES = ((1, 0), (5, 0), (3, 2), (4, 2), (0, 6), (2, 6))


def easy_case() -> tuple[np.ndarray, np.ndarray]:
    """Equal noise variances of a shape that is not Gaussian: every method's supposition holds."""
    true = np.zeros((7, 7))
    true[tuple(np.transpose(EDGES))] = 1.5
    return true, datasets.sample_sem(true, 5000, noise="uniform", random_state=0)


def solve(method: type[Method], *, core: int = 1) -> tuple[int | None, dict[str, Any]]:
    """Return how many pairs of variables the method gets wrong; None if it fails."""
    true, X = easy_case()
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "easy.npz"
        np.savez(samples, X=X)
        # Time does not matter here, and GOLEM takes its 100 000 iterations.
        found, outcome = fit(method, samples, seconds=3 * SECONDS, core=core)
    if outcome["status"] != "ok":
        return None, outcome
    # Compared as it is: the true graph is alone in its class.
    wrong = (true != 0) != (np.asarray(found) != 0)
    return int((wrong | wrong.T).sum()) // 2, outcome

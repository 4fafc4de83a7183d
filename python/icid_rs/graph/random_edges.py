"""Random sets of edges of acyclic graphs, with causes before effects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def er_edges(d: int, degree: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw distinct pairs i < j, numbered 0, 1, 2, … down the columns of the upper triangle."""
    pairs = d * (d - 1) // 2
    if degree * d > pairs:
        raise ValueError(f"degree = {degree}: a DAG on {d} variables has at most {pairs} edges, not {degree * d}")
    number = rng.choice(pairs, degree * d, replace=False, shuffle=False)
    effects = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    # Rounding of the square root may put the result off by one.
    effects -= effects * (effects - 1) // 2 > number
    effects += effects * (effects + 1) // 2 <= number
    return number - effects * (effects - 1) // 2, effects


def sf_edges(d: int, degree: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let each new variable point to earlier ones, by preferential attachment."""
    counts = np.minimum(np.arange(d), degree)
    causes = np.repeat(np.arange(d), counts)
    effects = np.empty(causes.size, dtype=np.int64)
    # `urn[:filled]` holds each earlier variable once, and once more for every edge it has received, so that a uniform
    # draw from it is preferential attachment.
    urn = np.empty(d + causes.size, dtype=np.int64)
    filled = made = 0
    for new, count in enumerate(counts):
        chosen: set[int] = set()
        while len(chosen) < count:
            chosen.update(urn[rng.integers(filled, size=count - len(chosen))].tolist())
        targets = sorted(chosen)
        effects[made : made + count] = targets
        urn[filled : filled + count] = targets
        urn[filled + count] = new
        made, filled = made + count, filled + count + 1
    return causes, effects

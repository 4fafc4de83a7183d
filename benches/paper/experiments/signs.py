"""Table 2: the sign of M_ij tells the direction between two skewed variables, whatever their correlation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from icid_rs import datasets, skewness_matrix

KEYS = ("direction", "sign", "seed")
#: The size of ρ; exponential noise is skewed to the right.
RHO, SAMPLES = 0.5, 100_000
SEEDS, QUICK_SEEDS = range(10), range(2)


def cells(quick: bool) -> Iterator[dict[str, Any]]:
    for direction in ("x -> y", "x <- y"):
        for sign in (1, -1):
            for seed in QUICK_SEEDS if quick else SEEDS:
                yield {"direction": direction, "sign": sign, "seed": seed}


def run(cell: dict[str, Any]) -> list[dict[str, Any]]:
    weights = np.zeros((2, 2))
    cause, effect = (0, 1) if cell["direction"] == "x -> y" else (1, 0)
    weights[cause, effect] = cell["sign"] * RHO
    X = datasets.sample_sem(
        weights, SAMPLES, noise="exponential", noise_variances=[1.0, 1.0], random_state=cell["seed"]
    )
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    x, y = Z.T
    correlation = float(np.mean(x * y))
    cumulant = correlation * float(np.mean(x * x * y - x * y * y))
    return [{**cell, "correlation": correlation, "cumulant": cumulant, "M": -float(skewness_matrix(X)[0, 1])}]

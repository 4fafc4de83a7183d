"""Figure 4: does C(λ₁) choose a good cut of the inverse covariance? ER2, d = 200, n = 10 d, Gaussian noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from icid_rs import datasets, empirical_precision, fdr_precision

KEYS = ("seed",)
D, DEGREE = 200, 2
GRID = np.linspace(0.01, 0.6, 20)
SEEDS, QUICK_SEEDS = range(10), range(2)


def cells(quick: bool) -> Iterator[dict[str, Any]]:
    for seed in QUICK_SEEDS if quick else SEEDS:
        yield {"seed": seed}


def run(cell: dict[str, Any]) -> list[dict[str, Any]]:
    rng = np.random.default_rng(cell["seed"])
    B = datasets.random_dag(D, DEGREE, random_state=rng)
    X = datasets.sample_sem(B, 10 * D, random_state=rng)
    true = datasets.sem_precision(B).toarray() != 0
    estimate = empirical_precision(X, lambda1=GRID)
    size = np.abs(estimate.inverse)
    np.fill_diagonal(size, 0.0)

    def distance(support: Any) -> int:
        """Pairs that are in one support and not in the other."""
        return int(np.triu(support != true, 1).sum())

    rows: list[dict[str, Any]] = [
        {
            **cell,
            "method": "cut",
            "lambda1": cut,
            "criterion": value,
            "distance": distance(size >= cut * size.max()),
            "chosen": int(cut == estimate.lambda1),
        }
        for cut, value in estimate.criterion.items()
    ]
    tested = distance(fdr_precision(X).theta.toarray() != 0)
    rows.append({**cell, "method": "tests", "lambda1": "", "criterion": "", "distance": tested, "chosen": ""})
    return rows

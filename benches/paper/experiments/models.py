"""The models of the oracle studies: random graphs of 50 variables, rescaled."""

from __future__ import annotations

from typing import Any, NamedTuple

from icid_rs import datasets

D = 50
SEEDS, QUICK_SEEDS = range(10), range(2)


class Model(NamedTuple):
    B: Any
    noise_variances: Any
    theta: Any


def draw(graph: str, exponent: float, seed: int, d: int = D) -> Model:
    """The model X^(λ) on a graph such as ``"ER1"``: unit noise, then variables divided by their deviations to the λ."""
    B = datasets.random_dag(d, int(graph[2:]), graph[:2], random_state=seed)
    B, noise_variances = datasets.rescale_sem(B, 1.0, exponent)
    return Model(B, noise_variances, datasets.sem_precision(B, noise_variances))

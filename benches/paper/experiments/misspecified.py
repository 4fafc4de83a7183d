"""Figures 2 (c, d) and 8 to 10: the noise variances are told with errors, D̂_ii = max(½, 1 + ε) D_ii, ε ~ N(0, σ²).

Every method is judged by two cuts: |B| > 0.1, as in the paper, and 0.1 in units of the supposed noise,
|B_ij| (Ω_ii / Ω_jj)^½ > 0.1, which does not remove the small weights of rescaled models.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from icid_rs import ICID, decompose, eliminate

from . import models
from .measure import above, judge_by_cut, timed

KEYS = ("graph", "exponent", "sigma", "seed")
GRAPHS = ("ER1", "ER2", "ER3")
EXPONENTS, QUICK_EXPONENTS = (0.1, 0.2, 0.4, 0.8, 1.0), (0.4, 1.0)
SIGMAS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4)
CUT = 0.1


def cells(quick: bool) -> Iterator[dict[str, Any]]:
    for graph in GRAPHS:
        for exponent in QUICK_EXPONENTS if quick else EXPONENTS:
            for sigma in SIGMAS:
                for seed in models.QUICK_SEEDS if quick else models.SEEDS:
                    yield {"graph": graph, "exponent": exponent, "sigma": sigma, "seed": seed}


def run(cell: dict[str, Any]) -> list[dict[str, Any]]:
    B, omega, theta = models.draw(cell["graph"], cell["exponent"], cell["seed"])
    error = np.random.default_rng(cell["seed"]).normal(scale=cell["sigma"], size=models.D)
    supposed = omega / np.maximum(0.5, 1.0 + error)
    cuts = {
        "0.1": above(CUT),
        "noise": above(CUT, lambda rows, columns: np.sqrt(supposed[rows] / supposed[columns])),
    }
    given = ICID(precision="precomputed", noise_variances=supposed, n_threads=1)
    methods = {
        "O-ICID": lambda: decompose(theta, supposed, n_threads=1).B,
        "elimination": lambda: eliminate(theta, supposed).B,
        "ICID()": lambda: given.fit(theta).adjacency_matrix_,
    }
    rows = []
    for method, find in methods.items():
        found, times = timed(find)
        rows += [{**cell, "method": method, **row, **times} for row in judge_by_cut(B, found, cuts)]
    return rows

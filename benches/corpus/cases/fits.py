"""Fits to tables of every distribution, scale and shape, and to few rows and many columns."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from benches.corpus.cases.common import Cases, fit
from benches.corpus.simulation import Simulation, wide_table

from icid_rs import ICID

_NOISES = ("gaussian", "exponential", "gumbel", "uniform", "laplace")
#: Columns and rows: single columns, fewer rows than columns, barely more, either side of two rows for each column, and
#: hundreds of columns.
_SHAPES = (
    *((1, 50), (2, 50), (3, 8), (5, 5), (5, 8), (10, 12), (10, 13), (10, 19), (10, 20), (10, 21), (30, 15), (30, 29)),
    *((30, 33), (30, 59), (30, 60), (60, 20), (100, 40), (100, 150), (100, 400), (200, 80), (200, 250), (200, 1000)),
    *((300, 100), (300, 900)),
)
#: One more column than from which on nothing of size d × d is made.
_WIDE = 20_001


#: More columns than are always rechecked for misplaced variables.
_MANY = 2_100


def fit_wide(d: int, n: int, **settings: Any) -> ICID:
    """Fit a table with very many columns."""
    return ICID(**settings).fit(wide_table(d, n))


def cases() -> Cases:
    """Yield names and functions."""
    for distribution, unequal, standardised, noise in product(
        _NOISES, (False, True), (False, True), ("auto", "equal", "unequal")
    ):
        data = Simulation(noise=distribution, unequal=unequal, standardised=standardised, seed=len(distribution))
        variances, scale = "unequal" if unequal else "equal", "standardised" if standardised else "raw"
        yield f"fit/{distribution} {variances} {scale}/noise={noise}", partial(fit, data, noise=noise)
    for seed, degree in product(range(10, 16), (0.5, 2, 4)):
        data = Simulation(d=20, n=500, degree=degree, unequal=seed % 2 == 0, standardised=seed % 3 == 0, seed=seed)
        yield f"fit/d=20 degree={degree} seed={seed}", partial(fit, data)
    for d, n in _SHAPES:
        data = Simulation(d=d, n=n, seed=3)
        yield f"shape/d={d} n={n}", partial(fit, data)
        if d > 1:
            unequal = replace(data, unequal=True, standardised=True, noise="laplace")
            yield f"shape/d={d} n={n}/unequal laplace", partial(fit, unequal)
    for settings in ({}, {"threshold": 0.3, "n_threads": 2}, {"refine": "search"}, {"required": [(0, 1)]}):
        yield f"shape/d={_WIDE} n=40 {list(settings)}", partial(fit_wide, _WIDE, 40, **settings)
    for n, settings in product((150, 4_300), ({}, {"noise": "equal"})):
        yield f"shape/d={_MANY} n={n} {list(settings)}", partial(fit_wide, _MANY, n, **settings)
    yield "fit/independent columns", lambda: ICID().fit(np.random.default_rng(4).normal(size=(200, 6)))
    yield "fit/mixed units", lambda: ICID().fit(Simulation(seed=5).rows * np.logspace(-4, 4, 12))
    yield "fit/wild units", lambda: ICID().fit(Simulation(seed=5).rows * np.logspace(-9, 9, 12))
    yield (
        "fit/wild units noise=equal",
        lambda: ICID(noise="equal").fit(Simulation(seed=5).rows * np.logspace(-9, 9, 12)),
    )
    yield "fit/shifted", lambda: ICID().fit(Simulation(seed=5).rows + 1e5)

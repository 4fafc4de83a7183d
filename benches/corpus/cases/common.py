"""What the cases share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benches.corpus.simulation import Simulation

from icid_rs import ICID

Cases = Iterator[tuple[str, Callable[[], object]]]

#: Equal noise variances in raw units, which elimination solves.
EQUAL = Simulation()
#: Gaussian noise of unequal variances on standardised columns: only the equivalence class is identified.
GAUSSIAN = Simulation(unequal=True, standardised=True, degree=1.5, seed=1)
#: Skewed noise on standardised columns, whose shape tells directions.
SKEWED = Simulation(noise="exponential", unequal=True, standardised=True, n=600, seed=2)


def fit(data: Simulation, **settings: Any) -> ICID:
    """Fit a model to the rows of a simulation."""
    return ICID(**settings).fit(data.rows)


def fit_theta(data: Simulation, **settings: Any) -> ICID:
    """Fit a model to the exact inverse covariance of a simulation."""
    return ICID(precision="precomputed", **settings).fit(data.theta)

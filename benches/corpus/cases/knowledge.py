"""Required and forbidden edges and tiers, alone and together, and missing values."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from benches.corpus.cases.common import EQUAL, GAUSSIAN, SKEWED, Cases, fit, fit_theta
from benches.corpus.simulation import Simulation

from icid_rs import ICID

_DATA = {"equal": EQUAL, "gaussian": GAUSSIAN, "skewed": SKEWED}
_HOW: tuple[dict[str, Any], ...] = (
    {},
    {"refine": None},
    {"refine": "order"},
    {"refine": "search"},
    {"dag": "exptrace"},
)


def known_edges(data: Simulation) -> dict[str, dict[str, Any]]:
    """Return knowledge that agrees with the true graph, and some that does not, by name."""
    order, edges = data.order, data.edges
    third = data.d // 3
    tiers = [order[:third], order[third : 2 * third], order[2 * third :]]
    required, forbidden = edges[:2], [(j, i) for i, j in edges[:4]]
    return {
        "required": {"required": required},
        "forbidden": {"forbidden": forbidden},
        "tiers": {"tiers": tiers},
        "some tiers": {"tiers": [tiers[0], tiers[2]]},
        "all": {"required": required, "forbidden": forbidden[2:], "tiers": tiers},
        "against the data": {"required": [(order[0], order[-1])], "forbidden": edges[:1]},
        "reversed tiers": {"tiers": [tiers[2], tiers[1], tiers[0]]},
        "nothing": {"required": [], "forbidden": []},
    }


def fit_named(data: Simulation, knowledge: dict[str, Any]) -> ICID:
    """Fit a frame, with what is known by name."""
    names = data.names
    named = {
        kind: [[names[i] for i in group] if kind == "tiers" else (names[group[0]], names[group[1]]) for group in groups]
        for kind, groups in knowledge.items()
    }
    return ICID(**named).fit(pd.DataFrame(data.rows, columns=names))


def with_holes(data: Simulation, share: float, *, single: bool = False, groups: int = 0, **settings: Any) -> ICID:
    """Fit rows with missing entries."""
    rng = np.random.default_rng(9)
    X = data.rows.astype(np.float32 if single else np.float64)
    X[rng.random(X.shape) < share] = np.nan
    return ICID(**settings).fit(X, groups=rng.integers(groups, size=data.n) if groups else None)


def cases() -> Cases:
    """Yield names and functions."""
    for name, data in _DATA.items():
        for (kind, knowledge), how in product(known_edges(data).items(), _HOW):
            settings = " ".join(f"{key}={value}" for key, value in how.items()) or "default"
            yield f"knowledge/{name}/{kind}/{settings}", partial(fit, data, **knowledge, **how)
        for kind in ("required", "tiers", "all"):
            yield f"knowledge/{name}/{kind} by name", partial(fit_named, data, known_edges(data)[kind])
            yield f"knowledge/{name}/{kind} theta", partial(fit_theta, data, **known_edges(data)[kind])
            lasso = {"precision": "lasso", **known_edges(data)[kind]}
            yield f"knowledge/{name}/{kind} lasso", partial(fit, data, **lasso)
    for (name, data), missing, share in product(_DATA.items(), ("raise", "drop", "pairwise"), (0.0, 0.02, 0.15)):
        yield f"missing/{name}/{missing} {share:.0%}", partial(with_holes, data, share, missing=missing)
    for missing in ("drop", "pairwise"):
        yield f"missing/single {missing}", partial(with_holes, EQUAL, 0.02, single=True, missing=missing)
        yield f"missing/groups {missing}", partial(with_holes, EQUAL, 0.02, groups=3, missing=missing)
        yield f"missing/skewness {missing}", partial(with_holes, SKEWED, 0.02, skewness=0.2, missing=missing)
        yield f"missing/lasso {missing}", partial(with_holes, EQUAL, 0.02, precision="lasso", missing=missing)
        yield f"missing/search {missing}", partial(with_holes, SKEWED, 0.02, refine="search", missing=missing)
        yield f"missing/few rows {missing}", partial(with_holes, Simulation(n=30), 0.1, missing=missing)

"""Figures 3 (a, b) and 5: what is right and wrong among the strongest edges, as the cut of |B| falls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from icid_rs import ICID, metrics

from . import fmri, netsim
from .measure import above

KEYS = ("data", "method")
#: The curves of Figure 5.
GRID = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0)


def cells(quick: bool) -> Iterator[dict[str, Any]]:
    for data in filter(netsim.present, ("Sim3", "Sim4")):
        for method in ("ICID", "ICID (skew)", "ICID()"):
            yield {"data": data, "method": method}
    if netsim.present("Sim4"):
        for skewness in GRID:
            yield {"data": "Sim4", "method": f"λ₂ = {skewness:g}"}


def run(cell: dict[str, Any]) -> list[dict[str, Any]]:
    X, true = netsim.load(cell["data"], permutation=0)
    method = cell["method"]
    if method in fmri.METHODS:
        given = fmri.METHODS[method]
    else:
        given = {**fmri.METHODS["ICID"], "skewness": float(method.removeprefix("λ₂ = "))}
    found = ICID(**given, n_threads=1).fit(X).adjacency_matrix_
    rows = []
    # Just above the largest weight nothing is left, and below the smallest everything.
    for cut in [*np.unique(np.abs(found.data))[::-1], 0.0]:
        scores = metrics.count_accuracy(true, above(cut)(found))
        rows.append({**cell, "cut": float(cut), **{name: float(scores[name]) for name in ("tpr", "fpr", "fdr")}})
    return rows

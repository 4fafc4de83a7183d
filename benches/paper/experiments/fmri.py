"""Table 1 and the times of Figure 3 (c): NetSim Sim3 and Sim4, all subjects stacked, columns permuted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from icid_rs import ICID

from . import netsim
from .measure import judge

KEYS = ("data", "permutation")
PERMUTATIONS, QUICK_PERMUTATIONS = range(10), range(2)

_ALONE = {**netsim.SETTING, "precision": "empirical", "lambda1": netsim.LAMBDA1, "refine": None}
METHODS: dict[str, dict[str, Any]] = {
    "ICID": {**_ALONE, "skewness": 0.0},
    "ICID (skew)": {**_ALONE, "skewness": netsim.SKEWNESS},
    "ICID (skew), paper's schedule and projection": {
        **_ALONE,
        "skewness": netsim.SKEWNESS,
        "dag": "exptrace",
        "schedule": "paper",
    },
    "ICID()": {},
}


def cells(quick: bool) -> Iterator[dict[str, Any]]:
    for data in filter(netsim.present, ("Sim3", "Sim4")):
        for permutation in QUICK_PERMUTATIONS if quick else PERMUTATIONS:
            yield {"data": data, "permutation": permutation}


def run(cell: dict[str, Any]) -> list[dict[str, Any]]:
    X, true = netsim.load(cell["data"], cell["permutation"])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = {
        method: judge(true, lambda given=given: ICID(**given, n_threads=1).fit(X).adjacency_matrix_)
        for method, given in METHODS.items()
    }
    found["ICID(), columns standardised"] = judge(true, lambda: ICID(n_threads=1).fit(Z).adjacency_matrix_)
    return [{**cell, "method": method, **scores} for method, scores in found.items()]

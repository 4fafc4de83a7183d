"""Cells of tables: the runs of one method on the seeds of one case, summed up."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import pandas as pd
from benches.peers.cases import Case
from benches.peers.runs import LIMITS, stops


@dataclass(frozen=True)
class Cell:
    """What is known of a method on a case."""

    #: As of a run, or ``"hopeless"``: a smaller case exceeded the limits, or ``"missing"``.
    status: str
    #: How many seeds were run, and how many there should be.
    seeds: int = 0
    planned: int = 0
    seconds: float = float("nan")
    values: pd.Series | None = None
    message: str = ""

    def __getitem__(self, metric: str) -> float:
        return float("nan") if self.values is None else float(self.values[metric])


def cell(runs: pd.DataFrame, method: str, case: Case, seeds: Collection[int] | None = None) -> Cell:
    """Take medians over those of the seeds, by default the planned ones, that have been run."""
    seeds = case.seeds if seeds is None else seeds
    own = runs[runs["method"] == method]
    here = own[own["seed"].isin(seeds)]
    for name in ("graph", "degree", "d", "n", "scaling", "noise"):
        here = here[here[name] == getattr(case, name)]
    for status in LIMITS:
        if (here["status"] == status).any():
            return Cell(status)
    done = here[here["status"] == "ok"]
    if len(done):
        metrics = ["shd", "tpr", "fdr", "class_distance", "sid", "peak_mib"]
        values = done[metrics].apply(pd.to_numeric).median()
        return Cell("ok", len(done), len(seeds), float(done["cpu_seconds"].median()), values)
    if len(here):
        return Cell("error", message=str(here["message"].iloc[0]))
    exceeded = own[own["status"].isin(LIMITS)].to_dict("records")
    return Cell("hopeless" if any(stops(line, case) for line in exceeded) else "missing")


def pair(runs: pd.DataFrame, first: str, second: str, case: Case) -> tuple[Cell, Cell]:
    """Compare two methods on the seeds that both have finished."""
    done = runs[runs["status"] == "ok"]
    common = [
        seed
        for seed in case.seeds
        if all(cell(done, method, case, [seed]).status == "ok" for method in (first, second))
    ]
    return cell(done, first, case, common), cell(done, second, case, common)


def sizes(case: Case, largest: tuple[int, ...]) -> list[Case]:
    """The same kind of case with ten samples for each of so many variables."""
    return [replace(case, d=d, n=10 * d) for d in largest]


def seconds(value: float) -> str:
    """Write a time with two figures or so."""
    if value < 1.0:
        return f"{max(1.0, 1000.0 * value):.0f} ms"
    return f"{value:.1f} s" if value < 10.0 else f"{value:.0f} s"


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")

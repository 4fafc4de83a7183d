"""The page docs/benchmarks/results.md, from the stored runs and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
from benches.peers import machines
from benches.peers.adapters import METHODS
from benches.peers.cases import SIZES, Case, main_cases
from benches.peers.cells import Cell, cell, number, pair, seconds, sizes
from benches.peers.environments import ROOT
from benches.peers.runs import GIB, LIMITS, SECONDS

PAGE = ROOT / "docs" / "benchmarks" / "results.md"
OURS = "ICID"
#: By how much the default should be faster on raw data with equal noise variances, where they finish.
FASTER = {
    "DAGMA": 100,
    "NOTEARS": 100,
    "GOLEM": 100,
    "fGES (Tetrad)": 10,
    "GES (causal-learn)": 10,
    "GES (ges)": 10,
}
SIDE = {
    "hubs: SF2, n = 10 d": Case("SF", 2, 50, 500, "raw"),
    "n = 2 d": Case("ER", 1, 50, 100, "raw"),
    "n < d: n = 40": Case("ER", 1, 50, 40, "raw"),
}
SHAPES = {
    "exponential noise": Case("ER", 1, 50, 500, "standardised", "exponential"),
    "Laplace noise": Case("ER", 1, 50, 500, "standardised", "laplace"),
}
SACHS = {
    "Sachs, concentrations": Case("Sachs", 0, 11, 853, "standardised", "concentrations"),
    "Sachs, logarithms": Case("Sachs", 0, 11, 853, "standardised", "logarithms"),
}
RIVALS = {
    "ER1, d = 100, n = 1 000": Case("ER", 1, 100, 1000, "standardised"),
    "ER2, d = 100, n = 2 000": Case("ER", 2, 100, 2000, "standardised"),
    "SF2, d = 100, n = 2 000": Case("SF", 2, 100, 2000, "standardised"),
    "ER1, d = 400, n = 4 000": Case("ER", 1, 400, 4000, "standardised"),
}
#: Runs from this day on were made on a machine on which FLOP takes this share of its earlier time: the median of 44
#: runs, on a processor of the same name, from 0.43 to 0.70.
SINCE, SHARE = "2026-11-19", 0.51


def write(runs: pd.DataFrame, path: Path = PAGE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(_sections(runs)) + "\n")


def _sections(runs: pd.DataFrame) -> Iterator[str]:
    yield "# Other methods on the same data"
    yield _introduction(runs)
    yield "![Time against the number of variables](../figures/peers-time.png)"
    yield "![Distance from the truth against time, 100 variables](../figures/peers-accuracy.png)"
    yield "## Raw data, equal noise variances"
    yield (
        "Gaussian noise, n = 10 d. A cell holds the SHD, smaller is better, and the processor time of the fit. Methods "
        "that return an equivalence class leave some edges undirected: these are counted as correctly directed."
    )
    for degree in (1, 2):
        yield f"ER{degree}, {'one edge' if degree == 1 else 'two edges'} per variable:"
        yield _by_size(runs, Case("ER", degree, 0, 0, "raw"), "shd")
    yield "### Speed targets"
    yield _aims(_comparable(runs))
    yield "## Standardised data, unequal noise variances"
    yield (
        "Gaussian noise with variances uniform on [0.5, 2], n = 10 d, every column divided by its standard deviation: "
        "only the equivalence class is identified. A cell holds the number of pairs of variables whose mark (none, →, "
        "← or undirected) differs between the estimated class and the true one, and the processor time."
    )
    for degree in (1, 2):
        yield f"ER{degree}:"
        yield _by_size(runs, Case("ER", degree, 0, 0, "standardised"), "class_distance")
    yield "## Where other methods do better"
    yield _losses(_comparable(runs))
    yield "## Hubs and few samples"
    yield "d = 50, Gaussian. Raw, equal variances: SHD. Standardised, unequal variances: distance between classes."
    raw = {f"{name}, raw": case for name, case in SIDE.items()}
    standardised = {f"{name}, standardised": replace(c, scaling="standardised") for name, c in SIDE.items()}
    yield _table(runs, raw, "shd")
    yield _table(runs, standardised, "class_distance")
    yield _refusals(runs, [*raw.values(), *standardised.values()])
    yield "## Non-Gaussian noise"
    yield (
        "ER1, d = 50, n = 500, standardised, unequal variances: the shape of the noise identifies the graph. SHD; "
        "undirected edges are counted as correctly directed."
    )
    yield _table(runs, SHAPES, "shd")
    yield "## More seeds and noise shapes"
    yield (
        "Standardised Gaussian data, five seeds: distance between classes. FLOP's own distances vary from run to "
        "run, because its restarts are not seeded."
    )
    yield _table(runs, RIVALS, "class_distance", ("ICID", "FLOP"), range(5))
    yield "ER1, d = 100, n = 1 000, standardised, unequal variances, not Gaussian: SHD."
    shapes = {
        noise: Case("ER", 1, 100, 1000, "standardised", noise)
        for noise in ("exponential", "gumbel", "uniform", "laplace")
    }
    yield _table(runs, shapes, "shd", ("ICID", "DirectLiNGAM", "ICA-LiNGAM"))
    yield "## Measured data"
    yield (
        "Protein signalling of Sachs et al. (2005), 853 cells, 11 proteins, columns standardised: SHD from the 17 "
        "edges of the consensus graph; undirected edges are counted as correctly directed. An empty graph has 17."
    )
    yield _table(runs, SACHS, "shd")
    yield "## All measures, 100 variables"
    for case, title in (
        (Case("ER", 2, 100, 1000, "raw"), "ER2, raw, equal variances"),
        (Case("ER", 2, 100, 1000, "standardised"), "ER2, standardised, unequal variances"),
    ):
        yield f"{title}, n = 1 000:"
        yield _measures(runs, case)
    yield "## Machines"
    yield _machines(runs)
    yield "## Methods, packages and settings"
    yield _methods(runs)


def _introduction(runs: pd.DataFrame) -> str:
    dates = sorted(str(date)[:10] for date in runs["date"])
    made = runs["machine"].value_counts()
    where = " and ".join(f"{name} ({made[name]} runs)" for name in made.index)
    when = f"on {dates[0]}" if dates[0] == dates[-1] else f"from {dates[0]} to {dates[-1]}"
    planned = [cell(runs, method, case, [case.seed]).status for case in main_cases() for method in METHODS]
    count = Counter(planned)
    exceeded = sum(count[status] for status in LIMITS)
    again = [method for method in METHODS if method in set(runs.loc[~_is_early(runs), "method"])]
    left = int((_is_early(runs) & runs["method"].isin(again)).sum())
    return f"""Each package runs in its own environment, with the settings listed at the end, mostly
defaults, on the same simulated data: random graphs, weights uniform on ±[0.5, 2], columns permuted, seeds 0, 1, 2 up to
200 variables and seed 0 beyond. Nothing is tuned on the true graph. `python -m benches.peers fill` makes the runs and
`python -m benches.peers page` writes this page from the table of runs in `benches/peers`. [](paper.md) has the tables
of the paper behind ICID.

Measured {when} on {where}, under other
load and with several of these runs at once. Times are therefore processor seconds, user and system, of the fit alone,
without imports and start-up; a [table](#machines) compares the machines. Each run is bound to one core and one thread,
with a limit of {SECONDS} processor seconds and {GIB:.0f} GiB. Java's compilation at run time is included. Cells are
medians over seeds.

{", ".join(again[:-1])} and {again[-1]} were run again since {SINCE}, but for {left} runs, with the present version, on
a faster machine: FLOP takes {SHARE} of its earlier time there (the median of 44 runs on a processor of the same name;
from 0.43 to 0.70). Times of these methods compare with each other; those of others would be about half as long. Where
this page compares times itself, under [speed targets](#speed-targets) and
[losses](#where-other-methods-do-better), earlier ones are multiplied by {SHARE}. A default fit of ICID includes what
0.1.0 and the other methods do not: resamples that judge directions, hidden causes, errors of measurement, checks of
assumptions and standard errors.

| in a cell | |
|---|---|
| **> {SECONDS} s** | the limit was reached |
| – | not tried: the limit was reached with fewer variables, in any of the four main tables |
| error | the method raised an error; the message is below the table or in the stored runs |
| · | not run yet |
| ¹ ² ³ ⁴ | only this many of the planned seeds have been run |

Of {len(planned)} runs for the four main tables, {count["ok"]} finished, {exceeded} reached a limit,
{count["hopeless"]} were not tried for that reason, {count["error"]} ended with an error and
{count["missing"]} are still missing."""


def _is_early(runs: pd.DataFrame) -> pd.Series:
    return runs["date"].astype(str) < SINCE


def _comparable(runs: pd.DataFrame) -> pd.DataFrame:
    """Replace earlier times by what they would be on the machine of the latest runs."""
    return runs.assign(cpu_seconds=runs["cpu_seconds"].where(~_is_early(runs), SHARE * runs["cpu_seconds"]))


def _by_size(runs: pd.DataFrame, case: Case, metric: str) -> str:
    return _table(runs, {f"d = {c.d:,}".replace(",", " "): c for c in sizes(case, SIZES)}, metric)


def _table(
    runs: pd.DataFrame,
    cases: dict[str, Case],
    metric: str,
    methods: Iterable[str] = METHODS,
    seeds: Collection[int] | None = None,
) -> str:
    rows = [["", *cases], ["---"] * (len(cases) + 1)]
    for method in methods:
        cells = [_written(cell(runs, method, case, seeds), metric) for case in cases.values()]
        rows.append([f"**{method}**" if method == OURS else method, *cells])
    return _markdown(rows)


def _written(each: Cell, metric: str) -> str:
    match each.status:
        case "ok":
            mark = "¹²³⁴"[each.seeds - 1] if each.seeds < each.planned else ""
            return f"{number(each[metric])}{mark} · {seconds(each.seconds)}"
        case "timeout":
            return f"**> {SECONDS} s**"
        case "hopeless":
            return "–"
        case "missing":
            return "·"
        case other:
            return other


def _aims(runs: pd.DataFrame) -> str:
    """Say of each aim whether it holds, cell by cell."""
    rows = [["ICID against", "target", "cells", "times faster", "SHD, ICID / other", "reached"], ["---"] * 6]
    for method, factor in FASTER.items():
        pairs = []
        for degree in (1, 2):
            for case in sizes(Case("ER", degree, 0, 0, "raw"), SIZES[1:]):
                ours, theirs = pair(runs, OURS, method, case)
                if theirs.status == ours.status == "ok":
                    pairs.append((case, ours, theirs))
        if not pairs:
            reached = cell(runs, method, Case("ER", 1, 100, 1000, "raw")).status in ("timeout", "memory", "hopeless")
            rows.append([method, f"≥ {factor}", "none finished" if reached else "not run yet", "", "", ""])
            continue
        ratios = [theirs.seconds / ours.seconds for _, ours, theirs in pairs]
        fast, good = min(ratios) >= factor, all(ours["shd"] <= theirs["shd"] for _, ours, theirs in pairs)
        rows.append(
            [
                method,
                f"≥ {factor}",
                ", ".join(f"ER{case.degree} {case.d}" for case, _, _ in pairs),
                ", ".join(f"{ratio:,.0f}".replace(",", " ") for ratio in ratios),
                ", ".join(f"{number(ours['shd'])} / {number(theirs['shd'])}" for _, ours, theirs in pairs),
                "yes" if fast and good else f"**no**: {' and '.join(_failed(fast, good))}",
            ]
        )
    return (
        "On raw data with equal noise variances and at least 100 variables, in every cell that the other method "
        "finishes, the default should be faster by the target factor, with a median SHD that is no worse, on the seeds "
        "that both have finished:\n\n" + _markdown(rows)
    )


def _failed(fast: bool, good: bool) -> Iterator[str]:
    if not fast:
        yield "speed"
    if not good:
        yield "SHD"


def _losses(runs: pd.DataFrame) -> str:
    """List where another method comes closer than ours, or as close in less time."""
    rows = [["", "closer to the true graph", "equally close and faster"], ["---"] * 3]
    cases = {f"ER{c.degree}, d = {c.d}, {c.scaling}": c for c in main_cases() if c.seed == 0}
    cases |= {f"{name}, raw": case for name, case in SIDE.items()}
    cases |= {f"{name}, standardised": replace(case, scaling="standardised") for name, case in SIDE.items()}
    for name, case in (cases | SHAPES | SACHS).items():
        metric = "class_distance" if case.scaling == "standardised" and case.noise == "gaussian" else "shd"
        closer, faster = [], []
        for method in METHODS:
            ours, theirs = pair(runs, OURS, method, case)
            entry = f"{method}: {_written(theirs, metric)} (ICID {_written(ours, metric)})"
            if theirs[metric] < ours[metric]:
                closer.append(entry)
            elif theirs[metric] == ours[metric] and theirs.seconds < ours.seconds:
                faster.append(entry)
        if closer or faster:
            rows.append([name, "; ".join(closer), "; ".join(faster)])
    if len(rows) == 2:
        return "Nowhere, among the runs that are stored."
    return (
        "All cells of this page in which another method is closer to the true graph, or equally close and faster, on "
        "the seeds that both have finished:\n\n" + _markdown(rows)
    )


def _refusals(runs: pd.DataFrame, cases: list[Case]) -> str:
    """Say why methods ended with an error."""
    reasons = {}
    for method in METHODS:
        for case in cases:
            each = cell(runs, method, case)
            if each.status == "error":
                reasons.setdefault((method, each.message.split("\n")[0]), []).append(case)
    lines = {}
    for method, message in reasons:
        lines.setdefault(method, message)
    return "\n".join(f"- {method}: {message}" for method, message in lines.items()) or "No method raised an error."


def _measures(runs: pd.DataFrame, case: Case) -> str:
    names = ["SHD", "TPR", "FDR", "distance of classes", "SID of classes", "time", "peak memory"]
    rows = [["", *names], ["---"] * 8]
    for method in METHODS:
        each = cell(runs, method, case)
        if each.status != "ok":
            rows.append([method, _written(each, "shd"), *[""] * 6])
            continue
        memory = "" if pd.isna(each["peak_mib"]) else f"{each['peak_mib']:.0f} MiB"
        sid = "" if pd.isna(each["sid"]) else number(each["sid"])
        rows.append([method, number(each["shd"]), f"{each['tpr']:.2f}", f"{each['fdr']:.2f}"])
        rows[-1] += [number(each["class_distance"]), sid, seconds(each.seconds), memory]
    return (
        _markdown(rows)
        + "\n\nSID is the structural intervention distance, which `gadjid` extends to classes; it is empty "
        "where the result is not a class of acyclic graphs. Memory is that of the process, with interpreter and data; "
        "it is empty where it was not measured."
    )


def _machines(runs: pd.DataFrame) -> str:
    """Show the times of one case on each machine."""
    times = machines.compared()
    first, *others = times.columns
    rows = [["", *times.columns], ["---"] * (len(times.columns) + 1)]
    rows += [[method, *map(seconds, own)] for method, own in zip(times.index, times.to_numpy(), strict=True)]
    exceeded = runs.loc[runs["status"].isin(LIMITS), "machine"].value_counts()
    told = []
    for other in others:
        ratio = times[other] / times[first]
        told.append(
            f"On {other}, fits take {ratio.median():.2f} times as long as on {first} (median over methods; "
            f"{ratio.min():.2f} to {ratio.max():.2f}). The limit is the same on both; {exceeded.get(other, 0)} "
            f"of the runs that reached it were made on the former and {exceeded.get(first, 0)} on the latter."
        )
    return "\n\n".join(
        [
            "The same fits on each machine: ER2, raw, 100 variables, seed 0, with other runs in parallel "
            "(`python -m benches.peers machines`).",
            *told,
            _markdown(rows),
        ]
    )


def _methods(runs: pd.DataFrame) -> str:
    rows = [["", "package", "version", "result", "settings"], ["---"] * 5]
    for name, method in METHODS.items():
        versions = runs.loc[runs["method"] == name, "version"].dropna().unique()
        kind = "graph" if method.kind == "dag" else "class"
        rows.append([name, method.package, ", ".join(sorted(versions)), kind, method.settings])
    return _markdown(rows)


def _markdown(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)

"""Sections on NetSim data."""

from __future__ import annotations

import math

from .. import printed
from .summary import Results, Row, counted, distinct, median, select, table, times

_SKIPPED = "Skipped: there were no NetSim data. Name their folder with `--data FOLDER` or in ICID_DATA."

_TABLE1 = """\
NetSim (Smith et al. 2011), all 50 subjects stacked, 10 000 rows, columns permuted and, unless stated, not rescaled.
ICID: λ₁ from ten values from 0.01 to 0.1, λ₁' = 0.05, four rounds. The weight of the skewness term, λ₂ = 20 on
standardised columns, was chosen from the grid below by the true graph, as in the paper; `ICID()` has no such setting.
Medians of {permutations} of the columns. The paper prints no table for Sim3.

{tables}

![ROC curves and times]({figures}/fmri.png)

The curves show the first permutation, with an increasing cut of the weights."""

_WORSE = """

**Worse than printed.** Plain ICID on Sim4 has TPR {tpr:.3f} ({paper} printed), with SHD {shd:g} ({paper_shd}
printed). `ICID()` takes {ratio:.0f} times the CPU seconds of ICID with skewness.

**Better.** `ICID()` has SHD {ours:g}, without a weight λ₂."""

_SKEWNESS = """\
Sim4, λ₁ = 0.0256 and λ₁' = 0.05 as printed, four rounds, the graph made acyclic. The weight λ₂ is independent of units
only if M̃ is computed on standardised columns, as in `ICID`. The printed values are therefore not comparable with those;
they are tried with M̃ of the raw columns. Medians of {permutations} of the columns.

{table}

![FDR and TPR by λ₂]({figures}/skewness.png)

**Not reproduced.** With M̃ by the printed formula on raw columns, the best SHD on the printed grid is {raw:g} (printed:
{best:g}). Also, λ₁ = 0.0256 is not among the ten equidistant values from 0.01 to 0.1 from which the paper says it was
chosen.

**Better.** On standardised columns the best SHD is {ours:g}."""


def overview(results: Results) -> list[tuple[str, ...]]:
    rows = select(results["fmri"], data="Sim4")
    if not rows:
        return [("Tables 1 and 3, Figures 3 and 5", "", "skipped: no NetSim data", "")]
    paper = [printed.numbers()["Table 1", "Sim4", "", method, "shd"].text for method in ("ICID", "ICID (skew)")]
    here = [f"{median(select(rows, method=method), 'shd'):g}" for method in ("ICID", "ICID (skew)", "ICID()")]
    return [("Table 1, SHD on Sim4, plain / with skewness", " / ".join(paper), " / ".join(here[:2]), here[2])]


def table1(results: Results, figures: str) -> str:
    rows = results["fmri"]
    head = "## Simulated fMRI (Table 1, Figure 3)\n\n"
    if not rows:
        return head + _SKIPPED
    tables = "\n\n".join(_table1(select(rows, data=data), data) for data in distinct(rows, "data"))
    text = head + _TABLE1.format(figures=figures, permutations=counted(rows, "permutation"), tables=tables)
    sim4 = {method: select(rows, data="Sim4", method=method) for method in distinct(rows, "method")}
    if sim4["ICID"]:
        text += _WORSE.format(
            tpr=median(sim4["ICID"], "tpr"),
            paper=printed.numbers()["Table 1", "Sim4", "", "ICID", "tpr"].text,
            shd=median(sim4["ICID"], "shd"),
            paper_shd=printed.numbers()["Table 1", "Sim4", "", "ICID", "shd"].text,
            ratio=median(sim4["ICID()"], "cpu") / median(sim4["ICID (skew)"], "cpu"),
            ours=median(sim4["ICID()"], "shd"),
        )
    return text


def skewness(results: Results, figures: str) -> str:
    rows = results["skewness"]
    head = "## Choosing λ₂ (Table 3, Figure 5)\n\n"
    if not rows:
        return head + _SKIPPED
    measures = ("shd", "tpr", "fdr", "nnz", "optimality")
    body, best = [], []
    for _, data, setting, method, _ in (key for key in printed.numbers() if key[0] == "Table 3" and key[4] == "shd"):
        numbers = [printed.numbers()["Table 3", data, setting, method, name] for name in measures]
        body.append(["printed", f"{float(setting):g}", *(number.text for number in numbers)])
        best.append(numbers[0].value)
    smallest = {}
    for columns in distinct(rows, "columns"):
        grid = {weight: select(rows, columns=columns, skewness=weight) for weight in distinct(rows, "skewness")}
        grid = {weight: at for weight, at in grid.items() if at}
        smallest[columns] = min(median(at, "shd") for at in grid.values())
        for weight, at in grid.items():
            shares = [f"{median(at, name):.3f}" for name in ("tpr", "fdr")]
            rest = [f"{median(at, 'nnz'):g}", f"{median(at, 'optimality'):.1e}"]
            body.append([f"here, columns {columns}", weight, f"{median(at, 'shd'):g}", *shares, *rest])
    return head + _SKEWNESS.format(
        figures=figures,
        permutations=counted(rows, "permutation"),
        table=table(("M̃", "λ₂", "SHD", "TPR", "FDR", "edges", "optimality"), body),
        raw=smallest.get("as they are", math.nan),
        best=min(best),
        ours=smallest["standardised"],
    )


def _table1(rows: list[Row], data: str) -> str:
    measures = ("shd", "tpr", "fdr", "fpr")
    body = []
    for method in printed.methods("Table 1") if data == "Sim4" else []:
        numbers = [printed.numbers()["Table 1", data, "", method, name] for name in (*measures, "seconds")]
        body.append([f"{method}, printed", *(number.text for number in numbers)])
    for method in distinct(rows, "method"):
        at = select(rows, method=method)
        shares = [f"{median(at, name):.3f}" for name in measures[1:]]
        body.append([method, f"{median(at, 'shd'):g}", *shares, times(at)])
    return table([data, "SHD", "TPR", "FDR", "FPR", "seconds"], body)

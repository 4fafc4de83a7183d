"""Sections on data drawn from random models: scalability, the choice of λ₁, and the signs of M."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from .. import printed
from .summary import Results, Row, between, column, counted, distinct, listed, mean, select, table, times

SCALING = ("ICID", "O-ICID", "elimination", "ICID()")

_SCALABILITY = """\
ER1 graphs, equal noise variances, Gaussian, n = 10 d. ICID as printed: Algorithm 3 with ten λ₁ from 0.04 to 0.1, one
round of at most 1 000 iterations, the paper's schedule, projection by the exponential trace, |B| > 0.3. λ₁' = 0.1
throughout, one of the four values among which the paper chose. O-ICID: three rounds, otherwise the same. Means of
{seeds}, from 0.

![SHD, TPR and time against d]({figures}/scalability.png)

SHD / edges:

{distances}

TPR:

{rates}

CPU seconds (wall):

{seconds}

**Worse than printed.** Sizes where ICID's SHD/edges is not below {most}: {above}. Where its TPR is not above {least}:
{below}. The paper calls O-ICID close to exact; here its SHD/edges is {oracle}.

**Better.** The SHD of `ICID()` summed over all graphs is {mistakes:.0f}, with {edges:.0f} true edges."""

_CRITERION = """\
ER2, d = 200, n = 2 000, Gaussian, equal variances; 20 values of λ₁ from 0.01 to 0.6. The distance counts pairs of
variables that are in the support of the estimate or of the true Θ, but not of both. *tests* is `fdr_precision`, which
the default uses and which has no λ₁.

![Distance and criterion against λ₁]({figures}/criterion.png)

{table}

**Worse than printed.** According to the paper, the chosen λ₁ is close to the best. Here the criterion chooses a smaller
λ₁ than the best of the grid in {smaller} of {total} models: median distance {chosen:g}, against {best:g} for the best.

**Better.** The tests, which do not use the true graph, reach a median distance of {tests:g}."""

_SIGNS = """\
Printed sign; measured mean; number of seeds with that sign. Exponential noise, |ρ| = ½, n = 100 000, {seeds},
from 0.

{table}"""


def overview(results: Results) -> list[tuple[str, ...]]:
    lines = []
    if results["scalability"]:
        paper, ours = (list(_normalised(results, method).values()) for method in ("ICID", "ICID()"))
        sizes = between(column(results["scalability"], "d"), 0)
        bound = f"below {_bound('shd/edges below').text}"
        lines.append((f"Figure 1, SHD/edges, d = {sizes}", bound, between(paper, 2), between(ours, 4)))
    if results["criterion"]:
        chosen, _, tests = _distances(results["criterion"])
        lines.append(("Figure 4, wrong pairs in Θ's support, median", "no number", f"{chosen:g}", f"{tests:g}"))
    return lines


def scalability(results: Results, figures: str) -> str:
    rows = results["scalability"]
    head = "## Scalability (Figure 1)\n\n"
    if not rows:
        return head + "Not measured."
    sizes = distinct(rows, "d")
    most, least = _bound("shd/edges below"), _bound("tpr above")

    def lines(show: Callable[[list[Row]], str], paper: str = "") -> str:
        body = [["ICID, printed", *[paper] * len(sizes)]] if paper else []
        body += [[method, *(show(select(rows, method=method, d=d)) for d in sizes)] for method in SCALING]
        return table(["", *(f"d = {d}" for d in sizes)], body)

    return head + _SCALABILITY.format(
        figures=figures,
        seeds=counted(rows, "seed"),
        distances=lines(lambda at: f"{mean(at, 'shd') / mean(at, 'edges'):.3f}", f"< {most.text}"),
        rates=lines(lambda at: f"{mean(at, 'tpr'):.3f}", f"> {least.text}"),
        seconds=lines(times),
        most=most.text,
        least=least.text,
        above=listed([d for d, value in _normalised(results, "ICID").items() if value >= most.value]),
        below=listed([d for d in sizes if mean(select(rows, method="ICID", d=d), "tpr") <= least.value]),
        oracle=between(list(_normalised(results, "O-ICID").values()), 2),
        mistakes=sum(column(select(rows, method="ICID()"), "shd")),
        edges=sum(column(select(rows, method="ICID()"), "edges")),
    )


def criterion(results: Results, figures: str) -> str:
    rows = results["criterion"]
    head = "## Choosing λ₁ (Figure 4)\n\n"
    if not rows:
        return head + "Not measured."
    body = []
    for seed in distinct(rows, "seed"):
        chosen, best, tests = _choices(select(rows, seed=seed))
        cuts = [f"{float(row['lambda1']):.3f}" for row in (chosen, best)]
        body.append((seed, cuts[0], chosen["distance"], cuts[1], best["distance"], tests["distance"]))
    chosen, best, tests = _distances(rows)
    return head + _CRITERION.format(
        figures=figures,
        table=table(("seed", "λ₁ chosen", "distance", "best λ₁ of the grid", "distance", "tests, distance"), body),
        smaller=sum(float(line[1]) < float(line[3]) for line in body),
        total=len(body),
        chosen=chosen,
        best=best,
        tests=tests,
    )


def signs(results: Results) -> str:
    rows = results["signs"]
    head = "## Signs of M (Table 2)\n\n"
    if not rows:
        return head + "Not measured."
    body = []
    for direction in ("x -> y", "x <- y"):
        for sign in ("1", "-1"):
            at = select(rows, direction=direction, sign=sign)
            line = [direction.replace("->", "→").replace("<-", "←"), "ρ > 0" if sign == "1" else "ρ < 0"]
            for name in ("correlation", "cumulant", "M"):
                paper = printed.numbers()["Table 2", direction, sign, "", name].value
                agree = sum(value * paper > 0 for value in column(at, name))
                line.append(f"{'+' if paper > 0 else '−'}; {mean(at, name):.3f}; {agree} of {len(at)}")
            body.append(line)
    return head + _SIGNS.format(seeds=counted(rows, "seed"), table=table(("", "", "C", "R̃", "M"), body))


def _bound(measure: str) -> printed.Number:
    return printed.numbers()["Figure 1, text", "ER1", "", "ICID", measure]


def _normalised(results: Results, method: str) -> dict[str, float]:
    """Mean SHD, as a share of the true edges, by d."""
    rows = select(results["scalability"], method=method)
    return {d: mean(at := select(rows, d=d), "shd") / mean(at, "edges") for d in distinct(rows, "d")}


def _choices(rows: list[Row]) -> tuple[Row, Row, Row]:
    """Of one model: the cut the criterion chose, the best cut, and the tests."""
    cuts = select(rows, method="cut")
    (chosen,), (tests,) = select(cuts, chosen="1"), select(rows, method="tests")
    return chosen, min(cuts, key=lambda row: float(row["distance"])), tests


def _distances(rows: list[Row]) -> list[float]:
    """The median distances of these three."""
    models = [_choices(select(rows, seed=seed)) for seed in distinct(rows, "seed")]
    return [statistics.median(column(each, "distance")) for each in zip(*models, strict=True)]

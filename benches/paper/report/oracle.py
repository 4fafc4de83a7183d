"""Section on models of 50 variables whose Θ and noise variances are given."""

from __future__ import annotations

from collections.abc import Callable

from .. import printed
from .summary import (
    MISSING,
    Results,
    Row,
    between,
    column,
    counted,
    deviation,
    distinct,
    folded,
    listed,
    mean,
    median,
    select,
    spread,
    table,
    times,
)

PRINTED = ("GH18", "GES", "fastGES", "O-ICID")
METHODS = ("GH18", "O-ICID", "O-ICID (paper's schedule)", "elimination", "ICID()", "ICID() from data")
#: Beside a mean SHD above the paper's mean plus one deviation.
WORSE = " ▲"

_TEXT = """\
d = 50, every variable divided by its standard deviation to the power λ: at λ = 0 noise variances are equal, at λ = 1
the columns are standardised. O-ICID is told Θ and Ω: three rounds of at most 3 000 iterations, ρ₀ = 1, |B| > 0.1
kept; once with this package's default schedule, once with the paper's. GH18 is told Θ alone, |B| > 0.1 kept.
*elimination* and `ICID()` are told Θ and Ω, and keep what is not rounding, |B| > 1e-6. *`ICID()` from data* is told
neither: it is given n = 500 Gaussian samples, as GES is given samples in the paper, which does not say how many.
Gaussian samples with unequal noise variances determine an equivalence class, not a graph: for λ > 0 this row need not
fall to 0 with any number of samples. Mean ± deviation of {seeds}, from 0; the paper's of 10.

![SHD and TPR against λ, ER graphs]({figures}/oracle-er.png)

![SHD and TPR against λ, SF graphs]({figures}/oracle-sf.png)

{graphs}

**Worse than printed** (▲: mean SHD above the printed mean plus one deviation). O-ICID in {bad} of {cells} cells:
{which}; with the paper's schedule in {bad_paper}: {which_paper}.

**Better.** O-ICID's mean SHD is below the printed mean in {below} of {cells} cells. Elimination's largest SHD on all
{total} graphs is {distance:.0f}, and its largest error of a weight {error:.0e}."""

_LARGE = """

Beyond the paper: d = 1 000 with four edges per variable, ER and SF, λ = 0 and 1, {total} graphs. Elimination's
largest SHD is {distance:.0f}, its largest error of a weight {error:.0e}, its CPU (wall) seconds {seconds}."""


def overview(results: Results) -> list[tuple[str, ...]]:
    rows = select(results["oracle"], d="50")
    if not rows:
        return []
    cells = _cells(rows)
    within = len(cells) - len(_exceeding(rows, "O-ICID"))
    paper = [printed.oracle(graph, exponent, "O-ICID", "shd").value for graph, exponent in cells]
    here = f"within mean + deviation in {within} of {len(cells)}"
    worst = max(column(select(rows, method="ICID()"), "shd"))
    return [("Tables 5–7, mean SHD told Θ and Ω", between(paper, 1), here, f"{worst:.0f} in all")]


def section(results: Results, figures: str) -> str:
    rows = select(results["oracle"], d="50")
    head = "## From the true Θ (Tables 5–7, Figures 2 a–b, 6 and 7)\n\n"
    if not rows:
        return head + "Not measured."
    cells, exact = _cells(rows), select(rows, method="elimination")
    bad, bad_paper = _exceeding(rows, "O-ICID"), _exceeding(rows, "O-ICID (paper's schedule)")
    below = [
        printed.oracle(graph, exponent, "O-ICID", "shd").value
        > mean(select(rows, graph=graph, exponent=exponent, method="O-ICID"), "shd")
        for graph, exponent in cells
    ]
    text = head + _TEXT.format(
        figures=figures,
        seeds=counted(rows, "seed"),
        graphs="\n\n".join(_graph(select(rows, graph=graph), graph) for graph in distinct(rows, "graph")),
        bad=len(bad),
        which=listed(bad),
        bad_paper=len(bad_paper),
        which_paper=listed(bad_paper),
        below=sum(below),
        cells=len(cells),
        total=len(exact),
        distance=max(column(exact, "shd")),
        error=max(column(exact, "error")),
    )
    large = select(results["oracle"], d="1000")
    if large:
        text += _LARGE.format(
            total=len(large),
            distance=max(column(large, "shd")),
            error=max(column(large, "error")),
            seconds=times(large),
        )
    return text


def _cells(rows: list[Row]) -> list[tuple[str, str]]:
    """Graph and λ of the paper's cells."""
    return [(graph, exponent) for graph in distinct(rows, "graph") for exponent in distinct(rows, "exponent")]


def _exceeds(rows: list[Row], graph: str, exponent: str) -> bool:
    number = printed.oracle(graph, exponent, "O-ICID", "shd")
    return mean(rows, "shd") > number.value + number.deviation


def _exceeding(rows: list[Row], method: str) -> list[str]:
    """The cells where a method is above the paper's mean of O-ICID plus one deviation."""
    return [
        f"{graph} at λ = {exponent}"
        for graph, exponent in _cells(rows)
        if _exceeds(select(rows, graph=graph, exponent=exponent, method=method), graph, exponent)
    ]


def _graph(rows: list[Row], graph: str) -> str:
    """The SHD on a graph, and folded up, what else the paper prints."""
    exponents = distinct(rows, "exponent")

    def lines(measure: str, digits: int, show: Callable[[list[Row]], str]) -> str:
        body = []
        for method in PRINTED:
            numbers = [printed.oracle(graph, exponent, method, measure) for exponent in exponents]
            if any(numbers):
                cells = [MISSING if n is None else spread(n.value, n.deviation, digits) for n in numbers]
                body.append([f"{method}, printed", *cells])
        body += [
            [method, *(show(select(rows, method=method, exponent=exponent)) for exponent in exponents)]
            for method in METHODS
        ]
        return table([graph, *(f"λ = {exponent}" for exponent in exponents)], body)

    def distance(at: list[Row]) -> str:
        mark = at[0]["method"].startswith("O-ICID") and _exceeds(at, graph, at[0]["exponent"])
        return spread(mean(at, "shd"), deviation(at, "shd")) + (WORSE if mark else "")

    more = {
        "TPR": lines("tpr", 3, lambda at: spread(mean(at, "tpr"), deviation(at, "tpr"), 3)),
        "Median SHD": lines("median", 1, lambda at: f"{median(at, 'shd'):.1f}"),
        "Seconds, ours CPU (wall)": lines("seconds", 3, times),
    }
    rest = "\n\n".join(f"{title}:\n\n{text}" for title, text in more.items())
    return f"SHD on {graph}:\n\n{lines('shd', 1, distance)}\n\n" + folded(f"{graph}: TPR, median SHD, seconds", rest)

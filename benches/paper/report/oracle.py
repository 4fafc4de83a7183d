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
#: What is shown with both cuts.
UNCUT = ("O-ICID", "elimination", "ICID()", "ICID() from data")
PAPER_CUT, ROUNDING = "0.1", "1e-6"
#: Beside a mean SHD above the paper's mean plus one deviation.
WORSE = " ▲"

_TEXT = """\
d = 50, every variable divided by its standard deviation to the power λ: at λ = 0 noise variances are equal, at λ = 1
the columns are standardised. O-ICID, elimination and `ICID()` are given Θ and Ω, GH18 is given Θ only. O-ICID: three
rounds of at most 3 000 iterations, ρ₀ = 1; once with this package's default schedule, once with the paper's.
*`ICID()` from data* is given neither, but n = 500 Gaussian samples, as GES is given samples in the paper, which does
not state how many. Gaussian samples with unequal noise variances identify an equivalence class, not a graph: for λ >
0 this row need not reach 0 with any number of samples. Mean ± deviation of {seeds}, from 0; the paper's of 10.

**The cut.** The paper does not state which weights it keeps; |B| > 0.1 reproduces its column of GH18 and is used for
every method here unless stated otherwise. Rescaling makes true weights small, down to 0.002 at λ = 1, so that this
cut removes true edges even from an exact B. Rows with |B| > 1e-6 drop rounding errors only. Compare rows with the
same cut.

![SHD and TPR against λ, ER graphs]({figures}/oracle-er.png)

![SHD and TPR against λ, SF graphs]({figures}/oracle-sf.png)

{graphs}

**Worse than printed.** O-ICID's mean SHD is above the printed mean in {above} of {cells} cells. It is above the printed
mean plus one deviation (▲) in {bad}: {which}. With the paper's schedule this happens in {bad_paper}: {which_paper}.
With this cut `ICID()` too is above O-ICID's printed mean in {ours_above} of {cells} cells: {ours_which}.

**Better.** O-ICID's mean SHD is below the printed mean in {below} of {cells} cells; that of `ICID()`, with the same
cut, in {ours_below}. Without the cut, |B| > 1e-6, the largest SHD of elimination on all {total} graphs is
{distance:.0f}, that of `ICID()` {ours:.0f}, and elimination's largest error of a weight is {error:.1e}."""

_LARGE = """

Beyond the paper: d = 1 000 with four edges per variable, ER and SF, λ = 0 and 1, {total} graphs. Elimination's largest
SHD with |B| > 1e-6 is {distance:.0f}, its largest error of a weight {error:.1e}, its CPU (wall) seconds {seconds}."""


def overview(results: Results) -> list[tuple[str, ...]]:
    rows = select(results["oracle"], d="50", cut=PAPER_CUT)
    if not rows:
        return []
    cells = _cells(rows)
    within = len(cells) - len(_exceeding(rows, "O-ICID"))
    paper = [_printed(graph, exponent).value for graph, exponent in cells]
    ours = [mean(select(rows, graph=graph, exponent=exponent, method="ICID()"), "shd") for graph, exponent in cells]
    uncut = max(column(select(results["oracle"], d="50", cut=ROUNDING, method="ICID()"), "shd"))
    here = f"within mean + deviation in {within} of {len(cells)}"
    ending = f"{between(ours, 1)}; at most {uncut:.0f} with |B| > 1e-6"
    return [("Tables 5–7, mean SHD given Θ and Ω, |B| > 0.1", between(paper, 1), here, ending)]


def section(results: Results, figures: str) -> str:
    everything = select(results["oracle"], d="50")
    head = "## From the true Θ (Tables 5–7, Figures 2 a–b, 6 and 7)\n\n"
    if not everything:
        return head + "Not measured."
    rows, uncut = select(everything, cut=PAPER_CUT), select(everything, cut=ROUNDING)
    exact = select(uncut, method="elimination")
    bad, bad_paper = _exceeding(rows, "O-ICID"), _exceeding(rows, "O-ICID (paper's schedule)")
    theirs, ours = _excess(rows, "O-ICID"), _excess(rows, "ICID()")
    worse = [cell for cell, value in ours.items() if value > 0]
    text = head + _TEXT.format(
        figures=figures,
        seeds=counted(rows, "seed"),
        graphs="\n\n".join(_graph(select(everything, graph=graph), graph) for graph in distinct(rows, "graph")),
        above=sum(value > 0 for value in theirs.values()),
        below=sum(value < 0 for value in theirs.values()),
        bad=len(bad),
        which=listed(bad),
        bad_paper=len(bad_paper),
        which_paper=listed(bad_paper),
        ours_above=len(worse),
        ours_which=listed(worse),
        ours_below=sum(value < 0 for value in ours.values()),
        cells=len(theirs),
        total=len(exact),
        distance=max(column(exact, "shd")),
        ours=max(column(select(uncut, method="ICID()"), "shd")),
        error=max(column(exact, "error")),
    )
    large = select(results["oracle"], d="1000", cut=ROUNDING)
    if large:
        text += _LARGE.format(
            total=len(large),
            distance=max(column(large, "shd")),
            error=max(column(large, "error")),
            seconds=times(large),
        )
    return text


def _printed(graph: str, exponent: str) -> printed.Number:
    """The paper's mean SHD of O-ICID."""
    return printed.oracle(graph, exponent, "O-ICID", "shd")


def _excess(rows: list[Row], method: str) -> dict[str, float]:
    """By how much a method's mean SHD exceeds the paper's of O-ICID."""
    return {
        f"{graph} at λ = {exponent}": mean(select(rows, graph=graph, exponent=exponent, method=method), "shd")
        - _printed(graph, exponent).value
        for graph, exponent in _cells(rows)
    }


def _cells(rows: list[Row]) -> list[tuple[str, str]]:
    """Graph and λ of the paper's cells."""
    return [(graph, exponent) for graph in distinct(rows, "graph") for exponent in distinct(rows, "exponent")]


def _exceeds(rows: list[Row], graph: str, exponent: str) -> bool:
    number = _printed(graph, exponent)
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
        shown = [(method, PAPER_CUT, method) for method in METHODS]
        shown += [(f"{method}, |B| > 1e-6", ROUNDING, method) for method in UNCUT]
        for label, cut, method in shown:
            own = select(rows, method=method, cut=cut)
            body.append([label, *(show(select(own, exponent=exponent)) for exponent in exponents)])
        return table([graph, *(f"λ = {exponent}" for exponent in exponents)], body)

    def distance(at: list[Row]) -> str:
        judged = at and at[0]["cut"] == PAPER_CUT and at[0]["method"].startswith("O-ICID")
        mark = judged and _exceeds(at, graph, at[0]["exponent"])
        return spread(mean(at, "shd"), deviation(at, "shd")) + (WORSE if mark else "")

    more = {
        "TPR": lines("tpr", 3, lambda at: spread(mean(at, "tpr"), deviation(at, "tpr"), 3)),
        "Median SHD": lines("median", 1, lambda at: f"{median(at, 'shd'):.1f}"),
        "Seconds, ours CPU (wall)": lines("seconds", 3, times),
    }
    rest = "\n\n".join(f"{title}:\n\n{text}" for title, text in more.items())
    return f"SHD on {graph}:\n\n{lines('shd', 1, distance)}\n\n" + folded(f"{graph}: TPR, median SHD, seconds", rest)

"""Section on models of 50 variables whose noise variances are told with errors."""

from __future__ import annotations

from .summary import Results, Row, counted, distinct, mean, select, table

METHODS = ("O-ICID", "elimination", "ICID()")

_TEXT = """\
As above, but D is told with errors: D̂_ii = max(½, 1 + ε) D_ii, ε normal with deviation σ. The paper prints no
numbers for these figures. O-ICID keeps |B| > 0.1 as in the paper; elimination and `ICID()` keep what is above 0.1 in
units of the supposed noise. Dotted lines in the figures are methods that are not told D, from the section above. Mean
SHD of {seeds}, from 0.

{graphs}

**Worse.** `ICID()` has a larger mean SHD than O-ICID in {to_solver} of {cells} cells, and than elimination in
{to_elimination}: where the D it is told does not fit Θ exactly, the default takes Θ for an estimate and leaves the
decomposition as it is.

**Better.** Elimination has a smaller or equal mean SHD than O-ICID in {eliminated} of {cells} cells."""


def overview(results: Results) -> list[tuple[str, ...]]:
    rows = select(results["misspecified"], graph="ER1", exponent="0.4", sigma="0.2")
    if not rows:
        return []
    theirs, ours = (f"{mean(select(rows, method=method), 'shd'):.1f}" for method in ("O-ICID", "ICID()"))
    return [("Figure 2 (c), mean SHD on ER1, λ = 0.4, σ = 0.2", "no number", theirs, ours)]


def section(results: Results, figures: str) -> str:
    rows = results["misspecified"]
    head = "## Wrong noise variances (Figures 2 c–d and 8–10)\n\n"
    if not rows:
        return head + "Not measured."
    cells = _means(rows)
    sigmas = distinct(rows, "sigma")
    parts = []
    for graph in distinct(rows, "graph"):
        body = [
            [f"λ = {exponent}", method, *(f"{cells[graph, exponent, sigma][method]:.1f}" for sigma in sigmas)]
            for exponent in distinct(rows, "exponent")
            for method in METHODS
        ]
        parts += [
            f"![SHD and TPR against σ, {graph}]({figures}/misspecified-{graph.lower()}.png)",
            table([graph, "", *(f"σ = {sigma}" for sigma in sigmas)], body),
        ]
    return head + _TEXT.format(
        seeds=counted(rows, "seed"),
        graphs="\n\n".join(parts),
        cells=len(cells),
        to_solver=sum(cell["ICID()"] > cell["O-ICID"] for cell in cells.values()),
        to_elimination=sum(cell["ICID()"] > cell["elimination"] for cell in cells.values()),
        eliminated=sum(cell["elimination"] <= cell["O-ICID"] for cell in cells.values()),
    )


def _means(rows: list[Row]) -> dict[tuple[str, str, str], dict[str, float]]:
    """Mean SHD by graph, λ and σ, then by method."""
    return {
        (graph, exponent, sigma): {
            method: mean(select(rows, graph=graph, exponent=exponent, sigma=sigma, method=method), "shd")
            for method in METHODS
        }
        for graph in distinct(rows, "graph")
        for exponent in distinct(rows, "exponent")
        for sigma in distinct(rows, "sigma")
    }

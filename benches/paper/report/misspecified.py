"""Section on models of 50 variables whose noise variances are told with errors."""

from __future__ import annotations

from .summary import Results, Row, counted, distinct, folded, mean, select, table

#: Mean SHD by graph, λ and σ, then by method.
Cells = dict[tuple[str, str, str], dict[str, float]]

METHODS = ("O-ICID", "elimination", "ICID()")
CUTS = {"0.1": "|B| > 0.1", "noise": "0.1 in units of the assumed noise"}

_TEXT = """\
As above, but with errors in the given D: D̂_ii = max(½, 1 + ε) D_ii, ε normal with deviation σ. The paper prints no
numbers for these figures. The same cut applies to all methods: |B| > 0.1 in figures and tables; in the folded tables,
0.1 in units of the assumed noise, |B_ij| (Ω_ii / Ω_jj)^½ > 0.1, which keeps the small weights of rescaled models.
Dotted lines in the figures are methods without D, from the section above. Mean SHD of {seeds}, from 0.

{graphs}

{verdicts}

If the given D does not fit Θ exactly, the default uses the exact decomposition along the order of elimination, provided
that it has no more edges than the result of O-ICID, and the result of O-ICID otherwise."""

_VERDICT = """\
**With {cut}**, {cells} cells, by mean SHD: `ICID()` is worse than O-ICID in {to_solver} and better in
{from_solver}; it is worse than elimination in {to_elimination} and better in {from_elimination}; elimination is worse
than O-ICID in {eliminated}."""


def overview(results: Results) -> list[tuple[str, ...]]:
    rows = select(results["misspecified"], graph="ER1", exponent="0.4", sigma="0.2", cut="0.1")
    if not rows:
        return []
    theirs, ours = (f"{mean(select(rows, method=method), 'shd'):.1f}" for method in ("O-ICID", "ICID()"))
    return [("Figure 2 (c), mean SHD on ER1, λ = 0.4, σ = 0.2", "no number", theirs, ours)]


def section(results: Results, figures: str) -> str:
    rows = results["misspecified"]
    head = "## Wrong noise variances (Figures 2 c–d and 8–10)\n\n"
    if not rows:
        return head + "Not measured."
    cells = {cut: _means(select(rows, cut=cut)) for cut in CUTS}
    parts = []
    for graph in distinct(rows, "graph"):
        parts += [
            f"![SHD and TPR against σ, {graph}]({figures}/misspecified-{graph.lower()}.png)",
            _table(rows, graph, cells["0.1"]),
            folded(f"{graph}: cut in units of the noise", _table(rows, graph, cells["noise"])),
        ]
    verdicts = [_verdict(name, list(cells[cut].values())) for cut, name in CUTS.items()]
    return head + _TEXT.format(seeds=counted(rows, "seed"), graphs="\n\n".join(parts), verdicts="\n\n".join(verdicts))


def _table(rows: list[Row], graph: str, cells: Cells) -> str:
    sigmas = distinct(rows, "sigma")
    body = [
        [f"λ = {exponent}", method, *(f"{cells[graph, exponent, sigma][method]:.1f}" for sigma in sigmas)]
        for exponent in distinct(rows, "exponent")
        for method in METHODS
    ]
    return table([graph, "", *(f"σ = {sigma}" for sigma in sigmas)], body)


def _verdict(cut: str, cells: list[dict[str, float]]) -> str:
    def worse(one: str, other: str) -> int:
        return sum(cell[one] > cell[other] for cell in cells)

    return _VERDICT.format(
        cut=cut,
        cells=len(cells),
        to_solver=worse("ICID()", "O-ICID"),
        from_solver=worse("O-ICID", "ICID()"),
        to_elimination=worse("ICID()", "elimination"),
        from_elimination=worse("elimination", "ICID()"),
        eliminated=worse("elimination", "O-ICID"),
    )


def _means(rows: list[Row]) -> Cells:
    return {
        (graph, exponent, sigma): {
            method: mean(select(rows, graph=graph, exponent=exponent, sigma=sigma, method=method), "shd")
            for method in METHODS
        }
        for graph in distinct(rows, "graph")
        for exponent in distinct(rows, "exponent")
        for sigma in distinct(rows, "sigma")
    }

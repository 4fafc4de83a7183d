"""The page docs/benchmarks/real.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benches.real.data import RealSet
from benches.real.scores import Score

_HEAD = """# Real data

Made by `python -m benches.real` from data that are not part of the repository (`benches/real/data.py` says where they
come from). Every method runs with its defaults, or as noted below, on the same numbers. What counts is whether the
directions that a method *claims* are right: an edge that points both ways in the result, or has no arrowhead, claims
none.

- **right, wrong**: claimed directions that are true, and those whose reverse is true.
- **unjoined**: claimed directions between variables that no true edge joins.
- **found, false**: pairs that are joined and should be, and those that should not.

Truth is itself in doubt for the proteins (a consensus of the literature) and partly known for the tables with tiers:
there only directions between tiers are counted, and pairs within one are not. Losses stand beside wins; what failed is
said.
"""


def page(
    cases: Sequence[RealSet], results: Mapping[str, Mapping[str, Score | None]], settings: Mapping[str, str]
) -> str:
    """Write the page."""
    parts = [_HEAD]
    with_truth = [case for case in cases if case.truth is not None and case.group != "pairs"]
    if with_truth:
        parts.append("## Tables with a known graph\n")
        parts += [_graphs(case, results) for case in with_truth]
    tiers = [case for case in cases if case.truth is None]
    if tiers:
        parts.append(
            "## Tables with known tiers\n\nClaimed directions that agree with the tiers : that contradict them.\n"
        )
        parts.append(_tiers(tiers, results))
    pairs = [case for case in cases if case.group == "pairs"]
    if pairs:
        parts.append(f"## {len(pairs)} pairs of a cause and its effect\n\nWeighted as their collection proposes.\n")
        parts.append(_pairs(pairs, results))
    parts.append("## Settings\n\n" + "\n".join(f"- {name}: {text}" for name, text in settings.items()))
    return "\n".join(parts).rstrip() + "\n"


def _graphs(case: RealSet, results: Mapping[str, Mapping[str, Score | None]]) -> str:
    n, d = case.X.shape
    lines = [f"### {case.name}\n", ""]
    edges = 0.0
    rows = []
    for method, scores in results.items():
        score = scores[case.name]
        if score is None:
            rows.append(f"| {method} | failed | | | | |")
            continue
        edges = score.true_edges
        counts = (score.found, score.false, score.right, score.wrong, score.unjoined)
        rows.append(f"| {method} | " + " | ".join(f"{value:.0f}" for value in counts) + " |")
    lines[1] = f"{n} rows, {d} columns, {edges:.0f} true edges.\n"
    return "\n".join([*lines, *_table(["", "found", "false", "right", "wrong", "unjoined"], rows), ""])


def _tiers(cases: Sequence[RealSet], results: Mapping[str, Mapping[str, Score | None]]) -> str:
    rows = []
    for case in cases:
        counts = [results[method][case.name] for method in results]
        cells = ["failed" if s is None else f"{s.right:.0f} : {s.wrong:.0f}" for s in counts]
        rows.append(f"| {case.name} ({case.X.shape[0]} × {case.X.shape[1]}) | " + " | ".join(cells) + " |")
    totals = []
    for scores in results.values():
        known = [scores[case.name] for case in cases]
        total = sum((s for s in known if s is not None), Score())
        totals.append(f"**{total.right:.0f} : {total.wrong:.0f}**")
    rows.append("| **all** | " + " | ".join(totals) + " |")
    return "\n".join([*_table(["", *results], rows), ""])


def _pairs(cases: Sequence[RealSet], results: Mapping[str, Mapping[str, Score | None]]) -> str:
    weight = sum(case.weight for case in cases)
    rows = []
    for method, scores in results.items():
        known = [s for s in (scores[case.name] for case in cases) if s is not None]
        total = sum(known, Score())
        claimed = total.right + total.wrong
        right = f"{total.right / claimed:.0%}" if claimed else "none claimed"
        wrong = sum(1 for s in known if s.wrong)
        rows.append(f"| {method} | {claimed / weight:.0%} | {right} | {wrong} | {len(cases) - len(known)} |")
    head = ["", "share claimed", "of these right", "pairs wrong", "failed"]
    return "\n".join([*_table(head, rows), ""])


def _table(head: Sequence[str], rows: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *rows]

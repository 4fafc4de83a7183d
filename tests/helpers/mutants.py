"""The page of mutants, from what cargo-mutants and mutmut have left behind.

``python -m tests.helpers.mutants`` writes it after ``.ci/mutants``; other results of cargo-mutants may be named
instead; the last counts where a mutant was tried twice.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.helpers import ROOT

PAGE = ROOT / "docs" / "development" / "mutants.md"
MUTMUT = ROOT / "results" / "mutmut" / "mutants" / "src" / "icid_rs"
#: What is said of survivors: the first pattern that is found in a mutant's line.
REASONS = (
    (r"cholesky|splu|options = |_DENSE_SHARE", "the same determinant by another factorisation, or in another time"),
    (r"overwrite|order=|np\.zeros|out=None|location, \)|covariance = None|lower=1, \)", "affects memory use only"),
    (r"_mirror_lower", "the same copy in other tiles"),
    (
        r"minlength|covariance\[rows, columns\], \)",
        "the largest entry survives every cut, so that the length is the same",
    ),
    (r"strict=|traces, \)", "both sequences always have the same length"),
    (r"np\.argsort", "tied entries have equal p-values: all are kept or none"),
    (r"(?<!/)/ 2\b|shape\[1\]", "d (d − 1) is even, pairs are counted twice, matrices are square: the same number"),
    (r"np\.ones|astype\(None\)", "the default type gives the same counts"),
    (r"csr_array", "the diagonal is always stored, so that the shape is the same"),
    (r"XXiufXX|initial=None", "such a type, or an empty matrix, never reaches this line"),
    (r"range\(1, d, _TILE\)", "row 0 has no entries left of the diagonal"),
    (r"1\.0000000001", "more columns are inspected; the constant ones are the same"),
    (r"or True else np\.array|top >= ", "a grid of one value repeated twenty times"),
    (r"1e-?\+?150|>= COLLINEAR|size > least|sf\(z\) <|pivots >= 0", "differs at a single number or nowhere"),
    (r"pinv", "the same pseudo-inverse by another routine"),
    (r"stacklevel", "the line number of a warning is not tested"),
    (r"DenseTheta::fill", "the diagonal is its own mirror image"),
    (r"indefinite_pair", "a pair is found from either variable"),
    (r"Minimum::untouched", "equally far from zero with the other sign"),
    (
        r"block_height|::move_row|::subtract|blocks\.rs|heaviest_acyclic|as_rows|in load|::to_elimination|in scales",
        "block sizes, memory layout, time of allocation, or the choice between two routes to the same result",
    ),
    (r"has_cancelled", "an entry of rounding size is kept and removed later"),
    (r"Moments::update", "merging with empty moments returns the other operand"),
    (r"check_symmetric", "the same bound for a diagonal of ones"),
    (r"in_range|invert_variances", "differs at a single number"),
    (r"replace [<>] with [<>]=.* Fista", "differs at a single number"),
    (r"Fista::descend", "interval between convergence checks, and steps of rounding size"),
    (r"Run<'_, '_>::finish", "whether components get a final polish, and its count of iterations"),
)
UNKNOWN = "not explained yet"


def cargo_mutants(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the module of each mutant, what became of it, and its line."""
    outcomes = json.loads((folder / "outcomes.json").read_text(encoding="utf-8"))["outcomes"]
    for outcome in outcomes:
        if isinstance(outcome["scenario"], dict):
            mutant = outcome["scenario"]["Mutant"]
            module = mutant["file"].removeprefix("rust/src/").removesuffix(".rs")
            yield module, outcome["summary"].removesuffix("Mutant").lower(), mutant["name"].removeprefix("rust/src/")


def mutmut(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Do as `cargo_mutants`."""
    for path in sorted(folder.rglob("*.py.meta")):
        module = path.relative_to(folder).as_posix().removesuffix(".py.meta")
        source = path.with_suffix("").read_text(encoding="utf-8")
        lines = source.splitlines()
        functions = {
            node.name: lines[node.lineno : node.end_lineno]
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef)
        }
        for key, status in json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].items():
            name = key.rsplit(".", 1)[1]
            plain, _, _ = name.partition("__mutmut_")
            changes = list(difflib.ndiff(functions[f"{plain}__mutmut_orig"], functions[name]))
            before, after = (" ".join(line[2:].strip() for line in changes if line.startswith(s)) for s in ("- ", "+ "))
            if not after.strip("() "):
                after = f"without {before}"
            function = re.sub(r"^x[ǁ_]", "", plain).replace("ǁ", ".")
            # pytest ends with 0 if nothing failed, and by a signal if it took too long.
            kind = "missed" if status in (0, 33) else "timeout" if status < 0 else "caught"
            yield module, kind, f"{module}.{function}: {after}"


def page(core: list[tuple[str, str, str]], drawn: int, package: list[tuple[str, str, str]]) -> str:
    """Return the page in Markdown; of the core's mutants not all that were drawn need have been tried."""
    lines = [
        "# Mutants",
        "",
        "A mutant is a copy of the code with one small fault: a plus replaced by a minus, a bound off by one, a",
        "message in capitals. A good test suite fails on it. [cargo-mutants](https://mutants.rs) makes mutants of the",
        "core's arithmetic, of which every sixth is tested, and [mutmut](https://mutmut.readthedocs.io) of `metrics`",
        "and of the estimates in `precision`.",
        "",
        "    .ci/mutants                        # hours: each mutant of the core is compiled",
        "    python -m tests.helpers.mutants    # rewrites this page",
        "",
        "A mutant is killed if a test fails or does not end in time.",
    ]
    if len(core) < drawn:
        lines += ["", f"Of the selected mutants of the core, {len(core)} of {drawn} have been tested so far."]
    for title, mutants in (("The core", core), ("The package", package)):
        counts = Counter((module, kind) for module, kind, _ in mutants)
        modules = sorted({module for module, _, _ in mutants})
        lines += [
            "",
            f"## {title}",
            "",
            "| module | mutants | killed | of these by timeout | survived | do not compile |",
        ]
        lines += ["|---|--:|--:|--:|--:|--:|"]
        for label, chosen in [(f"`{module}`", [module]) for module in modules] + [("all", modules)]:
            caught, timeout, missed, unviable = (
                sum(counts[module, kind] for module in chosen) for kind in ("caught", "timeout", "missed", "unviable")
            )
            total = caught + timeout + missed
            share = f"{100 * (caught + timeout) / max(total, 1):.0f} %"
            lines.append(f"| {label} | {total} | {caught + timeout} ({share}) | {timeout} | {missed} | {unviable} |")
        survivors: dict[str, list[str]] = {}
        for line in sorted(line for _, kind, line in mutants if kind == "missed"):
            reason = next((reason for pattern, reason in REASONS if re.search(pattern, line)), UNKNOWN)
            survivors.setdefault(reason, []).append(line)
        for reason, group in survivors.items():
            lines += ["", f"Survivors: {reason}", "", *(f"- `{line}`" for line in group)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    folders = [Path(name) for name in sys.argv[1:]] or [ROOT / "mutants.out"]
    core = {mutant[2]: mutant for folder in folders for mutant in cargo_mutants(folder)}
    drawn = {mutant["name"] for f in folders for mutant in json.loads((f / "mutants.json").read_text(encoding="utf-8"))}
    PAGE.write_text(page(list(core.values()), len(drawn), list(mutmut(MUTMUT))), encoding="utf-8")

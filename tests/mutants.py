"""The page of mutants, from what cargo-mutants and mutmut have left behind.

``python -m tests.mutants`` writes it after ``.ci/mutants``; other results of cargo-mutants may be named instead;
the last counts where a mutant was tried twice.
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

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "mutants.md"
MUTMUT = ROOT / "results" / "mutmut" / "mutants" / "src" / "icid_rs"
#: What is said of survivors: the first pattern that is found in a mutant's line.
REASONS = (
    (r"cholesky|splu|options = |_DENSE_SHARE", "another way to the same determinant, or the time it takes"),
    (r"overwrite|order=|np\.zeros|out=None|location, \)|covariance = None|lower=1, \)", "memory, not values"),
    (r"_mirror_lower", "other tiles of the same copy"),
    (
        r"minlength|covariance\[rows, columns\], \)",
        "the largest entry survives every cut, so that the length is the same",
    ),
    (r"strict=|traces, \)", "there is one trace for each cut"),
    (r"np\.argsort", "ties have equal p-values: all of them are found, or none"),
    (r"(?<!/)/ 2\b|shape\[1\]", "d (d − 1) is even, pairs are counted twice, matrices are square: the same number"),
    (r"np\.ones|astype\(None\)", "of the same type, or of one in which the counts are the same"),
    (r"csr_array", "the diagonal is always stored, so that the shape is the same"),
    (r"XXiufXX|initial=None", "no such type, and no matrix without entries, gets there"),
    (r"range\(1, d, _TILE\)", "row 0 has nothing left of the diagonal"),
    (r"1\.0000000001", "more columns are looked at; which of them are constant stays"),
    (r"or True else np\.array|top >= ", "a grid of one value, twenty times"),
    (r"1e-?\+?150|>= COLLINEAR|size > least|sf\(z\) <|pivots >= 0", "differs at a single number, or not at all"),
    (r"pinv", "the same pseudo-inverse by another routine"),
    (r"stacklevel", "the line that a warning points to is not tested"),
    (r"DenseTheta::fill", "the diagonal is its own mirror image"),
    (r"indefinite_pair", "a pair is found from either of its ends"),
    (r"Minimum::untouched", "as far from zero on the other side"),
    (
        r"block_height|::move_row|::subtract|blocks\.rs|heaviest_acyclic|as_rows|in load|::to_elimination|in scales",
        "how work is cut or laid out, when memory is asked for, or which of two ways to the same result is taken",
    ),
    (r"has_cancelled", "an entry of rounding size stays, and is forgotten later"),
    (r"Moments::update", "to merge with nothing is to be the other"),
    (r"check_symmetric", "the same bound for a diagonal of ones"),
    (r"in_range|invert_variances", "differs at a single number"),
    (r"replace [<>] with [<>]=.* Fista", "differs at a single number"),
    (r"Fista::descend", "how often it is looked whether it has converged, and steps of rounding size"),
    (r"Run<'_, '_>::finish", "whether components are sharpened a last time, and the count of iterations of that"),
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
    for path in sorted(folder.glob("*.py.meta")):
        module = path.name.removesuffix(".py.meta")
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
        "A mutant is the code with one small fault: a plus that became a minus, a bound off by one, a message in",
        "capitals. The tests should notice. [cargo-mutants](https://mutants.rs) makes mutants of the core's",
        "arithmetic, of which every sixth is drawn, and [mutmut](https://mutmut.readthedocs.io) of `metrics`,",
        "`precision` and `skewness`.",
        "",
        "    .ci/mutants                # hours: each mutant of the core is built",
        "    python -m tests.mutants    # writes this page anew",
        "",
        "Killed are those that a test fails with, or never ends.",
    ]
    if len(core) < drawn:
        lines += ["", f"Of the core's, {len(core)} of {drawn} that were drawn have been tried so far."]
    for title, mutants in (("The core", core), ("The package", package)):
        counts = Counter((module, kind) for module, kind, _ in mutants)
        modules = sorted({module for module, _, _ in mutants})
        lines += ["", f"## {title}", "", "| module | mutants | killed | of these by time | survived | do not build |"]
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
            lines += ["", f"Survivors, {reason}:", "", *(f"- `{line}`" for line in group)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    folders = [Path(name) for name in sys.argv[1:]] or [ROOT / "mutants.out"]
    core = {mutant[2]: mutant for folder in folders for mutant in cargo_mutants(folder)}
    drawn = {mutant["name"] for f in folders for mutant in json.loads((f / "mutants.json").read_text(encoding="utf-8"))}
    PAGE.write_text(page(list(core.values()), len(drawn), list(mutmut(MUTMUT))), encoding="utf-8")

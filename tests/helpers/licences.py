"""The licences of the crates that are compiled into the wheel.

``python -m tests.helpers.licences`` writes them to ``LICENSE-THIRD-PARTY.txt``, which ships with the wheel;
`test_licences` compares it with ``Cargo.lock``.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.helpers import ROOT

PAGE = ROOT / "LICENSE-THIRD-PARTY.txt"
HEADING = re.compile(r"^(\S+) (\d\S*): (.+)$", re.MULTILINE)
RULE = "-" * 80


def cargo(*arguments: str) -> str:
    command = ["cargo", *arguments, "--locked", "--features", "python"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def linked(*arguments: str) -> set[tuple[str, str]]:
    """Name and version of each crate whose code goes into the extension, so no macros and no build scripts."""
    edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]
    crates = re.findall(r"^(\S+) v(\S+)", cargo("tree", *edges, *arguments), re.MULTILINE)
    return {crate for crate in crates if crate[0] != "icid_rs"}


def text(package: dict[str, Any]) -> str:
    """Give the text that the crate carries: of the MIT licence if it has a choice."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if re.match("licen[cs]e", file.name, re.IGNORECASE))
    chosen = [file for file in files if "mit" in file.name.lower()] or files
    if not chosen:
        authors = ", ".join(package["authors"]) or package["repository"]
        return f"The crate carries no text of its licence. By {authors}."
    return "\n".join(line.rstrip() for line in chosen[0].read_text(encoding="utf-8").strip().splitlines())


def page() -> str:
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    ours = linked("--target", "all")
    lines = [
        "Crates that are compiled into icid_rs, on one platform or another, with their licences.",
        "Where there is a choice, the MIT licence is taken.",
    ]
    for package in sorted(packages, key=lambda package: (package["name"], package["version"])):
        if (package["name"], package["version"]) in ours:
            heading = f"{package['name']} {package['version']}: {package['license'].replace('/', ' OR ')}"
            lines += ["", RULE, heading, RULE, "", text(package)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""Run the cases with the installed package, and store what they return, warn and raise."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benches.corpus.cases import all_cases
from benches.corpus.describe import describe

import icid_rs

#: Libraries that results depend on.
_LIBRARIES = ("icid_rs", "numpy", "scipy", "scikit-learn")
#: Where the package is installed.
_PACKAGE = str(Path(icid_rs.__file__).parent)
#: Warnings about libraries, not about data.
_IGNORED = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)


def record(path: Path, only: str = "") -> None:
    """Run the cases whose names contain a string, and write a compressed JSON file."""
    path = path.absolute()
    found: dict[str, Any] = {}
    start = time.perf_counter()
    # Cases write files under relative names, so that no message depends on where they are.
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        for name, case in all_cases().items():
            if only in name:
                before = time.perf_counter()
                found[name] = run(case)
                found[name]["seconds"] = round(time.perf_counter() - before, 3)
    versions = {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=6) as file:
        json.dump({"versions": versions, "cases": found}, file)
    raised = sum("raises" in outcome for outcome in found.values())
    print(
        f"icid_rs {versions['icid_rs']}: {len(found)} cases, {raised} of which raise, in "
        f"{time.perf_counter() - start:.0f} s; slowest:"
    )
    for name in sorted(found, key=lambda name: -found[name]["seconds"])[:5]:
        print(f"  {found[name]['seconds']:6.2f} s  {name}")


def run(case: Callable[[], object]) -> dict[str, Any]:
    """Run one case."""
    outcome: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome["result"] = describe(case())
        except Exception as error:
            outcome["raises"] = {"type": type(error).__name__, "message": str(error)}
    outcome["warnings"] = [
        # A warning should point at the line that called the package.
        {
            "category": entry.category.__name__,
            "message": str(entry.message),
            "inside": entry.filename.startswith(_PACKAGE),
        }
        for entry in caught
        if not issubclass(entry.category, _IGNORED)
    ]
    return outcome


def load(path: Path) -> dict[str, Any]:
    """Read a stored run."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


@contextlib.contextmanager
def _inside(folder: str) -> Any:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)

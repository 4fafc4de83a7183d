"""Modules import only from layers below their own, inside functions too; and importing the package is quick."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import icid_rs

PACKAGE = Path(icid_rs.__file__).parent
#: Highest first. Modules of one layer do not import each other; a folder is one module.
LAYERS = [
    {"cli"},
    {"paths", "comparison"},
    {"estimator"},
    {"fitted", "files"},
    {"result"},
    {"predictions"},
    {"answers"},
    {"trust", "export", "datasets", "metrics"},
    {"plotting"},
    {"learning"},
    {"decomposition"},
    {"precision"},
    {"data"},
    {"options", "report"},
    {"graph"},
    {"_util"},
    {"_core"},
]
HEIGHT = {name: -k for k, layer in enumerate(LAYERS) for name in layer}


def imported(source: str) -> Iterator[str]:
    """Yield what a module imports from this package, wherever the statement stands; "" for the package itself."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            # From the package itself, a public name stands for the module that it comes from.
            homes = [icid_rs._HOMES.get(alias.name, alias.name) for alias in node.names]
            found = [f"icid_rs.{home}" for home in homes] if node.module == "icid_rs" else [node.module or ""]
        else:
            continue
        yield from (name.partition(".")[2] for name in found if name.partition(".")[0] == "icid_rs")


def violations(folder: Path) -> list[str]:
    """List the imports in a package that do not lead to a lower layer."""
    wrong = []
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).with_suffix("").parts
        if place == ("__init__",):
            continue
        for target in imported(path.read_text(encoding="utf-8")):
            own, other = place[0], target.partition(".")[0]
            # What the package hands out on demand comes from any layer, so only the top may ask it.
            downwards = own == "cli" if not other else own == other or HEIGHT[other] < HEIGHT[own]
            if not downwards:
                wrong.append(f"{'.'.join(place)} imports {target or 'icid_rs'}")
    return wrong


def test_imports_lead_downwards():
    assert violations(PACKAGE) == []


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("graph/edges.py", "from icid_rs.result import CausalGraph"),
        ("graph/edges.py", "def f():\n    from icid_rs.export import formats"),
        ("trust/bootstrap.py", "from icid_rs import ICID"),
        ("trust/bootstrap.py", "import icid_rs"),
        ("data/tables.py", "import icid_rs.precision.covariance"),
        ("metrics.py", "from icid_rs import datasets"),
    ],
)
def test_a_violation_is_found(tmp_path, place, line):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("from icid_rs._util.validation import as_csr\n")
    assert violations(tmp_path) == []
    (tmp_path / place).write_text(line)
    assert len(violations(tmp_path)) == 1


def modules_after(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after some code."""
    script = f"import contextlib, sys\nwith contextlib.suppress(SystemExit):\n    {code}\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import icid_rs",
        "from icid_rs.cli import main; main(['--version'])",
        "from icid_rs.cli import main; main(['--help'])",
        "from icid_rs.cli import main; main(['fit', '--help'])",
    ],
)
def test_slow_libraries_are_imported_only_when_needed(code):
    assert not modules_after(code) & {"numpy", "scipy", "sklearn", "pandas", "matplotlib"}


def test_public_names():
    assert set(icid_rs.__all__) <= set(dir(icid_rs))
    for name, home in icid_rs._HOMES.items():
        assert importlib.util.find_spec(f"icid_rs.{home}"), name
        assert getattr(icid_rs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = icid_rs.nonsense


def test_type_checkers_see_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.asname: icid_rs._HOMES[alias.name] if node.module == "icid_rs" else node.module.partition(".")[2]
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == icid_rs._HOMES

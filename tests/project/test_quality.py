"""The compiled half's own tests, format, lint, types and stubs.

The tests in Rust take minutes to compile. They begin with the run and end beside the tests in Python.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.helpers import ROOT
from tests.helpers.background import RUST_TESTS

PYTHON = [sys.executable, "-m"]
COMMANDS = {
    "rust format": ["cargo", "fmt", "--check"],
    "rust lint": ["cargo", "clippy", "--locked", "--all-targets", "--features", "python", "--", "-D", "warnings"],
    "rust documentation": ["cargo", "rustdoc", "--locked", "--lib", "--", "-D", "warnings"],
    **{
        f"rust example {name}": ["cargo", "run", "--locked", "--example", name]
        for name in ("decompose", "eliminate", "search")
    },
    "python format": [*PYTHON, "ruff", "format", "--check", "."],
    "python lint": [*PYTHON, "ruff", "check", "."],
    "python types": [*PYTHON, "mypy"],
    "stubs": [*PYTHON, "mypy.stubtest", "icid_rs._core"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_passes(name):
    command = COMMANDS[name]
    assert shutil.which(command[0]), f"{command[0]} is not installed"
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_rust_tests_pass(pytestconfig):
    assert RUST_TESTS in pytestconfig.stash, "cargo is not installed"
    code, output = pytestconfig.stash[RUST_TESTS].wait()
    assert code == 0, output

"""The compiled half's own tests, and format, lint, types and stubs of both halves.

Some take minutes to compile. They begin with the run, beside the tests in Python, and are asked for at its end
(`tests/conftest.py`).
"""

from __future__ import annotations

import sys

import pytest

from tests.helpers.background import CHECKS

PYTHON = [sys.executable, "-m"]
COMMANDS = {
    "rust tests": ["cargo", "test", "--locked"],
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
def test_passes(name, pytestconfig):
    failure = pytestconfig.stash[CHECKS].failure(name)
    assert failure is None, failure

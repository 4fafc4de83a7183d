"""Every example in the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import icid_rs
from tests.helpers import ROOT

MODULES = [name for _, name, _ in pkgutil.walk_packages(icid_rs.__path__, "icid_rs.") if not name.endswith("._core")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_readme():
    readme = ROOT / "README.md"
    result = doctest.testfile(str(readme), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_public_names_have_examples():
    public = [getattr(icid_rs, name) for name in icid_rs.__all__]
    public += [
        getattr(module, name)
        for module in (icid_rs.datasets, icid_rs.metrics)
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    functions = [f for f in public if callable(f) and not isinstance(f, type)]
    assert functions
    for function in functions:
        assert ">>>" in (function.__doc__ or ""), function.__name__

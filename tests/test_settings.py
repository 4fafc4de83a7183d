"""Threads and the settings of BLAS choose no graph."""

from __future__ import annotations

import importlib
from pathlib import Path


def test_settings_of_threads_and_blas_agree(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent))
    settings = importlib.import_module("benches.settings")
    assert settings.compare(["4 threads", "1 thread", "OpenBLAS, 1 thread"]) == []

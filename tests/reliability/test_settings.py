"""Threads and the settings of BLAS choose no graph."""

from __future__ import annotations

from benches import settings


def test_settings_of_threads_and_blas_agree():
    assert settings.compare(["4 threads", "1 thread", "OpenBLAS, 1 thread"]) == []

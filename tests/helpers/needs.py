"""What some tests cannot do without: they are skipped where it is missing, and say what to install."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

#: Libraries that only an extra of their own installs, by the module; all others come with the extra ``test``.
EXTRAS = {"dowhy": "dowhy", "causallearn": "causal-learn"}
#: Libraries that only comparisons need, in an environment of their own.
PEERS = frozenset({"semopy", "statsmodels"})


def need(module: str) -> Any:
    """Import a module, or skip the test."""
    library = module.partition(".")[0]
    if library in PEERS:
        return pytest.importorskip(module, reason=f"needs {library} (pip install {library})")
    name, extra = EXTRAS.get(library, library), EXTRAS.get(library, "test")
    return pytest.importorskip(module, reason=f"needs {name} (pip install 'icid_rs[{extra}]')")


CHROMIUM, DRIVER = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs a browser (apt install chromium chromium-driver)"
)
needs_graphviz = pytest.mark.skipif(not shutil.which("dot"), reason="needs Graphviz (apt install graphviz)")

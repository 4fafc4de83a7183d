"""The cases: each has a name, and a function without arguments whose result is stored.

A new case is one more line in the file of its kind. What a case raises is stored too, so that refusals are cases like
any other.
"""

from __future__ import annotations

from collections.abc import Callable

from benches.corpus.cases import faults, fits, functions, graphs, inputs, knowledge, parameters, pictures

#: Modules with cases, in the order in which they are run.
_MODULES = (fits, parameters, knowledge, inputs, faults, functions, graphs, pictures)


def all_cases() -> dict[str, Callable[[], object]]:
    """Return all cases by name."""
    found: dict[str, Callable[[], object]] = {}
    for module in _MODULES:
        for name, case in module.cases():
            assert name not in found, f"two cases are called {name}"
            found[name] = case
    return found

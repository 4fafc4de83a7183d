"""Optional libraries, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, purpose: str, extra: str) -> Any:
    """Import a module of an optional library; raise ImportError with the command that installs it.

    Examples
    --------
    >>> from icid_rs._util.extras import require
    >>> require("json", "an example", "none").__name__
    'json'
    >>> require("no_such_module", "to_nowhere", "nowhere")
    Traceback (most recent call last):
    ImportError: to_nowhere needs no_such_module: pip install 'icid_rs[nowhere]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        # An installed library that lacks a dependency of its own raises its own error.
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        raise ImportError(f"{purpose} needs {library}: pip install 'icid_rs[{extra}]'") from None

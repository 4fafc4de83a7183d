"""Background knowledge about edges, read from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_KEYS = ("required", "forbidden", "tiers")


def read_knowledge(path: str) -> dict[str, Any]:
    """Read the parameters `required`, `forbidden` and `tiers` of `ICID` from a JSON file.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs.cli.knowledge import read_knowledge
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "known.json")
    ...     with open(path, "w") as file:
    ...         print('{"required": [["rain", "wet"]]}', file=file)
    ...     read_knowledge(path)
    {'required': [['rain', 'wet']]}
    """
    try:
        known = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: no JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    if not isinstance(known, dict) or not set(known) <= set(_KEYS):
        raise ValueError(f"{path}: it must be an object with some of the keys {', '.join(_KEYS)}")
    for key, groups in known.items():
        if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
            raise ValueError(f"{path}: {key!r} must be a list of lists of columns")
        if not all(isinstance(name, str | int) for group in groups for name in group):
            raise ValueError(f"{path}: columns in {key!r} must be names or numbers")
        if key != "tiers" and any(len(pair) != 2 for pair in groups):
            raise ValueError(f"{path}: {key!r} must hold pairs, a cause and its effect")
    return known

"""Background knowledge about edges, read from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from icid_rs._util import strict_json

_KEYS = ("required", "forbidden", "tiers")


def read_knowledge(path: str) -> dict[str, Any]:
    """Read the parameters `required`, `forbidden` and `tiers` of `ICID` from a file of JSON or of Tetrad.

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
        text = Path(path).read_text(encoding="utf-8-sig")
        if text.lstrip().startswith("/knowledge"):
            from icid_rs.data import tetrad

            return tetrad.read_knowledge(path)
        known = strict_json.loads(text)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: no JSON: {error.msg}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
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

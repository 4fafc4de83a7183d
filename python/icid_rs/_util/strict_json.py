"""JSON without the ambiguities that the standard library passes over."""

from __future__ import annotations

import json
from typing import Any


def loads(text: str) -> Any:
    """Read JSON; raise ValueError where a key occurs twice in an object, or it is nested too deeply.

    Examples
    --------
    >>> from icid_rs._util.strict_json import loads
    >>> loads('{"a": 1}')
    {'a': 1}
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice in one object
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} occurs twice in one object")
        found[key] = value
    return found

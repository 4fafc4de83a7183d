"""Files of arrays and settings that are written at once or not at all, and read without executing anything."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

_FORMAT = "icid_rs moments"
_VERSION = 1
#: Arrays with their number of dimensions.
_ARRAYS = {"weight": 1, "shift": 1, "mean": 1, "second": 2, "third": 2, "keys": 1, "rows": 2, "row_weights": 1}


def save(path: str | Path, state: dict[str, Any]) -> None:
    """Write settings and arrays."""
    path = Path(path)
    header = {"format": _FORMAT, "version": _VERSION, "settings": state["settings"]}
    try:
        text = json.dumps(header)
    except TypeError:
        raise TypeError("column names must be text or numbers to be saved") from None
    arrays = {name: state[name] for name in _ARRAYS if name in state}
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, header=np.array(text), **arrays)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def load(path: str | Path) -> dict[str, Any]:
    """Read what `save` wrote, and check that it fits together."""
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
        header = json.loads(str(content.pop("header")))
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} does not hold moments: {error}") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{path} does not hold moments")
    if header["version"] != _VERSION:
        raise ValueError(f"{path} is of version {header['version']}, but this is version {_VERSION}")
    state = {"settings": header["settings"], **content}
    problem = _problem(state)
    if problem:
        raise ValueError(f"{path} is damaged: {problem}")
    return state


def _problem(state: dict[str, Any]) -> str | None:
    """Tell what does not fit together."""
    if "second" not in state:
        return None
    arrays = {name: state[name] for name in _ARRAYS if name in state}
    missing = set(_ARRAYS) - {"third"} - set(arrays)
    if missing:
        return f"{sorted(missing)[0]} is missing"
    for name, array in arrays.items():
        if array.ndim != _ARRAYS[name]:
            return f"{name} has {array.ndim} dimensions"
        if array.dtype != (np.uint64 if name == "keys" else np.float64):
            return f"{name} holds {array.dtype}"
        if name != "keys" and not np.isfinite(array).all():
            return f"{name} is not finite"
    d, k = len(arrays["shift"]), len(arrays["keys"])
    shapes = {"weight": (2,), "mean": (d,), "second": (d, d), "third": (d, d), "rows": (k, d), "row_weights": (k,)}
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != shape:
            return f"{name} has shape {arrays[name].shape}, not {shape}"
    if (arrays["second"].diagonal() < 0).any() or not (arrays["weight"] > 0).all():
        return "a variance or a weight is negative"
    return None

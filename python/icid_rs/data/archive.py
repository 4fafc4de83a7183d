"""Files of NumPy arrays: written completely or not at all, and read without executing anything in them."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from icid_rs._util import strict_json
from icid_rs._util.bounds import GROWTH, most_bytes
from icid_rs._util.files import write_atomically

_FORMAT = "icid_rs moments"
_VERSION = 1
#: How a ``.npy`` file begins.
_MAGIC = b"\x93NUMPY"
#: Arrays with their number of dimensions.
_ARRAYS = {"weight": 1, "shift": 1, "mean": 1, "second": 2, "third": 2, "keys": 1, "rows": 2, "row_weights": 1}
#: Settings with their types.
_SETTINGS: dict[str, Any] = {
    "names": list | None,
    "missing": str,
    "dropped": int,
    "third": bool,
    "reservoir": int,
    "random_state": int,
}


def save(path: str | PathLike[str], state: dict[str, Any]) -> None:
    """Write the settings and arrays of `Moments`."""
    header = {"format": _FORMAT, "version": _VERSION, "settings": state["settings"]}
    try:
        text = json.dumps(header)
    except TypeError:
        raise TypeError("column names must be text or numbers to be saved") from None
    arrays = {name: state[name] for name in _ARRAYS if name in state}
    write_atomically(path, lambda file: np.savez(file, header=np.array(text), **arrays))


def load(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file of `save`; raise ValueError unless its settings and arrays are complete and agree."""
    try:
        content = read_arrays(path)
    except ValueError as error:
        raise ValueError(f"{path} does not hold moments: {str(error).removeprefix(f'{path}: ')}") from None
    try:
        text = str(content.pop("header"))
    except KeyError:
        text = "null"
    try:
        header = strict_json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path} does not hold moments: member 'header': {error}") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{path} does not hold moments; Moments.load reads what Moments.save wrote")
    if header.get("version") != _VERSION:
        raise ValueError(f"{path} is of version {header.get('version')}, but this is version {_VERSION}")
    if strange := set(content) - set(_ARRAYS):
        raise ValueError(f"{path} is damaged: member {min(strange)!r} does not belong to moments")
    state = {"settings": header.get("settings"), **content}
    if problem := _problem(state):
        raise ValueError(f"{path} is damaged: {problem}")
    return state


def read_arrays(path: str | PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read the arrays of an ``.npz`` file, or of an ``.npy`` file under the name X; nothing in it is executed.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from icid_rs.data.archive import read_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.eye(2))
    ...     read_arrays(f"{folder}/x.npy")["X"].shape
    (2, 2)
    """
    with open(path, "rb") as file, naming_damage(path):
        check_sizes(file)
        content = np.load(file, allow_pickle=False)
        if not hasattr(content, "files"):
            return {"X": content}
        found = {}
        for name in content.files:
            try:
                found[name] = content[name]
            except Exception as error:
                raise ValueError(f"member {name!r}: {str(error) or 'it ends too early'}") from None
        return found


def check_sizes(file: BinaryIO) -> None:
    """Raise ValueError unless the arrays of a NumPy file are as large as it says, before any of them is made.

    The file is left at its beginning. Files that are neither ``.npy`` nor ``.npz`` pass; who reads them says so.
    """
    size = file.seek(0, 2)
    file.seek(0)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            _check_members(archive, size)
    else:
        file.seek(0)
        if file.read(6) == _MAGIC:
            file.seek(0)
            _check_array(file, size)
    file.seek(0)


def _check_members(archive: zipfile.ZipFile, size: int) -> None:
    names = [member.filename for member in archive.infolist()]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"member {name!r} is there more than once")
        if not name.endswith(".npy"):
            raise ValueError(f"member {name!r} is no array")
    declared = sum(member.file_size for member in archive.infolist())
    if declared > most_bytes(size):
        raise ValueError(f"its members claim {declared} bytes, more than {GROWTH} times its size")
    for member in archive.infolist():
        with archive.open(member) as array:
            try:
                _check_array(array, member.file_size)
            except Exception as error:
                raise ValueError(f"member {member.filename!r}: {str(error) or 'it ends too early'}") from None


def _check_array(file: IO[bytes], size: int) -> None:
    """Raise unless a ``.npy`` file of this size holds as many numbers as its header says."""
    version = np.lib.format.read_magic(file)
    header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in header:
        raise ValueError(f"it is of version {version}, which is not read")
    shape, _, dtype = header[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    needed = math.prod(shape) * dtype.itemsize
    if size - file.tell() != needed:
        raise ValueError(f"its header claims {needed} bytes of numbers, but there are {size - file.tell()}")


@contextmanager
def naming_damage(path: str | PathLike[str]) -> Iterator[None]:
    """Turn any error of reading a damaged NumPy file into a ValueError that names the file and the fault."""
    try:
        yield
    except (FileNotFoundError, PermissionError, MemoryError):
        raise
    # NumPy and zipfile raise errors of a dozen types when a file is damaged.
    except Exception as error:
        fault = str(error) or "it ends too early"
        if "allow_pickle" in fault:
            # NumPy takes any format it does not know for a pickle, and advises to load it.
            fault = "it holds Python objects, or is of another format"
        raise ValueError(f"{path}: no whole NumPy file of numbers: {fault}") from None


def _problem(state: dict[str, Any]) -> str | None:
    """Describe the first setting or array that is missing or does not agree with the others."""
    settings = state["settings"]
    if not isinstance(settings, dict):
        return "its settings are missing"
    expected = {**_SETTINGS, **({"n": int, "complete": bool} if "second" in state else {})}
    for name, kind in expected.items():
        value = settings.get(name)
        if name == "reservoir" and value is None and "second" not in state:
            # The default depends on the number of columns, which is not known before the first rows.
            continue
        if not isinstance(value, kind) or (kind is int and (isinstance(value, bool) or not 0 <= value < 2**63)):
            return f"its setting {name} is {value!r}"
    categories = settings.get("categories", [])
    if not _are_categories(categories, settings["names"]):
        return "its setting categories is none of names with their levels"
    if "second" not in state:
        return None
    arrays = {name: state[name] for name in _ARRAYS if name in state}
    if missing := set(_ARRAYS) - {"third"} - set(arrays):
        return f"{min(missing)} is missing"
    for name, array in arrays.items():
        if array.ndim != _ARRAYS[name]:
            return f"{name} has {array.ndim} dimensions"
        if array.dtype != (np.uint64 if name == "keys" else np.float64):
            return f"{name} holds {array.dtype}"
        if name != "keys" and not np.isfinite(array).all():
            return f"{name} is not finite"
    d, k = len(arrays["shift"]), len(arrays["keys"])
    names = settings["names"]
    # A category of k levels is k − 1 columns.
    more = sum(len(levels) - 2 for _, levels in categories)
    if not d or (names is not None and len(names) + more != d) or ("third" in arrays) != settings["third"]:
        return "its settings do not fit its arrays"
    shapes = {"weight": (2,), "mean": (d,), "second": (d, d), "third": (d, d), "rows": (k, d), "row_weights": (k,)}
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != shape:
            return f"{name} has shape {arrays[name].shape}, not {shape}"
    return _contradiction(settings, arrays)


def _are_categories(value: Any, names: list[Any] | None) -> bool:
    """Tell whether a setting lists columns with the levels of each."""
    pairs = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    if not pairs or not all(isinstance(own, list) and len(own) >= 2 for _, own in value):
        return False
    scalars = [part for name, own in value for part in (name, *own)]
    if not all(isinstance(part, str | int | float | bool) for part in scalars):
        return False
    columns = [name for name, _ in value]
    return len(set(columns)) == len(columns) and (not columns or names is None or set(columns) <= set(names))


def _contradiction(settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str | None:
    """Describe the first numbers that cannot be those of any rows."""
    second, (weight, squares) = arrays["second"], arrays["weight"].tolist()
    if (second.diagonal() < 0).any() or not (arrays["weight"] > 0).all() or (arrays["row_weights"] < 0).any():
        return "a variance or a weight is negative"
    scale = np.sqrt(np.outer(second.diagonal(), second.diagonal()))
    if (np.abs(second - second.T) > 1e-9 * scale).any():
        return "second is not symmetric"
    if (np.abs(second) > (1 + 1e-9) * scale).any():
        return "second has a correlation above 1"
    # By the inequality of Cauchy and Schwarz the effective number of rows is their number at most.
    if weight * weight > squares * settings["n"] * (1 + 1e-9):
        return f"the weights are those of more than {settings['n']} rows"
    if len(arrays["keys"]) > settings["n"]:
        return f"it keeps {len(arrays['keys'])} of {settings['n']} rows"
    return None

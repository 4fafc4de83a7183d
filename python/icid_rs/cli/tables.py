"""Tables in files of any kind that the command line knows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from icid_rs._util.extras import require
from icid_rs._util.validation import FloatArray
from icid_rs.cli.text import MISSING_VALUE, TextOptions, kept_columns, read_text
from icid_rs.data.archive import read_arrays
from icid_rs.data.tables import Table

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = (".parquet", ".pq")
SUFFIXES = (*_TEXT, *_PARQUET, ".npy", ".npz")


def read_table(
    path: str, options: TextOptions, array: str | None = None, report: Callable[[int], object] = lambda size: None
) -> Any:
    """Read a table by the suffix of its file; standard input, ``-``, is CSV.

    Returns
    -------
    Table, or numpy.ndarray if the file names no columns
    """
    suffix = _suffix(path)
    names: list[Any] | None
    if suffix in _TEXT:
        values, names = read_text(path, options, report)
    elif suffix in _PARQUET:
        values, names = _read_parquet(path, options)
    else:
        values, names = _read_numpy(path, array, options.drop)
    return values if names is None else Table(values, names)


def format_table(path: str, values: FloatArray, names: list[str]) -> bytes:
    r"""Write a table in the format that the suffix of a path asks for; CSV for ``-``.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.cli.tables import format_table
    >>> format_table("-", np.array([[0.5, 1.0]]), ["rain", "wet"])
    b'rain,wet\n0.5,1.0\n'
    """
    suffix = _suffix(path)
    if suffix in _TEXT:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if suffix in (".tsv", ".tab") else ",", lineterminator="\n")
        writer.writerow(names)
        writer.writerows(values.tolist())
        return text.getvalue().encode()
    file = io.BytesIO()
    if suffix == ".npy":
        np.save(file, values)
    elif suffix == ".npz":
        np.savez_compressed(file, X=values, names=np.array(names))
    else:
        pyarrow = require("pyarrow", "Parquet", "parquet")
        parquet = require("pyarrow.parquet", "Parquet", "parquet")
        parquet.write_table(pyarrow.table(dict(zip(names, values.T, strict=True))), file)
    return file.getvalue()


def _suffix(path: str) -> str:
    """Return the suffix of a table's file, ``.csv`` for ``-``; raise for any other kind of file."""
    suffix = ".csv" if path == "-" else Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}, not {suffix!r}")
    return suffix


def _read_numpy(path: str, array: str | None, drop: tuple[str, ...]) -> tuple[FloatArray, list[Any] | None]:
    arrays = read_arrays(path)
    tables = [name for name, values in arrays.items() if values.ndim == 2]
    chosen = array or ("X" if "X" in tables else tables[0] if len(tables) == 1 else None)
    if chosen not in tables:
        listed = ", ".join(f"{name} {values.shape}" for name, values in arrays.items())
        raise ValueError(f"{path} has no single table to read; choose one with --array. It holds {listed}")
    values = arrays[chosen]
    if values.dtype.kind not in "buif":
        raise ValueError(f"{path}: the array {chosen} holds {values.dtype}, not numbers")
    names = arrays.get("names")
    named = names is not None and names.ndim == 1 and names.dtype.kind == "U"
    labels = names.tolist() if names is not None and named else list(range(values.shape[1]))
    if len(labels) != values.shape[1]:
        raise ValueError(f"{path}: there are {len(labels)} names, but {values.shape[1]} columns")
    kept = kept_columns(path, labels, drop)
    return values[:, kept].astype(np.float64), [labels[k] for k in kept] if named or drop else None


def _read_parquet(path: str, options: TextOptions) -> tuple[FloatArray, list[Any]]:
    pyarrow = require("pyarrow", "Parquet", "parquet")
    parquet = require("pyarrow.parquet", "Parquet", "parquet")
    try:
        with open(path, "rb") as file:
            table = parquet.read_table(file)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise ValueError(f"{path}: no valid Parquet file: {error}") from None
    kept = kept_columns(path, table.column_names, options.drop)
    values = np.empty((table.num_rows, len(kept)))
    for k, place in enumerate(kept):
        name, column = table.column_names[place], table.column(place)
        kind = pyarrow.types
        if not (kind.is_integer(column.type) or kind.is_floating(column.type) or kind.is_boolean(column.type)):
            hint = f"if this is no variable, leave it out with --drop {name!r}"
            raise ValueError(f"{path}, column {name!r}: it holds {column.type}, not numbers; {hint}")
        if column.null_count and not options.missing:
            row = column.is_null().to_pylist().index(True)
            raise ValueError(f"{path}, row {row}, column {name!r}: {MISSING_VALUE}")
        values[:, k] = column.cast(pyarrow.float64(), safe=False).to_numpy()
    return values, [table.column_names[k] for k in kept]

"""Tables in files of any kind that the command line knows."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from os.path import getsize
from pathlib import Path
from typing import Any

import numpy as np

from icid_rs._util.bounds import GROWTH, most_bytes
from icid_rs._util.extras import require
from icid_rs._util.validation import FloatArray
from icid_rs.data.archive import read_arrays
from icid_rs.data.columns import Columns, Numbers
from icid_rs.data.frames import as_columns
from icid_rs.data.moments import Moments
from icid_rs.data.tetrad import is_covariance, read_covariance
from icid_rs.data.text import COMPRESSED, TextOptions
from icid_rs.data.text_columns import read_columns
from icid_rs.graph.variables import locate_all

_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
#: Text that is no table of cells with delimiters.
_OTHER_TEXT = (".json", ".xml", ".html", ".arff")
_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow")
_EXCEL = (".xlsx",)
#: Tables that are written.
_WRITTEN = (*_TEXT, *_PARQUET, ".npy", ".npz")
#: Bytes of a cell in memory.
_BYTES = 8
SUFFIXES = (*_TEXT, *_PARQUET, *_FEATHER, *_EXCEL, ".npy", ".npz")


def read_table(
    path: str,
    options: TextOptions,
    array: str | None = None,
    rows: int | None = None,
    report: Callable[[int], object] = lambda size: None,
) -> Columns | Moments:
    """Read a table by the suffix of its file; standard input, ``-``, is CSV.

    Files with other suffixes are read if they are text. `rows` is the number of rows behind a covariance matrix.

    Returns
    -------
    Columns, or Moments if the file holds a covariance matrix
    """
    suffix = _readable(path)
    if suffix in _TEXT:
        if path != "-" and is_covariance(path, options):
            return read_covariance(path, options, rows)
        return read_columns(path, options, report)
    if suffix in _PARQUET + _FEATHER:
        return _read_arrow(path, suffix)
    if suffix in _EXCEL:
        from icid_rs.cli.excel import read_sheet

        return read_sheet(path, options)
    return _read_numpy(path, array)


def without(table: Columns, drop: tuple[str, ...]) -> Columns:
    """Leave out columns by name, or by number if they have no names.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.cli.tables import without
    >>> from icid_rs.data.columns import Columns, Numbers
    >>> table = Columns("table.csv", ["id", "rain"], [Numbers(np.arange(3.0)), Numbers(np.zeros(3))])
    >>> without(table, ("id",)).columns
    ['rain']
    """
    if not drop:
        return table
    wanted = [int(name) if not table.is_named and name.isdecimal() else name for name in drop]
    try:
        dropped = set(locate_all(wanted, table.columns))
    except ValueError as error:
        raise ValueError(f"{table.source}: {error}") from None
    kept = [k for k in range(len(table.columns)) if k not in dropped]
    if not kept:
        raise ValueError(f"{table.source}: no column is left")
    # Numbers of columns stay what they are in the file.
    return replace(table, columns=[table.columns[k] for k in kept], parts=[table.parts[k] for k in kept], is_named=True)


def standardised(table: Columns) -> Columns:
    """Divide columns of numbers by their standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.cli.tables import standardised
    >>> from icid_rs.data.columns import Columns, Numbers
    >>> standardised(Columns("X", ["a"], [Numbers(np.array([1.0, 3.0]))])).parts[0].values
    array([-1.,  1.])
    """
    from sklearn.preprocessing import scale

    parts = [Numbers(scale(part.values)) if isinstance(part, Numbers) else part for part in table.parts]
    return replace(table, parts=parts)


def format_table(path: str, values: FloatArray, names: list[str]) -> bytes:
    r"""Write a table in the format that the suffix of a path asks for; CSV for ``-``.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.cli.tables import format_table
    >>> format_table("-", np.array([[0.5, 1.0]]), ["rain", "wet"])
    b'rain,wet\n0.5,1.0\n'
    """
    suffix = _suffix(path, _WRITTEN)
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


def _suffix(path: str, known: tuple[str, ...]) -> str:
    """Return the suffix of a table's file, ``.csv`` for ``-``; raise for any other kind of file."""
    if path == "-":
        return ".csv"
    name = Path(path)
    packed = name.suffix.lower() in COMPRESSED
    suffix = Path(name.stem).suffix.lower() if packed else name.suffix.lower()
    if suffix not in known or (packed and suffix not in _TEXT):
        raise ValueError(f"{path}: the suffix must be one of {', '.join(known)}, not {name.suffix!r}")
    return suffix


def _readable(path: str) -> str:
    """Return the suffix of a file that is read, ``.txt`` for text of any other."""
    name = Path(path)
    is_packed = name.suffix.lower() in COMPRESSED
    suffix = (Path(name.stem) if is_packed else name).suffix.lower()
    if path == "-" or suffix in SUFFIXES or suffix in _OTHER_TEXT or not name.is_file():
        return _suffix(path, SUFFIXES)
    with open(path, "rb") as file:
        begin = file.read(1 << 12)
    # Zero bytes are those of binary files, and of UTF-16, which begins with its mark.
    is_text = b"\0" not in begin or begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return ".txt" if is_packed or is_text else _suffix(path, SUFFIXES)


def _read_numpy(path: str, array: str | None) -> Columns:
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
    if len(set(labels)) < len(labels):
        raise ValueError(f"{path}: names occur more than once in its array 'names'")
    return replace(as_columns(values), source=path, columns=labels, is_named=named)


def _cells_of(path: str, module: Any, pyarrow: Any, kind: str) -> int:
    """Count the cells of a file without reading them; of Feather, batch by batch."""
    if kind == "Parquet":
        metadata = module.read_metadata(path)
        return int(metadata.num_rows * metadata.num_columns)
    cells = 0
    with pyarrow.memory_map(path) as mapped, suppress(pyarrow.ArrowInvalid):
        batches = pyarrow.ipc.open_file(mapped)
        for k in range(batches.num_record_batches):
            batch = batches.get_batch(k)
            cells += batch.num_rows * batch.num_columns
            _check_growth(path, cells)
    return cells


def _check_growth(path: str, cells: int) -> None:
    """Raise if a file holds far more cells than its size lets expect."""
    if _BYTES * cells > most_bytes(getsize(path)):
        raise ValueError(
            f"{path}: it unpacks to {cells} cells, more than {GROWTH} times its size, as no ordinary table does; "
            "write it without compression if it is one"
        )


def _read_arrow(path: str, suffix: str) -> Columns:
    kind = "Parquet" if suffix in _PARQUET else "Feather"
    pyarrow = require("pyarrow", kind, "parquet")
    module = require("pyarrow.parquet" if suffix in _PARQUET else "pyarrow.feather", kind, "parquet")
    try:
        _check_growth(path, _cells_of(path, module, pyarrow, kind))
        with open(path, "rb") as file:
            table = module.read_table(file)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise ValueError(f"{path}: no valid {kind} file: {error}") from None
    names = table.column_names
    if len(set(names)) < len(names):
        repeated = sorted({repr(name) for name in names if names.count(name) > 1})
        raise ValueError(f"{path}: column name(s) {', '.join(repeated)} occur more than once; rename them")
    return replace(as_columns(table), source=path)

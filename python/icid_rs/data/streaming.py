"""Tables that are read chunk by chunk."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import check_int
from icid_rs.data import archive, tables
from icid_rs.data.text import TextOptions, open_text
from icid_rs.data.text_columns import column_chunks, numeric_chunks

#: Bytes that are read at a time, in double precision.
_CHUNK_BYTES = 1 << 25
_ARROW = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "feather", ".ipc": "ipc"}
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")


@dataclass(frozen=True)
class Table:
    """An iterable of chunks, with the names of the columns and the total number of rows where these are known."""

    chunks: Iterable[Any]
    names: list[Any] | None = None
    total: int | None = None


@contextmanager
def progress_bar(total: int | None, show: bool | None) -> Iterator[Callable[[int], object]]:
    """Show a progress bar of tqdm on standard error; yield the function that advances it by a number of rows."""
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ModuleNotFoundError:
        if show:
            raise ModuleNotFoundError("showing the progress needs tqdm: pip install tqdm") from None
        yield lambda rows: None
        return
    # With disable=None tqdm shows the bar on terminals only.
    with tqdm(total=total, unit=" rows", unit_scale=True, disable=None if show is None else not show) as bar:
        yield bar.update


def as_frame(chunk: Any) -> Any:
    """Return a chunk as a table whose columns have types of their own, which batches of Arrow become.

    Examples
    --------
    >>> from icid_rs.data.streaming import as_frame
    >>> as_frame([[1, 2]])
    [[1, 2]]
    """
    if hasattr(chunk, "to_struct_array") and not hasattr(chunk, "to_batches"):
        return _import("pyarrow", "pyarrow").Table.from_batches([chunk])
    return chunk


def as_table(chunk: Any) -> tuple[NDArray[Any], list[Any] | None]:
    """Return a chunk as an array of single or double precision, and the names of its columns.

    Examples
    --------
    >>> from icid_rs.data.streaming import as_table
    >>> as_table([[1, 2]])
    (array([[1., 2.]]), None)
    """
    array, names = tables.as_array(chunk)
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(f"a chunk must be a table of samples by variables, but its shape is {array.shape}")
    if array.dtype.kind not in "buifO":
        raise TypeError(f"a chunk must hold real numbers, but its dtype is {array.dtype}")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return array, names


def gathered(chunks: Iterable[Any]) -> Iterator[Any]:
    """Join small arrays, because many small updates cost more than one large one."""
    waiting: list[NDArray[Any]] = []
    for chunk in chunks:
        small = isinstance(chunk, np.ndarray) and chunk.ndim == 2 and chunk.nbytes * 16 < _CHUNK_BYTES
        full = sum(part.nbytes for part in waiting) * 4 >= _CHUNK_BYTES
        if waiting and (full or not small or chunk.shape[1] != waiting[0].shape[1]):
            yield np.concatenate(waiting)
            waiting = []
        if small:
            waiting.append(chunk)
        else:
            yield chunk
    if waiting:
        yield np.concatenate(waiting)


def open_table(
    source: Any,
    columns: Sequence[Any] | None = None,
    chunk_rows: int | None = None,
    form: TextOptions | None = None,
) -> Table:
    """Open a file, a folder or an object for reading in chunks.

    Parameters
    ----------
    source, columns, chunk_rows
        As for `Moments.read`.
    form : TextOptions, optional
        How text files are read.

    Returns
    -------
    Table

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.streaming import open_table
    >>> [len(chunk) for chunk in open_table(np.zeros((5, 2)), chunk_rows=2).chunks]
    [2, 2, 1]
    """
    if chunk_rows is not None:
        check_int(chunk_rows, "chunk_rows", 1)
    if isinstance(source, str | Path):
        return _open_path(Path(source), columns, chunk_rows, form or TextOptions())
    if hasattr(source, "to_batches"):
        # Either a pyarrow data set, which counts its rows, or a pyarrow table.
        dataset = source if hasattr(source, "count_rows") else _import("pyarrow.dataset", "pyarrow").dataset(source)
        return _arrow(dataset, columns, chunk_rows)
    if hasattr(source, "read_next_batch"):
        return Table(_picked(source, columns), list(columns or source.schema.names))
    if hasattr(source, "var_names") and hasattr(source, "X"):
        return _annotated(source, columns, chunk_rows)
    if isinstance(source, np.ndarray):
        return _array(source, columns, chunk_rows)
    if isinstance(source, Iterable):
        return Table(_picked(source, columns))
    raise TypeError(
        f"moments cannot be read from {type(source).__name__}; give a path, an array or an iterable of chunks"
    )


def _open_path(path: Path, columns: Sequence[Any] | None, chunk_rows: int | None, form: TextOptions) -> Table:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    kinds = [suffix.lower() for suffix in path.suffixes]
    kind = next((suffix for suffix in reversed(kinds) if suffix not in (".gz", ".bz2", ".xz", ".zst")), "")
    if path.is_dir():
        inside = {file.suffix.lower() for file in path.rglob("*") if file.is_file()} & set(_ARROW)
        if len({_ARROW[suffix] for suffix in inside}) != 1:
            raise ValueError(f"{path} must hold files of one format, Parquet or Arrow, but it holds {sorted(inside)}")
        kind = inside.pop()
    if kind in _ARROW:
        dataset = _import("pyarrow.dataset", "pyarrow").dataset(path, format=_ARROW[kind])
        return _arrow(dataset, columns, chunk_rows)
    if kind in _TEXT:
        return _text(path, columns, form)
    if kind == ".npy":
        with archive.naming_damage(path):
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        return _array(mapped, columns, chunk_rows)
    if kind == ".h5ad":
        return _annotated(_import("anndata", "anndata").read_h5ad(path, backed="r"), columns, chunk_rows)
    known = ", ".join([*_ARROW, *_TEXT, ".npy", ".h5ad"])
    raise ValueError(f"{path}: the format is not known by its suffix; it must be one of {known}")


def _arrow(dataset: Any, columns: Sequence[Any] | None, chunk_rows: int | None) -> Table:
    names = _wanted(columns, dataset.schema.names)
    rows = chunk_rows or _rows_for(len(names))
    # Read few batches ahead: each may be as large as a chunk.
    batches = dataset.to_batches(columns=names, batch_size=rows, batch_readahead=2, fragment_readahead=1)
    return Table((batch for batch in batches if batch.num_rows), names, dataset.count_rows())


def _text(path: Path, columns: Sequence[Any] | None, form: TextOptions) -> Table:
    with open_text(path, form) as table:
        names = list(range(table.width)) if table.names is None else list(table.names)
        start = 1 if table.has_labels else 0
    wanted = _wanted(columns, names[start:])
    kept = [names.index(name) for name in wanted]

    def chunks() -> Iterator[Any]:
        with open_text(path, form) as table:
            rows = 0
            for chunk in column_chunks(table, kept, form.labels) if form.labels else numeric_chunks(table, kept):
                rows += len(chunk)
                yield chunk
            if not rows:
                raise ValueError(f"{table.path} has no rows below its header")

    return Table(chunks(), wanted if table.names is not None else None)


def _array(array: NDArray[Any], columns: Sequence[Any] | None, chunk_rows: int | None) -> Table:
    if array.ndim != 2:
        raise ValueError(f"an array must be a table of samples by variables, but its shape is {array.shape}")
    rows = chunk_rows or _rows_for(array.shape[1])
    for column in () if columns is None else columns:
        check_int(column, "a column of an array", 0, array.shape[1] - 1)
    picked = slice(None) if columns is None else list(columns)
    chunks = (array[start : start + rows][:, picked] for start in range(0, len(array), rows))
    return Table(chunks, None, len(array))


def _annotated(data: Any, columns: Sequence[Any] | None, chunk_rows: int | None) -> Table:
    names = list(data.var_names)
    wanted = _wanted(columns, names)
    rows = chunk_rows or _rows_for(len(names))
    places = [names.index(name) for name in wanted]

    def chunks() -> Iterator[Any]:
        for start in range(0, data.n_obs, rows):
            part = data.X[start : start + rows]
            yield np.asarray(part.toarray() if hasattr(part, "toarray") else part)[:, places]

    return Table(chunks(), wanted, data.n_obs)


def _picked(chunks: Iterable[Any], columns: Sequence[Any] | None) -> Iterator[Any]:
    """Select columns of each chunk: Arrow and polars have a method for it, arrays and pandas are indexed."""
    for chunk in chunks:
        if columns is None:
            yield chunk
        elif hasattr(chunk, "select"):
            yield chunk.select(list(columns))
        else:
            yield chunk[:, list(columns)] if isinstance(chunk, np.ndarray) else chunk[list(columns)]


def _wanted(columns: Sequence[Any] | None, names: Sequence[Any]) -> list[Any]:
    """Return the columns to be read, by default all; raise unless all of them exist."""
    wanted = list(names if columns is None else columns)
    unknown = [name for name in wanted if name not in set(names)]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; the columns are {list(names)[:8]}")
    return wanted


def _rows_for(columns: int) -> int:
    """Return the number of rows in a chunk of the default size."""
    return max(_CHUNK_BYTES // (8 * max(columns, 1)), 1024)


def _import(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"reading this needs {package}: pip install {package}") from None

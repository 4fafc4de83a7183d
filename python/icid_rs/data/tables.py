"""Numbers and column names of tables from other libraries.

Data frames are read through narwhals, column by column: pandas, polars, PyArrow, Modin, cuDF. Lazy frames (polars,
Dask, DuckDB, Ibis, PySpark) are collected first. Recent versions of scikit-learn depend on narwhals; without it, frames
of pandas, polars and PyArrow, whose columns NumPy can convert, are still read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, Rows, listed

#: Data types whose names begin like this hold labels, even where NumPy could read them as numbers.
LABELS = ("categor", "enum", "dictionary")
#: Names of single precision; Arrow calls it float.
_SINGLE = ("float32", "float")


@dataclass(frozen=True)
class Table:
    """An array with column names: a data frame that needs no library.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.tables import Table
    >>> Table(np.ones((2, 1)), ["rain"]).shape
    (2, 1)
    """

    values: Rows
    columns: list[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape


def open_table(X: Any) -> Any:
    """Bring a table into memory: a data frame, a sparse matrix or something array-like.

    Lazy frames are collected, an Arrow record batch becomes a table, and AnnData a frame of observations by variables;
    for one of its layers pass ``adata.to_df(layer)``.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.tables import open_table
    >>> open_table(np.ones((2, 3))).shape
    (2, 3)
    """
    if sp.issparse(X):
        return X
    if X is None or isinstance(X, str | bytes | dict | PathLike):
        raise TypeError(
            f"X must be a table of samples by variables, not {type(X).__name__}; read files and dictionaries into a "
            "data frame first"
        )
    if _is(X, "anndata", "AnnData"):
        return X.to_df()
    if _is(X, "pyarrow", "RecordBatch"):
        import pyarrow as pa

        return pa.Table.from_batches([X])
    if hasattr(X, "shape"):
        check_names(column_names(X) or [])
    frame = narwhals_frame(X)
    if frame is None:
        if hasattr(X, "collect") and not hasattr(X, "shape"):
            raise ImportError("reading a lazy frame needs narwhals: pip install 'icid_rs[frames]'; or collect it first")
        return X
    return (frame.collect() if hasattr(frame, "collect") else frame).to_native()


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns, of whatever type, if X has them.

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs.data.tables import column_names
    >>> column_names(pd.DataFrame({"rain": [0.0], "wet": [1.0]}))
    ['rain', 'wet']
    """
    if hasattr(X, "column_names"):
        return list(X.column_names)
    return list(X.columns) if hasattr(X, "columns") else None


def as_numbers(X: Any) -> Any:
    """Return the numbers of a table as an array or a sparse matrix, with NaN for missing values.

    Parameters
    ----------
    X : data frame, sparse matrix or array-like
        In memory; see `open_table`.

    Returns
    -------
    numpy.ndarray or sparse matrix
        Of a frame, an array in double precision, or in single if all columns are; otherwise X itself where it holds
        numbers.

    Raises
    ------
    ValueError
        If columns hold text, dates, categories or other things than numbers; the message names them.

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs.data.tables import as_numbers
    >>> as_numbers(pd.DataFrame({"a": [1, 2], "b": [True, None]}))
    array([[ 1.,  1.],
           [ 2., nan]])
    """
    if sp.issparse(X):
        return X
    if isinstance(X, Table):
        return X.values
    names = column_names(X)
    if names is not None:
        return _frame_numbers(X, names)
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, _array_numbers(X.data))
    try:
        return _array_numbers(np.asarray(X))
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ValueError("X is no table: its rows have different lengths") from None
        raise


def as_array(X: Any) -> tuple[NDArray[Any], list[Any] | None]:
    """Return the numbers of a table that may not be in memory yet as a dense array, and its column names if it has any.

    Examples
    --------
    >>> from icid_rs.data.tables import as_array
    >>> as_array([[1, 2]])
    (array([[1, 2]]), None)
    """
    X = open_table(X)
    numbers = as_numbers(X)
    return np.asarray(numbers.toarray() if hasattr(numbers, "toarray") else numbers), column_names(X)


def as_table(X: Any) -> tuple[FloatArray, Sequence[Any]]:
    """Return a whole table of finite numbers, and the names or numbers of its columns.

    Examples
    --------
    >>> from icid_rs.data.tables import as_table
    >>> as_table([[1, 2], [3, 4]])
    (array([[1., 2.],
           [3., 4.]]), range(0, 2))
    """
    array, names = as_array(X)
    table = array.astype(np.float64, copy=False)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"X must be a table of samples by variables, but its shape is {table.shape}")
    labels = range(table.shape[1]) if names is None else names
    # A finite sum proves that all entries are finite; the sum of finite entries may overflow.
    if not np.isfinite(table.sum()) and not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"X contains {table[row, column]}: row {row}, column {labels[column]!r}; drop these rows or fill the "
            "values in"
        )
    return table, labels


def columns_among(X: Any, names: Sequence[Any]) -> tuple[FloatArray, list[int]]:
    """Return the columns with the given names, in their order, and the positions of those that X has; others are zero.

    Columns of other names are ignored. A table without names has all columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs.data.tables import columns_among
    >>> columns_among(pd.DataFrame({"day": ["Monday"], "wet": [1.0]}), ["rain", "wet"])
    (array([[0., 1.]]), [1])
    """
    X, d = open_table(X), len(names)
    columns = column_names(X)
    if columns is None:
        table, _ = as_table(X)
        if table.shape[1] != d:
            raise ValueError(f"the data must have {d} columns, but their shape is {table.shape}")
        return table, list(range(d))
    present = [k for k, name in enumerate(names) if name in columns]
    if not present:
        raise ValueError(f"the data have no column of the graph; it has {listed([repr(name) for name in names])}")
    numbers, _ = as_table(_select(X, [names[k] for k in present]))
    table = np.zeros((len(numbers), d))
    table[:, present] = numbers
    return table, present


def _select(X: Any, names: list[Any]) -> Any:
    """Return some columns of a frame in memory."""
    if isinstance(X, Table):
        return Table(X.values[:, [X.columns.index(name) for name in names]], names)
    return X.select(names) if hasattr(X, "column_names") else X[names]


def _frame_numbers(X: Any, names: Sequence[Any]) -> Rows:
    frame = narwhals_frame(X)
    columns = [X[name] for name in names] if frame is None else list(frame.iter_columns())
    single = all(str(column_type(column)).lower() in _SINGLE for column in columns)
    table = np.empty(X.shape, dtype=np.float32 if single else np.float64)
    refused = {}
    for k, column in enumerate(columns):
        values = column_numbers(column)
        if values is None:
            refused[names[k]] = str(column_type(column))
        else:
            table[:, k] = values
    _refuse(refused)
    return table


def column_numbers(column: Any) -> FloatArray | None:
    """Return the numbers of a column of a frame, or None if it holds something else."""
    if str(column_type(column)).lower().startswith(LABELS):
        return None
    try:
        return _vector_numbers(np.asarray(column.to_numpy()))
    except TypeError:
        return None


def column_type(column: Any) -> Any:
    """Return the data type of a column; that of an Arrow column is called type."""
    return column.dtype if hasattr(column, "dtype") else column.type


def _array_numbers(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: pass real and imaginary parts as columns of their own")
    # The number of dimensions is checked by scikit-learn.
    if array.dtype.kind in "buif" or array.ndim != 2:
        return array
    columns = [_vector_numbers(array[:, k]) for k in range(array.shape[1])]
    _refuse({k: str(array.dtype) for k, column in enumerate(columns) if column is None})
    return np.column_stack([column for column in columns if column is not None]) if columns else array


def _vector_numbers(values: NDArray[Any]) -> FloatArray | None:
    """Return float64 if the values are numbers, missing ones being NaN, otherwise None."""
    if values.dtype.kind in "buif":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    missing = np.array([is_missing(value) for value in values], dtype=bool)
    present = values[~missing]
    if any(isinstance(value, str | bytes | complex) for value in present):
        return None
    numbers = np.full(len(values), np.nan)
    try:
        numbers[~missing] = present.astype(np.float64)
    except ValueError:
        return None
    return numbers


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for a missing one.

    Examples
    --------
    >>> from icid_rs.data.tables import is_missing
    >>> is_missing(None), is_missing(0)
    (True, False)
    """
    # pandas.NA is neither equal to itself nor different.
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def check_names(names: Sequence[Any]) -> None:
    """Raise if a name occurs twice."""
    if len(set(names)) < len(names):
        repeated = sorted({repr(name) for name in names if names.count(name) > 1})
        raise ValueError(f"column name(s) {', '.join(repeated)} occur more than once; rename them")


def check_name_types(names: Sequence[Any]) -> bool:
    """Tell whether all names are strings; raise if only some of them are, as scikit-learn does.

    Examples
    --------
    >>> from icid_rs.data.tables import check_name_types
    >>> check_name_types(["rain", "wet"]), check_name_types([0, 1])
    (True, False)
    """
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError(
            "some column names are strings and others are not; make all of them strings: X.columns.astype(str)"
        )
    return all(texts)


def _refuse(columns: dict[Any, str]) -> None:
    """Raise if there are columns that hold something else than numbers; they come with their data types."""
    if columns:
        shown = listed([f"{name!r} ({kind})" for name, kind in columns.items()])
        raise ValueError(
            f"column(s) {shown} are not numeric; drop them, or encode them: dates as days or seconds, ordered "
            "categories as numbers, other text as 0/1 columns"
        )


def narwhals_frame(X: Any) -> Any:
    """Return a frame of narwhals, or None if X is no frame that it knows, or it is not installed."""
    try:
        import narwhals as nw
    except ImportError:
        return None
    frame = nw.from_native(X, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame | nw.LazyFrame) else None


def _is(X: Any, package: str, name: str) -> bool:
    """Tell whether X is of a class, or of a subclass of it, without importing the package."""
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in type(X).__mro__)

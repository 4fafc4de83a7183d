"""Columns of any kind from data frames of other libraries, and from arrays of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs.data.columns import Column, Columns, Dates, Labels, Numbers, Unknown
from icid_rs.data.tables import (
    LABELS,
    Table,
    column_names,
    column_numbers,
    column_type,
    is_missing,
    narwhals_frame,
)

_DAY = np.timedelta64(1, "D") / np.timedelta64(1, "ns")
_DATES = ("date", "timestamp")
#: Things that columns of labels hold; instances of other types, such as lists, are no labels.
_LABEL = (str, bytes, bool, int, float, np.generic)


def as_columns(X: Any) -> Columns:
    """Return the columns of a table in memory.

    Parameters
    ----------
    X : data frame, or array of numbers or objects

    Returns
    -------
    Columns

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs.data.frames import as_columns
    >>> table = as_columns(pd.DataFrame({"size": [1.5, None], "kind": ["a", "b"], "sold": [True, False]}))
    >>> [type(part).__name__ for part in table.parts]
    ['Numbers', 'Labels', 'Numbers']
    """
    if isinstance(X, Columns):
        return X
    names = column_names(X)
    if names is None:
        array = np.asarray(X)
        parts = [as_column(array[:, k]) for k in range(array.shape[1])]
        return Columns("X", list(range(array.shape[1])), parts, is_named=False)
    frame = narwhals_frame(X)
    columns = [X[name] for name in names] if frame is None else list(frame.iter_columns())
    return Columns("X", list(names), [_frame_column(column) for column in columns])


def is_numeric(X: Any) -> bool:
    """Tell whether an array, sparse matrix or frame in memory has columns of numbers alone; or is no table at all.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from icid_rs.data.frames import is_numeric
    >>> is_numeric(np.ones((2, 2))), is_numeric(pd.DataFrame({"a": ["x"]}))
    (True, False)
    """
    if isinstance(X, Columns):
        return False
    if sp.issparse(X) or isinstance(X, Table):
        return True
    names = column_names(X)
    if names is not None:
        frame = narwhals_frame(X)
        return all(map(_is_numeric_type, [X[name] for name in names] if frame is None else frame.iter_columns()))
    try:
        array = np.asarray(X)
    except ValueError:
        # Rows of different lengths; whoever reads them says so.
        return True
    return array.ndim != 2 or array.dtype.kind in "buifc"


def _is_numeric_type(column: Any) -> bool:
    name = str(column_type(column)).lower()
    return name.startswith(("int", "uint", "float", "double", "halffloat", "decimal"))


def _frame_column(column: Any) -> Column:
    name = str(column_type(column)).lower()
    if name.startswith("bool"):
        values = column_numbers(column)
        return Unknown(len(column), name) if values is None else Numbers(values, is_boolean=True)
    if name.startswith(LABELS):
        return _categorical(column)
    if name.startswith(_DATES):
        array = np.asarray(column.to_numpy())
        return as_column(array) if array.dtype.kind == "M" else _object_column(array)
    values = column_numbers(column)
    if values is not None:
        return Numbers(values, is_boolean=_are_booleans(column))
    return as_column(np.asarray(column.to_numpy()))


def _are_booleans(column: Any) -> bool:
    """Tell whether an object column holds nothing but true, false and missing."""
    if str(column_type(column)).lower() != "object":
        return False
    values = np.asarray(column.to_numpy())
    return values.dtype.kind == "O" and all(isinstance(value, bool | np.bool_) or is_missing(value) for value in values)


def _categorical(column: Any) -> Column:
    """Return a column of a categorical type, whose library knows the order of its levels."""
    values = _or_none(np.asarray(column.to_numpy(), dtype=object))
    levels, is_ordered = _levels(column)
    if levels is None:
        return Labels.of(values)
    place = {level: k for k, level in enumerate(levels)}
    codes = np.array([-1 if value is None else place[value] for value in values], dtype=np.int32)
    return Labels(codes, tuple(levels), is_ordered)


def _levels(column: Any) -> tuple[list[Any] | None, bool]:
    """Return the levels of a column of pandas or polars, and whether they are in order; None if it does not say."""
    native = column.to_native() if hasattr(column, "to_native") else column
    if hasattr(native, "cat") and hasattr(native.cat, "ordered"):
        return list(native.cat.categories), bool(native.cat.ordered)
    if str(column_type(column)).lower().startswith("enum") and hasattr(native, "cat"):
        # An enumeration of polars has a fixed order.
        return list(native.cat.get_categories()), True
    return None, False


def as_column(values: NDArray[Any]) -> Column:
    """Return a column from an array of numbers, dates, text or Python objects.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.frames import as_column
    >>> as_column(np.array([True, False])).is_boolean
    True
    """
    match values.dtype.kind:
        case "b":
            return Numbers(values.astype(np.float64), is_boolean=True)
        case "u" | "i" | "f":
            return Numbers(values.astype(np.float64))
        case "M":
            days = values.astype("datetime64[ns]").astype(np.int64) / _DAY
            return Dates(np.where(np.isnat(values), np.nan, days))
        case "U" | "S":
            return Labels.of(values.tolist())
        case "O":
            return _object_column(values)
    return Unknown(len(values), str(values.dtype))


def _object_column(values: NDArray[Any]) -> Column:
    """Return a column of Python objects: numbers, dates or labels, but not a mixture with anything else."""
    plain = _or_none(values)
    present = [value for value in plain if value is not None]
    if all(isinstance(value, bool | np.bool_) for value in present):
        return Numbers(np.array([np.nan if value is None else float(value) for value in plain]), is_boolean=True)
    if all(isinstance(value, int | float | np.number) and not isinstance(value, complex) for value in present):
        return Numbers(np.array([np.nan if value is None else float(value) for value in plain]))
    if all(hasattr(value, "isoformat") for value in present):
        return Dates(_array_days(plain))
    if not all(isinstance(value, _LABEL) for value in present):
        strange = next(value for value in present if not isinstance(value, _LABEL))
        if isinstance(strange, dict | list | tuple | set):
            # As NumPy and scikit-learn say it.
            raise TypeError(f"argument must be a string or a number, not {type(strange).__name__!r}")
        return _converted(plain, strange)
    if any(isinstance(value, str) for value in present):
        return Labels.of(None if value is None else str(value) for value in plain)
    return Labels.of(plain)


def _converted(values: Sequence[Any], strange: Any) -> Column:
    """Return numbers of other types, such as decimals and fractions."""
    try:
        return Numbers(np.array([np.nan if value is None else float(value) for value in values]))
    except (TypeError, ValueError):
        return Unknown(len(values), type(strange).__name__)


def _array_days(values: Sequence[Any]) -> NDArray[np.float64]:
    moments = np.array([None if value is None else value.isoformat()[:19] for value in values], dtype="datetime64[s]")
    days = moments.astype(np.int64) / 86_400.0
    return np.where(np.isnat(moments), np.nan, days)


def _or_none(values: NDArray[Any]) -> list[Any]:
    """Return the values as Python objects, None where they are missing."""
    return [None if is_missing(value) or (isinstance(value, float) and value != value) else value for value in values]

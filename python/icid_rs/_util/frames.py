"""Data frames for results: of polars where the table was one of polars, and of pandas otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any


def frame_library(table: Any) -> str:
    """Return the library whose frames a user of this table expects.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs._util.frames import frame_library
    >>> frame_library(np.ones((2, 2)))
    'pandas'
    """
    return "polars" if type(table).__module__.partition(".")[0] == "polars" else "pandas"


def make_frame(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """Return a data frame of these columns, or None if the library is not installed.

    Numbers that are not known, NaN here, are missing values in polars.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs._util.frames import make_frame
    >>> make_frame({"source": ["rain"], "weight": np.array([0.5])})
      source  weight
    0   rain     0.5
    """
    try:
        module = import_module(library)
    except ImportError:
        return None
    if library == "polars":
        # Integers and strings among the names of variables become strings.
        return module.DataFrame(dict(columns), strict=False, nan_to_null=True)
    return module.DataFrame(dict(columns))


def frame_of(rows: Sequence[Any], names: Sequence[str], library: str = "pandas") -> Any:
    """Return a data frame of rows with these attributes, or the rows if the library is not installed.

    Examples
    --------
    >>> from icid_rs._util.frames import frame_of
    >>> frame_of([1 + 2j], ["real", "imag"])
       real  imag
    0   1.0   2.0
    """
    frame = make_frame({name: [getattr(row, name) for row in rows] for name in names}, library)
    return rows if frame is None else frame

"""Coefficients of an edge between categories as a table with their levels on its sides."""

from __future__ import annotations

from collections.abc import Hashable
from importlib import import_module
from typing import Any

from icid_rs._util.validation import FloatArray
from icid_rs.graph.blocks import Levels


def level_table(values: FloatArray, ends: tuple[Any, Any], levels: tuple[Levels, Levels], library: str) -> Any:
    """Return a frame of coefficients, or a dict of dicts if there is no such library.

    Parameters
    ----------
    values : array
        A row for each level of the cause but the reference, a column for each level of the effect.
    ends : (cause, effect)
        Their names.
    levels : (levels of the cause, levels of the effect)
        None for numbers.
    library : str

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.level_tables import level_table
    >>> levels = (("f", "m"), None)
    >>> level_table(np.array([[1.5]]), ("sex", "height"), levels, "pandas")  # doctest: +NORMALIZE_WHITESPACE
                     height
    sex (against f)
    m                   1.5
    """
    (cause, effect), (own, others) = ends, levels
    rows: list[Hashable] = [cause] if own is None else list(own[1:])
    columns: list[Hashable] = [effect] if others is None else list(others)
    title = cause if own is None else f"{cause} (against {own[0]})"
    try:
        module = import_module(library)
    except ImportError:
        listed = values.tolist()
        return {row: dict(zip(columns, line, strict=True)) for row, line in zip(rows, listed, strict=True)}
    if library == "polars":
        table = {str(name): values[:, k] for k, name in enumerate(columns)}
        return module.DataFrame({str(title): [str(row) for row in rows], **table})
    index = module.Index(rows, name=title if own is not None else None)
    return module.DataFrame(values, index=index, columns=module.Index(columns, name=effect if others else None))

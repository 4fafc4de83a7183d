"""The two conventions for matrices of edges."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

#: ``"row_to_column"``: [i, j] is the edge i → j, as everywhere in this package. ``"column_to_row"``: it is j → i.
Convention: TypeAlias = Literal["row_to_column", "column_to_row"]


def is_transposed(convention: Any) -> bool:
    """Tell whether a convention is ``"column_to_row"``; raise if it is neither of the two.

    Examples
    --------
    >>> from icid_rs.graph.conventions import is_transposed
    >>> is_transposed("row_to_column"), is_transposed("column_to_row")
    (False, True)
    """
    if convention not in ("row_to_column", "column_to_row"):
        raise ValueError(f"convention = {convention!r}: it must be 'row_to_column' or 'column_to_row'")
    return bool(convention == "column_to_row")

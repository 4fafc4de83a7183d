"""The equations of a graph with categories as plain lists, for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs._util.validation import FloatArray
from icid_rs.graph.blocks import Blocks, Levels
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.mixed import ColumnModel
from icid_rs.graph.sem import Csr


def column_records(model: ColumnModel, B: Csr, names: Sequence[Any]) -> dict[str, Any]:
    """Describe the equations by column: see `icid_rs.export.schema`.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.export.categories import column_records
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.graph.mixed import ColumnModel
    >>> nothing = sp.csr_array((1, 1))
    >>> column_records(ColumnModel(Blocks.numbers(1), nothing, nothing, np.zeros(1)), nothing, ["x"])
    {'levels': [None], 'means': [[0.0]], 'residuals': [[[0.0]]], 'weights': []}
    """
    blocks = model.blocks
    parts = [blocks.part(j) for j in range(blocks.variables)]
    weights = [
        {
            "source": names[i],
            "target": names[j],
            "rows": model.weights[parts[i]][:, parts[j]].toarray().tolist(),
        }
        for i, j in zip(*(ends.tolist() for ends in edge_ends(B)), strict=True)
    ]
    return {
        "levels": [None if own is None else [_plain_level(level) for level in own] for own in blocks.levels],
        "means": [model.location[part].tolist() for part in parts],
        "residuals": [model.residuals[part][:, part].toarray().tolist() for part in parts],
        "weights": weights,
    }


def read_columns(content: Any, position: dict[Any, int]) -> ColumnModel | None:
    """Read what `column_records` wrote; a ValueError names the member that is wrong.

    Examples
    --------
    >>> from icid_rs.export.categories import read_columns
    >>> wrote = {"levels": [["a", "b", "c"]], "means": [[0.2, 0.3]], "residuals": [[[1, 0], [0, 1]]], "weights": []}
    >>> read_columns(wrote, {"kind": 0}).blocks.levels
    (('a', 'b', 'c'),)
    """
    if content is None:
        return None
    if not isinstance(content, dict):
        raise ValueError("columns must be an object")
    d = len(position)
    levels = [_levels(own, f"columns.levels[{k}]") for k, own in enumerate(_list(content, "levels", d))]
    blocks = Blocks.of(levels)
    widths = blocks.widths.tolist()
    means = [numbers_in(own, (widths[k],), f"columns.means[{k}]") for k, own in enumerate(_list(content, "means", d))]
    left = [
        numbers_in(own, (widths[k], widths[k]), f"columns.residuals[{k}]")
        for k, own in enumerate(_list(content, "residuals", d))
    ]
    weights = np.zeros((blocks.columns, blocks.columns))
    for k, record in enumerate(_list(content, "weights")):
        where = f"columns.weights[{k}]"
        ends = [record.get(end) if isinstance(record, dict) else None for end in ("source", "target")]
        if not all(isinstance(end, str | int) and end in position for end in ends):
            raise ValueError(f"{where} must be an object whose source and target are among the names")
        i, j = (position[end] for end in ends)
        weights[blocks.part(i), blocks.part(j)] = numbers_in(
            record.get("rows"), (widths[i], widths[j]), f"{where}.rows"
        )
    residuals = sp.csr_array(sp.block_diag(left, format="csr"))
    return ColumnModel(blocks, sp.csr_array(weights), residuals, np.concatenate(means))


def _plain_level(level: Any) -> str | int | float | bool:
    """Return a level as JSON holds it; others than texts and numbers become texts."""
    if isinstance(level, np.generic):
        level = level.item()
    return level if isinstance(level, str | int | float) else str(level)


def _list(content: dict[str, Any], key: str, length: int | None = None) -> list[Any]:
    values = content.get(key)
    if not isinstance(values, list) or (length is not None and len(values) != length):
        count = "" if length is None else f" of {length} entries"
        raise ValueError(f"columns.{key} must be a list{count}")
    return values


def _levels(own: Any, where: str) -> Levels:
    if own is None:
        return None
    is_list = isinstance(own, list) and all(isinstance(level, str | int | float) for level in own)
    if not is_list or len(own) < 2 or len(set(own)) < len(own):
        raise ValueError(f"{where} must be null, or a list of two different levels at least")
    return tuple(own)


def numbers_in(values: Any, shape: tuple[int, ...], where: str) -> FloatArray:
    """Return the numbers of a list of a file; a ValueError says `where` they are not finite, or of another shape.

    Examples
    --------
    >>> from icid_rs.export.categories import numbers_in
    >>> numbers_in([1, 2], (2,), "means")
    array([1., 2.])
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{where} must hold finite numbers in the shape {shape}")
    return array

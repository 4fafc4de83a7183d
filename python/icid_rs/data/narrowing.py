"""Encoded tables without what some rows leave empty: collinear variables, and levels that no row has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from icid_rs._util.validation import Rows
from icid_rs.data import collinear
from icid_rs.data.blocks import Blocks
from icid_rs.data.encoding import Encoding


def without_collinear(values: Rows, encoding: Encoding) -> tuple[Rows, Encoding]:
    """Leave out the later ones of variables that are combinations of others.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.narrowing import without_collinear
    >>> X = np.random.default_rng(0).normal(size=(9, 2))
    >>> without_collinear(np.column_stack([X, X[:, 0] + X[:, 1]]), Encoding.plain("abc"))[1].names
    ['a', 'b']
    """
    blocks, names = encoding.blocks, encoding.names
    if blocks.is_single:
        redundant = collinear.redundant(values, blocks, names)
    else:
        # Categories may determine each other, which their search allows for.
        numbers = np.flatnonzero(~blocks.is_category)
        alone = collinear.redundant(
            values[:, blocks.offsets[numbers]], Blocks.numbers(len(numbers)), [names[j] for j in numbers.tolist()]
        )
        redundant = {int(numbers[k]): reason for k, reason in alone.items()}
    if not redundant:
        return values, encoding
    kept = [j for j in range(encoding.blocks.variables) if j not in redundant]
    _, columns = encoding.blocks.select(kept)
    reasons = {int(encoding.kept[j]): reason for j, reason in redundant.items()}
    return cast("Rows", np.ascontiguousarray(values[:, columns])), encoding.without(reasons)


def without_empty_levels(values: Rows, encoding: Encoding) -> tuple[Rows, Encoding]:
    """Leave out levels of wide categories that no row has: resamples, or rows without missing values, may lack some.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.kinds import Kind
    >>> from icid_rs.data.narrowing import without_empty_levels
    >>> encoding = Encoding.from_kinds(["kind"], [Kind("category", ("a", "b", "c"))])
    >>> without_empty_levels(np.array([[0.0, 0.0], [0.0, 1.0]]), encoding)[1].blocks.levels
    (('a', 'c'),)
    """
    kept = np.ones(values.shape[1], dtype=bool)
    levels: dict[int, tuple[Any, ...]] = {}
    for j in encoding.blocks.wide.tolist():
        part, own = encoding.blocks.part(j), encoding.blocks.levels[j]
        assert own is not None
        columns = values[:, part]
        observed = columns[~np.isnan(columns[:, 0])]
        present = np.concatenate([[(observed == 0).all(axis=1).any()], (observed == 1).any(axis=0)])
        if present.all():
            continue
        levels[int(encoding.kept[j])] = tuple(level for level, some in zip(own, present, strict=True) if some)
        # The first level that some row has is the reference now.
        present[np.argmax(present)] = False
        kept[part] = present[1:]
    if not levels:
        return values, encoding
    for place, own in levels.items():
        if len(own) < 2:
            raise ValueError(
                f"column {encoding.columns[place]!r} is constant in the rows that are left; leave it out, or use "
                "missing='em'"
            )
    kinds = [replace(kind, levels=levels.get(k, kind.levels)) for k, kind in enumerate(encoding.kinds)]
    narrowed = Encoding.from_kinds(encoding.columns, kinds).with_curves(encoding.curves)
    return cast("Rows", np.ascontiguousarray(values[:, kept])), narrowed

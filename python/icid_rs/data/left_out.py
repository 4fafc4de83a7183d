"""Columns and levels that are left out once rows are known: combinations of others, and levels without rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from icid_rs._util.validation import FloatArray, listed
from icid_rs._util.validation import Rows as RowArray
from icid_rs._util.warn import warn_user
from icid_rs.data import collinear
from icid_rs.data.adjustment import Adjustment
from icid_rs.data.blocks import Blocks
from icid_rs.data.encoding import Encoding
from icid_rs.data.kinds import ADJUSTED, NOT_CHOSEN, WITHOUT_SPREAD

#: Reasons of columns that were left out as the caller wanted.
_WANTED = (NOT_CHOSEN, ADJUSTED)
#: Smaller shares of rows are rounding errors.
_NOTHING = 1e-12


def without_collinear(
    values: RowArray, encoding: Encoding, beside: RowArray | None, covariates: Encoding | None
) -> tuple[RowArray, Encoding]:
    """Leave out variables that covariates determine, and the later ones of those that are combinations of others.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.left_out import without_collinear
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> encoding = Encoding.plain(["a", "b", "sum"])
    >>> without_collinear(np.column_stack([X, X.sum(axis=1)]), encoding, None, None)[1].names
    ['a', 'b']
    """
    blocks, names, table = encoding.blocks, encoding.names, values
    determined: dict[int, str] = {}
    if beside is not None and covariates is not None:
        complete = np.isfinite(values).all(axis=1) & np.isfinite(beside).all(axis=1)
        values, beside = values[complete], beside[complete]
        adjustment = Adjustment.of_rows(values, beside, covariates, strict=False)
        determined = adjustment.determined(encoding)
        values = adjustment.taken_out(values, beside)
    if blocks.is_single:
        redundant = collinear.redundant(values, blocks, names)
    else:
        # Categories may determine each other, which their search allows for.
        numbers = np.flatnonzero(~blocks.is_category)
        alone = collinear.redundant(
            values[:, blocks.offsets[numbers]], Blocks.numbers(len(numbers)), [names[j] for j in numbers.tolist()]
        )
        redundant = {int(numbers[k]): reason for k, reason in alone.items()}
    redundant |= determined
    if not redundant:
        return table, encoding
    kept = [j for j in range(encoding.blocks.variables) if j not in redundant]
    _, columns = encoding.blocks.select(kept)
    reasons = {int(encoding.kept[j]): reason for j, reason in redundant.items()}
    return cast("RowArray", np.ascontiguousarray(table[:, columns])), encoding.without(reasons)


def without_empty_levels(values: RowArray, encoding: Encoding) -> tuple[RowArray, Encoding]:
    """Leave out levels of wide categories that no row has: resamples, or rows without missing values, may lack some.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.kinds import Kind
    >>> from icid_rs.data.left_out import without_empty_levels
    >>> encoding = Encoding.from_kinds(["soil"], [Kind("category", ("clay", "loam", "sand"))])
    >>> without_empty_levels(np.array([[0.0, 1.0], [0.0, 0.0]]), encoding)[1].kinds[0].levels
    ('clay', 'sand')
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
    return cast("RowArray", np.ascontiguousarray(values[:, kept])), narrowed


def check_levels(means: FloatArray, encoding: Encoding) -> None:
    """Raise if a level of a category has no rows, given the means of its indicators.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.kinds import Kind
    >>> from icid_rs.data.left_out import check_levels
    >>> check_levels(np.array([0.5]), Encoding.from_kinds(["soil"], [Kind("category", ("clay", "sand"))]))
    """
    empty: list[str] = []
    for j in encoding.blocks.categories.tolist():
        shares, levels = means[encoding.blocks.part(j)], encoding.blocks.levels[j] or ()
        shares = np.append(1.0 - shares.sum(), shares)
        pairs = zip(levels, shares.tolist(), strict=True)
        empty += [f"{level!r} of {encoding.names[j]!r}" for level, share in pairs if share < _NOTHING]
    if empty:
        raise ValueError(f"no row has the level(s) {listed(empty)}: leave them out of categories=")


def warn_of_dropped(encoding: Encoding) -> None:
    """Name the columns that are left out without having been asked for.

    Examples
    --------
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.left_out import warn_of_dropped
    >>> warn_of_dropped(Encoding.plain(["a", "b"]))
    """
    shown = [f"{name!r} ({reason})" for name, reason in encoding.dropped.items() if reason not in _WANTED]
    if shown:
        remedy = "" if set(encoding.dropped.values()) <= {*_WANTED, *WITHOUT_SPREAD} else "; columns= takes them in"
        warn_user(f"column(s) left out: {listed(shown, 20)}{remedy}")

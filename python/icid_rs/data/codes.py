"""Whole numbers that stand for labels: told from counts and ordered scales by what they go with.

Along an ordered scale the mean of another column rises or falls, however bent. The codes of labels have no order: the
means jump up and down from one to the next. So few whole numbers are codes if the means of some other column by level
fit the data better than means that only rise, or only fall (isotonic regression), by more than their parameters cost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.isotonic import isotonic_regression

from icid_rs._util.validation import FloatArray, Rows, listed
from icid_rs._util.warn import warn_user
from icid_rs.data.blocks import indicators
from icid_rs.data.encoding import Encoding
from icid_rs.data.kinds import ROWS_PER_LEVEL, Kind, plain_numbers

#: A column with more distinct values is no code. Up to 10 are few, as in `check`.
_MOST_LEVELS = 10
#: Share of a column's variance that levels in no order explain at least: with noise of a shape, means by the levels of
#: a scale may waver by less.
_LEAST = 0.01
#: Rows that are looked at.
_MOST_ROWS = 20_000


def with_codes(values: Rows, encoding: Encoding, told: frozenset[object]) -> tuple[Rows, Encoding]:
    """Take columns of few whole numbers in no order as categories, except those that the caller said something of.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.codes import with_codes
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.kinds import Kind
    >>> soil = np.arange(300) % 3
    >>> crop = np.array([1.0, 3.0, 0.0])[soil] + 0.1 * np.random.default_rng(0).normal(size=300)
    >>> encoding = Encoding.from_kinds(["soil", "crop"], [Kind("count"), Kind("number")])
    >>> with_codes(np.column_stack([soil, crop]), encoding, frozenset())[1].blocks.levels
    ((0, 1, 2), None)
    """
    found = {j: levels for j, levels in _few(values, encoding, told).items() if _are_codes(values, encoding, j, levels)}
    if not found:
        return values, encoding
    kinds, parts = list(encoding.kinds), []
    for j in range(encoding.blocks.variables):
        part = values[:, encoding.blocks.part(j)]
        if j in found:
            levels = found[j]
            codes = np.where(np.isnan(part[:, 0]), -1, np.searchsorted(levels, part[:, 0]))
            part = indicators(codes, len(levels))
            place = int(encoding.kept[j])
            kinds[place] = Kind("category", tuple(int(level) for level in levels), is_code=True)
        parts.append(part)
    coded = Encoding.from_kinds(encoding.columns, kinds)
    return np.ascontiguousarray(np.column_stack(parts)), replace(coded, curves=encoding.curves)


def warn_of_codes(encoding: Encoding) -> None:
    """Name the columns of numbers that were taken as categories.

    Examples
    --------
    >>> from icid_rs.data.codes import warn_of_codes
    >>> from icid_rs.data.encoding import Encoding
    >>> warn_of_codes(Encoding.plain(["a", "b"]))
    """
    kinds = zip(encoding.columns, encoding.kinds, strict=True)
    if coded := [repr(name) for name, kind in kinds if kind.is_code]:
        warn_user(
            f"column(s) taken as categories: {listed(coded, 20)}: the means of another column by their values are in "
            "no order; name them in ordinal= if they are numbers, or in categorical= if they are labels"
        )


def _few(values: Rows, encoding: Encoding, told: frozenset[object]) -> dict[int, FloatArray]:
    """Return the distinct values of variables that are few whole numbers."""
    found = {}
    plain = plain_numbers(values)
    for j, place in enumerate(encoding.kept.tolist()):
        at = encoding.blocks.offsets[j]
        if plain[at] or encoding.kinds[place].name not in ("count", "number") or encoding.columns[place] in told:
            continue
        column = values[:, at]
        present = column[~np.isnan(column)]
        levels = np.unique(present)
        are_few = 2 < len(levels) <= min(_MOST_LEVELS, len(present) / ROWS_PER_LEVEL)
        if are_few and (levels == np.floor(levels)).all():
            found[j] = levels.astype(np.float64)
    return found


def _are_codes(values: Rows, encoding: Encoding, j: int, levels: FloatArray) -> bool:
    """Tell whether some other column has means by level that neither rise nor fall."""
    blocks, k = encoding.blocks, len(levels)
    rows = values[:: -(-len(values) // _MOST_ROWS)]
    # Indicators of a category may be largest at a middle level of a scale: only what has an order itself is looked at.
    single = np.flatnonzero(blocks.widths == 1)
    X = np.asarray(rows[:, blocks.offsets[single[single != j]]], dtype=np.float64)
    codes = rows[:, blocks.offsets[j]]
    is_level = (codes[:, None] == levels).astype(np.float64)
    present = np.isfinite(X) & np.isfinite(codes)[:, None]
    n = present.sum(axis=0)
    X = np.where(present, X, 0.0)
    X -= np.where(present, X.sum(axis=0) / np.maximum(n, 1), 0.0)
    total = (X * X).sum(axis=0)
    counts = is_level.T @ present
    means = is_level.T @ X / np.maximum(counts, 1)
    between = (counts * means**2).sum(axis=0)
    # As with one more row, in which the columns are independent: codes may determine a column.
    within = total - between + total / np.maximum(n, 1)
    price = (k - 2) * np.log(np.maximum(n, 2)) + 2 * np.log(max(X.shape[1], 1))
    steps = np.diff(means, axis=0)
    wavers = (steps > 0).any(axis=0) & (steps < 0).any(axis=0) & (total > 0) & (counts > 0).all(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        wavers &= n * np.log1p(between / within) > price
    for i in np.flatnonzero(wavers).tolist():
        weights, own = counts[:, i], means[:, i]
        ordered = [isotonic_regression(own, sample_weight=weights, increasing=rises) for rises in (True, False)]
        lost = min(float(weights @ (own - fitted) ** 2) for fitted in ordered)
        if n[i] * np.log1p(lost / within[i]) > price[i] and lost > _LEAST * total[i]:
            return True
    return False

"""From columns of any kind to a numeric table whose blocks of columns are the variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, Rows, listed
from icid_rs.data.blocks import Blocks, Levels, indicators
from icid_rs.data.cells import Numerals
from icid_rs.data.columns import Column, Columns, Dates, Labels, Mixed, Numbers, Unknown
from icid_rs.data.dates import days_of
from icid_rs.data.faults import Fault
from icid_rs.data.frames import as_columns
from icid_rs.data.kinds import Kind, Wishes, kind_of, plain_numbers
from icid_rs.data.tables import open_table
from icid_rs.graph.curves import Curve, Curves, ScoreCurve, straighten

_NUMBER = Kind("number")


@dataclass(frozen=True, eq=False)
class Encoding:
    """Which columns of a table are variables, and how they become numbers.

    Attributes
    ----------
    columns : list
        Names of all columns, or their numbers.
    kinds : tuple of Kind
        One for each column.
    kept : numpy.ndarray of int
        Places of the columns that are variables.
    blocks : Blocks
        Layout of the variables.
    curves : dict
        Curves that straighten columns, by their places.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.columns import Columns, Labels, Numbers
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.kinds import Wishes
    >>> parts = [Numbers(np.arange(10) / 3), Numbers(np.ones(10)), Labels.of("mf" * 5)]
    >>> table = Columns("X", ["x", "same", "sex"], parts)
    >>> encoding = Encoding.of(table, Wishes())
    >>> encoding.names, encoding.dropped, encoding.values(table).shape
    (['x', 'sex'], {'same': 'constant'}, (10, 2))
    """

    columns: list[Any]
    kinds: tuple[Kind, ...]
    kept: NDArray[np.intp]
    blocks: Blocks
    curves: Mapping[int, Curve] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Columns, wishes: Wishes) -> Encoding:
        """Decide what each column is."""
        kinds = tuple(kind_of(name, part, wishes) for name, part in zip(table.columns, table.parts, strict=True))
        return cls.from_kinds(table.columns, kinds)

    @classmethod
    def from_kinds(cls, columns: list[Any], kinds: Sequence[Kind]) -> Encoding:
        """Lay out the variables among columns of these kinds; raise if there are none."""
        kept = np.flatnonzero([kind.is_kept for kind in kinds])
        if not len(kept):
            reasons = [f"{name!r} ({kind.reason})" for name, kind in zip(columns, kinds, strict=True)]
            raise ValueError(f"no column is left to fit: {listed(reasons)}")
        levels: list[Levels] = [kinds[k].levels if kinds[k].is_block else None for k in kept.tolist()]
        return cls(columns, tuple(kinds), kept, Blocks.of(levels))

    @classmethod
    def of_numbers(cls, values: Rows, columns: list[Any], wishes: Wishes) -> Encoding:
        """Decide what each column of an array is; most are plain numbers, which is seen from their first rows."""
        plain = plain_numbers(values)
        kinds = [
            _NUMBER
            if plain[k] and not wishes.says(name)
            else kind_of(name, Numbers(values[:, k].astype(np.float64)), wishes)
            for k, name in enumerate(columns)
        ]
        return cls.from_kinds(columns, kinds)

    @classmethod
    def plain(cls, columns: Sequence[Any]) -> Encoding:
        """Take all columns as numbers.

        Examples
        --------
        >>> from icid_rs.data.encoding import Encoding
        >>> Encoding.plain(["a", "b"]).is_plain
        True
        """
        return cls.from_kinds(list(columns), [_NUMBER] * len(columns))

    @property
    def is_plain(self) -> bool:
        """Whether the numeric table is the table itself."""
        return len(self.kept) == len(self.columns) and not len(self.blocks.categories) and not self.curves

    @property
    def is_scored(self) -> bool:
        """Whether normal scores stand for some columns, whose own shape and unit are then lost."""
        return any(isinstance(curve, ScoreCurve) for curve in self.curves.values())

    @property
    def variable_curves(self) -> dict[int, Curve]:
        """The curves by the numbers of the variables."""
        return {j: self.curves[k] for j, k in enumerate(self.kept.tolist()) if k in self.curves}

    @property
    def names(self) -> list[Any]:
        """The columns that are variables."""
        return [self.columns[k] for k in self.kept.tolist()]

    @property
    def dropped(self) -> dict[Any, str]:
        """The columns that are none, with the reasons."""
        both = zip(self.columns, self.kinds, strict=True)
        return {name: kind.reason for name, kind in both if kind.reason is not None}

    @property
    def codes(self) -> dict[Any, tuple[Hashable, ...]]:
        """Labels of the variables that are single numbers, in the order of their codes 0, 1, …; dates have none."""
        kinds = {self.columns[k]: self.kinds[k] for k in self.kept.tolist()}
        return {
            name: kind.levels or ()
            for name, kind in kinds.items()
            if kind.name == "date" or (kind.levels is not None and (not kind.is_block or len(kind.levels) == 2))
        }

    def without(self, reasons: dict[int, str]) -> Encoding:
        """Return the encoding that leaves out some columns more, by their places among all."""
        kinds = [Kind("none", reason=reasons[k]) if k in reasons else kind for k, kind in enumerate(self.kinds)]
        kept = {k: curve for k, curve in self.curves.items() if k not in reasons}
        return replace(Encoding.from_kinds(self.columns, kinds), curves=kept)

    def with_curves(self, curves: Mapping[int, Curve]) -> Encoding:
        """Return the encoding that also straightens columns, by their places among all."""
        return replace(self, curves=dict(curves))

    def straightened(self, values: Rows) -> Rows:
        """Return numbers of the variables on the straight scales of their columns."""
        if not self.curves:
            return values
        X = np.array(values, dtype=np.float64)
        for j, curve in self.variable_curves.items():
            place = self.blocks.offsets[j]
            X[:, place] = straighten(curve, X[:, place], self.names[j])
        return X

    def restored(self, values: Rows) -> Rows:
        """Return numbers on straight scales as those that the table has."""
        if not self.curves:
            return values
        X = np.array(values, dtype=np.float64)
        for j, curve in self.variable_curves.items():
            place = self.blocks.offsets[j]
            X[:, place] = curve.restore(X[:, place])
        return X

    def select(self, values: Rows) -> Rows:
        """Return the numeric table that belongs to an array of all columns."""
        if self.is_plain:
            return values
        if not len(self.blocks.categories):
            return self.straightened(cast("Rows", np.ascontiguousarray(values[:, self.kept])))
        parts: list[Column] = [Numbers(values[:, k].astype(np.float64)) for k in range(values.shape[1])]
        return self.values(Columns("X", self.columns, parts))

    def values(self, table: Columns) -> FloatArray:
        """Return the numbers of a table with these columns, NaN where values are missing."""
        X = np.empty((table.shape[0], self.blocks.columns))
        for j, k in enumerate(self.kept.tolist()):
            X[:, self.blocks.part(j)] = _numbers(self.columns[k], table.parts[k], self.kinds[k])
        return cast("FloatArray", self.straightened(X))


def encoded_among(
    X: Any, names: Sequence[Any], blocks: Blocks, curves: Curves | None = None
) -> tuple[FloatArray, list[int]]:
    """Return the columns of the given variables, in their order, and the places of those that a table has.

    Numbers are straightened by the curves that are given for some variables. The columns of variables that the table
    lacks are zero. A table without names has all variables.

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs.data.blocks import Blocks
    >>> from icid_rs.data.encoding import encoded_among
    >>> encoded_among(pd.DataFrame({"kind": ["c", "a"]}), ["x", "kind"], Blocks.of([None, ("a", "b", "c")]))
    (array([[0., 0., 1.],
           [0., 0., 0.]]), [1])
    """
    table = as_columns(open_table(X))
    if not table.is_named and len(table.columns) != len(names):
        raise ValueError(f"the data must have {len(names)} columns, but they have {len(table.columns)}")
    place = {name: k for k, name in enumerate(table.columns if table.is_named else names)}
    present = [j for j, name in enumerate(names) if name in place]
    if not present:
        raise ValueError(f"the data have no column of the graph; it has {listed([repr(name) for name in names])}")
    values = np.zeros((table.shape[0], blocks.columns))
    for j in present:
        levels = blocks.levels[j]
        kind = _NUMBER if levels is None else Kind("category", levels)
        values[:, blocks.part(j)] = _numbers(names[j], table.parts[place[names[j]]], kind)
    if np.isnan(values).any():
        k = int(np.isnan(values).any(axis=0).argmax())
        raise ValueError(f"column {names[int(blocks.variable_of[k])]!r} has missing values; drop these rows")
    for j in present:
        if curves and j in curves:
            place = blocks.offsets[j]
            values[:, place] = straighten(curves[j], values[:, place], names[j])
    return values, present


def column_faults(table: Columns, wishes: Wishes) -> dict[int, Fault]:
    """Describe the columns that are to be used but are neither numbers nor labels throughout, by their places.

    Examples
    --------
    >>> from icid_rs.data.columns import Columns, Unknown
    >>> from icid_rs.data.encoding import column_faults
    >>> from icid_rs.data.kinds import Wishes
    >>> column_faults(Columns("X", ["a"], [Unknown(3, "list")]), Wishes())[0].text
    "column 'a' (list) is neither numbers nor labels nor dates"
    """
    used = [wishes.columns is None or name in wishes.columns or name in wishes.adjust for name in table.columns]
    parts = {k: part for k, part in enumerate(table.parts) if used[k]}
    # One row that faults several columns alone, such as one of units, is the fault.
    lines = Counter(part.line for part in parts.values() if isinstance(part, Mixed) and part.count == 1)
    found = {k: _fault(table.columns[k], part, lines) for k, part in parts.items()}
    return {k: fault for k, fault in found.items() if fault is not None}


def _fault(name: Any, part: Column, lines: Mapping[int, int]) -> Fault | None:
    """Describe a column that is neither numbers nor labels throughout; None for any other."""
    if isinstance(part, Mixed):
        fault = _mixed(name, part)
        if part.count > 1 or lines[part.line] < 2:
            return fault
        return Fault(
            fault.text,
            "leave that line out, or the columns",
            f"say --skip {part.line} if that line is no row of the table; otherwise see --na, --categorical and --drop",
        )
    if isinstance(part, Unknown):
        return Fault(
            f"column {name!r} ({part.type}) is neither numbers nor labels nor dates",
            "leave it out, or turn it into numbers or text",
            f"say --drop {name!r}",
        )
    return None


def _mixed(name: Any, part: Mixed) -> Fault:
    """Describe a column of numbers of which some cells are none."""
    cell = part.cells[0]
    more = "" if part.count == 1 else f" ({part.count} such cells: {listed([repr(other) for other in part.cells], 3)})"
    try:
        kind = "is not finite" if "_" not in cell and not np.isfinite(float(cell)) else "is not a number"
    except ValueError:
        kind = "is not a number"
    by_mark = [mark for mark in ",." if Numerals(mark).is_number(cell)]
    mended = f"write it with a decimal {'point' if by_mark[0] == ',' else 'comma'}, or " if by_mark else ""
    option = f"say --decimal {by_mark[0]}; or " if mended else ""
    # What begins with a minus sign would be taken for another option.
    shown = f"--na{'=' if cell.startswith('-') else ' '}{cell!r}"
    return Fault(
        f"line {part.line}, column {name!r}: {cell!r} {kind}{more}",
        f"{mended}say na=[{cell!r}] if that is a missing value, or leave the column out",
        f"{mended}{option}say {shown} if that is a missing value, --categorical {name!r} if these are labels; if this "
        f"is no variable, leave it out with --drop {name!r}",
    )


def _numbers(name: Any, part: Column, kind: Kind) -> FloatArray:
    """Return the columns of one variable."""
    match part:
        case Labels() if kind.name == "date":
            return _dates(name, part)[:, None]
        case Labels() if kind.levels is not None:
            codes = _codes(name, part, kind.levels)
            return indicators(codes, len(kind.levels)) if kind.is_block else _or_missing(codes)[:, None]
        case Numbers(values=values) if kind.is_block and kind.levels is not None:
            levels = np.array(kind.levels, dtype=np.float64)
            present = ~np.isnan(values)
            codes = np.where(present, np.searchsorted(levels, values).clip(max=len(levels) - 1), -1)
            if (strange := present & (levels[codes] != values)).any():
                raise ValueError(
                    f"column {name!r} holds {values[strange][0]:g}, which is none of its levels {kind.levels}"
                )
            return indicators(codes, len(levels))
        case Numbers(values=values):
            return values[:, None]
        case Dates(days=days):
            return days[:, None]
    raise ValueError(f"column {name!r} does not hold what it held when the model was fitted")


def _codes(name: Any, part: Labels, levels: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return the places of labels among the levels of a variable, −1 for missing ones; raise at an unknown label."""
    place = {level: k for k, level in enumerate(levels)}
    rank = np.array([place.get(label, -3) for label in part.labels] + [-3, -1], dtype=np.int64)
    codes = rank[part.codes]
    if (codes == -3).any():
        strange = part.codes[codes == -3][0]
        label = repr(part.labels[strange]) if strange >= 0 else "a label"
        raise ValueError(
            f"column {name!r} holds {label}, which is none of its levels {listed(list(map(repr, levels)))}"
        )
    return codes


def _or_missing(codes: NDArray[np.int64]) -> FloatArray:
    return np.where(codes < 0, np.nan, codes)


def _dates(name: Any, part: Labels) -> FloatArray:
    days = days_of([str(label) for label in part.labels])
    if days is None or (part.codes == -2).any():
        raise ValueError(f"column {name!r} holds no dates of one form")
    return np.append(days, np.nan)[part.codes]

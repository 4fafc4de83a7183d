"""Kinds of columns: which are variables, as numbers or as categories, and which are none, and why.

The type of a column decides first, then how many distinct values it has. Nothing is left out silently: every column
that is no variable has a reason, which `ICID.dropped_` and a warning name.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, listed
from icid_rs.data.columns import Column, Dates, Labels, Numbers
from icid_rs.data.dates import days_of

#: A column with more distinct values than this is a number; a category with more levels is left out.
MOST_LEVELS = 20
#: A category is left out if it has fewer rows for each level, on average.
ROWS_PER_LEVEL = 5
#: Columns with at least so many distinct values, in this share of the rows, name rows rather than groups of them.
_DISTINCT, _SHARE = 10, 0.5
#: Rows that are looked at first, since most columns are plain numbers.
_FIRST = 64
#: Names of columns whose distinct whole numbers are identifiers.
_IDENTIFIER = re.compile(r"(?:.*[ _.-])?(?:id|ids|key|index|uuid|guid|rowid|row[ _]?(?:no|nr|number))", re.IGNORECASE)
#: Words for no and yes, the levels of a boolean.
_BOOLEAN = ({"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"}, {"off", "on"})

#: Reasons of columns that the caller did not choose, or adjusts for.
NOT_CHOSEN, ADJUSTED = "not among columns=", "adjusted for"
#: Reasons of columns that nothing can take in.
WITHOUT_SPREAD = ("constant", "no values")

Name: TypeAlias = Literal["number", "count", "boolean", "ordinal", "category", "date", "none"]


@dataclass(frozen=True)
class Kind:
    """What a column is.

    Attributes
    ----------
    name : str
        ``"number"``, ``"count"`` (whole numbers from 0 with few distinct values), ``"boolean"``, ``"ordinal"``,
        ``"category"``, ``"date"``, or ``"none"`` if it is no variable.
    levels : tuple or None
        Those of a category, a boolean in words, or an ordinal that has labels, in their order.
    reason : str or None
        Why the column is left out; None if it is kept.
    is_code : bool
        Whether the levels of a category are numbers that were found to have no order.

    Examples
    --------
    >>> from icid_rs.data.kinds import Kind
    >>> Kind("category", ("a", "b")).is_kept, Kind("none", reason="constant").is_kept
    (True, False)
    """

    name: Name
    levels: tuple[Hashable, ...] | None = None
    reason: str | None = None
    is_code: bool = field(default=False, repr=False)

    @property
    def is_kept(self) -> bool:
        """Whether the column is a variable."""
        return self.reason is None

    @property
    def is_block(self) -> bool:
        """Whether it is represented by indicators of its levels."""
        return self.name == "category" or (self.name == "boolean" and self.levels is not None)


@dataclass(frozen=True)
class Wishes:
    """What the caller says about columns.

    Attributes
    ----------
    columns : frozenset or None
        The columns to be used, whatever they are; None for all that can be.
    categorical : frozenset
        Columns that are categories.
    ordinal : mapping
        Columns whose values are in order, with their levels, or None for the order that these have.
    adjust : tuple
        Columns that are adjusted for, by name or position.
    """

    columns: frozenset[Any] | None = None
    categorical: frozenset[Any] = frozenset()
    ordinal: Mapping[Any, tuple[Hashable, ...] | None] | None = None
    adjust: tuple[Any, ...] = ()

    @classmethod
    def of(cls, columns: Any, categorical: Any, ordinal: Any, adjust: Any = None) -> Wishes:
        """Check the parameters `columns`, `categorical`, `ordinal` and `adjust` of `ICID`.

        Examples
        --------
        >>> from icid_rs.data.kinds import Wishes
        >>> Wishes.of(None, ["sex"], {"size": ["small", "large"]}).ordinal
        {'size': ('small', 'large')}
        """
        order: dict[Any, tuple[Hashable, ...] | None] = {}
        if isinstance(ordinal, Mapping):
            order = {name: None if own is None else tuple(own) for name, own in ordinal.items()}
        elif ordinal is not None:
            order = dict.fromkeys(_names(ordinal, "ordinal"))
        chosen = None if columns is None else frozenset(_names(columns, "columns"))
        labelled = frozenset() if categorical is None else frozenset(_names(categorical, "categorical"))
        if both := labelled & set(order):
            raise ValueError(f"column {next(iter(both))!r} cannot be both categorical and ordinal")
        return cls(chosen, labelled, order, () if adjust is None else tuple(_names(adjust, "adjust")))

    def among(self, columns: Sequence[Any]) -> Wishes:
        """Return the same for a table with these columns; raise where one is named that it does not have.

        Positions of columns that are adjusted for become names.
        """
        is_numbered = any(isinstance(name, Integral) for name in columns)
        adjust = tuple(name if is_numbered else _at(name, columns) for name in self.adjust)
        given = {"columns": self.columns or (), "categorical": self.categorical, "ordinal": self.ordinal or ()}
        for parameter, names in (given | {"adjust": adjust}).items():
            if unknown := [name for name in names if name not in set(columns)]:
                raise ValueError(
                    f"{parameter}: there is no column {listed(sorted(map(repr, unknown)))}; the columns are "
                    f"{listed([repr(name) for name in columns])}"
                )
        return replace(self, adjust=adjust)

    @property
    def told(self) -> frozenset[Any]:
        """Columns whose values the caller says to be labels, or in order."""
        return self.categorical | frozenset(self.ordinal or {})

    def says(self, name: Any) -> bool:
        """Tell whether the caller says something of this column that decides what it is."""
        return self.is_asked(name) or self.columns is not None

    def is_asked(self, name: Any) -> bool:
        """Tell whether the caller wants this column to be used."""
        named = name in self.categorical or name in (self.ordinal or {}) or name in self.adjust
        return named or (self.columns is not None and name in self.columns)


def _names(value: Any, parameter: str) -> list[Any]:
    """Return a list of names; raise unless it is a sequence of them."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{parameter} must be a list of columns, not {value!r}")
    return list(value)


def _at(name: Any, columns: Sequence[Any]) -> Any:
    """Return the name of a column that is given by its position."""
    is_number = isinstance(name, Integral) and not isinstance(name, bool)
    return columns[int(name)] if is_number and 0 <= int(name) < len(columns) else name


def kind_of(name: Any, column: Column, wishes: Wishes) -> Kind:
    """Tell what a column is.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.columns import Labels, Numbers
    >>> from icid_rs.data.kinds import Wishes, kind_of
    >>> kind_of("sex", Labels.of("mfmffmfmmf"), Wishes())
    Kind(name='category', levels=('f', 'm'), reason=None)
    >>> kind_of("row", Numbers(np.arange(100.0)), Wishes()).reason
    'row numbers'
    """
    if wishes.columns is not None and name not in wishes.columns and name not in wishes.adjust:
        return Kind("none", reason=NOT_CHOSEN)
    match column:
        case Numbers():
            return _of_numbers(name, column, wishes)
        case Labels():
            return _of_labels(name, column, wishes)
        case Dates(days=days):
            kind = _without_spread(days)
            return kind or Kind("date", reason=None if wishes.is_asked(name) else "dates")
        case _:
            return Kind("none", reason="no numbers")


def plain_numbers(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark columns of an array that are plain numbers at first sight, which most are: more than 20 distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.kinds import plain_numbers
    >>> plain_numbers(np.column_stack([np.random.default_rng(0).normal(size=50), np.arange(50) % 3, np.arange(50)]))
    array([ True, False, False])
    """
    ordered = np.sort(values[:_FIRST], axis=0)
    with np.errstate(invalid="ignore"):
        distinct = (np.diff(ordered, axis=0) > 0).sum(axis=0) + 1
        whole = (values[:_FIRST] == np.floor(values[:_FIRST])).all(axis=0)
    # Whole numbers may number the rows, or identify them.
    return np.asarray((distinct > MOST_LEVELS) & ~whole)


def _of_numbers(name: Any, column: Numbers, wishes: Wishes) -> Kind:
    values = column.values
    if kind := _without_spread(values):
        return kind
    if name in wishes.categorical:
        levels = np.unique(values[~np.isnan(values)])
        return Kind("category", tuple(int(level) if level == int(level) else float(level) for level in levels))
    if name in (wishes.ordinal or {}):
        return Kind("ordinal")
    if column.is_boolean:
        return Kind("boolean")
    present = values[~np.isnan(values)]
    is_whole = bool((present == np.floor(present)).all())
    if not is_whole:
        return Kind("number")
    distinct = len(np.unique(present))
    if not wishes.is_asked(name):
        if _are_row_numbers(values):
            return Kind("none", reason="row numbers")
        if distinct == len(present) >= _DISTINCT and isinstance(name, str) and _IDENTIFIER.fullmatch(name.strip()):
            return Kind("none", reason="an identifier, by its name and its distinct whole numbers")
    if distinct == 2 and set(np.unique(present).tolist()) == {0.0, 1.0}:
        return Kind("boolean")
    return Kind("count" if distinct <= MOST_LEVELS and present.min() >= 0 else "number")


def _of_labels(name: Any, column: Labels, wishes: Wishes) -> Kind:
    present = column.codes[column.codes != -1]
    used = np.unique(present[present >= 0])
    levels = tuple(column.labels[k] for k in used.tolist())
    if len(levels) < 2:
        return Kind("none", reason="constant" if levels else "no values")
    ordinal = wishes.ordinal or {}
    if name in ordinal:
        return Kind("ordinal", ordinal[name] or levels)
    if name not in wishes.categorical and column.is_ordered:
        return Kind("ordinal", levels)
    if wishes.is_asked(name) and name not in wishes.categorical and days_of(list(map(str, levels))) is not None:
        return Kind("date")
    if not wishes.is_asked(name) and (reason := _no_category(column, levels, present)):
        return Kind("none", reason=reason)
    if (present == -2).any():
        return Kind("none", reason=f"more than {len(column.labels)} levels")
    words = {str(level).lower() for level in levels}
    if words in _BOOLEAN and name not in wishes.categorical:
        return Kind("boolean", levels)
    return Kind("category", levels)


def _no_category(column: Labels, levels: Sequence[Hashable], present: NDArray[np.int32]) -> str | None:
    """Say why labels are no category, or return None if they are one."""
    texts = [level for level in levels if isinstance(level, str)]
    if len(texts) == len(levels) and days_of(texts) is not None:
        return "dates"
    if len(levels) <= MOST_LEVELS and len(levels) * ROWS_PER_LEVEL <= len(present):
        return None
    if (present == -2).any() or (len(levels) >= _DISTINCT and len(levels) > _SHARE * len(present)):
        spaced = sum(" " in text.strip() for text in texts) > len(levels) / 2
        if texts and all(map(_looks_like_number, texts)):
            return "numbers that are stored as text"
        return "free text" if spaced else "identifiers"
    return f"{len(levels)} levels in {len(present)} rows"


def _looks_like_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_spread(values: FloatArray) -> Kind | None:
    """Return the kind of a column without values, or of equal ones; None for any other."""
    present = ~np.isnan(values)
    if not present.any():
        return Kind("none", reason="no values")
    # A minimum and a maximum cost no memory.
    return Kind("none", reason="constant") if np.nanmin(values) == np.nanmax(values) else None


def _are_row_numbers(values: FloatArray) -> bool:
    """Tell whether values count the rows, from 0 or 1."""
    return len(values) >= _DISTINCT and values[0] in (0.0, 1.0) and bool((np.diff(values) == 1).all())

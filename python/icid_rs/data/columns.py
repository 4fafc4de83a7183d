"""Columns of a table as they come: numbers, labels, dates, or something that is none of these throughout."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray

#: So many distinct labels of a column are kept; with more it is no category.
MOST_LABELS = 20_000


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers, NaN where they are missing.

    Attributes
    ----------
    values : numpy.ndarray of shape (n,)
    is_boolean : bool
        Whether the table says that they are true or false.
    """

    values: FloatArray
    is_boolean: bool = False

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of labels.

    Attributes
    ----------
    codes : numpy.ndarray of shape (n,)
        Number of the label of each row, −1 where it is missing, −2 where it is none of the first `MOST_LABELS`.
    labels : tuple
        The distinct labels.
    is_ordered : bool
        Whether the table says that they are in order.
    """

    codes: NDArray[np.int32]
    labels: tuple[Hashable, ...]
    is_ordered: bool = False

    @classmethod
    def of(cls, values: Iterable[Any]) -> Labels:
        """Give numbers to the labels of a column, None being a missing one; they are sorted if they can be.

        Examples
        --------
        >>> from icid_rs.data.columns import Labels
        >>> column = Labels.of(["b", "a", None, "b"])
        >>> column.codes, column.labels
        (array([ 1,  0, -1,  1], dtype=int32), ('a', 'b'))
        """
        place: dict[Hashable, int] = {}
        codes = [-1 if value is None else number_of(place, value) for value in values]
        return cls(np.array(codes, dtype=np.int32), tuple(place)).in_order()

    def __len__(self) -> int:
        return len(self.codes)

    def in_order(self) -> Labels:
        """Return the same column with its labels in ascending order, if they have one."""
        try:
            order = sorted(range(len(self.labels)), key=lambda k: self.labels[k])  # type: ignore[arg-type, return-value]
        except TypeError:
            return self
        rank = np.empty(len(order) + 2, dtype=np.int32)
        rank[order] = np.arange(len(order))
        # Negative codes stay what they are.
        rank[-1], rank[-2] = -1, -2
        return replace(self, codes=rank[self.codes], labels=tuple(self.labels[k] for k in order))


@dataclass(frozen=True, eq=False)
class Dates:
    """A column of points in time, in days since 1970; NaN where they are missing."""

    days: FloatArray

    def __len__(self) -> int:
        return len(self.days)


@dataclass(frozen=True, eq=False)
class Mixed:
    """A column of numbers of which some cells are none.

    Attributes
    ----------
    size : int
        Number of cells.
    cells : tuple of str
        The first distinct cells that are no numbers.
    count : int
        How many cells are none.
    line : int
        Where the first one is.
    """

    size: int
    cells: tuple[str, ...]
    count: int
    line: int

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, eq=False)
class Unknown:
    """A column of a type that is neither numbers nor labels nor dates, such as lists or complex numbers."""

    size: int
    type: str

    def __len__(self) -> int:
        return self.size


Column: TypeAlias = Numbers | Labels | Dates | Mixed | Unknown


@dataclass(frozen=True, eq=False)
class Columns:
    """A table, column by column; it needs no library of data frames.

    Attributes
    ----------
    source : str
        Where it comes from, for messages.
    columns : list
        Names, or numbers where the table has none.
    parts : list of Column
    is_named : bool

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.columns import Columns, Labels, Numbers
    >>> table = Columns("X", ["size", "kind"], [Numbers(np.ones(2)), Labels.of("ab")])
    >>> table.shape
    (2, 2)
    """

    source: str
    columns: list[Any]
    parts: list[Column]
    is_named: bool = True

    def __len__(self) -> int:
        return len(self.parts[0]) if self.parts else 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self.parts)


def number_of(place: dict[Hashable, int], label: Hashable) -> int:
    """Return the number of a label, a new one if it is new and there is room, and otherwise −2.

    Examples
    --------
    >>> from icid_rs.data.columns import number_of
    >>> place = {"a": 0}
    >>> number_of(place, "b"), number_of(place, "a"), place
    (1, 0, {'a': 0, 'b': 1})
    """
    if len(place) < MOST_LABELS:
        return place.setdefault(label, len(place))
    return place.get(label, -2)

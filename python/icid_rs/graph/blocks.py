"""Variables as blocks of columns: a number is one column, a category of k levels is k − 1 columns of indicators."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray

#: Levels of a category in their order, or None for a number.
Levels: TypeAlias = tuple[Hashable, ...] | None


@dataclass(frozen=True, eq=False)
class Blocks:
    """Which columns of a numeric table belong to which variable.

    A category of k levels is k − 1 columns that hold 1 in the rows of a level and 0 elsewhere. Its first level, the
    reference, has no column: its rows are 0 in all of them. What second moments tell of a category, such as the
    determinant of its covariance given other columns, is the same whichever level is the reference.

    Attributes
    ----------
    levels : tuple of length d
        For each variable None if it is a number, or the levels of a category, the reference first.
    offsets : numpy.ndarray of shape (d + 1,)
        Variable j is the columns ``offsets[j]`` to ``offsets[j + 1] - 1``.

    Examples
    --------
    >>> from icid_rs.graph.blocks import Blocks
    >>> blocks = Blocks.of([None, ("red", "green", "blue"), ("no", "yes")])
    >>> blocks.offsets, blocks.is_single
    (array([0, 1, 3, 4]), False)
    >>> blocks.column_names(["size", "colour", "sold"])
    ['size', 'colour=green', 'colour=blue', 'sold=yes']
    """

    levels: tuple[Levels, ...]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, levels: Sequence[Levels]) -> Blocks:
        """Lay out variables with these levels side by side.

        Examples
        --------
        >>> from icid_rs.graph.blocks import Blocks
        >>> Blocks.of([("a", "b", "c"), None]).widths
        array([2, 1])
        """
        widths = [1 if own is None else len(own) - 1 for own in levels]
        if min(widths, default=1) < 1:
            raise ValueError("a category must have two levels at least")
        offsets = np.concatenate([[0], np.cumsum(widths, dtype=np.int64)]).astype(np.int64)
        offsets.setflags(write=False)
        return cls(tuple(levels), offsets)

    @classmethod
    def numbers(cls, d: int) -> Blocks:
        """Lay out d numbers.

        Examples
        --------
        >>> from icid_rs.graph.blocks import Blocks
        >>> Blocks.numbers(3).offsets
        array([0, 1, 2, 3])
        """
        return cls.of([None] * d)

    @property
    def variables(self) -> int:
        """Number of variables, d."""
        return len(self.levels)

    @property
    def columns(self) -> int:
        """Number of columns, p."""
        return int(self.offsets[-1])

    @property
    def widths(self) -> NDArray[np.int64]:
        """Columns of each variable."""
        return np.diff(self.offsets)

    @property
    def is_single(self) -> bool:
        """Whether every variable is one column, so that variables are columns."""
        return self.columns == self.variables

    @property
    def categories(self) -> NDArray[np.intp]:
        """Variables that are categories."""
        return np.flatnonzero([own is not None for own in self.levels])

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Whether each variable is a category."""
        return np.array([own is not None for own in self.levels], dtype=bool)

    @property
    def wide(self) -> NDArray[np.intp]:
        """Variables of more than one column: categories of more than two levels."""
        return np.flatnonzero(self.widths > 1)

    @property
    def variable_of(self) -> NDArray[np.int64]:
        """The variable that each column belongs to."""
        return np.repeat(np.arange(self.variables, dtype=np.int64), self.widths)

    def part(self, variable: int) -> slice:
        """Return the columns of a variable.

        Examples
        --------
        >>> from icid_rs.graph.blocks import Blocks
        >>> Blocks.of([None, ("a", "b", "c")]).part(1)
        slice(1, 3, None)
        """
        return slice(int(self.offsets[variable]), int(self.offsets[variable + 1]))

    def select(self, variables: Sequence[int] | NDArray[Any]) -> tuple[Blocks, NDArray[np.intp]]:
        """Return the blocks of some variables, and the columns that these are made of.

        Examples
        --------
        >>> from icid_rs.graph.blocks import Blocks
        >>> blocks, columns = Blocks.of([None, ("a", "b", "c"), None]).select([1, 2])
        >>> blocks.offsets, columns
        (array([0, 2, 3]), array([1, 2, 3]))
        """
        columns = [np.arange(self.offsets[j], self.offsets[j + 1]) for j in variables]
        kept = np.concatenate(columns) if columns else np.zeros(0)
        return Blocks.of([self.levels[j] for j in variables]), kept.astype(np.intp)

    def among_variables(self, covariance: FloatArray) -> FloatArray:
        """Return a covariance of the columns as one of the variables, with NaN at those of more than one column.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs.graph.blocks import Blocks
        >>> Blocks.of([None, ("a", "b", "c")]).among_variables(np.eye(3))
        array([[ 1., nan],
               [nan, nan]])
        """
        first, wide = self.offsets[:-1], self.widths > 1
        among = np.array(covariance[np.ix_(first, first)])
        among[wide, :] = among[:, wide] = np.nan
        return among

    def column_names(self, names: Sequence[Any]) -> list[Any]:
        """Return a name for each column: that of a number, ``variable=level`` for an indicator.

        Examples
        --------
        >>> from icid_rs.graph.blocks import Blocks
        >>> Blocks.of([("a", "b", "c"), None]).column_names(["kind", 7])
        ['kind=b', 'kind=c', 7]
        """
        named: list[Any] = []
        for name, own in zip(names, self.levels, strict=True):
            named.extend([name] if own is None else [f"{name}={level}" for level in own[1:]])
        return named

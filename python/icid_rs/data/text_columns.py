"""Columns of a text file: each is read as numbers unless its cells say otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, listed
from icid_rs.data.cells import Numerals
from icid_rs.data.columns import Column, Columns, Labels, Mixed, Numbers, number_of
from icid_rs.data.text import Chunk, TextOptions, TextTable, open_text

#: Distinct cells of a column whose meaning is remembered.
_REMEMBERED = 50_000
#: Distinct cells that a message shows.
_SHOWN = 5


def read_columns(
    path: str | os.PathLike[str], options: TextOptions, report: Callable[[int], object] = lambda size: None
) -> Columns:
    r"""Read a table from a text file.

    A first column without a name, which holds labels of rows, is left out.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs.data.text import TextOptions
    >>> from icid_rs.data.text_columns import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.csv")
    ...     with open(path, "w") as file:
    ...         print("size,kind", "1.5,a", "?,b", sep="\n", file=file)
    ...     size, kind = read_columns(path, TextOptions()).parts
    >>> size.values, kind.labels
    (array([1.5, nan]), ('a', 'b'))
    """
    with open_text(path, options, report) as table:
        kept = range(1 if table.has_labels else 0, table.width)
        names: list[Any] = [k if table.names is None else table.names[k] for k in kept]
        readers = [_ColumnReader(table.numerals, str(name) in options.labels) for name in names]
        for chunk in table.chunks:
            _add(readers, chunk, kept)
        parts = [reader.column() for reader in readers]
        if not parts or not len(parts[0]):
            raise ValueError(f"{table.path} has no rows below its header")
        return Columns(table.path, names, parts, is_named=table.names is not None)


def numeric_chunks(table: TextTable, kept: Sequence[int]) -> Iterator[FloatArray]:
    """Yield the chosen columns of a file in chunks of rows; raise where they hold other things than numbers."""
    for chunk in table.chunks:
        readers = [_ColumnReader(table.numerals) for _ in kept]
        _add(readers, chunk, kept)
        parts = [reader.column() for reader in readers]
        faults = [
            f"{k if table.names is None else table.names[k]!r} ({reader.first()})"
            for k, reader, part in zip(kept, readers, parts, strict=True)
            if not isinstance(part, Numbers)
        ]
        if faults:
            raise ValueError(
                f"{table.path}: column(s) {listed(faults)} are not numeric; choose others with columns=, or say which "
                "cells mean missing values with na="
            )
        yield np.column_stack([part.values for part in parts if isinstance(part, Numbers)])


def column_chunks(table: TextTable, kept: Sequence[int], labels: Sequence[str]) -> Iterator[Columns]:
    """Yield the chosen columns of a file in chunks of rows, of which some hold labels."""
    names: list[Any] = [k if table.names is None else table.names[k] for k in kept]
    for chunk in table.chunks:
        readers = [_ColumnReader(table.numerals, str(name) in labels) for name in names]
        _add(readers, chunk, kept)
        parts = [reader.column() for reader in readers]
        yield Columns(table.path, names, parts, is_named=table.names is not None)


def _add(readers: Sequence[_ColumnReader], chunk: Chunk, kept: Sequence[int]) -> None:
    if not (rows := chunk.rows):
        return
    if chunk.is_plain and not any(reader.place for reader in readers):
        plain = _plain_numbers(rows, kept, readers[0].numerals if readers else Numerals())
        if plain is not None:
            for k, reader in enumerate(readers):
                reader.values.append(plain[:, k].copy())
                reader.codes.append(None)
            return
    cells = list(zip(*rows, strict=True))
    for k, reader in zip(kept, readers, strict=True):
        reader.add(cells[k], chunk.lines)


def _plain_numbers(rows: list[list[str]], kept: Sequence[int], numerals: Numerals) -> FloatArray | None:
    """Return the numbers of rows that hold nothing but finite numbers as `float` reads them, otherwise None."""
    if numerals.decimal != ".":
        return None
    try:
        values: FloatArray = np.array(rows, dtype=np.float64)[:, kept]
    except ValueError:
        return None
    if not np.isfinite(values).all():
        return None
    if numerals.missing_numbers:
        values[np.isin(values, numerals.missing_numbers)] = nan
    return values


@dataclass(eq=False)
class _ColumnReader:
    """A column that is being read: the numbers in it, and the words."""

    numerals: Numerals
    #: Whether cells that look like numbers are labels if there are others.
    holds_labels: bool = False
    values: list[FloatArray] = field(default_factory=list)
    #: For each chunk the numbers of its words, −1 where there is none; None for a chunk without any.
    codes: list[NDArray[np.int32] | None] = field(default_factory=list)
    #: Numbers of the words, and the line where each occurs first.
    place: dict[Hashable, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    #: Number and code of cells that have been met.
    known: dict[str, tuple[float, int]] = field(default_factory=dict)

    def add(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Read some cells."""
        known = self.known
        read = [known.get(cell) or self._read(cell, line) for cell, line in zip(cells, lines, strict=True)]
        self.values.append(np.array([value for value, _ in read]))
        codes = np.array([code for _, code in read], dtype=np.int32)
        self.codes.append(codes if (codes != -1).any() else None)

    def _read(self, cell: str, line: int) -> tuple[float, int]:
        value = self.numerals.number(cell)
        if value is not None and abs(value) != inf:
            meaning = value, -1
        else:
            word = cell.strip()
            meaning = nan, number_of(self.place, word)
            if len(self.lines) < _SHOWN:
                self.lines.setdefault(word, line)
        if len(self.known) < _REMEMBERED:
            self.known[cell] = meaning
        return meaning

    def first(self) -> str:
        """Describe the first word, and where it is."""
        word, line = next(iter(self.lines.items()))
        return f"{word!r} in line {line}"

    def _is_of_other_decimal(self) -> bool:
        """Tell whether most words are numbers with the other decimal mark, which labels seldom are."""
        other = Numerals("," if self.numerals.decimal == "." else ".", self.numerals.missing)
        marked = sum(other.decimal in str(word) and other.is_number(str(word)) for word in self.place)
        return 2 * marked > len(self.place)

    def column(self) -> Column:
        """Return what has been read."""
        values = np.concatenate(self.values) if self.values else np.zeros(0)
        if not self.place:
            return Numbers(values)
        words = np.concatenate(
            [
                np.full(len(part), -1, dtype=np.int32) if codes is None else codes
                for part, codes in zip(self.values, self.codes, strict=True)
            ]
        )
        count, numbers = int((words != -1).sum()), int(np.isfinite(values).sum())
        if not self.holds_labels and (numbers >= count or self._is_of_other_decimal()):
            return Mixed(len(values), tuple(self.lines), count, next(iter(self.lines.values())))
        # Labels some of which look like numbers.
        codes = words.copy()
        for row in np.flatnonzero(np.isfinite(values)).tolist():
            codes[row] = number_of(self.place, f"{values[row]:.15g}")
        return Labels(codes, tuple(self.place)).in_order()

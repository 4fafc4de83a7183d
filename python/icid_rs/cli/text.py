"""Tables of numbers in text files, read with the line and the column of whatever is wrong in them."""

from __future__ import annotations

import codecs
import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TextIO

import numpy as np

from icid_rs._util.validation import FloatArray
from icid_rs.graph.variables import locate_all

_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
#: How files write that a value is missing, in lower case.
_MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "."}
#: Message about a missing value, and its remedy.
MISSING_VALUE = "the value is missing; fill it in, or say --missing drop or --missing pairwise"
#: Rows between two reports of progress.
_ROWS = 256


@dataclass(frozen=True)
class TextOptions:
    """How to read a text file; a delimiter of None is inferred from its first line."""

    delimiter: str | None = None
    header: Literal["auto", "yes", "no"] = "auto"
    drop: tuple[str, ...] = ()
    encoding: str = "utf-8-sig"
    #: Whether values may be missing.
    missing: bool = False


def read_text(
    path: str, options: TextOptions, report: Callable[[int], object] = lambda size: None
) -> tuple[FloatArray, list[Any] | None]:
    r"""Read a table.

    Parameters
    ----------
    path : str
        ``-`` is standard input.
    options : TextOptions
    report : callable
        Is told now and then how many bytes have been read.

    Returns
    -------
    values : numpy.ndarray of shape (n, d)
    names : list or None
        None without a header.

    Raises
    ------
    ValueError
        If the file is no table of numbers; the message says where.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs.cli.text import TextOptions, read_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.csv")
    ...     with open(path, "w") as file:
    ...         print("rain;wet", "1.5;2", sep="\n", file=file)
    ...     read_text(path, TextOptions())
    (array([[1.5, 2. ]]), ['rain', 'wet'])
    """
    try:
        codecs.lookup(options.encoding)
    except LookupError:
        raise ValueError(f"--encoding {options.encoding!r}: there is no such encoding") from None
    source = sys.stdin.fileno() if path == "-" else path
    with open(source, encoding=options.encoding, newline="", closefd=path != "-") as file:
        try:
            return _Reader("standard input" if path == "-" else path, file, options, report).table()
        except UnicodeDecodeError as error:
            raise ValueError(_undecodable(path, options.encoding, error)) from None


def _checked_lines(path: str, first: int, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a file, numbered from `first`; raise at a zero byte."""
    for number, line in enumerate(lines, first):
        if "\0" in line:
            raise ValueError(f"{path}, line {number}: it holds zero bytes; this is no text file")
        yield line


class _Reader:
    def __init__(self, path: str, file: TextIO, options: TextOptions, report: Callable[[int], object]) -> None:
        self.path, self.file, self.options, self.report = path, file.buffer, options, report
        self.blank_lines, first = next(((k, line) for k, line in enumerate(file) if line.strip()), (0, None))
        if first is None:
            raise ValueError(f"{path} is empty")
        lines = _checked_lines(path, self.blank_lines + 1, chain([first], file))
        delimiter = _delimiter(path, options.delimiter, first)
        self.rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ", strict=True)

    @property
    def line(self) -> str:
        """The file and the number of the line read last, for messages."""
        return f"{self.path}, line {self.blank_lines + self.rows.line_num}"

    def table(self) -> tuple[FloatArray, list[Any] | None]:
        try:
            first = next(self.rows)
            header = first if self._is_header(first) else None
            self.labels: list[Any] = list(range(len(first))) if header is None else header
            kept = self._kept(header)
            names = [self.labels[k] for k in kept]
            values = list(self._values(first if header is None else None, kept))
        except csv.Error as error:
            raise ValueError(f"{self.line}: {error}") from None
        if not values:
            raise ValueError(f"{self.path} has no rows below its header")
        return np.stack(values), None if header is None and len(kept) == len(first) else names

    def _is_header(self, cells: list[str]) -> bool:
        if self.options.header != "auto":
            return self.options.header == "yes"
        if any(not _is_number(cell) and cell.strip().lower() not in _MISSING for cell in cells):
            return True
        # Other programs number columns without names: 0, 1, 2, …, after an empty cell or without one.
        numbered = cells[1:] if not cells[0].strip() else cells
        counted = [cell.strip() for cell in numbered] == [str(k) for k in range(len(numbered))]
        return counted and len(cells) > 2

    def _kept(self, header: list[str] | None) -> list[int]:
        """Check the names; return the columns that are neither dropped nor labels of rows."""
        dropped = set[int]()
        if header is not None:
            unnamed = [k for k, name in enumerate(header) if not name.strip()]
            # A column without a name in front holds labels of the rows, as pandas and R write them.
            if unnamed == [0] and len(header) > 1:
                dropped.add(0)
            elif unnamed:
                raise ValueError(f"{self.line}: column {unnamed[0] + 1} has no name")
            place: dict[str, int] = {}
            for k, name in enumerate(header):
                first = place.setdefault(name, k)
                if first != k:
                    both = f"columns {first + 1} and {k + 1} are both named {name!r}"
                    raise ValueError(f"{self.line}: {both}; rename one of them")
        kept = kept_columns(self.path, self.labels, self.options.drop)
        return [k for k in kept if k not in dropped]

    def _values(self, first: list[str] | None, kept: list[int]) -> Iterator[FloatArray]:
        width, everything = len(self.labels), len(kept) == len(self.labels)
        for count, row in enumerate(self.rows if first is None else chain([first], self.rows)):
            if not row:
                continue
            if len(row) != width:
                raise ValueError(f"{self.line}: there are {len(row)} cells, but {width} in the first line")
            cells = row if everything else [row[k] for k in kept]
            if self.options.missing:
                cells = ["nan" if cell.strip().lower() in _MISSING else cell for cell in cells]
            try:
                values = np.fromiter(map(float, cells), np.float64, len(cells))
            except ValueError:
                self._check(cells, kept)
                raise
            # Python reads 1_2 as 12.
            if not np.isfinite(values).all() or "_" in "".join(cells):
                self._check(cells, kept)
            yield values
            if count % _ROWS == 0 and self.file.seekable():
                self.report(self.file.tell())

    def _check(self, cells: list[str], kept: list[int]) -> None:
        """Name the first cell that holds no finite number."""
        for k, cell in zip(kept, cells, strict=True):
            where = f"{self.line}, column {self.labels[k]!r}"
            if cell.strip().lower() in _MISSING:
                if self.options.missing:
                    continue
                raise ValueError(f"{where}: {MISSING_VALUE}")
            if not _is_number(cell):
                hint = "write it with a decimal point" if _is_number(cell.replace(",", ".", 1)) else ""
                hint = hint or f"if this is no variable, leave it out with --drop {self.labels[k]!r}"
                raise ValueError(f"{where}: {cell!r} is not a number; {hint}")
            if not np.isfinite(float(cell)):
                raise ValueError(f"{where}: {cell!r} is not finite; drop the row or fill it in")


def kept_columns(path: str, labels: list[Any], drop: tuple[str, ...]) -> list[int]:
    """Return the places of the columns that are left.

    Examples
    --------
    >>> from icid_rs.cli.text import kept_columns
    >>> kept_columns("table.csv", ["id", "rain"], ("id",))
    [1]
    """
    numbered = any(isinstance(label, int) for label in labels)
    try:
        dropped = set(locate_all([int(name) if numbered and name.isdecimal() else name for name in drop], labels))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    kept = [k for k in range(len(labels)) if k not in dropped]
    if not kept:
        raise ValueError(f"{path}: no column is left")
    return kept


def _delimiter(path: str, chosen: str | None, line: str) -> str:
    if chosen is not None:
        delimiter = _DELIMITERS.get(chosen, chosen)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise ValueError(f"--delimiter {chosen!r}: it must be one character, or one of {', '.join(_DELIMITERS)}")
        return delimiter
    if path.lower().endswith((".tsv", ".tab")):
        return "\t"
    # The delimiter that splits the first line into most cells; a comma if none does.
    return max((",", ";", "\t", "|"), key=lambda mark: _count_cells(line, mark))


def _count_cells(line: str, mark: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=mark)))
    except csv.Error:
        # Without the delimiter a long line is one cell, which may exceed the limit of the csv module.
        return 1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _undecodable(path: str, encoding: str, error: UnicodeDecodeError) -> str:
    name, where = ("UTF-8" if encoding == "utf-8-sig" else encoding), "standard input"
    if path != "-":
        with open(path, "rb") as file:
            number = 1
            for number, line in enumerate(file, 1):  # noqa: B007
                try:
                    line.decode(encoding)
                except UnicodeDecodeError:
                    break
        where = f"{path}, line {number}"
    byte = error.object[error.start]
    return f"{where}: byte 0x{byte:02x} is no {name} text; name the encoding with --encoding, such as latin-1 or utf-16"

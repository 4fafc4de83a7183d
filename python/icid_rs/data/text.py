"""The one reader of delimited text: for the command line and for `Moments.read`, strict and without other libraries.

Whatever is wrong with the form of a file (rows of another length than the first, names that occur twice, quotes that
are not closed, bytes that are no text) raises an error that names the line. Nothing is cut, filled up or renamed.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from icid_rs._util.validation import listed
from icid_rs.data.cells import Numerals, find_decimal, missing_cells
from icid_rs.data.dialect import has_header, infer_delimiter, parsed, spaced
from icid_rs.data.ragged import Widths
from icid_rs.data.text_lines import Bounded, Lines

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
#: Compressed files by suffix.
_OPEN: dict[str, Callable[[Any], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSED = tuple(_OPEN)
#: Encodings that a file names itself, by the bytes that it begins with.
_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"} | dict.fromkeys(
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"
)
#: Cells that are read at a time.
_CHUNK_CELLS = 1 << 18


@dataclass(frozen=True)
class TextOptions:
    """How to read a text file; what is None is inferred from its first lines.

    Attributes
    ----------
    delimiter : str, optional
        One character, or a name of `DELIMITERS`.
    header : {"auto", "yes", "no"}
        Whether the first line holds the names of the columns.
    encoding : str
    decimal : {".", ","}, optional
    na : tuple of str
        Cells that mean a missing value, besides the usual ones.
    labels : tuple of str
        Columns that hold labels, even if most of these look like numbers.
    skip : tuple of int
        Numbers of lines that are no part of the table, from 1.
    row_names : bool
        Whether the first column holds names of rows, for which the header may have no cell.
    """

    delimiter: str | None = None
    header: Literal["auto", "yes", "no"] = "auto"
    encoding: str = "utf-8-sig"
    decimal: str | None = None
    na: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    skip: tuple[int, ...] = ()
    row_names: bool = False


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file, cells as text, and the line where each row begins."""

    rows: list[list[str]]
    lines: list[int]
    #: Whether `float` reads its numbers as `Numerals` with a decimal point does, where it does not fail.
    is_plain: bool


@dataclass(frozen=True)
class TextTable:
    """An open text file: its columns, how its numbers are written, and its rows in chunks.

    Attributes
    ----------
    path : str
        For messages.
    names : list of str or None
        None without a header.
    width : int
        Number of columns.
    has_labels : bool
        Whether the first column, which has no name, holds labels of rows.
    numerals : Numerals
    chunks : iterator of Chunk
    """

    path: str
    names: list[str] | None
    width: int
    has_labels: bool
    numerals: Numerals
    chunks: Iterator[Chunk]


@contextmanager
def open_text(
    path: str | os.PathLike[str], options: TextOptions, report: Callable[[int], object] = lambda size: None
) -> Iterator[TextTable]:
    r"""Open a table in a text file, which may be compressed; ``-`` is standard input.

    Parameters
    ----------
    path : str or path
    options : TextOptions
    report : callable
        Is told now and then how many bytes have been read.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs.data.text import TextOptions, open_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.csv")
    ...     with open(path, "w") as file:
    ...         print("rain;wet", "1,5;2", sep="\n", file=file)
    ...     with open_text(path, TextOptions()) as table:
    ...         table.names, table.numerals.decimal, next(table.chunks).rows
    (['rain', 'wet'], ',', [['1,5', '2']])
    """
    path = str(path)
    with open_lines(path, options, report) as lines:
        yield _table(lines, options)


@contextmanager
def open_lines(path: str, options: TextOptions, report: Callable[[int], object] = lambda size: None) -> Iterator[Lines]:
    """Open the lines of a text file, which may be compressed, and may name its encoding by a byte order mark."""
    try:
        codecs.lookup(options.encoding)
    except LookupError:
        raise ValueError(f"--encoding {options.encoding!r}: there is no such encoding") from None
    shown = "standard input" if path == "-" else path
    suffix = Path(path).suffix.lower()
    with open(sys.stdin.fileno() if path == "-" else path, "rb", closefd=path != "-") as raw:
        stream = io.BufferedReader(Bounded(_OPEN[suffix](raw), shown, raw)) if suffix in _OPEN else raw
        encoding = options.encoding
        if encoding == TextOptions.encoding:
            begin = stream.peek(4)
            encoding = next((name for mark, name in _MARKS.items() if begin.startswith(mark)), encoding)
        with io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
            yield Lines(text, shown, encoding, raw, report, frozenset(options.skip))


def _table(lines: Lines, options: TextOptions) -> TextTable:
    """Infer the form of a file from its first lines."""
    sample = lines.sample()
    delimiter = _delimiter(options.delimiter) or infer_delimiter(sample)
    cells = parsed(sample, delimiter)
    numerals = _numerals(lines.path, options, cells, delimiter)
    records = _records(lines, delimiter)
    try:
        start, first = next(records)
    except StopIteration:
        raise ValueError(f"{lines.path} is empty") from None
    header = (
        first
        if _is_header(lines, options, cells or [first], numerals)
        else _commented(lines, first, numerals, delimiter)
    )
    if header is not first:
        records = chain([(start, first)], records)
    if options.row_names and header is not None and any(len(row) == len(header) + 1 for row in cells[1:2]):
        header = ["", *header]
    width = len(header or first)
    trailing = _trailing(cells or [first], width)
    chunks = _chunks(lines, records, Widths(lines.path, start, width), trailing)
    if header is None:
        return TextTable(lines.path, None, width - trailing, options.row_names, numerals, chunks)
    names = [name.strip() for name in header[: width - trailing]]
    has_labels = options.row_names or (len(names) > 1 and not names[0] and all(names[1:]))
    remedy = f"rename them, or say --skip {start}, with --header no to number the columns"
    check_names(f"{lines.path}, line {start}", names, has_labels, remedy)
    return TextTable(lines.path, names, len(names), has_labels, numerals, chunks)


def _trailing(rows: list[list[str]], width: int) -> int:
    """Count empty columns at the end, which programs make that end lines with delimiters."""
    count = 0
    while count < width - 1 and all(len(row) == width and not row[width - 1 - count].strip() for row in rows):
        count += 1
    return count


def _delimiter(chosen: str | None) -> str | None:
    if chosen is None:
        return None
    delimiter = DELIMITERS.get(chosen, chosen)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f"--delimiter {chosen!r}: it must be one character, or one of {', '.join(DELIMITERS)}")
    return delimiter


def _numerals(path: str, options: TextOptions, rows: list[list[str]], delimiter: str) -> Numerals:
    decimal = options.decimal or find_decimal(chain.from_iterable(rows[1:]), delimiter)
    if decimal is None:
        cell = next(cell for row in rows[1:] for cell in row if "," in cell)
        raise ValueError(
            f"{path}: the comma in {cell!r} may be a decimal mark or separate thousands; say --decimal , or --decimal ."
        )
    if decimal not in (".", ","):
        raise ValueError(f"the decimal mark {decimal!r} must be a point or a comma")
    return Numerals(decimal, missing_cells(options.na))


def _records(lines: Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank, with the number of the line where it begins."""
    source: Iterator[str] = iter(lines)
    if delimiter == " ":
        source = map(spaced, source)
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True)
    before = lines.start - 1
    while True:
        start = before + reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = "a quote is opened that is not closed" if "unexpected end" in str(error) else str(error)
            raise ValueError(f"{lines.path}, line {start}: {fault}") from None
        if row:
            yield start, row


def _is_header(lines: Lines, options: TextOptions, rows: list[list[str]], numerals: Numerals) -> bool:
    decided = has_header(rows, numerals) if options.header == "auto" else options.header == "yes"
    if decided is None:
        raise ValueError(
            f"{lines.path}, line {lines.start}: this line may hold names or values; say --header yes or --header no"
        )
    return decided


def _commented(lines: Lines, first: list[str], numerals: Numerals, delimiter: str) -> list[str] | None:
    """Return the names in a comment above the first row, as NumPy writes them, or None."""
    if lines.comment is None:
        return None
    rows = parsed([lines.comment.lstrip()], delimiter)
    is_named = bool(rows) and len(rows[0]) == len(first) > 1 and not any(map(numerals.is_number, rows[0]))
    return rows[0] if is_named else None


def check_names(place: str, names: list[str], has_labels: bool, remedy: str = "rename them") -> None:
    """Raise if columns have no name, or the same name; the first may have none if it holds labels of rows."""
    faults = [f"column {k + 1} has no name" for k in range(has_labels, len(names)) if not names[k]]
    places: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        if name:
            places.setdefault(name, []).append(k + 1)
    faults += [
        f"columns {' and '.join(map(str, where))} are {'both' if len(where) == 2 else 'all'} named {name!r}"
        for name, where in places.items()
        if len(where) > 1
    ]
    if faults:
        raise ValueError(f"{place}: {listed(faults)}; {remedy}")


def _chunks(lines: Lines, records: Iterator[tuple[int, list[str]]], widths: Widths, trailing: int) -> Iterator[Chunk]:
    """Yield the rows in chunks; raise at the end if some were of another length."""
    width = widths.width
    most = max(1, _CHUNK_CELLS // width)
    is_over = False
    while not is_over:
        numbers, rows, is_over = [], [], True
        for number, row in islice(records, most):
            is_over = False
            if len(row) != width:
                if not row[0].startswith("#"):
                    widths.add([number], len(row))
                continue
            if trailing:
                if any(cell.strip() for cell in row[width - trailing :]):
                    raise ValueError(f"{lines.path}, line {number}: the last cell is in a column without a name")
                del row[width - trailing :]
            numbers.append(number)
            rows.append(row)
        widths.add(numbers, width)
        if lines.raw.seekable():
            lines.report(lines.raw.tell())
        if rows:
            yield Chunk(rows, numbers, lines.is_plain)
        lines.is_plain = True
    if message := widths.message():
        raise ValueError(message)

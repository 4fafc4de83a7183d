"""The form of a text file, inferred from its first lines: delimiter, header, decimal mark."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress

from icid_rs.data.cells import Numerals

#: Delimiters that are looked for; of those that split all lines into equally many cells, the first is taken. A comma
#: may be a decimal mark, and a space is part of many texts.
_DELIMITERS = ("\t", ";", "|", ",", " ")


def infer_delimiter(lines: Sequence[str]) -> str:
    r"""Return the delimiter of some lines.

    It is the one that splits all of them into the same number of cells, more than one; if there is none, the one that
    splits the first line into most cells, so that a ragged row is reported as such.

    Examples
    --------
    >>> from icid_rs.data.dialect import infer_delimiter
    >>> infer_delimiter(["a;b\n", "1,5;2,5\n"]), infer_delimiter(["x y\n", "1  2\n"]), infer_delimiter(["a\n", "1\n"])
    (';', ' ', ',')
    """
    widths = {mark: [len(row) for row in parsed(lines, mark)] for mark in _DELIMITERS}
    for mark, counts in widths.items():
        if counts and counts[0] > 1 and len(set(counts)) == 1:
            return mark
    for mark, counts in widths.items():
        # R leaves out the name of the column that holds the names of rows.
        if len(counts) > 2 and counts[0] > 1 and set(counts[1:]) == {counts[0] + 1}:
            return mark
    # A space would split the names of a header that another delimiter splits as well.
    found = {mark: counts[0] for mark, counts in widths.items() if counts and counts[0] > 1 and mark != " "}
    return max(found, key=lambda mark: found[mark]) if found else ","


def parsed(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    r"""Split lines into cells as far as they can be, without blank lines and comments.

    The last record is left out if a quote is still open at its end, because the lines are only the first of a file.

    Examples
    --------
    >>> from icid_rs.data.dialect import parsed
    >>> parsed(["a,b\n", "# seen twice\n", "1,2\n"], ",")
    [['a', 'b'], ['1', '2']]
    """
    rows: list[list[str]] = []
    reader = csv.reader(stripped(lines, delimiter), delimiter=delimiter, skipinitialspace=True, strict=True)
    # Of errors the reader of the whole file will say where and why.
    with suppress(csv.Error):
        rows.extend(row for row in reader if row and not row[0].startswith("#"))
    return rows


def stripped(lines: Sequence[str], delimiter: str) -> Sequence[str]:
    """Return the lines without spaces at their ends, if these would be delimiters."""
    return [line.strip(" \r\n") for line in lines] if delimiter == " " else lines


def has_header(rows: Sequence[Sequence[str]], numerals: Numerals) -> bool | None:
    """Tell whether the first row holds names; None if it may hold either.

    It does if it has no number, or a text above numbers. It does not if all its cells are numbers or missing, or if one
    of its texts occurs again below.

    Examples
    --------
    >>> from icid_rs.data.cells import Numerals
    >>> from icid_rs.data.dialect import has_header
    >>> has_header([["sex", "rings"], ["M", "15"]], Numerals()), has_header([["1", "2"], ["3", "4"]], Numerals())
    (True, False)
    >>> has_header([["M", "15"], ["F", "9"], ["M", "7"]], Numerals())
    False
    >>> has_header([["country", "1990"], ["Peru", "2.5"]], Numerals())
    """
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    texts = [k for k, cell in enumerate(first) if numerals.number(cell) is None]
    if not texts:
        return _is_count(first)
    if any(_are_numbers([row[k] for row in below], numerals) for k in texts):
        return True
    if any(first[k] in {row[k] for row in below} for k in texts):
        return False
    numbers = len(first) - len(texts) - sum(map(numerals.is_missing, first))
    return True if not numbers or not below else None


def _are_numbers(cells: Sequence[str], numerals: Numerals) -> bool:
    """Tell whether most of the cells that are not missing are numbers, and there are any."""
    present = [numerals.is_number(cell) for cell in cells if not numerals.is_missing(cell)]
    return sum(present) > len(present) / 2


def _is_count(cells: Sequence[str]) -> bool:
    """Tell whether cells hold 0, 1, 2, …, after an empty one or not, as other programs number columns."""
    numbered = [cell.strip() for cell in (cells if cells[0].strip() else cells[1:])]
    return numbered == [str(k) for k in range(len(numbered))] and len(cells) > 2

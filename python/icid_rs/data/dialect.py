"""The form of a text file, inferred from its first lines: delimiter, header, decimal mark."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from icid_rs.data.cells import Numerals

#: Delimiters that are looked for; of those that split all lines into equally many cells, the first is taken. A comma
#: may be a decimal mark, and a space, which stands for any spaces and tabs, is part of many texts.
_DELIMITERS = ("\t", ";", "|", ",", " ")


def infer_delimiter(lines: Sequence[str]) -> str:
    r"""Return the delimiter of some lines.

    It is the one that splits all of them into the same number of cells, more than one; if there is none, the one that
    does so with most lines, so that the others are reported as such.

    Examples
    --------
    >>> from icid_rs.data.dialect import infer_delimiter
    >>> infer_delimiter(["a;b\n", "1,5;2,5\n"]), infer_delimiter(["x y\n", "1  2\n"]), infer_delimiter(["a\n", "1\n"])
    (';', ' ', ',')
    """
    rows = {mark: parsed(lines, mark) for mark in _DELIMITERS}
    widths = {mark: [len(row) for row in own] for mark, own in rows.items()}
    even = [mark for mark, counts in widths.items() if counts and counts[0] > 1 and len(set(counts)) == 1]
    for mark in even:
        # Columns that are aligned with spaces may have a tab before the last one.
        if mark == " " or " " not in even or not _hold_several_numbers(rows[mark]):
            return mark
    for mark, counts in widths.items():
        # R leaves out the name of the column that holds the names of rows.
        if len(counts) > 2 and counts[0] > 1 and set(counts[1:]) == {counts[0] + 1}:
            return mark
    # A space would split the names of a header that another delimiter splits as well.
    found = {mark: width for mark, counts in widths.items() if mark != " " and (width := _common(counts))[1] > 1}
    return max(found, key=lambda mark: found[mark]) if found else ","


def _common(counts: Sequence[int]) -> tuple[int, int]:
    """Return how many lines have the commonest number of cells, and this number."""
    width, lines = Counter(counts).most_common(1)[0] if counts else (0, 0)
    return lines, width


def _hold_several_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether cells of some column hold several numbers each, as no column does."""
    numerals = Numerals()

    def several(cell: str) -> bool:
        parts = cell.split()
        return (
            len(parts) > 1 and not numerals.is_number(cell) and all(numerals.number(part) is not None for part in parts)
        )

    return any(2 * sum(map(several, column)) > len(column) for column in zip(*rows, strict=True))


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
    """Return the lines without spaces at their ends, and with spaces for tabs, if these would be delimiters."""
    return [spaced(line) for line in lines] if delimiter == " " else lines


def spaced(line: str) -> str:
    r"""Return a line that is delimited by spaces or tabs as one delimited by spaces.

    Examples
    --------
    >>> from icid_rs.data.dialect import spaced
    >>> spaced("  1.5\t2\n")
    '1.5 2'
    """
    return line.strip(" \t\r\n").replace("\t", " ")


def has_header(rows: Sequence[Sequence[str]], numerals: Numerals) -> bool | None:
    """Tell whether the first row holds names; None if it may hold either.

    It does if it has no number, or a text above numbers. It does not if all its cells are numbers or missing, if one of
    its texts occurs again below, or if its numbers are no names, such as years: whole and different from each other.

    Examples
    --------
    >>> from icid_rs.data.cells import Numerals
    >>> from icid_rs.data.dialect import has_header
    >>> has_header([["sex", "rings"], ["M", "15"]], Numerals()), has_header([["1", "2"], ["3", "4"]], Numerals())
    (True, False)
    >>> has_header([["M", "15"], ["F", "9"], ["M", "7"]], Numerals())
    False
    >>> has_header([["Peru", "2.5"], ["Cuba", "3"]], Numerals())
    False
    >>> has_header([["land", "1990"], ["Peru", "3"]], Numerals())
    """
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    texts = [k for k, cell in enumerate(first) if numerals.number(cell) is None]
    if not texts:
        return _is_count(first)
    if any(_are_numbers([row[k] for row in below], numerals) for k in texts):
        return True
    if any(first[k] in {row[k] for row in below} for k in texts):
        return False
    numbers = [cell.strip() for cell in first if numerals.is_number(cell)]
    if not numbers or not below:
        return True
    may_be_names = len(set(numbers)) == len(numbers) and all(map(str.isdecimal, numbers))
    return None if may_be_names else False


def _are_numbers(cells: Sequence[str], numerals: Numerals) -> bool:
    """Tell whether most of the cells that are not missing are numbers, and there are any."""
    present = [numerals.is_number(cell) for cell in cells if not numerals.is_missing(cell)]
    return sum(present) > len(present) / 2


def _is_count(cells: Sequence[str]) -> bool:
    """Tell whether cells hold 0, 1, 2, …, after an empty one or not, as other programs number columns."""
    numbered = [cell.strip() for cell in (cells if cells[0].strip() else cells[1:])]
    return numbered == [str(k) for k in range(len(numbered))] and len(cells) > 2

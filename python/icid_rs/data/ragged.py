"""Rows of a text file that have another number of cells than the others: all of them, in one message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from icid_rs._util.validation import listed

#: Lines of each length that are remembered, and ranges of lines that a message names.
_REMEMBERED, _SHOWN = 1000, 8


@dataclass
class Widths:
    """How many cells the rows of a file have, and in which lines.

    Attributes
    ----------
    path : str
    start, width : int
        Line and number of cells of the first row.

    Examples
    --------
    >>> from icid_rs.data.ragged import Widths
    >>> widths = Widths("rain.csv", 1, 2)
    >>> widths.add([2, 3, 5], 2)
    >>> widths.message() is None
    True
    >>> widths.add([4], 1)
    >>> widths.message()
    'rain.csv, line 4: there are 1 cells, but 2 in the first line; if line 4 is no row of the table, say --skip 4'
    """

    path: str
    start: int
    width: int
    counts: Counter[int] = field(default_factory=Counter)
    lines: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.add([self.start], self.width)

    def add(self, lines: Sequence[int], width: int) -> None:
        """Count rows of one length."""
        self.counts[width] += len(lines)
        known = self.lines.setdefault(width, [])
        known.extend(lines[: _REMEMBERED - len(known)])

    def message(self) -> str | None:
        """Say which rows have another length than the table; None if there are none."""
        if len(self.counts) == 1:
            return None
        common = self.counts.most_common(1)[0][0]
        if self.counts[self.width] == 1 and common == self.width + 1:
            line = self.lines[common][0]
            return (
                f"{self.path}, line {line}: there are {common} cells, but {self.width} in the first line; if the first "
                "column holds the names of rows, give it a name or say --row-names"
            )
        is_preamble = common > self.width and self.counts[common] > self.counts[self.width]
        right, where = (common, "most lines") if is_preamble else (self.width, "the first line")
        strange = sorted({(line, width) for width, own in self.lines.items() if width != right for line in own})
        line, width = strange[0]
        ranges = line_ranges(line for line, _ in strange)
        text = f"{self.path}, line {line}: there are {width} cells, but {right} in {where}"
        if len(ranges) > _SHOWN or len(strange) >= _REMEMBERED:
            return f"{text}; others are {_lines(ranges[1:])}"
        verb = "is no row" if len(strange) == 1 else "are no rows"
        return f"{text}; if {_lines(ranges)} {verb} of the table, say --skip {','.join(ranges)}"


def _lines(ranges: Sequence[str]) -> str:
    plural = len(ranges) > 1 or "-" in ranges[0]
    return f"line{'s' if plural else ''} {listed(list(ranges), _SHOWN)}"


def line_ranges(lines: Iterable[int]) -> list[str]:
    """Return numbers in ascending order as ranges, which `parse_lines` reads.

    Examples
    --------
    >>> from icid_rs.data.ragged import line_ranges, parse_lines
    >>> line_ranges([1, 2, 3, 302]), parse_lines("1-3,302")
    (['1-3', '302'], [1, 2, 3, 302])
    """
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return [str(first) if first == last else f"{first}-{last}" for first, last in found]


def parse_lines(text: str) -> list[int]:
    """Return the numbers of lines such as ``1-3,302``; raise for anything else.

    Examples
    --------
    >>> from icid_rs.data.ragged import parse_lines
    >>> parse_lines("2")
    [2]
    """
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not (first.isdecimal() and (last or first).isdecimal() and 1 <= int(first) <= int(last or first) < 1 << 20):
            raise ValueError(f"--skip {text!r}: name lines by their numbers from 1, such as 2 or 1-3,302")
        numbers += range(int(first), int(last or first) + 1)
    return numbers

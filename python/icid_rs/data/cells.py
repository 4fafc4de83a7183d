"""Numbers as people write them in cells of text: decimal marks, thousands separators, percent signs, missing values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, nan

#: How files write that a value is missing, in lower case.
MISSING = frozenset(
    (
        "",
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "#na",
        "<na>",
        "nan",
        "-nan",
        "+nan",
        "1.#qnan",
        "-1.#ind",
        "null",
        "\\n",
        "#null!",
        "none",
        "nil",
        "missing",
        "?",
        ".",
        "..",
        ":",
        "*",
        "-",
        "--",
    )
)
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
#: Infinities, which are numbers that no table may hold.
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
#: A number whose whole part is grouped by threes. The mark may be a comma, a point, an apostrophe or a thin space.
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:([.,'\u2019\u00a0\u202f ])[0-9]{3})(?:\1[0-9]{3})*(?![0-9])")
#: A comma between digits that cannot separate thousands.
_DECIMAL_COMMA = re.compile(r"[+-]?(?:0+|[0-9]*),[0-9]+(?:[eE][+-]?[0-9]+)?|[+-]?[0-9]+(?:\.[0-9]{3})+,[0-9]+")
#: Signs of currencies before or after an amount.
_CURRENCY = "$€£¥"
_SIGNS = str.maketrans({"\u2212": "-", "\u00a0": " ", "\u202f": " "})


@dataclass(frozen=True)
class Numerals:
    """How the numbers of a file are written.

    Attributes
    ----------
    decimal : {".", ","}
    missing : frozenset of str
        Cells that mean a missing value, in lower case and without space around them.

    Examples
    --------
    >>> from icid_rs.data.cells import Numerals
    >>> english, german = Numerals("."), Numerals(",")
    >>> english.number("1,234.5"), german.number("1.234,5"), english.number("12 %")
    (1234.5, 1234.5, 12.0)
    >>> english.number("4,5"), english.number("much"), english.number("NA")
    (None, None, nan)
    """

    decimal: str = "."
    missing: frozenset[str] = field(default=MISSING)

    @cached_property
    def missing_numbers(self) -> tuple[float, ...]:
        """Numbers that mean a missing value, however they are written: -999 is also -999.0."""
        own = Numerals(self.decimal)
        values = [own.number(cell) for cell in self.missing - MISSING]
        return tuple(value for value in values if value is not None and isfinite(value))

    def number(self, cell: str) -> float | None:
        """Return the number in a cell, NaN if it is missing, and None if the cell holds something else.

        A number with a percent sign counts as it is shown, in percent, and the sign of a currency does not count. The
        result may be infinite.
        """
        text = cell.strip()
        if text.lower() in self.missing:
            return nan
        text = text.translate(_SIGNS)
        if text.endswith("%"):
            text = text[:-1].rstrip()
        elif text and (text[-1] in _CURRENCY or text.lstrip("+-")[:1] in set(_CURRENCY)):
            text = _without_currency(text)
        if _INFINITE.fullmatch(text):
            return float(text)
        thousands = "," if self.decimal == "." else "."
        grouped = _GROUPED.match(text)
        if grouped and grouped[1] != self.decimal:
            text = text[: grouped.end()].replace(grouped[1], "") + text[grouped.end() :]
        if thousands in text:
            return None
        text = text.replace(self.decimal, ".")
        if not _PLAIN.fullmatch(text):
            return None
        value = float(text)
        return nan if value in self.missing_numbers else value

    def is_missing(self, cell: str) -> bool:
        """Tell whether a cell means a missing value."""
        return cell.strip().lower() in self.missing

    def is_number(self, cell: str) -> bool:
        """Tell whether a cell holds a finite number."""
        value = self.number(cell)
        return value is not None and isfinite(value)


def _without_currency(text: str) -> str:
    """Take one sign of a currency away."""
    if text[-1] in _CURRENCY:
        return text[:-1].rstrip()
    sign = text[:1] if text[:1] in "+-" else ""
    return sign + text[len(sign) + 1 :].lstrip()


def missing_cells(more: Iterable[str] = ()) -> frozenset[str]:
    """Return the cells that mean a missing value: the usual ones, and more.

    Examples
    --------
    >>> from icid_rs.data.cells import missing_cells
    >>> "-999" in missing_cells(["-999"]), "na" in missing_cells()
    (True, True)
    """
    return MISSING | {cell.strip().lower() for cell in more}


def find_decimal(cells: Iterable[str], delimiter: str) -> str | None:
    """Return the decimal mark of a file from some of its cells; None if they do not tell.

    A comma is one if it stands where no thousands end, or where the delimiter is a semicolon, which is common because
    the comma is taken. A point elsewhere in the file speaks against it.

    Examples
    --------
    >>> from icid_rs.data.cells import find_decimal
    >>> find_decimal(["1,5", "2,25"], ";"), find_decimal(["1,234", "2.5"], ";"), find_decimal(["1,234"], ";")
    (',', '.', None)
    """
    points, commas, either = _marks(cells)
    if commas and not points:
        return ","
    if points or not either:
        return "."
    # In a file with another delimiter than the semicolon, commas in English numbers are quoted or harmless.
    return None if delimiter == ";" else "."


def _marks(cells: Iterable[str]) -> tuple[int, int, int]:
    """Count cells with a decimal point, with a decimal comma, and with a comma that may be either."""
    points = commas = either = 0
    english = Numerals(".")
    for cell in cells:
        text = cell.strip().translate(_SIGNS).strip(f"% {_CURRENCY}")
        if "." in text and english.number(text) is not None and not english.is_missing(text):
            # 1.234 may be a thousand in a file with decimal commas.
            points += not (_GROUPED.fullmatch(text) and text.count(".") == 1 and len(text.partition(".")[2]) == 3)
        elif "," in text:
            grouped = _GROUPED.fullmatch(text)
            if grouped and text.count(",") > 1:
                points += 1
            elif grouped:
                either += 1
            elif _DECIMAL_COMMA.fullmatch(text):
                commas += 1
    return points, commas, either

"""Covariance matrices in files, as Tetrad and others write them, and background knowledge of Tetrad."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, permutations
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from icid_rs.data.cells import Numerals
from icid_rs.data.columns import Columns, Numbers
from icid_rs.data.moments import Moments
from icid_rs.data.text import TextOptions, open_lines
from icid_rs.data.text_lines import Lines

#: Text files of this kind are small; whatever is larger is something else.
_LARGEST = 1 << 28
_SECTIONS = ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup")
_TIER = re.compile(r"(?P<number>[0-9]+)(?P<mark>\*?)(?P<rest>\s.*)?")


#: What the first line of a covariance file may say.
_TITLE = re.compile(r"/(?:covariance|correlation)", re.IGNORECASE)
_BETWEEN = re.compile(r" *[,;\t] *| +")
_PLAIN = Numerals(missing=frozenset())


def is_covariance(path: str | PathLike[str], options: TextOptions) -> bool:
    """Tell whether a file holds a covariance matrix: it has its title, or names above the rows of a triangle."""
    with open_lines(str(path), options) as opened:
        lines = (_cells(line) for _, line in _significant(opened))
        head = list(islice(lines, 2))
        if len(head) < 2 or _TITLE.match(head[0][0]):
            return len(head) == 2
        is_sized = len(head[0]) == 1 and _size(head[0][0]) is not None
        names = head[is_sized]
        d = len(names)
        if d < 2 or any(map(_PLAIN.is_number, names)):
            return False
        rows = [*head[1 + is_sized :], *islice(lines, d)]
    entries = [row[1:] if row[0] == name and len(row) > 1 else row for name, row in zip(names, rows, strict=False)]
    lengths = [len(row) for row in entries]
    has_form = lengths == [*range(1, d + 1)] or (is_sized and lengths == [d] * d)
    return len(rows) == d and has_form and all(_PLAIN.is_number(cell) for row in entries for cell in row)


def read_covariance(path: str | PathLike[str], options: TextOptions | None = None, size: int | None = None) -> Moments:
    r"""Read a covariance or correlation matrix.

    The first line is ``/covariance`` and the second the number of rows, unless they are left out; then come the names,
    and the rows of the lower triangle or of the whole matrix, with their names or without. `size` is the number of rows
    where the file does not tell it.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs.data.tetrad import read_covariance
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "known.cov")
    ...     with open(path, "w") as file:
    ...         print("/covariance", "100", "a b", "2.0", "1.0 3.0", sep="\n", file=file)
    ...     read_covariance(path).covariance
    array([[2., 1.],
           [1., 3.]])
    """
    lines = list(_lines(path, options))
    if _TITLE.match(lines[0][1]):
        lines = lines[1:]
        if lines and not _size(lines[0][1]):
            raise ValueError(f"{path}, line {lines[0][0]}: {lines[0][1]!r} is no number of rows")
    if lines and (own := _size(lines[0][1])):
        if size not in (None, own):
            raise ValueError(f"{path}, line {lines[0][0]}: there were {own} rows, not {size}")
        size, lines = own, lines[1:]
    if len(lines) < 2:
        raise ValueError(f"{path} ends before its covariance matrix")
    (place, header), *rows = lines
    names = _cells(header)
    d = len(names)
    if len(set(names)) < d:
        raise ValueError(f"{path}, line {place}: a name occurs twice")
    if len(rows) != d:
        raise ValueError(f"{path}: there are {len(rows)} rows for {d} variables")
    matrix = np.full((d, d), np.nan)
    for i, (number, line) in enumerate(rows):
        cells = _cells(line)
        cells = cells[1:] if cells[0] == names[i] else cells
        if len(cells) not in (i + 1, d):
            raise ValueError(f"{path}, line {number}: there are {len(cells)} entries, but {i + 1} up to the diagonal")
        for j, cell in enumerate(cells):
            value = _PLAIN.number(cell)
            if value is None:
                raise ValueError(f"{path}, line {number}: {cell!r} is not a number")
            if j < i and matrix[i, j] == matrix[i, j] != value:
                raise ValueError(f"{path}, line {number}: the entry of {names[i]!r} and {names[j]!r} is not symmetric")
            matrix[i, j] = matrix[j, i] = value
    return _moments(str(path), matrix, size, names)


def covariance_in(table: Columns, size: int | None) -> Moments | None:
    """Return the moments that a table holds if it is a symmetric matrix, as tables of rows never are; otherwise None.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.columns import Columns, Numbers
    >>> from icid_rs.data.tetrad import covariance_in
    >>> columns = [Numbers(column) for column in np.eye(3)]
    >>> covariance_in(Columns("known.csv", ["a", "b", "c"], columns), 100).n
    100
    """
    rows, d = table.shape
    if rows == d > 2 and all(isinstance(part, Numbers) for part in table.parts):
        matrix = np.column_stack([part.values for part in table.parts if isinstance(part, Numbers)])
        upper = np.triu_indices(d, 1)
        if np.isnan(matrix[upper]).all():
            # A spreadsheet leaves the cells above the diagonal blank.
            matrix[upper] = matrix.T[upper]
        if (matrix == matrix.T).all() and (matrix.diagonal() > 0).all():
            return _moments(table.source, matrix, size, table.columns if table.is_named else None)
    if size is not None:
        raise ValueError(f"{table.source}: --rows is for a covariance matrix, but this table is {rows} × {d}")
    return None


def _moments(source: str, matrix: np.ndarray, size: int | None, names: list[Any] | None) -> Moments:
    """Return the moments of a covariance matrix in a file."""
    if size is None:
        raise ValueError(
            f"{source} holds a covariance matrix, but not how many rows it comes from: say --rows N, or "
            "--precision precomputed if it is the inverse of one"
        )
    try:
        return Moments.from_covariance(matrix, size, names=names)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _size(text: str) -> int | None:
    """Return the number of rows in a text; None if it is no whole number above zero."""
    value = _PLAIN.number(text)
    return int(value) if value is not None and value >= 1 and value == np.floor(value) < np.inf else None


def read_knowledge(path: str | PathLike[str]) -> dict[str, Any]:
    r"""Read background knowledge as the parameters `required`, `forbidden` and `tiers` of `ICID`.

    A tier whose number has a star forbids edges among its own variables.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs.data.tetrad import read_knowledge
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rain.knowledge")
    ...     with open(path, "w") as file:
    ...         print("/knowledge", "addtemporal", "1* sun sea", "2 wet", sep="\n", file=file)
    ...     read_knowledge(path)
    {'required': [], 'forbidden': [['sun', 'sea'], ['sea', 'sun']], 'tiers': [['sun', 'sea'], ['wet']]}
    """
    lines = _lines(path)
    next(lines)
    found: dict[str, list[list[str]]] = {"required": [], "forbidden": [], "tiers": []}
    tiers: dict[int, list[str]] = {}
    section = ""
    for number, line in lines:
        if line.lower() in _SECTIONS:
            section = line.lower()
            continue
        place = f"{path}, line {number}"
        if section == "addtemporal":
            _add_tier(place, line, tiers, found["forbidden"])
        elif section in ("forbiddirect", "requiredirect"):
            pair = _cells(line.replace("==>", " ").replace("-->", " "))
            if len(pair) != 2:
                raise ValueError(f"{place}: {line!r} is not a pair, a cause and its effect")
            found["required" if section == "requiredirect" else "forbidden"].append(pair)
        else:
            raise ValueError(f"{place}: {line!r} belongs to no section that is known")
    found["tiers"] = [tiers[number] for number in sorted(tiers)]
    return found


def _add_tier(place: str, line: str, tiers: dict[int, list[str]], forbidden: list[list[str]]) -> None:
    tier = _TIER.fullmatch(line)
    if tier is None:
        raise ValueError(f"{place}: {line!r} is not a tier, a number and its variables")
    names = _cells(tier["rest"] or "")
    tiers.setdefault(int(tier["number"]), []).extend(names)
    if tier["mark"]:
        forbidden.extend([list(pair) for pair in permutations(names, 2)])


def _lines(path: str | PathLike[str], options: TextOptions | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank or comments, with their numbers."""
    if Path(path).stat().st_size > _LARGEST:
        raise ValueError(f"{path} is too large for a file of Tetrad")
    with open_lines(str(path), options or TextOptions()) as lines:
        yield from _significant(lines)


def _significant(lines: Lines) -> Iterator[tuple[int, str]]:
    for line in lines:
        if _cells(line) and not line.lstrip().startswith(("//", "#")):
            yield lines.number, line.strip(" \r\n")


def _cells(line: str) -> list[str]:
    """Split at spaces, tabs, commas or semicolons, and take quotes away; a delimiter at the end does not count."""
    cells = [cell.strip('"') for cell in _BETWEEN.split(line.strip(" \r\n"))]
    return cells[:-1] if cells[-1] == "" else cells

"""Files of Tetrad: covariance matrices, and background knowledge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from icid_rs.data.cells import Numerals
from icid_rs.data.moments import Moments

#: Text files of this kind are small; whatever is larger is something else.
_LARGEST = 1 << 28
_SECTIONS = ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup")
_TIER = re.compile(r"(?P<number>[0-9]+)(?P<mark>\*?)(?P<rest>\s.*)?")


def is_covariance(path: str | PathLike[str]) -> bool:
    """Tell whether a file begins as Tetrad's covariance files do."""
    with open(path, "rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"/covariance", b"/correlation"))


def read_covariance(path: str | PathLike[str]) -> Moments:
    r"""Read a covariance or correlation matrix.

    The first line is ``/covariance``, the second the number of rows, the third the names, and then come the rows of the
    lower triangle.

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
    lines = list(_lines(path))
    if len(lines) < 4:
        raise ValueError(f"{path} ends before its covariance matrix")
    (_, _), (place, count), (_, header), *rows = lines
    size = Numerals().number(count)
    if size is None or size != np.floor(size) or not size >= 1:
        raise ValueError(f"{path}, line {place}: {count!r} is no number of rows")
    names = _cells(header)
    d = len(names)
    if len(set(names)) < d:
        raise ValueError(f"{path}, line {lines[2][0]}: a name occurs twice")
    matrix = np.zeros((d, d))
    if len(rows) != d:
        raise ValueError(f"{path}: there are {len(rows)} rows for {d} variables")
    for i, (number, line) in enumerate(rows):
        values = [Numerals(missing=frozenset()).number(cell) for cell in _cells(line)]
        if len(values) not in (i + 1, d):
            raise ValueError(f"{path}, line {number}: there are {len(values)} entries, but {i + 1} up to the diagonal")
        for j, value in enumerate(values):
            if value is None:
                raise ValueError(f"{path}, line {number}: {_cells(line)[j]!r} is not a number")
            if j > i:
                # A full matrix: the mirrored entry is compared when its own row is read.
                matrix[i, j] = value
            elif j < i and len(_cells(rows[j][1])) == d and matrix[j, i] != value:
                raise ValueError(f"{path}, line {number}: the entry of {names[i]!r} and {names[j]!r} is not symmetric")
            else:
                matrix[i, j] = matrix[j, i] = value
    try:
        return Moments.from_covariance(matrix, int(size), names=names)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


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


def _lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank or comments, with their numbers."""
    if Path(path).stat().st_size > _LARGEST:
        raise ValueError(f"{path} is too large for a file of Tetrad")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("//"):
            yield number, line.strip()


def _cells(line: str) -> list[str]:
    """Split at spaces, tabs or commas."""
    return [cell for cell in re.split(r"[\s,;]+", line) if cell]

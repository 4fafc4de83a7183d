"""Sheets of Excel files."""

from __future__ import annotations

import zipfile
from os.path import getsize
from typing import Any

import numpy as np

from icid_rs._util.bounds import GROWTH, most_bytes
from icid_rs._util.extras import require
from icid_rs.data.cells import Numerals, missing_cells
from icid_rs.data.columns import Column, Columns, Labels
from icid_rs.data.frames import as_column
from icid_rs.data.text import TextOptions, check_names


def read_sheet(path: str, options: TextOptions) -> Columns:
    """Read the first sheet of an Excel file; its first row holds the names of the columns.

    Cells with text that means a missing value are missing; text that looks like a number is one.
    """
    openpyxl = require("openpyxl", "Excel", "excel")
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > most_bytes(getsize(path)):
            raise ValueError(f"its members claim {unpacked} bytes, more than {GROWTH} times its size")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
        book.close()
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    # openpyxl and zipfile raise errors of a dozen types when a file is damaged.
    except Exception as error:
        raise ValueError(f"{path}: no valid Excel file: {error}") from None
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if not rows:
        raise ValueError(f"{path} is empty")
    names = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    check_names(f"{path}, first row", names, False)
    if len(rows) == 1:
        raise ValueError(f"{path} has no rows below its header")
    numerals = Numerals(options.decimal or ".", missing_cells(options.na))
    parts = [_column([row[k] for row in rows[1:]], numerals) for k in range(len(names))]
    return Columns(path, list(names), parts)


def _column(cells: list[Any], numerals: Numerals) -> Column:
    """Return a column of cells of any type."""
    values = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            number = numerals.number(cell)
            cell = cell.strip() if number is None else None if np.isnan(number) else number
        values[row] = cell
    if any(isinstance(cell, str) for cell in values):
        return Labels.of(None if cell is None else str(cell) for cell in values)
    return as_column(values)

"""Results as CSV files: one for each experiment, and one for the runs that made them."""

from __future__ import annotations

import csv
import datetime
import importlib.metadata
import io
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, str]

_VERSIONS = ("icid_rs", "numpy", "scipy", "scikit-learn")


class Table:
    """The rows of one experiment. Those of a cell are written together, so that a run can end at any cell."""

    def __init__(self, path: Path, keys: Iterable[str] = ()) -> None:
        self.path, self.keys = path, tuple(keys)

    def rows(self) -> list[Row]:
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def finished(self) -> set[tuple[str, ...]]:
        return {tuple(row[key] for key in self.keys) for row in self.rows()}

    def identify(self, cell: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(_text(cell[key]) for key in self.keys)

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows, which have the same columns as those before them."""
        rows = [{key: _text(value) for key, value in row.items()} for row in rows]
        new = not self.path.exists()
        if not new:
            with self.path.open(newline="", encoding="utf-8") as file:
                columns = next(csv.reader(file))
            if set(columns) != set(rows[0]):
                raise SystemExit(f"{self.path} has other columns than this version writes; run again with --force")
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            columns = list(rows[0])
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(rows)
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(text.getvalue())

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)


def describe_run(experiments: Iterable[str], cells: int) -> dict[str, Any]:
    """What a reader needs to know of a run: when, where, with what."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "experiments": " ".join(experiments),
        "cells": cells,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _VERSIONS},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    found = {key.strip(): value.strip() for key, value in found.items()}
    return f"{found.get('model name', platform.machine())} (family {found.get('cpu family', '?')})"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)

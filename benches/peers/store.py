"""The stored runs: a CSV under version control, and lines that were added since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
from benches.peers.environments import CACHE

CSV = Path(__file__).parent / "results" / "runs.csv"
LINES = CACHE / "runs.jsonl"
#: What identifies a run.
KEY = ["method", "graph", "degree", "d", "n", "scaling", "noise", "seed"]
COLUMNS = [
    *KEY,
    *("status", "cpu_seconds", "wall_seconds", "peak_mib"),
    *("shd", "tpr", "fdr", "edges", "class_distance", "sid", "acyclic"),
    *("package", "version", "date", "machine", "message"),
]


def append(line: dict[str, Any]) -> None:
    """Add one run."""
    LINES.parent.mkdir(parents=True, exist_ok=True)
    with LINES.open("a") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def load() -> pd.DataFrame:
    """Return all runs; of several with the same key, the last."""
    tables = [stored()]
    if LINES.exists():
        tables.append(pd.DataFrame([json.loads(line) for line in LINES.read_text().splitlines()]))
    table = pd.concat([table.reindex(columns=COLUMNS).astype(object) for table in tables])
    return table.drop_duplicates(KEY, keep="last").sort_values(KEY, ignore_index=True)


def stored() -> pd.DataFrame:
    """Return the runs under version control."""
    return pd.read_csv(CSV).fillna({"message": ""}) if CSV.exists() else pd.DataFrame(columns=COLUMNS)


def fold() -> None:
    """Take the added lines into the CSV."""
    CSV.parent.mkdir(parents=True, exist_ok=True)
    table = load()
    for column, places in {"cpu_seconds": 4, "wall_seconds": 4, "peak_mib": 0, "tpr": 4, "fdr": 4}.items():
        table[column] = pd.to_numeric(table[column]).round(places)
    for column in ("shd", "edges", "class_distance", "sid"):
        table[column] = pd.to_numeric(table[column]).astype("Int64")
    table.to_csv(CSV, index=False)

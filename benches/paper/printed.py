"""The paper's printed numbers, by table, graph, setting, method and measure."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Number(NamedTuple):
    value: float
    deviation: float | None
    text: str


@cache
def numbers() -> dict[tuple[str, str, str, str, str], Number]:
    """Everything in `printed.csv`; a setting is the λ of Tables 5 to 7 and the λ₂ of Table 3."""
    with (Path(__file__).parent / "printed.csv").open(newline="", encoding="utf-8") as file:
        return {
            (row["table"], row["graph"], row["setting"], row["method"], row["measure"]): Number(
                float(row["value"]), float(row["deviation"]) if row["deviation"] else None, row["value"]
            )
            for row in csv.DictReader(file)
        }


def oracle(graph: str, exponent: str, method: str, measure: str) -> Number | None:
    """A number of Tables 5 to 7, if it is printed."""
    for table in ("Table 5", "Table 6", "Table 7"):
        if found := numbers().get((table, graph, exponent, method, measure)):
            return found
    return None


def methods(table: str) -> list[str]:
    return list(dict.fromkeys(key[3] for key in numbers() if key[0] == table))

"""How the machines that made the runs compare: one case, run on each of them by the methods that are quick on it."""

from __future__ import annotations

import pandas as pd
from benches.peers import store
from benches.peers.adapters import METHODS
from benches.peers.cases import Case
from benches.peers.runs import machine, run

CASE = Case("ER", 2, 100, 1000, "raw")
#: Processor seconds on the other machine beyond which a method is left out.
QUICK = 60
CSV = store.CSV.with_name("machines.csv")
COLUMNS = ["method", "machine", "cpu_seconds"]


def stored() -> pd.DataFrame:
    """Return a row for each method and machine."""
    return pd.read_csv(CSV) if CSV.exists() else pd.DataFrame(columns=COLUMNS)


def measure(core: int) -> None:
    """Run here what was quick elsewhere, and store both times, in place of earlier ones."""
    runs = store.load()
    runs = runs[(runs["status"] == "ok") & (runs["machine"] != machine()) & (runs["cpu_seconds"] < QUICK)]
    for name in store.KEY[1:]:
        runs = runs[runs[name] == getattr(CASE, name)]
    rows = {(row["method"], row["machine"]): row for row in stored().to_dict("records")}
    for there in runs.to_dict("records"):
        here = run(METHODS[there["method"]], CASE, core=core)
        if here["status"] != "ok":
            print(f"{there['method']:20} {here['status']} {here['message']}", flush=True)
            continue
        print(f"{there['method']:20} {there['cpu_seconds']:9.4f} s there {here['cpu_seconds']:9.4f} s here", flush=True)
        for line in (there, here):
            rows[line["method"], line["machine"]] = {name: line[name] for name in COLUMNS}
        pd.DataFrame(rows.values()).round({"cpu_seconds": 4}).to_csv(CSV, index=False)


def compared() -> pd.DataFrame:
    """Return the times, a row for each method and a column for each machine."""
    return stored().pivot(index="method", columns="machine", values="cpu_seconds").reindex(METHODS).dropna()

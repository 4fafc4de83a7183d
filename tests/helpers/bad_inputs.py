"""Bad inputs to every public entry point, and what becomes of them.

``python -m tests.helpers.bad_inputs`` writes the table to ``docs/reference/bad-inputs.md``;
`test_bad_inputs` compares it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from sklearn.cluster import KMeans

from icid_rs import (
    ICID,
    CausalGraph,
    Moments,
    bootstrap,
    datasets,
    decompose,
    eliminate,
    eliminate_along,
    empirical_precision,
    equivalence_class,
    fdr_precision,
    lasso_precision,
    load,
    metrics,
    plotting,
    project_to_dag,
    skewness_matrix,
)
from icid_rs.cli import main

# What the calls speak of.
# ruff: noqa: F401
from icid_rs.export.schema import VERSION
from tests.helpers import ROOT
from tests.helpers.bad_input_cases import CASES, COMMANDS

PAGE = ROOT / "docs" / "reference" / "bad-inputs.md"


class Outcome(NamedTuple):
    """What was given, and what became of it."""

    section: str
    call: str
    result: str
    message: str


def changed(table: Any, row: int, column: Any, value: float) -> Any:
    """Copy a table with another value in one place."""
    table = table.copy()
    if isinstance(table, pd.DataFrame):
        table.loc[row, column] = value
    else:
        table[row, column] = value
    return table


def names() -> dict[str, Any]:
    """Make what the calls speak of."""
    X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=1), 100, random_state=1)
    frame = pd.DataFrame(X, columns=["rain", "wet", "slip", "fall", "cast"])
    holes = frame.where(np.arange(5) != np.arange(100)[:, None] % 5)
    broken = sp.csr_array(np.eye(3))
    broken.indices[2] = 9
    holes["slip"] = holes["slip"].where(np.arange(100) < 6)
    fitted = ICID().fit(X)
    return {
        **{name: value for name, value in globals().items() if name[0] != "_"},
        "np": np,
        "X": X,
        "n": len(X),
        "frame": frame,
        "fields": frame.assign(soil=["clay", "loam", "sand", "loam"] * 25),
        "holes": holes,
        "broken": broken,
        "theta": fitted.precision_.toarray(),
        "model": fitted,
        "graph": CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]),
    }


def write_files(given: dict[str, Any]) -> None:
    """Write the files that the calls and commands name into the current folder."""
    rng = np.random.default_rng(0)
    garbage = bytes(rng.integers(0, 256, 300, dtype=np.uint8))
    for suffix in ("json", "csv", "npz", "parquet", "mat", "graphml"):
        Path(f"garbage.{suffix}").write_bytes(garbage)
    given["frame"].to_csv("data.csv", index=False)
    given["graph"].save("graph.json")
    text = Path("graph.json").read_text()
    Moments().update(given["X"]).save("whole.npz")
    texts = {
        "data.xlsx": "",
        "graph.xlsx": "",
        "truncated.json": text[: len(text) // 2],
        "list.json": "[1, 2]",
        "future.json": text.replace(f'"version": {VERSION}', '"version": 99'),
        "unknown.json": text.replace('"source": "rain"', '"source": "snow"'),
        "other-names.json": text.replace("rain", "sun").replace("wet", "dry"),
        "nan.json": text.replace("0.5", "NaN"),
        "deep.json": "[" * 200_000,
        "undirected.graphml": "\n".join(nx.generate_graphml(nx.path_graph(2))),
        "twice.csv": "source,target,weight\na,b,1\na,b,2\n",
        "text.csv": "source,target,weight\na,b,strong\n",
        "short.csv": "source,target,weight\na,b\n",
        "words.csv": "rain,wet\n1,2\nmuch,3\n4,5\n",
        "empty.csv": "",
        "header.csv": "rain,wet\n",
        "ragged.csv": "rain,wet\n1,2\n3\n",
        "twice-named.csv": "rain,rain\n1,2\n3,4\n",
        "hole.csv": "rain,wet\n1,2\n,3\n4,5\n",
    }
    for name, content in texts.items():
        Path(name).write_text(content)
    Path("truncated.npz").write_bytes(Path("whole.npz").read_bytes()[:400])
    np.savez("other.npz", X=np.eye(2))
    np.save("objects.npy", np.array([[object()]]), allow_pickle=True)
    scipy.io.savemat("other.mat", {"X": np.eye(2)})
    scipy.io.savemat("odd.mat", {"ts": np.ones((9, 3)), "net": np.ones((2, 2))})


def outcome_of_call(section: str, call: str, given: dict[str, Any]) -> Outcome:
    """Evaluate a call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(call, given)
        except Exception as error:
            kind = type(error)
            return Outcome(section, call, kind.__name__, str(error))
    return Outcome(section, call, "", f"returned {result!r}")


def outcome_of_command(command: str) -> Outcome:
    """Run a command line in this process."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            status = main(command.split()[1:])
        except SystemExit as end:
            status = end.code
    return Outcome("Command line", command, f"exit {status}", said.getvalue().strip().splitlines()[-1])


def outcomes() -> list[Outcome]:
    """See what becomes of everything."""
    given = names()
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write_files(given)
            found = [
                outcome_of_call(section, call.strip(), given)
                for section, calls in CASES.items()
                for call in calls.strip().splitlines()
            ]
            found += [outcome_of_command(command.strip()) for command in COMMANDS.strip().splitlines()]
        finally:
            os.chdir(here)
        real = os.path.realpath(folder)
    return [case._replace(message=case.message.replace(real, "…").replace(folder, "…")) for case in found]


def page(found: list[Outcome]) -> str:
    """Write the table as Markdown."""
    lines = [
        "# Bad inputs",
        "",
        "% python -m tests.helpers.bad_inputs writes this page; a test compares it.",
        "",
        "Every invalid input raises an exception, or sets an exit status, with a message that names the fault, its",
        f"place and the remedy. The tests try these {len(found)} inputs. `X` is a table of 100 rows and 5 columns,",
        "`frame` the same table as a data frame with the columns rain, wet, slip, fall and cast, and `theta` its",
        "inverse covariance.",
    ]
    section = None
    for case in found:
        if case.section != section:
            section = case.section
            lines += ["", f"## {section}", "", "| input | result | message |", "|---|---|---|"]
        message = re.sub(r"\s+", " ", case.message).replace("|", "\\|")
        lines.append(f"| `{case.call}` | {case.result} | {_as_text(message)} |")
    return "\n".join([*lines, ""])


def _as_text(message: str) -> str:
    """Escape what Markdown would make something of."""
    return re.sub(r"([\\`*_<>\[\]{}~$&])", r"\\\1", message.replace("\\|", "\x00")).replace("\x00", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(outcomes()), encoding="utf-8")

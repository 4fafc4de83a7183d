"""What can be asked of a fitted model or a graph, files and other libraries, resamples, and the command line."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from benches.corpus.cases.common import EQUAL, GAUSSIAN, SKEWED, Cases, fit
from benches.corpus.simulation import Simulation
from sklearn.base import clone

from icid_rs import ICID, CausalGraph, bootstrap, load

_DATA = {"equal": EQUAL, "gaussian": GAUSSIAN, "skewed": SKEWED}
#: Columns of `edges` since 0.1.
_EDGES = ["source", "target", "weight"]
#: Small, as a bootstrap fits many times.
_SMALL = Simulation(d=6, n=150, noise="exponential", seed=15)


def named(data: Simulation) -> ICID:
    """Fit a frame."""
    return ICID().fit(pd.DataFrame(data.rows, columns=data.names))


def relations(model: Any) -> object:
    """Ask for the relatives of each variable."""
    asked = ("parents", "children", "ancestors", "descendants", "markov_blanket")
    return {name: {kind: getattr(model, kind)(name) for kind in asked} for name in model.names_}


def parsed_json(model: Any) -> object:
    """Read the JSON of a graph, without the version of the package."""
    content = json.loads(model.to_json())
    del content["library"]
    return content


def reloaded(model: Any, suffix: str, **options: Any) -> CausalGraph:
    """Save a graph and load it again."""
    model.save(f"graph{suffix}", **options)
    return load(f"graph{suffix}")


def read_text(text: str, suffix: str) -> CausalGraph:
    """Load a file with this content."""
    Path(f"written{suffix}").write_text(text)
    return load(f"written{suffix}")


def networkx_parts(model: Any) -> object:
    """Take the graph of networkx apart."""
    graph = model.to_networkx()
    return dict(graph.graph), [list(item) for item in graph.nodes(data=True)], [list(e) for e in graph.edges(data=True)]


#: Questions to a fitted model.
_QUESTIONS: dict[str, Callable[[ICID], object]] = {
    "edges": lambda model: model.edges()[_EDGES],
    "total_effects": lambda model: model.total_effects(),
    "total_effects transposed": lambda model: model.total_effects(convention="column_to_row"),
    "total_effects wrong": lambda model: model.total_effects(convention="both"),
    "relations": relations,
    "subgraph": lambda model: model.subgraph("x0"),
    "subgraph of several": lambda model: model.subgraph(["x1", "x5"], radius=2),
    "subgraph alone": lambda model: model.subgraph([3], radius=0),
    "subgraph of none": lambda model: model.subgraph("rain"),
    "json": parsed_json,
    "csv": lambda model: model.to_csv(),
    "csv transposed": lambda model: model.to_csv(convention="column_to_row", spreadsheet=True),
    "dot": lambda model: model.to_dot(),
    "graphml": lambda model: reloaded(model, ".graphml"),
    "networkx": networkx_parts,
    "networkx and back": lambda model: CausalGraph.from_networkx(model.to_networkx()),
    "pandas": lambda model: model.to_pandas(),
    "save json": lambda model: reloaded(model, ".json"),
    "save csv": lambda model: reloaded(model, ".csv"),
    "save json of a subgraph": lambda model: reloaded(model.subgraph("x0"), ".json"),
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "clone": lambda model: clone(model).fit(GAUSSIAN.rows),
    "score": lambda model: model.score(model_rows(model)),
}
_BOOTSTRAPS: tuple[dict[str, Any], ...] = (
    *({}, {"subsample": 0.5}, {"subsample": 0.9}, {"block": 10}, {"block": "auto"}, {"random_state": 3}),
    *({"groups": np.repeat(np.arange(15), 10)}, {"block": 0}, {"subsample": 2.0}, {"n": 0}, {"groups": [1]}),
    {"groups": np.repeat(np.arange(15), 10), "block": 3},
)


def model_rows(model: ICID) -> pd.DataFrame:
    """Draw rows to score a model with."""
    return pd.DataFrame(np.random.default_rng(16).normal(size=(40, model.n_features_in_)), columns=model.names_)


def resampled(how: dict[str, Any], settings: dict[str, Any]) -> object:
    """Fit, bootstrap, and list the edges with their confidence."""
    model = ICID(**settings).fit(_SMALL.rows)
    found = bootstrap(model, _SMALL.rows, **{"n": 12, "progress": False, **how})
    return found, found.edges(), model.edges()[[*_EDGES, "confidence"]], model.confidence_


def resampled_groups(**how: Any) -> object:
    """Bootstrap a model that was fitted with groups."""
    groups = np.repeat(np.arange(15), 10)
    return bootstrap(ICID().fit(_SMALL.rows, groups=groups), _SMALL.rows, 8, progress=False, **how)


def resampled_series(**how: Any) -> object:
    """Bootstrap rows that follow each other in time."""
    X = np.apply_along_axis(np.convolve, 0, _SMALL.rows, [1.0, 0.8, 0.6, 0.4, 0.2], "valid")
    return bootstrap(ICID().fit(X), X, 8, progress=False, **how)


def resampled_failures() -> object:
    """Bootstrap a column that is constant in some resamples."""
    X = _SMALL.rows
    X[1:, 0] = 0.0
    return bootstrap(ICID().fit(X), X, 20, progress=False)


def command(*arguments: str) -> object:
    """Run the command line on a file; return its exit status, its output, and the graph without settings."""
    pd.DataFrame(EQUAL.rows, columns=EQUAL.names).to_csv("table.csv", index=False)
    Path("true.csv").write_text("source,target,weight\na,b,1\nb,c,2\n")
    Path("estimated.csv").write_text("source,target,weight\na,b,1\nc,b,2\n")
    Path("result.json").unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-m", "icid_rs.cli", *arguments], capture_output=True, text=True)
    graph = load("result.json") if Path("result.json").exists() else None
    # Progress tells seconds.
    return done.returncode, re.sub(r"\d+(\.\d+)? (ms|s)\b", "", done.stdout), graph


def cases() -> Cases:
    """Yield names and functions."""
    for (label, data), (name, question) in product(_DATA.items(), _QUESTIONS.items()):
        yield f"graph/{label}/{name}", lambda data=data, question=question: question(named(data))
    for how in _BOOTSTRAPS:
        label = (
            " ".join(f"{key}={len(np.unique(value)) if key == 'groups' else value}" for key, value in how.items())
            or "default"
        )
        yield f"bootstrap/{label}", partial(resampled, how, {})
        yield f"bootstrap/{label}/unequal", partial(resampled, how, {"noise": "unequal", "trials": 20})
    yield "bootstrap/groups in the fit", partial(resampled_groups, groups=np.repeat(np.arange(15), 10))
    yield "bootstrap/groups missing", resampled_groups
    yield "bootstrap/autocorrelated", partial(resampled_series, block="auto")
    yield "bootstrap/failures", resampled_failures
    yield from made_graphs()
    for arguments in (
        *(("fit", "table.csv"), ("fit", "table.csv", "-o", "result.json", "-q"), ("fit", "nowhere.csv")),
        *(("fit", "table.csv", "--noise", "unequal", "--standardise", "-o", "result.json"), ("fit", "--dag", "no")),
        *(
            ("fit", "table.csv", "--format", "dot", "--drop", "x3"),
            ("simulate", "-d", "6", "-n", "9"),
            ("demo", "-d", "20"),
        ),
        ("score", "true.csv", "estimated.csv"),
    ):
        yield f"command/{' '.join(arguments)}", partial(command, *arguments)
    yield "estimator/parameters", lambda: ICID().get_params()
    yield "estimator/repr", lambda: [repr(ICID()), repr(ICID(noise="equal")), repr(fit(EQUAL))]
    yield "estimator/score of cycles", lambda: fit(EQUAL, dag=None).score(EQUAL.rows)
    yield "estimator/effects of cycles", lambda: fit(GAUSSIAN, dag=None, l1_weight=0.01).total_effects()
    yield "estimator/printed", printed


def printed() -> object:
    """Fit without anything that asks for output: nothing may be printed."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        fit(EQUAL)
    return out.getvalue(), error.getvalue()


def made_graphs() -> Cases:
    """`CausalGraph` made by hand, and files that hold none."""
    chain = [[0, 0.5, 0], [0, 0, -2.0], [0, 0, 0]]
    weather = ["rain", "wet", "slippery"]
    for name, make in {
        "chain": lambda: CausalGraph(chain),
        "named": lambda: CausalGraph(chain, weather, noise_variances=[1, 2, 3], location=[0, 1, 0]),
        "with confidence": lambda: CausalGraph(chain, weather, confidence=np.abs(np.sign(chain)) * 0.5),
        "cyclic": lambda: CausalGraph([[0, 1.0], [1.0, 0]]),
        "relations": lambda: relations(CausalGraph(chain, weather)),
        "loops": lambda: CausalGraph(np.eye(2)),
        "not square": lambda: CausalGraph(np.ones((2, 3))),
        "too few names": lambda: CausalGraph(chain, ["rain"]),
        "repeated names": lambda: CausalGraph(chain, ["rain", "rain", "wet"]),
        "wrong order": lambda: CausalGraph(chain, causal_order=[2, 1, 0]),
        "wrong class": lambda: CausalGraph(chain, cpdag=np.zeros((3, 3))),
        "negative variances": lambda: CausalGraph(chain, noise_variances=[1, -1, 1]),
        "unknown variable": lambda: CausalGraph(chain, weather).parents("snow"),
        "undirected": lambda: CausalGraph.from_networkx(nx.Graph([("rain", "wet")])),
        "one name": lambda: CausalGraph([[0.0]], "rain"),
        "odd names": lambda: CausalGraph(chain, ["=rain", '"wet"', "%"]).to_dot(),
        "networkx": lambda: CausalGraph.from_networkx(nx.DiGraph([("rain", "wet")])),
        "repr": lambda: repr(CausalGraph(chain, weather)),
        "saved with confidence": lambda: reloaded(CausalGraph(chain, confidence=np.abs(np.sign(chain))), ".json"),
        "saved with an unknown suffix": lambda: CausalGraph(chain).save("graph.xyz"),
        "loaded from nowhere": lambda: load("nowhere.json"),
        "loaded from text": lambda: read_text("graph", ".json"),
        "loaded from an empty object": lambda: read_text("{}", ".json"),
        "loaded from a later version": lambda: read_text('{"format": "icid_rs.graph", "version": 99}', ".json"),
        "loaded from a table": lambda: read_text("source,target,weight\na,b,0.5\nb,c,-1\n", ".csv"),
        "loaded from a table of other columns": lambda: read_text("a,b\n1,2\n", ".csv"),
    }.items():
        yield f"graph/made/{name}", make

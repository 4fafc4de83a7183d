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

# What the calls speak of.
# ruff: noqa: F401
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
from tests.helpers import ROOT

PAGE = ROOT / "docs" / "reference" / "bad-inputs.md"

#: What is given, by section, as one would write it.
CASES = {
    "Tables": """
        ICID().fit(None)
        ICID().fit("data.csv")
        ICID().fit({"rain": [1.0, 2.0]})
        ICID().fit(5.0)
        ICID().fit([1.0, 2.0, 3.0])
        ICID().fit(np.ones((4, 3, 2)))
        ICID().fit([[1.0, 2.0], [3.0]])
        ICID().fit(np.empty((0, 3)))
        ICID().fit(np.empty((5, 0)))
        ICID().fit(X[:1])
        ICID().fit(X[:2])
        ICID().fit(X[:4])
        ICID().fit(X.astype(complex))
        ICID().fit(X.astype(str))
        ICID().fit(frame.assign(when=pd.Timestamp(0)))
        ICID().fit(frame.assign(city="Oslo", colour="red"))
        ICID().fit(pd.DataFrame(X[:, :2], columns=["rain", "rain"]))
        ICID().fit(changed(frame, 3, "wet", np.nan))
        ICID().fit(changed(frame, 3, "wet", np.inf))
        ICID().fit(frame.assign(wet=1.0))
        ICID().fit(frame.assign(copy=-3 * frame["rain"]))
        ICID().fit(frame.assign(sum=frame["rain"] + frame["wet"]))
        ICID().fit(frame.assign(nearly=frame["rain"] + frame["wet"] + 1e-7 * frame["fall"]))
        ICID().fit(frame.assign(wet=1e200 * frame["wet"]))
        ICID().fit(frame.assign(wet=1e-200 * frame["wet"]))
        ICID().fit(X).score(X[:, :3])
        ICID().fit(frame).score(frame.iloc[:, ::-1])
        ICID().fit(X).score(X[:0])
        ICID().score(X)
        ICID().fit(X, groups=["a", "b"])
        ICID().fit(X, groups=[None, "a"] * (n // 2))
        ICID().fit(X, groups=[np.nan] * n)
        ICID().fit(X, groups=range(n))
    """,
    "Parameters of ICID": """
        ICID(0.1)
        ICID(lambda_1=0.1)
        ICID(precision="glasso").fit(X)
        ICID(precision=3).fit(X)
        ICID(precision=KMeans(2)).fit(X)
        ICID(precision=KMeans).fit(X)
        ICID(precision="empirical", lambda1=0).fit(X)
        ICID(precision="empirical", lambda1=[0.1, 1.5]).fit(X)
        ICID(precision="empirical", lambda1="best").fit(X)
        ICID(precision="empirical", lambda1=[]).fit(X)
        ICID(precision="empirical", lambda1=np.nan).fit(X)
        ICID(lambda1=5).fit(X)
        ICID(l1_weight=-1).fit(X)
        ICID(l1_weight=0).fit(X)
        ICID(l1_weight="small").fit(X)
        ICID(l1_weight=np.nan).fit(X)
        ICID(skewness=-1).fit(X)
        ICID(skewness="yes").fit(X)
        ICID(noise="gaussian").fit(X)
        ICID(noise="unequal", refine=None).fit(X)
        ICID(noise_variances=[1.0, 2.0]).fit(X)
        ICID(noise_variances=[1.0, 2.0, 3.0, -4.0, 5.0]).fit(X)
        ICID(noise_variances="equal").fit(X)
        ICID(noise_variances=np.nan).fit(X)
        ICID(refine="yes").fit(X)
        ICID(refine=["order"]).fit(X)
        ICID(dag="notears").fit(X)
        ICID(dag=None, refine="order").fit(X)
        ICID(threshold=-0.1).fit(X)
        ICID(threshold=np.inf).fit(X)
        ICID(missing="impute").fit(X)
        ICID(max_alm_iter=0).fit(X)
        ICID(max_alm_iter=1.5).fit(X)
        ICID(max_fista_iter=-3).fit(X)
        ICID(max_fista_iter=True).fit(X)
        ICID(tol=0).fit(X)
        ICID(tol="1e-3").fit(X)
        ICID(fista_tol=np.inf).fit(X)
        ICID(schedule="nesterov").fit(X)
        ICID(schedule=None).fit(X)
        ICID(trials=-1).fit(X)
        ICID(trials="many").fit(X)
        ICID(time_limit=-1).fit(X)
        ICID(time_limit="1 s").fit(X)
        ICID(n_threads=0).fit(X)
        ICID(n_threads=-1).fit(X)
        ICID(n_threads=2.5).fit(X)
        ICID(random_state=-1).fit(X)
        ICID(random_state="seed").fit(X)
        ICID(callback="print").fit(X)
        ICID(ridge=-1.0).fit(X)
        ICID(ridge="much").fit(X)
        ICID(ridge=2.0).fit(X)
        ICID(ridge=0.1, precision="lasso").fit(X)
        ICID(ridge=0.1).fit(X[:6])
        ICID().set_params(lambda_1=0.1)
        ICID().edges()
        ICID().plot()
    """,
    "A given Θ": """
        ICID(precision="precomputed").fit(theta[:2])
        ICID(precision="precomputed").fit([[1.0, 2.0], [2.0, 1.0]])
        ICID(precision="precomputed").fit([[1.0, 0.0], [0.0, -1.0]])
        ICID(precision="precomputed").fit([[1.0, np.nan], [np.nan, 1.0]])
        ICID(precision="precomputed").fit([[1.0, 0.5], [0.1, 1.0]])
        ICID(precision="precomputed").fit([[1e-200, 0.0], [0.0, 1.0]])
        ICID(precision="precomputed", refine="search").fit(theta)
        ICID(precision="precomputed", noise="unequal").fit(theta)
        ICID(precision="precomputed").fit(theta, groups=[1, 2, 3, 4, 5])
        decompose(None)
        decompose("theta")
        decompose([])
        decompose(np.eye(3)[:2])
        decompose(np.ones(3))
        decompose(theta.astype(complex))
        decompose(theta.astype(object))
        decompose([[1.0, 2.0], [3.0]])
        decompose([[1.0, np.inf], [np.inf, 1.0]])
        decompose([[1.0, 0.5], [0.4, 1.0]])
        decompose([[1.0, 0.0], [0.0, 0.0]])
        decompose(theta, [1.0, 2.0])
        decompose(theta, 0.0)
        decompose(theta, "ones")
        decompose(theta, skewness_matrix=np.eye(2), skewness=1.0)
        decompose(theta, skewness_matrix=np.full((5, 5), np.nan), skewness=1.0)
        decompose(theta, skewness_matrix=np.eye(5), skewness=-1.0)
        decompose(theta, skewness=1.0)
        decompose(theta, l1_weight=0.0)
        decompose(theta, l1_weight="auto")
        decompose(theta, tol=np.nan)
        decompose(theta, max_alm_iter=0)
        decompose(theta, max_fista_iter=2.0)
        decompose(theta, schedule="fast")
        decompose(theta, n_threads=0)
        decompose(theta, callback=1)
        decompose(broken)
        eliminate([[1.0, 2.0], [2.0, 1.0]])
        eliminate(np.ones((3, 3)))
        eliminate(sp.csr_array([[1.0, 1.0], [1.0, 1.0]]))
        eliminate([[1.0, 0.0], [0.0, -1.0]])
        eliminate([[1e-310]])
        eliminate(np.diag([1e-200, 1.0, 1e200]))
        eliminate(theta, drop=-1.0)
        eliminate(theta, drop=np.nan)
        eliminate(theta, [1.0, 1.0])
        eliminate_along(theta, [0, 1, 2, 3])
        eliminate_along(theta, [0, 1, 2, 3, 3])
        eliminate_along(theta, [0, 1, 2, 3, 5])
        eliminate_along(theta, [0.0, 1.0, 2.0, 3.0, 4.0])
    """,
    "Estimates": """
        empirical_precision("data.csv")
        empirical_precision(None)
        empirical_precision([1.0, 2.0])
        empirical_precision(np.empty((0, 2)))
        empirical_precision(changed(X, 3, 1, np.nan))
        empirical_precision(X.astype(complex))
        empirical_precision(frame.assign(city="Oslo"))
        empirical_precision(X[:, [0, 0]] * [1, 0])
        empirical_precision(X, lambda1=1.0)
        empirical_precision(X, lambda1="all")
        empirical_precision(X, lambda1=None)
        fdr_precision(X, alpha=0.0)
        fdr_precision(X, alpha=2.0)
        fdr_precision(X, alpha="5 %")
        fdr_precision(X[:7])
        lasso_precision(None)
        lasso_precision(X[:4])
        lasso_precision(np.c_[X, X[:, 0]])
        fdr_precision(X[:, [0, 1, 0]])
        skewness_matrix(changed(X, 3, 1, np.inf))
        skewness_matrix(X[:, [0, 0]] * [1, 0])
        skewness_matrix([1.0, 2.0])
        skewness_matrix(frame.assign(city="Oslo"))
        skewness_matrix(X[:1])
    """,
    "Graphs": """
        project_to_dag(np.ones((2, 3)))
        project_to_dag([[0.0, np.nan], [0.0, 0.0]])
        project_to_dag(np.eye(3), method="best")
        project_to_dag("B")
        project_to_dag(np.ones((2, 2), dtype=complex))
        equivalence_class([[0, 1], [1, 0]])
        equivalence_class(np.ones((2, 3)))
        metrics.count_accuracy(np.eye(2), np.eye(3))
        metrics.count_accuracy(np.ones((2, 3)), np.ones((2, 3)))
        metrics.count_accuracy([[0, np.nan], [0, 0]], np.zeros((2, 2)))
        metrics.count_accuracy("truth.json", np.eye(2))
        CausalGraph(np.ones((2, 3)))
        CausalGraph([[0, np.inf], [0, 0]])
        CausalGraph([[1.0, 0], [0, 0]])
        CausalGraph([[0, 1], [0, 0]], ["rain"])
        CausalGraph([[0, 1], [0, 0]], ["rain", "rain"])
        CausalGraph([[0, 1], [0, 0]], "rain")
        CausalGraph([[0, 1], [0, 0]], causal_order=[1, 0])
        CausalGraph([[0, 1], [0, 0]], causal_order=[0, 0])
        CausalGraph([[0, 1], [0, 0]], cpdag=[[0, 0], [0, 0]])
        CausalGraph([[0, 1], [0, 0]], noise_variances=[1.0, 0.0])
        CausalGraph([[0, 1], [0, 0]], location=[1.0, np.nan])
        CausalGraph([[0, 1], [0, 0]], confidence=[[0, 2], [0, 0]])
        CausalGraph([[0, 1], [0, 0]], confidence=[[0, np.nan], [0, 0]])
        CausalGraph([[0, 1], [0, 0]], settings=3)
        CausalGraph([[0, 1], [1, 0]]).total_effects()
        graph.parents("snow")
        graph.ancestors(7)
        graph.markov_blanket(None)
        graph.subgraph("rain", radius=-1)
        graph.to_pandas(convention="columns")
        graph.to_causallearn("pag")
        graph.save("graph.xlsx")
        graph.save("nowhere/graph.json")
        plotting.plot_graph("graph")
        CausalGraph.from_networkx(nx.Graph())
        CausalGraph.from_networkx(nx.DiGraph([(0, 1, {"weight": "strong"})]))
        CausalGraph.from_networkx([[0, 1], [0, 0]])
    """,
    "Knowledge": """
        ICID(required=[("rain", "snow")]).fit(frame)
        ICID(required=[("rain", "rain")]).fit(frame)
        ICID(required=("rain", "wet")).fit(frame)
        ICID(required="rain -> wet").fit(frame)
        ICID(required=[("rain", "wet"), ("wet", "rain")]).fit(frame)
        ICID(required=[("rain", "wet")], forbidden=[("rain", "wet")]).fit(frame)
        ICID(required=[(0, 9)]).fit(frame)
        ICID(forbidden=[(0, 1, 2)]).fit(X)
        ICID(forbidden=5).fit(X)
        ICID(tiers=["rain", "wet"]).fit(frame)
        ICID(tiers=[["rain"], ["wet", "rain"]]).fit(frame)
        ICID(tiers=[["rain"], ["snow"]]).fit(frame)
        ICID(tiers=[["rain"], ["wet"]], required=[("wet", "rain")]).fit(frame)
        ICID(tiers={"rain": 0}).fit(frame)
    """,
    "Missing values": """
        ICID(missing="drop").fit(np.full((9, 2), np.nan))
        ICID(missing="drop").fit(changed(frame, 3, "wet", np.inf))
        ICID(missing="drop").fit(holes)
        ICID(missing="pairwise").fit(holes)
        ICID(missing="pairwise").fit(frame.assign(wet=np.nan))
    """,
    "Moments": """
        ICID().fit(Moments())
        ICID().fit(Moments().update(X[:2]))
        ICID().fit(Moments().update(X), groups=range(n))
        ICID(skewness=1.0).fit(Moments(reservoir=0).update(X))
        Moments(missing="fill")
        Moments(reservoir=-1)
        Moments(random_state=None)
        Moments().mean
        Moments().update([1.0, 2.0])
        Moments().update("data.csv")
        Moments().update(changed(frame, 3, "wet", np.nan))
        Moments().update(X, weights=[1.0])
        Moments().update(X, weights=-np.ones(n))
        Moments().update(X).update(X[:, :2])
        Moments(["a", "b"]).update(X)
        Moments(["rain", "rain"]).update(X[:, :2])
        Moments().update(frame).update(frame.iloc[:, ::-1])
        Moments().update(X).merge(3)
        Moments(third=True).update(X) + Moments().update(X)
        Moments(random_state=1).update(X) + Moments(random_state=2).update(X)
        Moments(n_threads=0).update(X)
        Moments.from_covariance([[1.0, 0.5]], 10)
        Moments.from_covariance([[1.0, 0.5], [0.4, 1.0]], 10)
        Moments.from_covariance([[1.0, np.nan], [np.nan, 1.0]], 10)
        Moments.from_covariance([[1.0, 2.0], [2.0, 1.0]], 10)
        Moments.from_covariance([[-1.0]], 10)
        Moments.from_covariance(np.eye(2), 0)
        Moments.from_covariance(np.eye(2), 10, mean=[0.0])
        Moments.from_covariance(np.eye(2), 10, names=["a"])
        Moments.from_chunks(X)
        Moments.read("nowhere.csv")
        Moments.read("data.xlsx")
        Moments.read(7)
        Moments.read(X, chunk_rows=0)
        Moments.read(X, columns=[9])
        Moments.read("data.csv", columns=["snow"])
        Moments.read("words.csv")
        Moments.read("objects.npy")
        Moments.read("garbage.parquet")
        Moments.load("garbage.npz")
        Moments.load("truncated.npz")
        Moments.load("other.npz")
        Moments.load("nowhere.npz")
        Moments.load("data.csv")
    """,
    "Bootstrap": """
        bootstrap(X, X)
        bootstrap(ICID(), X)
        bootstrap(model, X[:, :3])
        bootstrap(model, X, n=0)
        bootstrap(model, X, n=2.5)
        bootstrap(model, Moments().update(X))
        bootstrap(model, X, block=0)
        bootstrap(model, X, block="long")
        bootstrap(model, X, block=n)
        bootstrap(model, X, subsample=1.5)
        bootstrap(model, X, subsample=1e-9)
        bootstrap(model, X, groups=["a"] * n)
        bootstrap(model, X, groups=range(n), block=2)
        bootstrap(model, X, random_state="seed")
        bootstrap(model, X, n_jobs=0)
        bootstrap(model, changed(X, 3, 1, np.nan))
        bootstrap(model, X, n=2, progress=False).stable_graph(threshold=2.0)
    """,
    "Simulation": """
        datasets.random_dag(0, 1)
        datasets.random_dag(3, 9)
        datasets.random_dag(3, -1)
        datasets.random_dag(3.0, 1)
        datasets.random_dag(5, 1, kind="BA")
        datasets.random_dag(5, 1, random_state="seed")
        datasets.random_dag(5, 1, random_state=-1)
        datasets.sample_sem([[0, 1], [1, 0]], 10)
        datasets.sample_sem(np.ones((2, 3)), 10)
        datasets.sample_sem([[0, np.nan], [0, 0]], 10)
        datasets.sample_sem([[0, 1], [0, 0]], 0)
        datasets.sample_sem([[0, 1], [0, 0]], 10, noise="cauchy")
        datasets.sample_sem([[0, 1], [0, 0]], 10, noise_variances=[1.0, -1.0])
        datasets.sample_sem([[0, 1], [0, 0]], 10, noise_variances=[1.0])
        datasets.sem_precision(np.ones((2, 3)))
        datasets.sem_precision([[0, np.inf], [0, 0]])
        datasets.sem_precision([[0, 1], [0, 0]], 0.0)
        datasets.rescale_sem([[0, 1], [1, 0]], 1.0, 1.0)
        datasets.rescale_sem([[0, 1], [0, 0]], 1.0, np.nan)
        datasets.rescale_sem([[0, 1], [0, 0]], 1.0, "1")
        datasets.load_netsim("nowhere.mat")
        datasets.load_netsim("garbage.mat")
        datasets.load_netsim("other.mat")
        datasets.load_netsim("odd.mat")
    """,
    "Files": """
        load("nowhere.json")
        load("graph.xlsx")
        load(7)
        load("garbage.json")
        load("truncated.json")
        load("list.json")
        load("future.json")
        load("unknown.json")
        load("deep.json")
        load("nan.json")
        load("garbage.graphml")
        load("undirected.graphml")
        load("garbage.csv")
        load("data.csv")
        load("twice.csv")
        load("text.csv")
        load("short.csv")
        load(".")
    """,
}
#: Command lines; what they print, and their exit status, is what becomes of them.
COMMANDS = """
    icid
    icid fir
    icid fit
    icid fit nowhere.csv
    icid fit data.xlsx
    icid fit garbage.csv
    icid fit words.csv
    icid fit empty.csv
    icid fit header.csv
    icid fit ragged.csv
    icid fit twice-named.csv
    icid fit hole.csv
    icid fit data.csv -o graph.xlsx
    icid fit data.csv -o nowhere/graph.json
    icid fit data.csv -o .
    icid fit data.csv --threshold many
    icid fit data.csv --threshold -1
    icid fit data.csv --drop snow
    icid fit data.csv --encoding klingon
    icid fit data.csv --knowledge garbage.json
    icid fit objects.npy
    icid fit data.csv --knowledge list.json
    icid fit garbage.npz
    icid fit garbage.parquet
    icid fit .
    icid simulate -d 0
    icid simulate -d 3 --degree 9
    icid simulate -n 0
    icid simulate --variances 2 1
    icid simulate --seed -1
    icid simulate -o data.xlsx
    icid simulate --noise cauchy
    icid score graph.json
    icid score graph.json nowhere.json
    icid score graph.json garbage.json
    icid score graph.json other-names.json
    icid score graph.json objects.npy
    icid demo --seed -1
"""


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
        "future.json": text.replace('"version": 1', '"version": 99'),
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

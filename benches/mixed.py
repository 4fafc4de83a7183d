"""Tables with categories: simulated ones, and samples of discrete networks.

    python benches/mixed.py simulated [--d 20 50 100] [--n 500 1000 5000] [--seeds 10] [--penalty 1.0] [--tetrad PYTHON]
    ICID_DATA=... python benches/mixed.py networks [--peers PYTHON] [--rows 10000]

Simulated: a graph of d edges (ER1) or 2 d (ER2) in which half of the variables are numbers. A category has 2 to 5
levels, either by thresholds of a latent number or by a multinomial logit. A cause that is a category has an effect for
each of its levels. Causes explain between 30 % and 80 % of each variable, or of the latent number, or of utilities.
Figures are the mean distance between equivalence classes, the mean number of missing and of false adjacencies,
and the median seconds of a fit, without claims. With --tetrad, BOSS with the degenerate Gaussian score on the same
tables, by the Tetrad of another interpreter (see `mixed_peers.py`), with its default penalty 2 and with 1.

Networks: the folder ``discrete`` of ICID_DATA, all columns taken as categories. Precision, recall and F1 of
adjacencies. With --peers, PC with χ² tests (α = 0.05 and 0.01) and GES with BDeu by the causal-learn of another
interpreter, on the same rows.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from icid_rs import ICID, datasets, equivalence_class, metrics

PEERS = Path(__file__).with_name("mixed_peers.py")


def simulate(d: int, degree: int, n: int, seed: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Draw a graph, and a table of numbers and categories from it."""
    rng = np.random.default_rng([seed, d, degree, n])
    B = (datasets.random_dag(d, degree, random_state=rng).toarray() != 0).astype(float)
    is_category = rng.permutation(d) < d // 2
    values: list[Any] = [None] * d
    for j in order_of(B):
        r2 = rng.uniform(0.3, 0.8) if B[:, j].any() else 0.0
        if not is_category[j]:
            values[j] = np.sqrt(r2) * predictor(values, B, j, rng, n) + np.sqrt(1 - r2) * rng.standard_normal(n)
            continue
        levels = int(rng.integers(2, 6))
        if rng.random() < 0.5:
            latent = np.sqrt(r2) * predictor(values, B, j, rng, n) + np.sqrt(1 - r2) * rng.standard_normal(n)
            shares = 0.5 / levels + 0.5 * rng.dirichlet(np.full(levels, 5.0))
            values[j] = np.searchsorted(np.quantile(latent, np.cumsum(shares)[:-1]), latent)
        else:
            # The standard deviation of Gumbel noise is π/√6.
            scale = np.sqrt(r2 / (1 - r2)) * np.pi / np.sqrt(6)
            utility = [scale * predictor(values, B, j, rng, n) + rng.gumbel(size=n) for _ in range(levels)]
            values[j] = np.argmax(utility, axis=0)
    columns = {f"v{j}": np.char.add("l", values[j].astype(str)) if is_category[j] else values[j] for j in range(d)}
    return B, pd.DataFrame(columns)


def predictor(values: list[Any], B: np.ndarray, j: int, rng: np.random.Generator, n: int) -> np.ndarray:
    """Add up the effects of the causes of a variable, to unit variance."""
    total = np.zeros(n)
    for i in np.flatnonzero(B[:, j]):
        weight = rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.0)
        cause = values[i]
        if cause.dtype.kind == "i":
            cause = rng.standard_normal(cause.max() + 1)[cause]
        spread = cause.std()
        total += weight * (cause - cause.mean()) / (spread if spread > 0 else 1.0)
    return total / (total.std() or 1.0)


def order_of(B: np.ndarray) -> list[int]:
    """Order the variables, causes first."""
    order: list[int] = []
    while len(order) < len(B):
        order += [j for j in range(len(B)) if j not in order and set(np.flatnonzero(B[:, j])) <= set(order)]
    return order


def simulated(options: argparse.Namespace) -> None:
    for degree in options.degree:
        for d in options.d:
            for n in options.n:
                distances, missing, false, seconds, inflation, cases = [], [], [], [], [], []
                for seed in range(options.seeds):
                    B, table = simulate(d, degree, n, seed)
                    cases.append((B, table))
                    model = ICID(stability=None, penalty=options.penalty)
                    start = time.perf_counter()
                    model.fit(table)
                    seconds.append(time.perf_counter() - start)
                    found = model.adjacency_matrix_.toarray() != 0
                    distances.append(metrics.class_distance(equivalence_class(B), equivalence_class(found)))
                    ours, theirs = found | found.T, (B + B.T) != 0
                    missing.append(int((theirs & ~ours).sum()) // 2)
                    false.append(int((ours & ~theirs).sum()) // 2)
                    inflation.append(model.info_["choices"]["penalty"]["inflation"])
                print(
                    f"ER{degree} d={d:<4} n={n:<5} class distance {np.mean(distances):6.1f}  missing "
                    f"{np.mean(missing):5.1f}  false {np.mean(false):5.1f}  inflation {np.median(inflation):.2f}  "
                    f"{np.median(seconds):6.2f} s",
                    flush=True,
                )
                for penalty in (2.0, 1.0) if options.tetrad else ():
                    tetrad(options.tetrad, penalty, cases)


def tetrad(python: str, penalty: float, cases: list[tuple[np.ndarray, pd.DataFrame]]) -> None:
    """Run Tetrad's BOSS on the same tables."""
    given = {}
    for k, (_, table) in enumerate(cases):
        columns = [table[name] for name in table.columns]
        is_label = [column.dtype.kind != "f" for column in columns]
        codes = [
            np.unique(c, return_inverse=True)[1] if label else c for c, label in zip(columns, is_label, strict=True)
        ]
        given[f"rows{k}"] = np.column_stack(codes).astype(float)
        given[f"levels{k}"] = np.array([c.max() + 1 if label else 0 for c, label in zip(codes, is_label, strict=True)])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "tables.npz"), Path(folder, "graphs.npz")
        np.savez(source, **given)
        subprocess.run([python, str(PEERS), f"boss-{penalty}", str(source), str(target)], check=True)
        found = np.load(target)
        graphs, seconds = [found[f"marks{k}"] for k in range(len(cases))], found["seconds"]
    distances, missing, false = [], [], []
    for (B, _), marks in zip(cases, graphs, strict=True):
        distances.append(metrics.class_distance(equivalence_class(B), marks))
        ours, theirs = marks + marks.T > 0, (B + B.T) != 0
        missing.append(int((theirs & ~ours).sum()) // 2)
        false.append(int((ours & ~theirs).sum()) // 2)
    print(
        f"      BOSS, penalty {penalty:.0f}     class distance {np.mean(distances):6.1f}  "
        f"missing {np.mean(missing):5.1f}"
        f"  false {np.mean(false):5.1f}  {np.median(seconds):21.2f} s",
        flush=True,
    )


def network(path: Path, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Read the rows of a discrete network, and its adjacencies."""
    with gzip.open(path, "rt") as file:
        table = pd.read_csv(file, sep=" ").iloc[:rows]
    place = {name: k for k, name in enumerate(table.columns)}
    joined = np.zeros((len(place), len(place)), dtype=bool)
    text = path.with_name(path.name.replace(".txt.gz", ".graph.txt")).read_text()
    for a, b in re.findall(r"(\w+) --> (\w+)", text):
        joined[place[a], place[b]] = joined[place[b], place[a]] = True
    return table, joined


def scores(found: np.ndarray, true: np.ndarray) -> str:
    """Say precision, recall and F1 of adjacencies."""
    found = found | found.T
    both = int((found & true).sum())
    precision, recall = both / max(int(found.sum()), 1), both / int(true.sum())
    return f"precision {precision:.2f} recall {recall:.2f} F1 {2 * both / (found.sum() + true.sum()):.3f}"


def networks(options: argparse.Namespace) -> None:
    for path in sorted(Path(os.environ["ICID_DATA"], "discrete").glob("*.txt.gz")):
        table, true = network(path, options.rows)
        name = path.name.partition(".")[0]
        for label, more in {"categories": {"categorical": list(table.columns)}, "as they are": {}}.items():
            model = ICID(penalty=options.penalty, stability=None, **more)
            start = time.perf_counter()
            model.fit(table)
            seconds = time.perf_counter() - start
            at = [list(table.columns).index(variable) for variable in model.variables_]
            found = np.zeros_like(true)
            found[np.ix_(at, at)] = model.adjacency_matrix_.toarray() != 0
            price = model.info_["choices"]["penalty"]
            print(
                f"{name:10} icid {label:12} {scores(found, true)}  {seconds:.2f} s  edge {price['edge']:.1f} inflation "
                f"{price['inflation']:.2f} measured {price['measured']:.2f}",
                flush=True,
            )
        if options.peers:
            peers(options.peers, table, true, name)


def peers(python: str, table: pd.DataFrame, true: np.ndarray, name: str) -> None:
    """Run causal-learn on the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rows.npy")
        np.save(source, np.column_stack([np.unique(table[name], return_inverse=True)[1] for name in table.columns]))
        for method in ("pc-0.05", "pc-0.01", "ges-bdeu"):
            target = Path(folder, "graph.npy")
            start = time.perf_counter()
            try:
                subprocess.run([python, str(PEERS), method, str(source), str(target)], check=True, timeout=450)
            except subprocess.TimeoutExpired:
                print(f"{name:10} {method:17} more than 450 s", flush=True)
                continue
            took = time.perf_counter() - start
            print(f"{name:10} {method:17} {scores(np.load(target), true)}  {took:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["simulated", "networks"])
    parser.add_argument("--d", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--n", type=int, nargs="+", default=[500, 1000, 5000])
    parser.add_argument("--degree", type=int, nargs="+", default=[1])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--penalty", type=lambda text: text if text == "auto" else float(text), default="auto")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--peers", help="an interpreter with causal-learn")
    parser.add_argument("--tetrad", help="an interpreter with Tetrad")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    (simulated if options.part == "simulated" else networks)(options)


if __name__ == "__main__":
    main()

"""What the exact optimum costs, and how often the search misses it.

    python benches/exact.py [cost search fits tables] [--seeds 50]

Tables are read from ../shared/data/tables or the tables of the folder in ICID_DATA.

cost     time by the number of variables and rows, on one and two threads, with and without margins
search   random tables: how often, and by how much, the score of the search from one start is above the optimum
fits     the same of default fits, which search from several starts, with their choice of shapes and penalty
tables   both on real tables: numeric columns, standardised
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from icid_rs import ICID, _core, datasets
from icid_rs._util.validation import csr_parts

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
#: Columns of a real table beyond which the last ones are left out.
MOST_COLUMNS = 12


def standardise(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def simulate(d: int, degree: int, n: int, seed: int, noise: str) -> np.ndarray:
    """Standardised rows of a random model with noise variances uniform on [0.5, 2]."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    return standardise(X)


def make_searcher(X: np.ndarray, n_threads: int | None = None) -> _core.Searcher:
    correlation = X.T @ X / len(X)
    inverse = np.linalg.inv(correlation)
    theta = csr_parts(sp.csr_array(inverse))
    return _core.Searcher(correlation, theta, inverse, samples=len(X), knowledge=None, n_threads=n_threads)


def make_options(X: np.ndarray, *, shaped: bool) -> dict[str, Any]:
    n, d = X.shape
    values = np.ascontiguousarray(X.T) if shaped else None
    return {"penalty": _core.edge_penalty(n, d), "noise_variances": None, "values": values}


def optimum_of(searcher: _core.Searcher, options: dict[str, Any], *, margins: bool = False, equal: bool = False) -> Any:
    scoring = {name: value for name, value in options.items() if name != "penalty"}
    return searcher.exact_table(**scoring, equal=equal).optimum(penalty=options["penalty"], margins=margins)


def best_time(searcher: _core.Searcher, options: dict[str, Any], *, repeats: int = 7, **asked: bool) -> float:
    """Milliseconds of the fastest of some runs."""
    spent = []
    while len(spent) < repeats and sum(spent) < 3.0:
        begin = time.perf_counter()
        optimum_of(searcher, options, **asked)
        spent.append(time.perf_counter() - begin)
    return 1e3 * min(spent)


def cost(seeds: int) -> None:
    cells = [(False, 1000, (5, 8, 10, 12, 14, 16, 18))]
    cells += [(True, n, (5, 8, 10, 12)) for n in (1000, 10_000)]
    print("milliseconds: one thread, two threads, two threads with margins; equal variances with and without")
    for shaped, n, sizes in cells:
        for d in sizes:
            X = simulate(d, 2, n, 0, "exponential" if shaped else "gaussian")
            options = make_options(X, shaped=shaped)
            one, two = (make_searcher(X, threads) for threads in (1, 2))
            spent = [best_time(one, options)]
            spent += [best_time(two, options, margins=margins) for margins in (False, True)]
            spent += [best_time(two, options, margins=margins, equal=True) for margins in (False, True)]
            name = f"shaped, n = {n:6}" if shaped else "Gaussian         "
            print(f"  {name}  d = {d:2}" + "".join(f"{ms:11.2f}" for ms in spent), flush=True)


def excess(X: np.ndarray, *, shaped: bool) -> tuple[float, float, float]:
    """Score of the search above the optimum, and the seconds of both."""
    searcher, options = make_searcher(X), make_options(X, shaped=shaped)
    trials, patience = _core.search_budget(X.shape[1])
    begin = time.perf_counter()
    start = [searcher.smallest_pivots()]
    budget = {"trials": trials, "patience": patience, "seconds": None, "seed": 0}
    found = searcher.search(start, **options, budget=budget)
    middle = time.perf_counter()
    optimum = optimum_of(searcher, options, margins=True)
    return found.score - optimum.score, middle - begin, time.perf_counter() - middle


def excess_of_fit(X: np.ndarray) -> tuple[float, float, float]:
    """The same of a default fit."""
    begin = time.perf_counter()
    info = ICID(noise="unequal", refine="search").fit(X).info_
    middle = time.perf_counter()
    options = make_options(X, shaped=not info["choices"]["residuals"]["gaussian"])
    optimum = optimum_of(make_searcher(X), options | {"penalty": info["refinement"]["penalty"]}, margins=True)
    return info["refinement"]["score"] - optimum.score, middle - begin, time.perf_counter() - middle


def report(name: str, results: list[tuple[float, float, float]]) -> None:
    above, searching, exact = np.array(results).T
    assert above.min() > -1e-5, "the optimum is not one"
    missed = above > 1e-5
    worst = f", by {np.median(above[missed]):.1f} (median), {above.max():.1f} (most)" if missed.any() else ""
    times = f"search {1e3 * np.median(searching):.1f} ms, exact {1e3 * np.median(exact):.1f} ms"
    print(f"  {name:42} missed {missed.sum():3} of {len(above)}{worst}; {times}", flush=True)


MODELS = ((5, 1, 300), (8, 2, 300), (10, 2, 1000), (10, 4, 1000))


def search(seeds: int) -> None:
    for shaped, noise in ((False, "gaussian"), (True, "exponential"), (True, "laplace"), (True, "gaussian")):
        for d, degree, n in MODELS:
            results = [excess(simulate(d, degree, n, seed, noise), shaped=shaped) for seed in range(seeds)]
            report(f"{'shaped' if shaped else 'Gaussian'}, {noise} noise, ER{degree} d = {d} n = {n}", results)


def fits(seeds: int) -> None:
    for noise in ("gaussian", "exponential", "laplace"):
        for d, degree, n in MODELS:
            results = [excess_of_fit(simulate(d, degree, n, seed, noise)) for seed in range(seeds)]
            report(f"{noise} noise, ER{degree} d = {d} n = {n}", results)


def tables(seeds: int) -> None:
    for path in sorted((DATA / "tables").glob("*.tsv")):
        frame = pd.read_csv(path, sep="\t", na_values=["*", "?"]).select_dtypes("number").dropna()
        X = standardise(frame.loc[:, frame.std() > 0].to_numpy(dtype=float)[:, :MOST_COLUMNS])
        name = f"{path.stem} {len(X)} x {X.shape[1]}"
        for shaped in (False, True):
            report(f"{name}, {'shaped' if shaped else 'Gaussian'}", [excess(X, shaped=shaped)])
        report(f"{name}, fit", [excess_of_fit(X)])


SECTIONS = (cost, search, fits, tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [section.__name__ for section in SECTIONS]
    parser.add_argument("sections", nargs="*", default=names, metavar="SECTION", help=", ".join(names))
    parser.add_argument("--seeds", type=int, default=50)
    options = parser.parse_args()
    for section in SECTIONS:
        if section.__name__ in options.sections:
            print(f"\n{section.__name__} ({options.seeds} seeds, {os.cpu_count()} cores)", flush=True)
            section(options.seeds)


if __name__ == "__main__":
    main()

"""Hidden causes and errors of measurement: class distances of the default fit, the fit without a layer, and FLOP.

    python benches/measurement.py [hidden weights groups errors own clean cost] [--seeds 3] [--first 0] [--only TEXT]
    python benches/measurement.py wide [-d 50000] [--seeds 1]

Columns are permuted and standardised. FLOP (`flopsearch`) has penalty 2.0, and works on the same table; with hidden
causes also on the residuals of as many leading principal components ("FLOP PC"). One thread each; seconds are those of
the processor, in turns. Printed for each cell: mean class distances, distances seed by seed, the hidden causes, shares
of error and gains that were chosen, and seconds relative to the fit without a layer.

hidden   hidden causes of models with R² between 0.3 and 0.8
weights  hidden causes of models with weights ±[0.5, 2]
groups   half of the rows shifted by N(0, 1) in every column
errors   errors of measurement, the same share of each variance; "weights" in the name: weights ±[0.5, 2]
own      a share of its own for each column, uniform between 0 and 20 %
clean    tables without either: how often nothing is chosen, and whether results are unchanged
cost     seconds with and without, by the number of columns, and without claims (stability=None)
wide     d columns and 1 000 rows with two hidden causes and with none: class distance, seconds, peak memory
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from flopsearch import flop
from threadpoolctl import threadpool_limits

from icid_rs import ICID, datasets
from icid_rs.metrics import class_distance


@dataclass(frozen=True)
class Cell:
    """A kind of table."""

    d: int
    degree: int
    n: int
    causes: int = 0
    load: float = 0.5
    error: float | str = 0.0
    noise: Any = "gaussian"
    weights: bool = False
    groups: bool = False

    def __str__(self) -> str:
        parts = [f"ER{self.degree} d = {self.d} n = {self.n} {self.noise}"]
        parts += ["weights"] if self.weights else []
        parts += [f"{self.causes} hidden, {self.load}"] if self.causes else []
        parts += ["two groups"] if self.groups else []
        parts += [f"error {self.error}"] if self.error else []
        return ", ".join(parts)

    def draw(self, seed: int) -> tuple[Any, np.ndarray]:
        """Return the true weights and the table."""
        rng = np.random.default_rng(seed)
        d = self.d
        if self.weights:
            B = datasets.random_dag(d, self.degree, random_state=rng)
            B, variances = datasets.rescale_sem(B, rng.uniform(0.5, 2.0, d), 1.0)
        else:
            B, variances = datasets.random_sem(d, self.degree, random_state=rng)
        X = datasets.sample_sem(B, self.n, noise=self.noise, noise_variances=variances, random_state=rng)
        if self.causes:
            X += rng.standard_normal((self.n, self.causes)) @ (self.load * rng.standard_normal((self.causes, d)))
        if self.groups:
            X[: self.n // 2] += rng.standard_normal(d)
        if self.error:
            shares = rng.uniform(0.0, 0.2, d) if self.error == "own" else np.full(d, self.error)
            X += rng.standard_normal(X.shape) * X.std(axis=0) * np.sqrt(shares / (1.0 - shares))
        columns = rng.permutation(d)
        X = X[:, columns]
        return B[columns][:, columns], np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))


def hidden() -> Iterator[Cell]:
    for d in (20, 50, 100, 200):
        for degree in (1, 2):
            for k, n, noise in ((1, 1000, "gaussian"), (2, 3000, "gaussian"), (3, 3000, "exponential")):
                for load in (0.5, 0.7):
                    yield Cell(d, degree, n, causes=k, load=load, noise=noise)


def weights() -> Iterator[Cell]:
    for d in (50, 100):
        for degree in (1, 2):
            for k, load in ((1, 0.5), (2, 0.7)):
                yield Cell(d, degree, 1000, causes=k, load=load, weights=True)


def groups() -> Iterator[Cell]:
    for degree in (1, 2):
        yield Cell(50, degree, 3000, groups=True)


def errors() -> Iterator[Cell]:
    for d in (20, 50, 100):
        for degree in (1, 2, 3):
            for n in (1000, 3000, 10_000):
                for error in (0.05, 0.1, 0.2, 0.3):
                    yield Cell(d, degree, n, error=error)
    for degree in (1, 2):
        for error in (0.1, 0.3):
            yield Cell(50, degree, 3000, error=error, weights=True)


def own() -> Iterator[Cell]:
    for degree in (1, 2):
        for n in (3000, 10_000):
            yield Cell(50, degree, n, error="own")


def clean() -> Iterator[Cell]:
    for noise in ("gaussian", "exponential", "gumbel", "uniform", "laplace"):
        yield Cell(100, 1, 1000, noise=noise, weights=True)
        yield Cell(100, 2, 2000, noise=noise, weights=True)
    for d, degree, n in ((20, 1, 300), (50, 1, 1000), (50, 2, 1000), (50, 4, 1000), (400, 1, 4000)):
        yield Cell(d, degree, n, weights=True)
        yield Cell(d, degree, n)


CELLS: dict[str, Callable[[], Iterator[Cell]]] = {
    "hidden": hidden,
    "weights": weights,
    "groups": groups,
    "errors": errors,
    "own": own,
    "clean": clean,
}


def without_components(X: np.ndarray, k: int) -> np.ndarray:
    """Return the residuals of the first principal components, standardised."""
    left, values, right = np.linalg.svd(X, full_matrices=False)
    residual = X - left[:, :k] * values[:k] @ right[:k]
    return np.ascontiguousarray(residual / residual.std(axis=0))


def wide(d: int, seeds: range) -> None:
    """One fit for each seed and number of hidden causes, in a process of its own for the sake of its peak memory."""
    context = multiprocessing.get_context("spawn")
    for seed in seeds:
        for causes in (2, 0):
            process = context.Process(target=fit_wide, args=(d, causes, seed))
            process.start()
            process.join()


def fit_wide(d: int, causes: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, 1, random_state=rng)
    X = datasets.sample_sem(B, 1000, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    X /= X.std(axis=0)
    if causes:
        X += rng.standard_normal((1000, causes)) @ (0.5 * rng.standard_normal((causes, d)))
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    begin = time.process_time()
    model = ICID(n_threads=1).fit(X)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = model.hidden_loadings_.shape[1]
    distance = class_distance(B, model.cpdag_)
    print(f"d = {d} seed {seed}: {found} of {causes} hidden, distance {distance}", end=", ")
    print(f"{seconds:.0f} s, {peak:.2f} GiB", flush=True)


def measure(cell: Cell, seeds: range, restarts: int) -> None:
    ways: dict[str, Callable[[np.ndarray], Any]] = {
        "ICID": lambda X: ICID(n_threads=1).fit(X),
        "without": lambda X: ICID(hidden=None, measurement_error=None, n_threads=1).fit(X),
        "FLOP": lambda X: np.asarray(flop(X, 2.0, restarts=restarts)),
    }
    if cell.causes:
        ways["FLOP PC"] = lambda X: np.asarray(flop(without_components(X, cell.causes), 2.0, restarts=restarts))
    if not (cell.causes or cell.error or cell.groups):
        ways.pop("FLOP")
    distances: dict[str, list[int]] = {way: [] for way in ways}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    chosen = []
    unchanged = 0
    for seed in seeds:
        B, X = cell.draw(seed)
        found = {}
        for way, fit in ways.items():
            begin = time.process_time()
            found[way] = fit(X)
            seconds[way].append(time.process_time() - begin)
            graph = found[way].cpdag_ if isinstance(found[way], ICID) else found[way]
            distances[way].append(class_distance(B, graph))
        record = found["ICID"].info_["measurement"]
        chosen.append(f"{record['hidden']}/{record['error']:.2f}/{record['gain']:.3f}")
        unchanged += bool((found["ICID"].adjacency_matrix_ != found["without"].adjacency_matrix_).nnz == 0)
    ratio = np.sum(seconds["ICID"]) / np.sum(seconds["without"])
    same = f"unchanged {unchanged} of {len(seeds)}"
    print(f"{cell}: chosen {' '.join(chosen)}, {same}, seconds {ratio:.2f} of those without")
    for way, values in distances.items():
        print(f"    {way:8} mean {np.mean(values):7.1f}  {values}  {np.mean(seconds[way]):.2f} s", flush=True)


def cost(seeds: range) -> None:
    for d in (100, 300, 1000, 2000):
        for name, cell in {
            "nothing": Cell(d, 1, 10 * d),
            "one hidden": Cell(d, 1, 10 * d, causes=1),
            "error": Cell(d, 1, 10 * d, error=0.1),
        }.items():
            times: dict[str, list[float]] = {"auto": [], "None": []}
            for seed in seeds:
                _, X = cell.draw(seed)
                for way, setting in (("auto", "auto"), ("None", None)):
                    begin = time.process_time()
                    ICID(hidden=setting, measurement_error=setting, stability=None, n_threads=1).fit(X)
                    times[way].append(time.process_time() - begin)
            auto, none = np.median(times["auto"]), np.median(times["None"])
            print(f"d = {d:5} {name:11} auto {auto:8.2f} s  None {none:8.2f} s  ratio {auto / none:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("-d", type=int, default=50_000, help="columns of a wide table")
    parser.add_argument("--only", default="", help="cells whose names contain this")
    parser.add_argument("--restarts", type=int, default=20, help="of FLOP")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    seeds = range(options.first, options.first + options.seeds)
    for part in options.parts or [*CELLS, "cost"]:
        if part == "cost":
            cost(seeds)
            continue
        if part == "wide":
            wide(options.d, seeds)
            continue
        for cell in CELLS[part]():
            if options.only in str(cell):
                measure(cell, seeds, options.restarts)


if __name__ == "__main__":
    main()

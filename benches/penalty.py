"""The price of an edge: class distances by rule, on networks estimated from real data and on simulated ones.

    python benches/penalty.py NETWORKS [--seeds 10] [--samples 500 5000 50000] [--only TEXT]

NETWORKS is the folder of pgmpy's example models, with ``arth150.json``, ``ecoli70.json``, ``magic-irri.json`` and
``magic-niab.json``; pgmpy itself is not needed. FLOP (`flopsearch`, 20 restarts, penalty 2.0) takes part where it is
installed, on the same standardised tables. Rules are those of `ICID(noise="unequal", penalty=…)`: multiples of log n,
and the default, also for the columns as they are. Printed: mean class distances.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs import ICID, datasets, equivalence_class
from icid_rs.metrics import class_distance

NETWORKS = ("arth150", "ecoli70", "magic-irri", "magic-niab")
#: Simulated tables: kind, variables, mean degree over two, samples.
SIMULATED = [("ER", 20, 1, 300), ("ER", 50, 1, 500), ("ER", 100, 1, 1000), ("ER", 100, 2, 2000), ("ER", 50, 4, 1000)]


def read_network(path: Path) -> tuple[sp.csr_array, np.ndarray]:
    """Weights and noise variances of a Gaussian network in pgmpy's file format."""
    model = json.loads(path.read_text())
    place = {name: k for k, name in enumerate(model["nodes"])}
    B = np.zeros((len(place), len(place)))
    variances = np.empty(len(place))
    for name, node in model["cpds"].items():
        variances[place[name]] = node["variance"][0]
        for cause, weight in node["coefficients"].items():
            if cause in place:
                B[place[cause], place[name]] = weight[0]
    return sp.csr_array(B), variances


def draw(B: sp.csr_array, variances: np.ndarray, n: int, rng: np.random.Generator) -> tuple[sp.csr_array, np.ndarray]:
    X = datasets.sample_sem(B, n, noise="gaussian", noise_variances=variances, random_state=rng)
    columns = rng.permutation(B.shape[0])
    return B[columns][:, columns], np.ascontiguousarray(X[:, columns])


def cells(folder: Path, samples: list[int], only: str) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Names of cells, and functions from a seed to a true graph and a table."""
    for name in NETWORKS:
        network = read_network(folder / f"{name}.json")
        for n in samples:
            if only in f"{name} n = {n}":
                yield f"{name} n = {n}", lambda seed, m=network, n=n: draw(*m, n, np.random.default_rng(seed))
    for kind, d, degree, n in SIMULATED:

        def simulate(seed: int, kind: str = kind, d: int = d, degree: int = degree, n: int = n) -> Any:
            rng = np.random.default_rng(seed)
            B = datasets.random_dag(d, degree, kind, random_state=rng)
            return draw(B, rng.uniform(0.5, 2.0, d), n, rng)

        if only in f"{kind}{degree} d = {d} n = {n}":
            yield f"{kind}{degree} d = {d} n = {n}", simulate


def rules(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Ways to find a class."""
    n, d = X.shape
    Z = (X - X.mean(axis=0)) / X.std(axis=0)

    def ours(rows: np.ndarray, penalty: Any = "auto") -> Callable[[], Any]:
        return lambda: equivalence_class(ICID(noise="unequal", penalty=penalty).fit(rows).adjacency_matrix_)

    ways = {
        "auto": ours(Z),
        "auto, raw": ours(X),
        "log n + 4 log d": ours(Z, 1 + 4 * np.log(d) / np.log(n)),
        "log n + 2 log d": ours(Z, 1 + 2 * np.log(d) / np.log(n)),
        "2 log n": ours(Z, 2.0),
    }
    try:
        from flopsearch import flop
    except ImportError:
        return ways
    return ways | {"FLOP": lambda: np.asarray(flop(Z, 2.0, restarts=20))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 5000, 50000])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, make in cells(options.networks, options.samples, options.only):
        found: dict[str, list[int]] = {}
        for seed in range(options.seeds):
            truth, X = make(seed)
            for rule, way in rules(X).items():
                found.setdefault(rule, []).append(class_distance(truth, way()))
        print(
            f"{name:22}",
            *(f"{rule} {np.mean(distances):.1f}" for rule, distances in found.items()),
            sep="   ",
            flush=True,
        )


if __name__ == "__main__":
    main()

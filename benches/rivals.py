"""Beside FLOP on standardised Gaussian data with unequal noise variances: distance between CPDAGs, and time.

Needs `flopsearch`. FLOP runs with 20 restarts and penalty 2.0, ICID with its defaults, claims included, in turns, both
with all threads; times are of the clock. The class of ICID's graph counts, whatever is claimed of it.

    python benches/rivals.py [--seeds 5]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from flopsearch import flop

from icid_rs import ICID, equivalence_class
from icid_rs.metrics import class_distance
from search import simulate

CELLS = [("ER", 100, 1, 1000), ("ER", 100, 2, 2000), ("ER", 400, 1, 4000), ("SF", 100, 2, 2000)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for kind, d, degree, n in CELLS:
        results: dict[str, list[tuple[int, float]]] = {"FLOP": [], "ICID": []}
        for seed in range(options.seeds):
            B, X = simulate(d, degree, n, seed, kind)
            begin = time.perf_counter()
            theirs = flop(X, 2.0, restarts=20)
            middle = time.perf_counter()
            model = ICID().fit(X)
            end = time.perf_counter()
            results["FLOP"].append((class_distance(B, np.asarray(theirs)), middle - begin))
            results["ICID"].append((class_distance(B, equivalence_class(model.adjacency_matrix_)), end - middle))
        medians = {name: np.median(np.array(runs), axis=0) for name, runs in results.items()}
        for name, runs in results.items():
            print(
                f"{kind}{degree} d = {d} n = {n}  {name}  distances {[run[0] for run in runs]}  "
                f"median {medians[name][0]:.0f}  {medians[name][1]:.2f} s"
            )
        print(f"    time: {medians['ICID'][1] / medians['FLOP'][1]:.3f} of FLOP's", flush=True)


if __name__ == "__main__":
    main()

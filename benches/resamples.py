"""The classes of 40 resamples, from the graph of the whole table and from the beginning.

    python benches/resamples.py [--seeds 3] [--variables 20 100 1000]

ER2, Gaussian, n = 10 d, standardised. Printed: seconds of one search from the beginning, those of 40 resamples as a
multiple, and how many directions nine of ten resamples compel: in searches from the beginning, here, and in both.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from icid_rs import _core, datasets, equivalence_class, fdr_precision
from icid_rs.graph.sem import LinearSem
from icid_rs.trust.draws import RowDraws
from icid_rs.trust.resampling import Resampling
from icid_rs.trust.votes import Voting, poll

RESAMPLES = 40


def simulate(d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, 2, random_state=rng)
    X = datasets.sample_sem(B, 10 * d, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)[
        :, rng.permutation(d)
    ]
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))


def search(X: np.ndarray, penalty: float) -> tuple[_core.Searcher, LinearSem, float]:
    """Search from the beginning; the seconds are without the covariance."""
    trials, patience = _core.search_budget(X.shape[1])
    searcher = fdr_precision(X).searcher(None, None)
    begin = time.perf_counter()
    budget: Any = {"trials": trials, "patience": patience, "seconds": None, "seed": 0}
    start = searcher.smallest_pivots()
    found = searcher.search([start], penalty=penalty, noise_variances=None, values=None, budget=budget)
    return searcher, LinearSem.from_core(found.sem), time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variables", type=int, nargs="+", default=[20, 100, 1000])
    options = parser.parse_args()
    for d in options.variables:
        n, penalty = 10 * d, float(np.log(10 * d) + 4 * np.log(d))
        totals, ratios, colds = np.zeros(3, dtype=int), [], []
        for seed in range(options.seeds):
            X, resampling = simulate(d, seed), Resampling(n, seed=0)
            searcher, sem, seconds = search(X, penalty)
            begin = time.perf_counter()
            votes = poll(searcher, RowDraws(X, resampling), Voting(sem.order, penalty), RESAMPLES)
            ratios.append((time.perf_counter() - begin) / seconds)
            colds.append(seconds)
            compelled = np.zeros((d, d), dtype=int)
            for k in range(RESAMPLES):
                mark = equivalence_class(search(X[resampling.draw(k)[0]], penalty)[1].B).toarray() != 0
                compelled += mark & ~mark.T
            cold, warm = (often >= 0.9 * RESAMPLES for often in (compelled, votes.directed.toarray()))
            totals += [cold.sum(), warm.sum(), (cold & warm).sum()]
        print(
            f"d = {d}: one search {np.median(colds):.3f} s, 40 resamples {np.median(ratios):.1f} times as long; "
            f"directions in nine of ten: {totals[0]} from the beginning, {totals[1]} here, {totals[2]} in both",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""The paper's scalability setting: ER1, equal variances, n = 10 d samples, one round, weights above 0.3.

python benches/paper/scalability.py [--seeds 3]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from icid_rs import ICID, datasets, metrics

GRID = np.linspace(0.04, 0.1, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 400, 800])
    options = parser.parse_args()
    print(f"medians over {options.seeds} seeds; the paper reads TPR above 0.8 and SHD/edges below 0.2 off its figure 1")
    print(f"{'precision':>10} {'dag':>9} {'d':>6} {'TPR':>6} {'SHD/edges':>10} {'seconds':>8}")
    for precision, dag in (("empirical", "exptrace"), ("fdr", "greedy")):
        # The grid is the paper's for simulated data; it concerns "empirical" alone.
        for d in options.sizes:
            rows = []
            for seed in range(options.seeds):
                rng = np.random.default_rng(seed)
                B = datasets.random_dag(d, 1, random_state=rng)
                X = datasets.sample_sem(B, 10 * d, random_state=rng)
                model = ICID(precision=precision, lambda1=GRID, max_alm_iter=1, refine=None, dag=dag, threshold=0.3)
                start = time.perf_counter()
                model.fit(X)
                seconds = time.perf_counter() - start
                score = metrics.count_accuracy(B, model.adjacency_matrix_)
                rows.append((score["tpr"], score["shd"] / B.nnz, seconds))
            tpr, shd, seconds = np.median(rows, axis=0)
            print(f"{precision:>10} {dag:>9} {d:6d} {tpr:6.3f} {shd:10.3f} {seconds:8.2f}", flush=True)


if __name__ == "__main__":
    main()

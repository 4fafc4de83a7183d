"""Projections onto acyclic graphs: weight kept and time, greedy against exptrace.

python benches/projection.py
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

from icid_rs import datasets, decompose, empirical_precision, project_to_dag


def cases() -> dict[str, sp.csr_array]:
    rng = np.random.default_rng(0)
    graphs = {f"complete, d = {d}": sp.csr_array(rng.normal(size=(d, d))) for d in (30, 100, 300)}
    for d, density in ((100, 0.05), (1_000, 0.003)):
        graphs[f"random, d = {d}, density {density}"] = sp.random_array((d, d), density=density, rng=rng, format="csr")
    for d in (100, 400, 800):
        B = datasets.random_dag(d, 1, random_state=rng)
        X = datasets.sample_sem(B, 10 * d, random_state=rng)
        theta = empirical_precision(X).theta
        graphs[f"ICID on data, d = {d}"] = decompose(theta, l1_weight=0.1, max_alm_iter=1).B
    graphs["complete, d = 2000 (greedy only)"] = sp.csr_array(rng.normal(size=(2_000, 2_000)))
    return graphs


def main() -> None:
    print(f"{'graph':34} {'edges':>8} {'kept weight (greedy, exptrace)':>32} {'seconds':>16}")
    for name, B in cases().items():
        B.setdiag(0.0)
        B.eliminate_zeros()
        kept, seconds = [], []
        for method in ("greedy", "exptrace"):
            if method == "exptrace" and B.nnz > 10**6:
                continue
            start = time.perf_counter()
            projected = project_to_dag(B, method)
            seconds.append(time.perf_counter() - start)
            kept.append(abs(projected).sum() / abs(B).sum())
        weights, times = "  ".join(f"{k:.4f}" for k in kept), "  ".join(f"{s:.2f}" for s in seconds)
        print(f"{name:34} {B.nnz:8d} {weights:>32} {times:>16}", flush=True)


if __name__ == "__main__":
    main()

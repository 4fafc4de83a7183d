"""Fewer rows than columns: graphs, Markov blankets beside the graphical lasso, and tens of thousands of columns.

    python -m benches.wide graph [--seeds 3]      default fit, ER1, equal variances: TPR, FDR and seconds
    python -m benches.wide rule [--seeds 3]       precision="fdr" against "lasso" by rows for each column: SHD
    python -m benches.wide blankets [--seeds 3]   support of Θ, d = 200, n = 100, against GraphicalLassoCV in turns
    python -m benches.wide sparse [-d 50000]      one fit without any matrix of d × d: quality, seconds, peak memory
    python -m benches.wide growth [-d 50000]      the same from d / 10 to d, standardised columns and unequal noise
    python -m benches.wide crossover [--seeds 3]  dense against sparse correlations by the number of columns
    python -m benches.wide products               products of all pairs in single and in double precision

Raw Gaussian data with unit noise variances, weights ±[0.5, 2], columns permuted; for growth and crossover, standardised
columns and noise variances from 0.5 to 2. The level of the lasso, the penalty of a neighbour and the rule for "auto"
were chosen on such data, seeds 0 to 2; --first 100 draws others.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.covariance import GraphicalLassoCV

from icid_rs import ICID, datasets, lasso_precision, metrics
from icid_rs.precision import estimate, neighbourhood

#: Variables, edges for each, samples.
GRAPHS = [(1000, 1, 500), (1000, 1, 300), (1000, 1, 100), (200, 1, 100), (200, 2, 100)]
RULE = [(d, degree, round(share * d)) for d in (100, 200) for degree in (1, 2) for share in (1.1, 1.5, 2, 3)]


def draw(d: int, degree: int, n: int, seed: int):
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, random_state=rng)
    columns = rng.permutation(d)
    return B[columns][:, columns], X[:, columns]


def draw_unequal(d: int, n: int, seed: int):
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, 1, random_state=rng)
    X = datasets.sample_sem(B, n, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    columns = rng.permutation(d)
    X = X[:, columns]
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    return B[columns][:, columns], X


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def graph(seeds: range) -> None:
    print("default fit: medians of TPR, FDR, SHD and seconds; SHD of each seed")
    for d, degree, n in GRAPHS:
        rows = []
        for seed in seeds:
            B, X = draw(d, degree, n, seed)
            model, seconds = timed(lambda X=X: ICID().fit(X))
            score = metrics.count_accuracy(B, model.adjacency_matrix_)
            rows.append((score["tpr"], score["fdr"], score["shd"], seconds))
        tpr, fdr, shd, seconds = np.median(rows, axis=0)
        each = [row[2] for row in rows]
        print(
            f"  ER{degree}  d = {d:5}  n = {n:4}  {tpr:.3f}  {fdr:.3f}  {shd:5.0f}  {seconds:6.2f} s  {each}",
            flush=True,
        )


def rule(seeds: range) -> None:
    print("SHD of each seed by estimate of Θ")
    for d, degree, n in RULE:
        found = {"fdr": [], "lasso": []}
        for seed in seeds:
            B, X = draw(d, degree, n, seed)
            for kind, distances in found.items():
                model = ICID(precision=kind).fit(X)
                distances.append(metrics.count_accuracy(B, model.adjacency_matrix_)["shd"])
        print(
            f"  ER{degree}  d = {d:4}  n = {n / d:.1f} d  " + "  ".join(f"{k} {v}" for k, v in found.items()),
            flush=True,
        )


def blankets(seeds: range) -> None:
    print("support of Θ, ER1, d = 200, n = 100: TPR, FDR, F1, seconds; and the ratio of seconds")
    for seed in seeds:
        B, X = draw(200, 1, 100, seed)
        truth = datasets.sem_precision(B).toarray() != 0
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        spent = {}
        for name, work in {
            "icid_rs.lasso_precision": lambda X=X: lasso_precision(X).theta.toarray(),
            "sklearn GraphicalLassoCV": lambda Z=Z: GraphicalLassoCV(n_jobs=os.cpu_count()).fit(Z).precision_,
        }.items():
            theta, spent[name] = timed(work)
            found, right = (np.triu(matrix, 1) for matrix in (theta != 0, truth))
            hits = (found & right).sum()
            tpr, fdr = hits / right.sum(), 1 - hits / max(found.sum(), 1)
            f1 = 2 * hits / (found.sum() + right.sum())
            print(f"  seed {seed}  {name:25}  {tpr:.3f}  {fdr:.3f}  {f1:.3f}  {spent[name]:8.3f} s", flush=True)
        ours, theirs = spent.values()
        print(f"  seed {seed}  {theirs / ours:.0f} times as fast", flush=True)


def sparse(d: int, n: int) -> None:
    B, X = draw(d, 1, n, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    model, seconds = timed(lambda: ICID().fit(X))
    score = metrics.count_accuracy(B, model.adjacency_matrix_)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"ER1, d = {d}, n = {n}: {seconds:.0f} s, peak {peak:.2f} GiB ({before:.2f} before the fit)")
    print(f"  SHD/edges {score['shd'] / B.nnz:.3f}, TPR {score['tpr']:.3f}, FDR {score['fdr']:.3f}")
    print(f"  seconds of stages: { {k: round(v, 1) for k, v in model.info_['timings'].items() if v > 0.5} }")
    print(f"  {model.info_['choices']}")


def quality(B, model: ICID) -> dict[str, float]:
    """Precision and recall of adjacencies, and the share of wrong ones among compelled directions."""
    true, found, cpdag = (
        sp.csr_array(matrix != 0).astype(int) for matrix in (B, model.adjacency_matrix_, model.cpdag_)
    )
    near, joined = (((matrix + matrix.T) > 0).astype(int) for matrix in (true, found))
    compelled = cpdag - cpdag.multiply(cpdag.T)
    hits = near.multiply(joined).sum()
    return {
        "precision": hits / joined.sum(),
        "recall": hits / near.sum(),
        "wrong": 1 - compelled.multiply(true).sum() / compelled.sum(),
    }


def measure(d: int, n: int, seed: int, connection) -> None:
    """One fit in a process of its own, so that the peak of memory is that of the fit."""
    warnings.simplefilter("ignore")
    B, X = draw_unequal(d, n, seed)
    processor = time.process_time()
    model, seconds = timed(lambda: ICID().fit(X))
    processor = time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    stages = {k: round(v, 1) for k, v in model.info_["timings"].items() if v > 0.5}
    connection.send((seconds, processor, peak, quality(B, model), stages))


def growth(d: int, n: int, seeds: range) -> None:
    print("standardised columns, unequal noise: seconds, seconds of processors, peak memory, quality of each seed")
    context = multiprocessing.get_context("spawn")
    for seed in seeds:
        spent = {}
        for columns in (d // 10, d):
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=measure, args=(columns, n, seed, sender))
            process.start()
            seconds, processor, peak, found, stages = receiver.recv()
            process.join()
            spent[columns] = seconds, processor
            print(
                f"  d = {columns:6}  n = {n}  {seconds:6.1f} s  {processor:6.1f} s  {peak:.2f} GiB  "
                f"{'  '.join(f'{name} {share:.4f}' for name, share in found.items())}  {stages}",
                flush=True,
            )
        exponents = [np.log10(late / early) for early, late in zip(*spent.values(), strict=True)]
        print(f"  seconds grow as d^{exponents[0]:.2f}, those of processors as d^{exponents[1]:.2f}", flush=True)


def crossover(seeds: range) -> None:
    print("with all correlations stored, and with few: seconds, precision, recall, wrong directions")
    for d, n in [(1000, 300), (1000, 1000), (2000, 1000), (4000, 1000)]:
        for seed in seeds:
            B, X = draw_unequal(d, n, seed)
            for name, least in (("dense", d), ("sparse", d - 1)):
                neighbourhood.WIDE = estimate.WIDE = least
                model, seconds = timed(lambda X=X: ICID().fit(X))
                found = "  ".join(f"{share:.4f}" for share in quality(B, model).values())
                print(f"  d = {d:5}  n = {n:4}  seed {seed}  {name:6}  {seconds:6.2f} s  {found}", flush=True)


def products(d: int = 10_000, n: int = 1_000) -> None:
    X = np.random.default_rng(0).normal(size=(d, n))
    for dtype in (np.float32, np.float64):
        Z = X.astype(dtype)
        _, seconds = timed(lambda Z=Z: [Z[k : k + 512] @ Z[k:].T for k in range(0, d, 512)])
        print(f"  {np.dtype(dtype).name}: {n * d * d / seconds / 1e9:.0f} Gflop/s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["graph", "rule", "blankets", "sparse", "growth", "crossover", "products"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("-d", type=int, default=50_000)
    parser.add_argument("-n", type=int, default=1_000)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    warnings.simplefilter("ignore")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if options.table == "sparse":
        sparse(options.d, options.n)
    elif options.table == "growth":
        growth(options.d, options.n, seeds)
    elif options.table == "products":
        products()
    else:
        {"graph": graph, "rule": rule, "blankets": blankets, "crossover": crossover}[options.table](seeds)


if __name__ == "__main__":
    main()

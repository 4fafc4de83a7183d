"""Moments of streams: throughput beside NumPy's, on a cluster, and rows that do not fit into memory.

python -m benches.moments throughput              # medians of one run, against X.T @ X with the same threads
python -m benches.moments dask                    # one and two workers
python -m benches.moments parquet --gigabytes 4 --folder /tmp/rows    # made, fitted, removed
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from icid_rs import ICID, Moments, datasets, metrics

REPEATS = 7
#: Seconds between runs: threads of OpenBLAS wait for more work for a while, on the processors that the next run needs.
PAUSE = 0.2


def times(*runs: Callable[[], object]) -> list[float]:
    """Medians of seconds, each run in turn so that all meet the same machine."""
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(REPEATS):
        for taken, run in zip(seconds, runs, strict=True):
            time.sleep(PAUSE)
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
    return [float(np.median(taken)) for taken in seconds]


def throughput(threads: int) -> None:
    print(f"share of the throughput of X.T @ X, {threads} thread(s); the default sample of rows included")
    print(f"{'d':>5} {'n':>7} {'dtype':>8} {'X.T @ X':>9} {'second':>7} {'and third':>9}")
    for d, n in ((100, 200_000), (500, 60_000), (1_000, 30_000), (2_000, 15_000)):
        X = np.random.default_rng(0).normal(size=(n, d))

        def add(third: bool, X: np.ndarray = X) -> None:
            Moments(third=third, n_threads=threads).update(X)

        with threadpool_limits(threads):
            product, second, both = times(lambda X=X: X.T @ X, lambda: add(False), lambda: add(True))
        print(f"{d:5} {n:7} {X.dtype!s:>8} {product:8.3f}s {product / second:7.2f} {product / both:9.2f}", flush=True)


def dask() -> None:
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    from icid_rs.data.dask import moments_of

    n, d, chunk = 400_000, 300, 50_000
    print(f"{n} rows by {d} columns in {n // chunk} partitions, made and kept by the workers, one thread each")
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            rows = client.persist(da.random.default_rng(0).normal(size=(n, d), chunks=(chunk, d)))
            wait(rows)
            (seconds,) = times(lambda rows=rows: moments_of(rows))
            local = Moments().update(rows.compute())
            error = np.abs(moments_of(rows).covariance - local.covariance).max()
        print(f"{workers} worker(s): {seconds:.2f} s, largest difference from local {error:.1e}", flush=True)


def make_rows(folder: Path, gigabytes: float, d: int, B: object) -> int:
    """Write Parquet files of 100 000 rows, and return the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, size, part = 0, 0, 0
    while size < gigabytes * 1e9:
        X = datasets.sample_sem(B, 50_000, noise="exponential", random_state=part)
        path = folder / f"{part:05}.parquet"
        pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(d)}), path, compression="none", use_dictionary=False)
        rows, size, part = rows + len(X), size + path.stat().st_size, part + 1
    return rows


def parquet(folder: Path, gigabytes: float, d: int) -> None:
    folder.mkdir(parents=True)
    try:
        B = datasets.random_dag(d, 1, random_state=0)
        start = time.perf_counter()
        rows = make_rows(folder, gigabytes, d, B)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
        print(f"{rows} rows by {d} columns, {size:.1f} GB of Parquet, made in {time.perf_counter() - start:.0f} s")
        # In a process of its own, whose memory tells what it took.
        subprocess.run([sys.executable, __file__, "fit", "--folder", str(folder), "--columns", str(d)], check=True)
        sample = Moments.read(sorted(folder.iterdir())[0])
        found = np.load(folder / "graph.npy")
        few = ICID().fit(datasets.sample_sem(B, 50_000, noise="exponential", random_state=0))
        streamed = ICID().fit(sample)
        same = (abs(few.adjacency_matrix_) > 0).toarray() == (abs(streamed.adjacency_matrix_) > 0).toarray()
        print(f"one file, streamed and in memory: graphs {'are the same' if same.all() else 'differ'}")
        differing = ((few.adjacency_matrix_.toarray() != 0) != found).sum()
        print(f"all rows, and one file in memory: {differing} edges differ")
        print(f"all rows, against the truth: SHD {metrics.count_accuracy(B, found)['shd']}")
    finally:
        shutil.rmtree(folder)


def fit(folder: Path) -> None:
    """Fit what is in a folder, and tell time and memory."""
    start = time.perf_counter()
    moments = Moments.read(folder)
    read = time.perf_counter() - start
    model = ICID().fit(moments)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{moments!r}: read in {read:.0f} s, fitted after {took:.0f} s, peak memory {peak:.2f} GiB")
    np.save(folder / "graph.npy", model.adjacency_matrix_.toarray() != 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", choices=["throughput", "dask", "parquet", "fit"])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, default=Path("moments-rows"), help="a new folder for the rows")
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--columns", type=int, default=500)
    options = parser.parse_args()
    if options.section == "throughput":
        throughput(options.threads)
    elif options.section == "dask":
        dask()
    elif options.section == "parquet":
        parquet(options.folder, options.gigabytes, options.columns)
    else:
        fit(options.folder)


if __name__ == "__main__":
    main()

"""``icid demo``: simulate, recover, compare."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import icid_rs


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "demo",
        help="simulate data and recover their causes",
        description="Simulate a causal model and data from it, find the graph, and print how close it comes.",
    )
    parser.add_argument("-d", type=int, default=100, metavar="N", help="number of variables (default: %(default)s)")
    parser.add_argument("-n", type=int, metavar="N", help="number of samples (default: ten times the variables)")
    parser.add_argument("--degree", type=int, default=1, metavar="K", help="edges per variable (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the simulation (default: %(default)s)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Simulate, fit, print."""
    from icid_rs.graph.edges import list_edges

    n = 10 * options.d if options.n is None else options.n
    B = icid_rs.datasets.random_dag(options.d, options.degree, random_state=options.seed)
    X = icid_rs.datasets.sample_sem(B, n, random_state=options.seed)
    print(f"model      {options.d} variables, {B.nnz} edges, equal noise variances")
    print(f"data       {n} samples")

    start = time.perf_counter()
    with warnings.catch_warnings():
        # Simulated columns have the units of the model, so their scales may decide directions.
        warnings.simplefilter("ignore", icid_rs.ScaleWarning)
        model = icid_rs.ICID().fit(X)
    seconds = time.perf_counter() - start
    found = model.adjacency_matrix_
    score = icid_rs.metrics.count_accuracy(B, found)
    print(f"found      {found.nnz} edges in {seconds:.2f} s")
    print(f"of these   {score['tpr']:.0%} of the true edges with their direction, {score['fdr']:.0%} false or reversed")
    print(f"distance   {score['shd']} edges missing, extra or reversed (SHD)")
    print("strongest  " + "\n           ".join(_describe(edge, B) for edge in list_edges(found, range(options.d))[:5]))


def _describe(edge: Any, B: Any) -> str:
    true = B[edge.source, edge.target]
    verdict = f"true weight {true:+.2f}" if true else "not in the model"
    return f"{edge.source} → {edge.target}  {edge.weight:+.2f}  ({verdict})"

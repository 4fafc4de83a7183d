"""``icid simulate``: a random causal model, and data from it."""

from __future__ import annotations

import argparse
from typing import Any

import icid_rs
from icid_rs.cli.output import check_writable, write

_EXAMPLES = """\
examples:
  icid simulate -d 20 -n 1000 -o data.csv --truth truth.json
  icid fit data.csv -o graph.json
  icid score truth.json graph.json
"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "simulate",
        help="draw a random causal model and data from it",
        description="Draw a random acyclic graph with weights ±[0.5, 2], and samples of its linear model.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-d", type=int, default=20, metavar="N", help="number of variables (default: %(default)s)")
    parser.add_argument("-n", type=int, metavar="N", help="number of samples (default: ten times the variables)")
    parser.add_argument("--degree", type=int, default=1, metavar="K", help="edges per variable (default: %(default)s)")
    parser.add_argument("--kind", choices=("ER", "SF"), default="ER", help="Erdős–Rényi, or scale-free with hubs")
    noises = ("gaussian", "exponential", "gumbel", "uniform", "laplace")
    parser.add_argument("--noise", choices=noises, default="gaussian", help="its distribution (default: %(default)s)")
    parser.add_argument("--variances", type=float, nargs=2, default=(1.0, 1.0), metavar=("LOW", "HIGH"), help="of the "
                        "noise, drawn between these (default: 1 1)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of all that is random (default: %(default)s)")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="csv, tsv, parquet, npy or npz "
                        "(default: print CSV)")  # fmt: skip
    parser.add_argument("--truth", metavar="FILE", help="where the graph goes: json, graphml, dot or csv")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Draw, write."""
    import numpy as np

    from icid_rs.cli.tables import format_table
    from icid_rs.export.formats import writer

    low, high = options.variances
    if not 0 < low <= high < np.inf:
        raise ValueError(f"--variances {low:g} {high:g}: they must be positive, the smaller first")
    if options.seed < 0:
        raise ValueError(f"--seed {options.seed}: it must be at least 0")
    check_writable(options.output)
    if options.truth is not None:
        check_writable(options.truth)
        writer(options.truth)
    rng = np.random.default_rng(options.seed)
    B = icid_rs.datasets.random_dag(options.d, options.degree, options.kind, random_state=rng)
    variances = rng.uniform(low, high, options.d)
    n = 10 * options.d if options.n is None else options.n
    X = icid_rs.datasets.sample_sem(B, n, noise=options.noise, noise_variances=variances, random_state=rng)
    names = [f"x{k}" for k in range(options.d)]
    content = format_table(options.output, X, names)
    if options.truth is not None:
        icid_rs.CausalGraph(B, names, noise_variances=variances).save(options.truth)
    write(options.output, content)

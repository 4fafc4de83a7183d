"""``icid bootstrap``: a graph with the probability of each of its edges."""

from __future__ import annotations

import argparse
from typing import Any

from icid_rs.cli import progress
from icid_rs.cli.fitting import add_files, add_options, model_of, table_of
from icid_rs.cli.output import check_writable, graph_writer, warnings_in_one_line, write

_DESCRIPTION = """\
Fit a table, and fit it again to resamples of its rows: the share of resamples that have an edge is
its confidence, a column of the list of edges and of all files that graphs are written to.
The same options as those of icid fit say how the table is read and fitted.
"""
_EXAMPLES = """\
examples:
  icid bootstrap data.csv                       print the edges with their confidence
  icid bootstrap data.csv -n 500 --jobs 4 -o graph.html
  icid bootstrap hourly.csv --block auto        rows that follow each other in time

exit status:
  0 done; 2 bad input; 130 interrupted
"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "bootstrap",
        help="find the graph, and how often each edge is found in resamples",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_files(parser)
    parser.add_argument("-n", "--resamples", type=int, default=100, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument("--block", type=_block, metavar="ROWS", help="draw blocks of so many rows, or auto")
    parser.add_argument("--subsample", type=float, metavar="SHARE", help="draw this share of the rows, without repeats")
    parser.add_argument("--jobs", type=int, metavar="N", help="fits at a time (default: 1)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress or warnings")
    add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, fit, resample, write."""
    export = graph_writer(options.output, options.format)
    check_writable(options.output)
    model = model_of(options)
    table = table_of(options, model)
    if not hasattr(table, "parts"):
        raise ValueError(f"{options.data} holds a covariance matrix, and the bootstrap draws rows; use icid fit")
    with warnings_in_one_line(options.quiet):
        with progress.time_passing("fitting", options.time_limit, options.quiet):
            model.fit(table)
        with progress.time_passing(f"fitting {options.resamples} resamples", None, options.quiet):
            model.bootstrap(
                table,
                options.resamples,
                block=options.block,
                subsample=options.subsample,
                n_jobs=options.jobs,
                random_state=options.seed,
                progress=False,
            )
    write(options.output, export(model.graph_))
    place = "" if options.output == "-" else f"; written to {options.output}"
    progress.say(f"{model.adjacency_matrix_.nnz} edges, {options.resamples} resamples{place}", options.quiet)


def _block(text: str) -> int | str:
    return text if text == "auto" else int(text)

"""``icid bootstrap``: how often each edge is found when rows are drawn again."""

from __future__ import annotations

import argparse
from typing import Any

from icid_rs.cli import progress
from icid_rs.cli.fit import add_fit_options, add_output_options, fit_table, graph_writer
from icid_rs.cli.output import check_writable, warnings_in_one_line, write

_DESCRIPTION = """\
Find the graph of a table as icid fit does, and find it again in resamples of the rows.

The graph is written like that of icid fit, with the confidence of each edge: the share of resamples
that have it. A probability measures sampling error alone, and no violated assumption; see icid check.
"""
_EXAMPLES = """\
examples:
  icid bootstrap data.csv                       print the edges with their confidence
  icid bootstrap data.csv -n 500 -o graph.html  a page that can be filtered by confidence
  icid bootstrap series.csv --block auto        rows follow each other in time
"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "bootstrap",
        help="find out how sure each edge is",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="file with the table, or - for CSV on standard input")
    add_output_options(parser)
    parser.add_argument("-n", "--resamples", type=int, default=100, metavar="N", help="(default: %(default)s)")
    parser.add_argument(
        "--block",
        metavar="B",
        type=_length,
        help="draw blocks of so many consecutive rows, or auto to choose their length, if rows follow in time",
    )
    parser.add_argument("--jobs", type=int, metavar="J", help="fits at a time (default: 1)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no warnings")
    add_fit_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, fit, draw and fit again, write."""
    export = graph_writer(options)
    check_writable(options.output)
    model, table = fit_table(options)
    if not hasattr(table, "parts"):
        raise ValueError(f"{options.data}: it has no rows that could be drawn again")
    with warnings_in_one_line(options.quiet):
        found = model.bootstrap(
            table,
            options.resamples,
            block=options.block,
            n_jobs=options.jobs,
            random_state=options.seed,
            progress=False if options.quiet else None,
        )
    write(options.output, export(model.graph_))
    place = "" if options.output == "-" else f"; written to {options.output}"
    progress.say(f"{len(found.graphs)} resamples{place}", options.quiet)


def _length(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of rows nor auto") from None

"""``icid fit``: from a file with data to a file with a graph."""

from __future__ import annotations

import argparse
import time
from os.path import getsize, isfile
from typing import TYPE_CHECKING, Any

import icid_rs
from icid_rs._util.extras import require
from icid_rs.cli import progress
from icid_rs.cli.knowledge import read_knowledge
from icid_rs.cli.output import check_writable, warnings_in_one_line, write
from icid_rs.precision.kinds import KINDS

if TYPE_CHECKING:
    from icid_rs.export.formats import Writer

_DESCRIPTION = """\
Find the graph of linear causes behind a table. Rows are samples, columns are variables.

The graph is written as the suffix of the output asks: .json (everything, to be read by
icid_rs.load), .graphml (networkx, Gephi, Cytoscape, igraph), .dot (Graphviz), .csv (a list of
edges) or .html (a page to look at). Without an output, the edges are printed as CSV.
"""
_EXAMPLES = """\
examples:
  icid fit data.csv                             print the edges, strongest first
  icid fit data.csv -o graph.json               keep all of the result
  icid fit counts.parquet -o graph.graphml      for networkx, Gephi or Cytoscape
  icid fit survey.csv --drop id --standardise   a column that is no variable; arbitrary units
  icid fit trial.csv --knowledge known.json     edges that must be there or must not
  icid fit big.npz --time-limit 60 --threads 4  stop searching after a minute
  cat data.csv | icid fit - | head              from a pipe and into one
  icid fit data.csv --format dot | dot -Tsvg    a drawing by Graphviz

files read:
  .csv .txt .tsv   text; the delimiter and whether there is a header are found out. A first column
                   without a name holds labels of rows and is left out.
  .parquet         needs pyarrow: pip install 'icid_rs[parquet]'
  .npy .npz        a matrix; in .npz, the only one, or X, or the one named by --array, with names
                   of the columns in an array called names

exit status:
  0 done; 2 bad input, in one line that says what and where; 130 interrupted; 141 the reader of
  the output has gone
"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "fit",
        help="find the graph behind a table",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="file with the table, or - for CSV on standard input")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where the graph goes (default: print it)")
    formats = ("csv", "json", "graphml", "dot", "html")
    parser.add_argument("--format", choices=formats, help="of the output, if its suffix does not say (default: csv)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no warnings")

    reading = parser.add_argument_group("reading the table")
    reading.add_argument(
        "--drop",
        "--index",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave a column out, such as labels of rows: its name, or its number from 0 if there is no header; "
        "may be repeated",
    )
    reading.add_argument("--delimiter", metavar="D", help="one character, or comma, semicolon, tab, bar, space")
    reading.add_argument(
        "--header", choices=("auto", "yes", "no"), default="auto", help="whether the first line holds the names"
    )
    reading.add_argument("--encoding", default="utf-8-sig", metavar="E", help="of the text (default: UTF-8)")
    reading.add_argument("--array", metavar="NAME", help="array of an .npz file")
    reading.add_argument(
        "--missing",
        choices=("raise", "drop", "pairwise"),
        default="raise",
        help="missing values: refuse them, leave out their rows, or use all rows that each pair of columns shares",
    )
    reading.add_argument("--standardise", action="store_true", help="divide columns by their standard deviations")

    finding = parser.add_argument_group("finding the graph (see the documentation of icid_rs.ICID)")
    finding.add_argument(
        "--precision",
        choices=tuple(KINDS),
        default="auto",
        help="how the inverse covariance is estimated: lasso takes fewer rows than columns; precomputed: DATA is it",
    )
    finding.add_argument(
        "--noise",
        choices=("auto", "equal", "unequal"),
        default="auto",
        help="assumption about the noise variances (auto: the one with the better score)",
    )
    finding.add_argument(
        "--refine",
        choices=("auto", "order", "search", "none"),
        default="auto",
        help="after the decomposition: regress along its order, search over orders, or none, as in the paper",
    )
    finding.add_argument(
        "--dag", choices=("greedy", "exptrace", "none"), default="greedy", help="how cycles are cut; none keeps them"
    )
    finding.add_argument(
        "--knowledge",
        metavar="FILE",
        help='background knowledge as JSON: {"required": [["a", "b"]], "forbidden": [["b", "c"]], '
        '"tiers": [["a"], ["b", "c"]]}, where a causes b, b does not cause c, and nothing causes an earlier tier',
    )
    finding.add_argument("--threshold", type=float, metavar="W", help="drop weights smaller than this")
    finding.add_argument("--skewness", type=float, metavar="W", help="weight of the skewness term")
    finding.add_argument("--trials", type=int, metavar="N", help="of a search (default: as many as still improve it)")
    finding.add_argument("--time-limit", type=float, metavar="SECONDS", help="of a search (default: none)")
    finding.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the random numbers (default: %(default)s)"
    )
    finding.add_argument("--threads", type=int, metavar="N", help="of the solver (default: all)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, fit, write."""
    export = _writer(options)
    check_writable(options.output)
    model = _model(options)
    table = _read(options)
    start = time.perf_counter()
    with warnings_in_one_line(options.quiet), progress.time_passing("fitting", options.time_limit, options.quiet):
        model.fit(_standardised(table) if options.standardise else table)
    seconds = time.perf_counter() - start
    write(options.output, export(model.graph_))
    found = f"{model.n_features_in_} variables, {model.adjacency_matrix_.nnz} edges in {seconds:.1f} s"
    known = {"graph": "", "partly": "; some directions may be otherwise", "equivalence class": "; up to equivalence"}
    place = "" if options.output == "-" else f"; written to {options.output}"
    progress.say(f"{found}{known.get(model.info_['identified'], '')}{place}", options.quiet)


def _writer(options: argparse.Namespace) -> Writer:
    """Return the function that writes the output; raise now, before the fit, if a library it needs is missing."""
    from icid_rs.export.formats import writer
    from icid_rs.export.networks import to_graphml

    kind = options.format or ("csv" if options.output == "-" else None)
    write_graph = writer(options.output if kind is None else f"graph.{kind}")
    if write_graph is to_graphml:
        require("networkx", "GraphML", "networkx")
    return write_graph


def _read(options: argparse.Namespace) -> Any:
    from icid_rs.cli.tables import read_table
    from icid_rs.cli.text import TextOptions

    allowed = options.missing != "raise"
    text = TextOptions(options.delimiter, options.header, tuple(options.drop), options.encoding, allowed)
    size = getsize(options.data) if isfile(options.data) else 0
    with progress.bytes_read(size, options.quiet) as report:
        return read_table(options.data, text, options.array, report)


def _model(options: argparse.Namespace) -> icid_rs.ICID:
    given = {"threshold": options.threshold, "skewness": options.skewness, "trials": options.trials}
    return icid_rs.ICID(
        precision=options.precision,
        noise=options.noise,
        refine=None if options.refine == "none" else options.refine,
        dag=None if options.dag == "none" else options.dag,
        missing=options.missing,
        time_limit=options.time_limit,
        random_state=options.seed,
        n_threads=options.threads,
        **{name: value for name, value in given.items() if value is not None},
        **({} if options.knowledge is None else read_knowledge(options.knowledge)),
    )


def _standardised(table: Any) -> Any:
    from dataclasses import replace

    from sklearn.preprocessing import scale

    return replace(table, values=scale(table.values)) if hasattr(table, "columns") else scale(table)

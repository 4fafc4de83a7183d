"""``icid fit``: from a file with data to a file with a graph."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from os.path import getsize, isfile
from typing import TYPE_CHECKING, Any

import icid_rs
from icid_rs._util.extras import require
from icid_rs._util.terminal import printable
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
A page about the table, the graph and what to do next is printed: on standard output, or on
standard error if the graph goes there.
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
  .csv .txt .tsv   text, also compressed (.gz, .bz2, .xz); delimiter, decimal mark and header are
                   found out. A first column without a name holds labels of rows and is left out.
  .xlsx            the first sheet; needs openpyxl: pip install 'icid_rs[excel]'
  .parquet .feather  need pyarrow: pip install 'icid_rs[parquet]'
  .npy .npz        a matrix; in .npz, the only one, or X, or the one named by --array, with names
                   of the columns in an array called names
  .txt             a covariance matrix as Tetrad writes it, whose first line is /covariance

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
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, warnings or report")

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
        "--na",
        action="append",
        default=[],
        metavar="CELL",
        help="what a missing value looks like, besides NA, ? and such",
    )
    reading.add_argument("--decimal", choices=(".", ","), help="decimal mark (default: found out)")
    reading.add_argument("--standardise", action="store_true", help="divide columns by their standard deviations")

    kinds = parser.add_argument_group("what the columns are; names may be repeated or separated by commas")
    kinds.add_argument("--columns", action="append", default=[], metavar="NAMES", help="use these columns alone")
    kinds.add_argument("--categorical", action="append", default=[], metavar="NAMES", help="these hold categories")
    kinds.add_argument(
        "--ordinal", action="append", default=[], metavar="NAMES", help="the values of these are in order"
    )
    kinds.add_argument(
        "--adjust",
        action="append",
        default=[],
        metavar="NAMES",
        help="covariates and batches: take their effects out of all other columns",
    )
    kinds.add_argument(
        "--missing",
        choices=("em", "drop", "pairwise", "raise"),
        default="em",
        help="missing values: maximum likelihood from what there is, leave out their rows, use all rows that each pair "
        "of columns shares, or refuse them (default: em)",
    )
    kinds.add_argument(
        "--collinear",
        choices=("drop", "ridge", "raise"),
        default="drop",
        help="copies and combinations of other columns: leave out the last of them, keep all, or refuse them "
        "(default: drop)",
    )

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
        help="background knowledge, in a file of Tetrad or as JSON: "
        '{"required": [["a", "b"]], "forbidden": [["b", "c"]], '
        '"tiers": [["a"], ["b", "c"]]}, where a causes b, b does not cause c, and nothing causes an earlier tier',
    )
    finding.add_argument("--ridge", type=float, default=0.0, metavar="R", help="share of each variance added to it")
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
    from icid_rs.export.web import to_html

    export = _writer(options)
    check_writable(options.output)
    model = _model(options)
    table = _table(options, model)
    start = time.perf_counter()
    with warnings_in_one_line(options.quiet), progress.time_passing("fitting", options.time_limit, options.quiet):
        model.fit(table)
    seconds = time.perf_counter() - start
    has_report = export is to_html
    report = None
    if has_report or not options.quiet:
        report = model.report(table if hasattr(table, "parts") else None)
    write(options.output, export(model.graph_, report=report) if has_report else export(model.graph_))
    _say_what_was_done(model, options.quiet)
    if not options.quiet:
        # On standard output, unless the graph goes there.
        print(printable(str(report)), file=sys.stderr if options.output == "-" else sys.stdout)
    found = f"{len(model.variables_)} variables, {model.adjacency_matrix_.nnz} edges in {seconds:.1f} s"
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


def _table(options: argparse.Namespace, model: icid_rs.ICID) -> Any:
    """Read the table, and tell the model what the options say of its columns."""
    table = _read(options)
    if not hasattr(table, "parts"):
        # Moments of a file that holds a covariance matrix.
        model.set_params(**_named(options, table.names, ("adjust",)))
        return table
    if options.precision == "precomputed":
        return _matrix(table)
    model.set_params(**_named(options, table.columns, ("columns", "categorical", "ordinal", "adjust")))
    if not options.standardise:
        return table
    from icid_rs.cli.tables import standardised

    return standardised(table)


def _matrix(table: Any) -> Any:
    """Return a table that is an inverse covariance as numbers with names."""
    from icid_rs.data.encoding import Encoding
    from icid_rs.data.tables import Table

    values = Encoding.plain(table.columns).values(table)
    return Table(values, table.columns) if table.is_named else values


def _read(options: argparse.Namespace) -> Any:
    from icid_rs.cli.tables import read_table
    from icid_rs.data.text import TextOptions

    # A name that holds a comma is named alone.
    labels = {name.strip() for part in options.categorical for name in (part, *part.split(","))}
    form = (options.delimiter, options.header, options.encoding, options.decimal)
    text = TextOptions(*form, tuple(options.na), tuple(labels))
    size = getsize(options.data) if isfile(options.data) else 0
    with progress.bytes_read(size, options.quiet) as report:
        return read_table(options.data, text, options.array, tuple(options.drop), report)


def _named(options: argparse.Namespace, columns: list[Any], parameters: Sequence[str]) -> dict[str, list[Any]]:
    """Return the parameters that name columns, as far as options give them."""
    given = {name: getattr(options, name) for name in parameters}
    return {name: _names(parts, columns) for name, parts in given.items() if parts}


def _names(given: list[str], columns: list[Any]) -> list[Any]:
    """Return the columns that an option names, each alone or several separated by commas."""
    known = {str(name): name for name in columns}
    listed = [name for part in given for name in ([part] if part in known else part.split(","))]
    return [known.get(name.strip(), name.strip()) for name in listed]


def _say_what_was_done(model: icid_rs.ICID, quiet: bool) -> None:
    """Print how missing values were treated, if there were any."""
    from icid_rs._util.validation import listed

    found = model.info_["missing"]
    if quiet or found is None or not found["entries"]:
        return
    treated = {
        "em": f"estimated by maximum likelihood; they leave {found.get('samples')} of {found['rows']} rows in effect",
        "drop": f"{found['incomplete']} of {found['rows']} rows were left out",
        "pairwise": "each pair of columns uses the rows that it has in common",
    }
    places = listed([f"{name!r} ({count})" for name, count in found["columns"].items()])
    said = f"{found['entries']} values are missing: {places}; {treated[found['policy']]}"
    print(f"icid: {printable(said)}", file=sys.stderr)


def _model(options: argparse.Namespace) -> icid_rs.ICID:
    given = {"threshold": options.threshold, "skewness": options.skewness, "trials": options.trials}
    return icid_rs.ICID(
        precision=options.precision,
        noise=options.noise,
        refine=None if options.refine == "none" else options.refine,
        dag=None if options.dag == "none" else options.dag,
        missing=options.missing,
        collinear=options.collinear,
        **({"ridge": options.ridge} if options.ridge else {}),
        time_limit=options.time_limit,
        random_state=options.seed,
        n_threads=options.threads,
        **{name: value for name, value in given.items() if value is not None},
        **({} if options.knowledge is None else read_knowledge(options.knowledge)),
    )

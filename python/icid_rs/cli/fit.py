"""``icid fit``: from a file with data to a file with a graph."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import icid_rs
from icid_rs._util.terminal import printable
from icid_rs.cli import progress
from icid_rs.cli.fitting import add_files, add_options, model_of, table_of
from icid_rs.cli.output import check_writable, graph_writer, warnings_in_one_line, write

_DESCRIPTION = """\
Find the graph of linear causes behind a table. Rows are samples, columns are variables.

The graph is written as the suffix of the output asks: .json (everything, to be read by
icid_rs.load), .graphml (networkx, Gephi, Cytoscape, igraph), .dot (Graphviz), .csv (a list of
edges), .html (a page to look at), or .png, .svg and .pdf (a picture). Without an output, the
edges are printed as CSV. A page about the table, the graph and what to do next is printed: on
standard output, or on standard error if the graph goes there.
"""
_EXAMPLES = """\
examples:
  icid fit data.csv                             print the edges, strongest first
  icid fit data.csv -o graph.json               keep all of the result
  icid fit counts.parquet -o graph.graphml      for networkx, Gephi or Cytoscape
  icid fit survey.csv --drop id --standardise   a column that is no variable; arbitrary units
  icid fit trial.csv --knowledge known.json     edges that must be there or must not
  icid fit big.npz --time-limit 60 --threads 4  stop searching after a minute
  icid fit export.csv --skip 1-3,302            lines that are no part of the table
  cat data.csv | icid fit - | head              from a pipe and into one
  icid fit data.csv --format dot | dot -Tsvg    a drawing by Graphviz

files read:
  .csv .txt .tsv   text, also compressed (.gz, .bz2, .xz); delimiter, decimal mark and header are
                   found out. A first column without a name holds labels of rows and is left out.
  .xlsx            the first sheet; needs openpyxl: pip install 'icid_rs[excel]'
  .parquet .feather  need pyarrow: pip install 'icid_rs[parquet]'
  .npy .npz        a matrix; in .npz, the only one, or X, or the one named by --array, with names
                   of the columns in an array called names
  any text         a covariance matrix: names, and the lower triangle or all of it; above these the
                   number of rows that it comes from, as Tetrad writes it, or --rows N

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
    add_files(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, warnings or report")

    add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, fit, write."""
    from icid_rs.export.web import to_html

    export = graph_writer(options.output, options.format)
    check_writable(options.output)
    model = model_of(options)
    table = table_of(options, model)
    start = time.perf_counter()
    with warnings_in_one_line(options.quiet), progress.time_passing("fitting", options.time_limit, options.quiet):
        model.fit(table)
    seconds = time.perf_counter() - start
    has_report = export is to_html
    report = None
    if has_report or not options.quiet:
        report = model.report(table if hasattr(table, "parts") else None)
    shown = {"report": report, "title": _title(options.data)} if has_report else {}
    write(options.output, export(model.graph_, **shown))
    _say_what_was_done(model, options.quiet)
    if not options.quiet:
        # On standard output, unless the graph goes there.
        print(printable(str(report)), file=sys.stderr if options.output == "-" else sys.stdout)
    found = f"{len(model.variables_)} variables, {model.adjacency_matrix_.nnz} edges in {seconds:.1f} s"
    known = {"graph": "", "partly": "; some directions may be otherwise", "equivalence class": "; up to equivalence"}
    place = "" if options.output == "-" else f"; written to {options.output}"
    progress.say(f"{found}{known.get(model.info_['identified'], '')}{place}", options.quiet)


def _title(data: str) -> str:
    """Return the title of a page: what the graph is of."""
    return "Causal graph" if data == "-" else f"Causal graph of {printable(Path(data).name)}"


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

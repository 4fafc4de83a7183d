"""What commands that fit a table share: options that say how it is read and fitted, the table, the model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from os.path import getsize, isfile
from typing import Any

import icid_rs
from icid_rs.cli import progress
from icid_rs.cli.knowledge import read_knowledge
from icid_rs.cli.output import FORMATS
from icid_rs.graph.variables import locate_all
from icid_rs.precision.kinds import KINDS


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the table is, and where the graph goes."""
    parser.add_argument("data", metavar="DATA", help="file with the table, or - for CSV on standard input")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where the graph goes (default: print it)")
    parser.add_argument("--format", choices=FORMATS, help="of the output, if its suffix does not say (default: csv)")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a table is read and fitted."""
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
    reading.add_argument(
        "--skip", action="append", default=[], metavar="LINES", help="lines that are no part of the table, as 1-3,302"
    )
    reading.add_argument(
        "--row-names", action="store_true", help="the first column holds names of rows; the header may have none for it"
    )
    reading.add_argument(
        "--rows", type=int, metavar="N", help="DATA is a covariance matrix, whole or its lower triangle, of N rows"
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
        "--transform",
        choices=("auto", "none", "normal-scores", "log"),
        default="auto",
        help="what stands for numbers: their normal scores or logarithms; auto: normal scores, if the model fits these "
        "and not the columns as they are (default: auto)",
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


def table_of(options: argparse.Namespace, model: icid_rs.ICID) -> Any:
    """Read the table, and tell the model what the options say of its columns."""
    from icid_rs.cli.tables import standardised, without
    from icid_rs.data.tetrad import covariance_in

    table = _read(options)
    if hasattr(table, "parts") and options.precision != "precomputed":
        table = covariance_in(table, options.rows) or table
    if not hasattr(table, "parts"):
        return _moments(table, options, model)
    table = without(table, tuple(options.drop))
    if options.precision == "precomputed":
        return _matrix(table)
    model.set_params(**_named(options, table.columns, ("columns", "categorical", "ordinal", "adjust")))
    return standardised(table) if options.standardise else table


def _moments(moments: Any, options: argparse.Namespace, model: icid_rs.ICID) -> Any:
    """Return the chosen columns of a covariance matrix, and tell the model what the options say of these."""
    names = list(range(len(moments.mean))) if moments.names is None else list(moments.names)
    given = _named(options, names, ("columns", "categorical", "ordinal", "adjust"))
    if given.keys() & {"categorical", "ordinal"}:
        raise ValueError(f"{options.data}: a covariance matrix has numbers alone; fit categories from the rows")
    dropped = set(locate_all(_names(options.drop, names), names))
    chosen = given.pop("columns", names)
    kept = [k for k in locate_all(chosen, names) if k not in dropped]
    model.set_params(**given)
    return icid_rs.Moments.from_covariance(
        moments.covariance[kept][:, kept], moments.n, names=None if moments.names is None else [names[k] for k in kept]
    )


def _matrix(table: Any) -> Any:
    """Return a table that is an inverse covariance as numbers with names."""
    from icid_rs.data.encoding import Encoding
    from icid_rs.data.tables import Table

    values = Encoding.plain(table.columns).values(table)
    return Table(values, table.columns) if table.is_named else values


def _read(options: argparse.Namespace) -> Any:
    from icid_rs.cli.tables import read_table
    from icid_rs.data.ragged import parse_lines
    from icid_rs.data.text import TextOptions

    # A name that holds a comma is named alone.
    labels = {name.strip() for part in options.categorical for name in (part, *part.split(","))}
    form = (options.delimiter, options.header, options.encoding, options.decimal)
    skipped = tuple(number for part in options.skip for number in parse_lines(part))
    text = TextOptions(*form, tuple(options.na), tuple(labels), skipped, options.row_names)
    size = getsize(options.data) if isfile(options.data) else 0
    with progress.bytes_read(size, options.quiet) as report:
        return read_table(options.data, text, options.array, options.rows, report)


def _named(options: argparse.Namespace, columns: list[Any], parameters: Sequence[str]) -> dict[str, list[Any]]:
    """Return the parameters that name columns, as far as options give them."""
    given = {name: getattr(options, name) for name in parameters}
    return {name: _names(parts, columns) for name, parts in given.items() if parts}


def _names(given: list[str], columns: list[Any]) -> list[Any]:
    """Return the columns that an option names, each alone or several separated by commas."""
    known = {str(name): name for name in columns}
    listed = [name for part in given for name in ([part] if part in known else part.split(","))]
    return [known.get(name.strip(), name.strip()) for name in listed]


def model_of(options: argparse.Namespace) -> icid_rs.ICID:
    """Return the model that the options describe."""
    given = {"threshold": options.threshold, "skewness": options.skewness, "trials": options.trials}
    return icid_rs.ICID(
        precision=options.precision,
        noise=options.noise,
        refine=None if options.refine == "none" else options.refine,
        dag=None if options.dag == "none" else options.dag,
        missing=options.missing,
        transform=None if options.transform == "none" else options.transform,
        collinear=options.collinear,
        **({"ridge": options.ridge} if options.ridge else {}),
        time_limit=options.time_limit,
        random_state=options.seed,
        n_threads=options.threads,
        **{name: value for name, value in given.items() if value is not None},
        **({} if options.knowledge is None else read_knowledge(options.knowledge)),
    )

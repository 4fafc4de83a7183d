"""``icid check``: whether a table looks as the method needs it, and its graph holds in new rows."""

from __future__ import annotations

import argparse
import json
from typing import Any

from icid_rs._util.terminal import printable
from icid_rs.cli.fit import add_fit_options, fit_table, read_further
from icid_rs.cli.output import write

_DESCRIPTION = """\
Find the graph of a table as icid fit does, and check what the method assumes: each assumption with
a verdict, the size of the departure, where it is and what to do; then indices of fit.

With --new, rows that the fit did not see are checked instead, and the independences that the graph
implies are tested in them.
"""
_EXAMPLES = """\
examples:
  icid check data.csv
  icid check data.csv --noise unequal --drop id
  icid check first-half.csv --new second-half.csv
  icid check data.csv --json | jq '.assumptions[] | select(.verdict == "fail")'
"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "check",
        help="check whether a table looks as the method needs it",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="file with the table, or - for CSV on standard input")
    parser.add_argument("--new", metavar="FILE", help="a table with the same columns, to check the graph with")
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no warnings")
    add_fit_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, fit, check, print."""
    model, table = fit_table(options)
    if options.new is not None:
        table = read_further(options, options.new)
    if not hasattr(table, "parts"):
        raise ValueError(f"{options.data}: it has no rows that could be checked")
    check = model.check(table)
    falsification = None if options.new is None or model.info_["categories"] else model.falsify(table)
    if options.json:
        write("-", json.dumps(_as_json(check, falsification), indent=2) + "\n")
        return
    lines = [str(check)] + ([] if falsification is None else ["", str(falsification)])
    write("-", printable("\n".join(lines)) + "\n")


def _as_json(check: Any, falsification: Any) -> dict[str, Any]:
    """Return the checks as plain data; what is not known is null."""
    found: dict[str, Any] = {
        "verdict": check.verdict,
        "assumptions": [_plain(assumption) for assumption in check],
        "fit": None if check.fit is None else _plain(check.fit),
    }
    if falsification is not None:
        found["falsification"] = _plain(falsification)
    return found


def _plain(record: Any) -> dict[str, Any]:
    return {key: None if value != value else value for key, value in vars(record).items()}

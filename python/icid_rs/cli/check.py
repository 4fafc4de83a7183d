"""``icid check``: whether a table looks like what the model assumes."""

from __future__ import annotations

import argparse
from typing import Any

from icid_rs.cli import progress
from icid_rs.cli.fitting import add_options, model_of, table_of
from icid_rs.cli.output import check_writable, warnings_in_one_line, write

_DESCRIPTION = """\
Fit a table, and check whether it looks like what the model assumes: one line for each assumption,
with ok, doubt or FAIL, and for those that do not hold where that is and what to do about it; then
indices of fit. The same options as those of icid fit say how the table is read and fitted.
"""
_EXAMPLES = """\
examples:
  icid check data.csv
  icid check survey.csv --drop id --json -o checks.json

exit status:
  0 done, whatever the verdicts; 2 bad input; 130 interrupted
"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "check",
        help="check what a fit assumes of a table",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="file with the table, or - for CSV on standard input")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where the verdicts go (default: print)")
    parser.add_argument("--json", action="store_true", help="verdicts as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress or warnings")
    add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, fit, check, write."""
    check_writable(options.output)
    model = model_of(options)
    table = table_of(options, model)
    if not hasattr(table, "parts"):
        raise ValueError(f"{options.data} holds a covariance matrix, and checks need rows; use icid fit")
    with warnings_in_one_line(quiet=True), progress.time_passing("fitting", options.time_limit, options.quiet):
        # Warnings of the fit are among the verdicts.
        model.fit(table)
        found = model.check(table)
    write(options.output, _as_json(found) if options.json else f"{found}\n")


def _as_json(found: Any) -> str:
    import json
    import math

    def plain(value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    checks = [{key: plain(value) for key, value in one.as_dict().items()} for one in found]
    fit = None if found.fit is None else {key: plain(value) for key, value in vars(found.fit).items()}
    return json.dumps({"verdict": found.verdict, "checks": checks, "fit": fit}, ensure_ascii=False, indent=2) + "\n"

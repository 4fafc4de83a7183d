"""The command line: ``icid fit``, ``check``, ``bootstrap``, ``simulate``, ``score`` and ``demo``.

Each command imports numerical libraries only when it runs, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import icid_rs
from icid_rs._util.terminal import printable
from icid_rs.cli import bootstrap, check, demo, fit, score, simulate

#: Exit code of a shell for a program that was stopped because nobody reads its output.
_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0 done, 2 bad input, 130 interrupted, 141 nobody reads the output."""
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes standard output once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return 130
    except (ValueError, ImportError, icid_rs.NumericalError, MemoryError, OSError) as error:
        print(f"icid: {printable(_one_line(error))}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="icid",
        description="Find causal graphs in tables of numbers.",
        epilog="Start with: icid demo, or icid fit data.csv. Each command explains itself: icid fit --help.",
    )
    parser.add_argument("--version", action="version", version=f"icid_rs {icid_rs.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (fit, check, bootstrap, simulate, score, demo):
        command.add_parser(commands)
    return parser


def _one_line(error: Exception) -> str:
    # Errors of tables know the options that mend them.
    if hasattr(error, "for_command_line"):
        return " ".join(str(error.for_command_line()).split())
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())

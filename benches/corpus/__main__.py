"""The command line; see the package's docstring."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benches import corpus
from benches.corpus.compare import compare_runs
from benches.corpus.record import load, record


def both(old: str, new: str, *, only: str, exact: bool) -> bool:
    """Record with two interpreters one after the other, and compare."""
    # The package must be the one that each interpreter has installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("old.json.gz", "new.json.gz")]
        for python, path in zip((old, new), paths, strict=True):
            command = [python, "-m", "benches.corpus", "record", str(path), "--only", only]
            subprocess.run(command, check=True, env=environment)
        return compare_runs(load(paths[0]), load(paths[1]), exact=exact)


def main() -> int:
    parser = argparse.ArgumentParser(description=corpus.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run the cases and store what comes of them")
    recording.add_argument("out", type=Path, help="file to write, such as results.json.gz")
    comparing = commands.add_parser("compare", help="compare two stored runs")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    running = commands.add_parser("both", help="record with two interpreters and compare")
    running.add_argument("old", metavar="OLD_PYTHON")
    running.add_argument("new", metavar="NEW_PYTHON")
    for command in (recording, running):
        command.add_argument("--only", default="", metavar="TEXT", help="cases whose names contain this")
    for command in (comparing, running):
        command.add_argument("--exact", action="store_true", help="fail unless all is identical to the bit")
    options = parser.parse_args()
    if options.command == "record":
        record(options.out, options.only)
        return 0
    if options.command == "compare":
        return 0 if compare_runs(load(options.old), load(options.new), exact=options.exact) else 1
    return 0 if both(options.old, options.new, only=options.only, exact=options.exact) else 1


if __name__ == "__main__":
    sys.exit(main())

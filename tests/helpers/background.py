"""Commands that run one after another, beside the tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.helpers import ROOT


class Background:
    """Commands that were started, by name."""

    def __init__(self, commands: dict[str, list[str]]) -> None:
        # A session of its own: tests interrupt the process that they run in.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.background", json.dumps(commands)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._failures: dict[str, str | None] = {}

    def failure(self, name: str) -> str | None:
        """Wait until a command has ended; return what it printed if it failed."""
        while name not in self._failures:
            ended, output = json.loads(self._process.stdout.readline())
            self._failures[ended] = output
        return self._failures[name]

    def end(self) -> None:
        """Stop those that still run."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.communicate()


#: The checks of `project/test_quality.py`, in the stash of the configuration.
CHECKS = pytest.StashKey[Background]()


def run(commands: dict[str, list[str]]) -> None:
    """Run commands; print a line of JSON for each that ends: its name, and what a failed one printed."""
    for name, command in commands.items():
        try:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            output = None if result.returncode == 0 else f"exit code {result.returncode}\n{result.stdout}"
        except OSError as error:
            output = str(error)
        print(json.dumps([name, output]), flush=True)


if __name__ == "__main__":
    run(json.loads(sys.argv[1]))

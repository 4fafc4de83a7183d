"""A command that runs beside the tests."""

from __future__ import annotations

import subprocess
import tempfile

import pytest

from tests.helpers import ROOT


class Background:
    """A command that was started, and what it prints."""

    def __init__(self, *command: str) -> None:
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open for as long as the command runs
        # A session of its own: tests interrupt the process that they run in.
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdout=self._output, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )

    def wait(self) -> tuple[int, str]:
        """Return its exit code and its output."""
        code = self._process.wait()
        self._output.seek(0)
        return code, self._output.read()

    def end(self) -> None:
        """Stop it if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._output.close()


#: The tests in Rust, in the stash of the configuration.
RUST_TESTS = pytest.StashKey[Background]()

"""The command line as tests run it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from icid_rs import cli
from tests.helpers import WATCHDOG
from tests.helpers.needs import need

COMMAND = [sys.executable, "-m", "icid_rs.cli"]


def icid(*arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=WATCHDOG, **options)


def on_terminal(*arguments: object, interrupt: bytes | None = None) -> tuple[int, bytes]:
    """Run a command with a terminal for standard error; interrupt it when it shows something for the second time."""
    need("tqdm")
    termios = pytest.importorskip("termios", reason="needs a POSIX terminal")
    reader, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 100))
    shown = b""
    with subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=terminal) as run:
        os.close(terminal)
        watchdog = threading.Timer(WATCHDOG, run.kill)
        watchdog.start()
        # Reading fails when the other end is closed.
        with contextlib.suppress(OSError):
            while chunk := os.read(reader, 4096):
                shown += chunk
                if interrupt is not None and shown.count(interrupt) > 1:
                    interrupt = None
                    run.send_signal(signal.SIGINT)
        watchdog.cancel()
        os.close(reader)
        return run.wait(WATCHDOG), shown


def refused(capsys, *arguments: object) -> str:
    """Run a command that must fail with one line; return the line."""
    assert cli.main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("icid: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    return captured.err[6:-1]


def assert_same_edges(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """To rounding: sums over rows depend on how a table lies in memory."""
    assert found.iloc[:, :2].values.tolist() == expected.iloc[:, :2].values.tolist()
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-10)

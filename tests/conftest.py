"""What all tests need."""

import shutil
import signal
from collections import Counter

import pytest

from tests.helpers.background import RUST_TESTS, Background

# A shell starts what runs in the background deaf to Ctrl-C, which tests send to themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish(session):
    """Begin with the tests in Rust, if they are to run."""
    is_wanted = any(item.name == "test_rust_tests_pass" for item in session.items)
    if is_wanted and not session.config.option.collectonly and shutil.which("cargo"):
        session.config.stash[RUST_TESTS] = Background("cargo", "test", "--locked")


def pytest_unconfigure(config):
    if RUST_TESTS in config.stash:
        config.stash[RUST_TESTS].end()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    """End a run with a line that says what was skipped, and what to install."""
    counts: Counter[str] = Counter()
    whole_files = []
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if isinstance(report, pytest.CollectReport):
            whole_files.append(f"all of {report.nodeid} {reason}")
        else:
            counts[reason] += 1
    told = [
        f"{count} need{'s' * (count == 1)}{reason.removeprefix('needs')}"
        if reason.startswith("needs ")
        else f"{count} ({reason})"
        for reason, count in counts.most_common()
    ]
    if told or whole_files:
        tests = f" {counts.total()} test{'s' * (counts.total() != 1)}" if counts else ""
        terminalreporter.write_line(f"skipped{tests}: {', '.join(told + whole_files)}")

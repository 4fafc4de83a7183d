"""What all tests need."""

import signal
from collections import Counter

import pytest

from tests.helpers.background import CHECKS, Background

# A shell starts what runs in the background deaf to Ctrl-C, which tests send to themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)


def checks_in(items):
    return [item for item in items if item.path.name == "test_quality.py"]


def pytest_collection_modifyitems(items):
    """Ask for the results of the checks last, since they run beside the other tests."""
    checks = checks_in(items)
    items[:] = [item for item in items if item not in checks] + checks


def pytest_collection_finish(session):
    """Begin with the checks that are to run."""
    checks = checks_in(session.items)
    if checks and not session.config.option.collectonly:
        names, commands = (check.callspec.params["name"] for check in checks), checks[0].module.COMMANDS
        session.config.stash[CHECKS] = Background({name: commands[name] for name in names})


def pytest_unconfigure(config):
    if CHECKS in config.stash:
        config.stash[CHECKS].end()


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

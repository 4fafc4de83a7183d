"""Nothing that cannot be right returns a result, and the table of what comes of it is up to date."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.bad_inputs import PAGE, Outcome, outcomes, page

#: How messages begin that other libraries write, each release in its own words.
OTHERS = (
    "Expected 2D",
    "Found array with",
    "The feature names",
    "X has ",
    "This ICID instance",
    "Invalid parameter",
    "ICID.__init__",
    "Error creating",
    "n_jobs ==",
    "expected str, bytes",
    "precision: KMeans",
    "icid: error",
    "icid fit: error",
    "icid simulate: error",
    "icid score: error",
)
#: What of a message is theirs.
THEIRS = ("not valid", "no valid", "no whole NumPy file", "is not an array", "no valid sparse matrix")


@pytest.fixture(scope="module")
def found() -> list[Outcome]:
    return outcomes()


def test_nothing_returns_silently(found):
    assert len(found) >= 300
    assert [case for case in found if not case.result or case.result == "exit 0"] == []


def test_exceptions_are_of_the_right_kind(found):
    calls = [case for case in found if case.section != "Command line"]
    kinds = {case.result for case in calls}
    own = {"ValueError", "TableError", "TypeError", "NumericalError", "NotFittedError", "FileNotFoundError"}
    assert kinds <= own | {"ArrowInvalid", "LinAlgError"}
    assert {case.result for case in found if case.section == "Command line"} == {"exit 2"}


def test_messages_say_something(found):
    for case in found:
        assert len(case.message) > 10, case
        # Of NumPy's insides the user need not know.
        assert "np.float64(" not in case.message, case


def test_the_table_is_up_to_date(found):
    written = PAGE.read_text(encoding="utf-8").splitlines()
    now = page(found).splitlines()
    remedy = "python -m tests.helpers.bad_inputs writes the page anew"
    assert len(written) == len(now), remedy
    for old, new in zip(written, now, strict=True):
        cells, others = old.split(" | "), new.split(" | ")
        assert cells[:2] == others[:2], remedy
        message = cells[-1].replace("\\", "")
        if not message.startswith(OTHERS) and not any(text in message for text in THEIRS):
            assert old == new, remedy


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    from icid_rs import ICID

    model = ICID().fit(np.random.default_rng(0).normal(size=(50, 2)) @ [[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="constant"):
        model.fit(np.ones((50, 2)))
    assert not hasattr(model, "adjacency_matrix_")

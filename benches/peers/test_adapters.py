"""Every method solves the easy case in its own environment: `python -m pytest benches/peers`, in the root."""

import pytest
from benches.peers.adapters import METHODS
from benches.peers.cases import Case
from benches.peers.runs import run
from benches.peers.smoke import solve


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_easy_case_is_solved_with_every_direction(method):
    wrong, outcome = solve(method)
    assert outcome["status"] == "ok", outcome
    assert wrong == 0


def test_a_run_ends_at_its_limit():
    line = run(METHODS["DAGMA"], Case("ER", 1, 50, 500, "raw"), seconds=1)
    assert line["status"] == "timeout"
    assert "shd" not in line

from __future__ import annotations

import pytest

from icid_rs import cli


def test_demo_prints_what_was_recovered(capsys):
    assert cli.main(["demo", "-d", "200"]) == 0
    out = capsys.readouterr().out
    assert "200 variables, 200 edges" in out
    assert "recovered" in out


def test_bad_input_is_one_line_and_exit_code_2(capsys):
    assert cli.main(["demo", "-d", "0"]) == 2
    assert capsys.readouterr().err == "icid: d = 0: it must be at least 1\n"
    with pytest.raises(SystemExit) as exit_info:
        cli.main(["no-such-command"])
    assert exit_info.value.code == 2

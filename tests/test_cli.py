from __future__ import annotations

import pytest

from icid_rs import cli


def test_demo_prints_what_was_recovered(capsys):
    assert cli.main(["demo", "-d", "50", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "50 variables, 50 edges" in out
    assert "500 samples" in out
    assert "SHD" in out
    assert out.count("true weight") >= 3


def test_bad_input_is_one_line_and_exit_code_2(capsys):
    assert cli.main(["demo", "-d", "0"]) == 2
    assert capsys.readouterr().err == "icid: d = 0: it must be at least 1\n"
    with pytest.raises(SystemExit) as exit_info:
        cli.main(["no-such-command"])
    assert exit_info.value.code == 2

"""``icid check`` and ``icid bootstrap``, pictures, and transforms from the command line."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, load
from tests.helpers.commands import icid, refused


def test_check_prints_the_verdicts_of_the_model(table, frame, tmp_path):
    done = icid("check", table)
    model = ICID().fit(frame)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{model.check(frame)}\n"
    done = icid("check", table, "--json", "-o", tmp_path / "checks.json")
    content = json.loads((tmp_path / "checks.json").read_text())
    assert content["verdict"] == model.check(frame).verdict
    assert [one["name"] for one in content["checks"]] == [one.name for one in model.check(frame)]
    assert content["fit"]["df"] == model.check(frame).fit.df


def test_bootstrap_writes_confidences(table, frame, tmp_path, capsys):
    done = icid("bootstrap", table, "-n", 5, "--seed", 2)
    assert done.returncode == 0
    model = ICID(random_state=2).fit(frame)
    model.bootstrap(frame, 5, random_state=2)
    printed = pd.read_csv(io.StringIO(done.stdout))
    assert printed["confidence"].tolist() == pytest.approx(model.edges()["confidence"].tolist())
    done = icid("bootstrap", table, "-n", 3, "--block", "auto", "-o", tmp_path / "graph.json")
    assert done.returncode == 0
    assert load(tmp_path / "graph.json").confidence_ is not None
    assert "must be at least 1" in refused(capsys, "bootstrap", table, "-n", 0)
    assert "subsample" in refused(capsys, "bootstrap", table, "--subsample", 2)


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_pictures(table, tmp_path, suffix, start):
    for name in ("one", "two"):
        assert icid("fit", table, "-q", "-o", tmp_path / f"{name}.{suffix}").returncode == 0
    content = (tmp_path / f"one.{suffix}").read_bytes()
    assert content.startswith(start)
    assert content == (tmp_path / f"two.{suffix}").read_bytes()


def test_covariances_have_no_rows(tmp_path, capsys):
    path = tmp_path / "covariance.txt"
    path.write_text("/covariance\n100\na b\n1\n0.5 1\n")
    assert "checks need rows" in refused(capsys, "check", path)
    assert "draws rows" in refused(capsys, "bootstrap", path)


def test_transforms(frame, tmp_path):
    np.exp(frame / frame.std()).to_csv(tmp_path / "curved.csv", index=False)
    done = icid("fit", tmp_path / "curved.csv", "-o", tmp_path / "graph.json")
    assert "normal scores of gene 0" in done.stdout
    assert load(tmp_path / "graph.json").curves_
    done = icid("fit", tmp_path / "curved.csv", "-o", tmp_path / "graph.json", "--transform", "none")
    assert "normal scores" not in done.stdout
    assert not load(tmp_path / "graph.json").curves_
    done = icid("fit", tmp_path / "curved.csv", "-o", tmp_path / "graph.json", "--transform", "log")
    assert "logarithms of gene 0" in done.stdout

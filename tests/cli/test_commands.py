"""The command line, as it is run."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, cli, load, metrics
from tests.helpers import WATCHDOG
from tests.helpers.commands import COMMAND, assert_same_edges, icid, on_terminal, refused


class TestRuns:
    """As a user starts it."""

    def test_from_simulation_to_score(self, tmp_path):
        for arguments in (
            ["simulate", "-d", 12, "-n", 500, "-o", tmp_path / "data.csv", "--truth", tmp_path / "truth.json"],
            ["fit", tmp_path / "data.csv", "-o", tmp_path / "graph.json", "--noise", "equal"],
        ):
            done = icid(*arguments)
            assert (done.returncode, done.stderr) == (0, "")
            # The graph is in a file, so that the page about it goes to standard output.
            assert done.stdout.startswith("IN SHORT" if arguments[0] == "fit" else "")
            assert bool(done.stdout) == (arguments[0] == "fit")
        assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "graph.json", "truth.json"]
        done = icid("score", tmp_path / "truth.json", tmp_path / "graph.json", "--json")
        assert done.returncode == 0
        expected = metrics.count_accuracy(
            load(tmp_path / "truth.json").adjacency_matrix_, load(tmp_path / "graph.json").adjacency_matrix_
        )
        assert json.loads(done.stdout) == expected

    def test_edges_are_printed(self, table, edges):
        done = icid("fit", table, "--noise", "equal")
        assert done.returncode == 0
        assert done.stderr.startswith("IN SHORT")
        quiet = icid("fit", table, "--noise", "equal", "--quiet")
        assert (quiet.stdout, quiet.stderr) == (done.stdout, "")
        assert_same_edges(pd.read_csv(io.StringIO(done.stdout)), edges)

    def test_standard_input(self, table, edges):
        done = icid("fit", "-", "--noise", "equal", input=table.read_text())
        assert_same_edges(pd.read_csv(io.StringIO(done.stdout)), edges)

    def test_bad_input(self, tmp_path):
        done = icid("fit", tmp_path / "none.csv")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"icid: {tmp_path / 'none.csv'}: No such file or directory\n"

    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_output_to_pipes(self, unbuffered):
        """More than a pipe holds, to a reader that takes it all and to one that goes away."""
        arguments = {
            "args": [*COMMAND, "simulate", "-n", "5000"],
            "stderr": subprocess.PIPE,
            "env": {**os.environ, "PYTHONUNBUFFERED": unbuffered},
        }
        done = subprocess.run(stdout=subprocess.PIPE, check=True, **arguments)
        assert done.stdout.count(b"\n") == 5001
        with subprocess.Popen(stdout=subprocess.PIPE, **arguments) as run:
            assert run.stdout.readline().startswith(b"x0,x1")
            run.stdout.close()
            assert run.stderr.read() == b""
            assert run.wait(WATCHDOG) == 141

    def test_interrupted(self, tmp_path):
        rng = np.random.default_rng(0)
        np.save(tmp_path / "data.npy", rng.normal(size=(3000, 300)) @ (np.eye(300) + 0.2 * rng.normal(size=(300, 300))))
        arguments = ["fit", tmp_path / "data.npy", "-o", tmp_path / "graph.json", "--trials", "100000000"]
        code, shown = on_terminal(*arguments, interrupt=b"fitting: ")
        assert code == 130
        assert b"Traceback" not in shown
        assert [p.name for p in tmp_path.iterdir()] == ["data.npy"]

    def test_progress_on_a_terminal_only(self, table, tmp_path):
        code, shown = on_terminal("fit", table, "-o", tmp_path / "graph.json")
        assert code == 0
        for word in (b"reading", b"fitting", b"10 variables"):
            assert word in shown
        code, shown = on_terminal("fit", table, "-o", tmp_path / "graph.json", "--quiet")
        assert (code, shown) == (0, b"")


class TestOutput:
    @pytest.mark.parametrize("suffix", ["json", "graphml", "csv"])
    def test_graphs_come_back(self, table, tmp_path, edges, suffix):
        assert cli.main(["fit", str(table), "-o", str(tmp_path / f"graph.{suffix}"), "--noise", "equal"]) == 0
        assert_same_edges(load(tmp_path / f"graph.{suffix}").edges(), edges)

    def test_others_read_it(self, table, tmp_path, edges):
        cli.main(["fit", str(table), "-o", str(tmp_path / "graph.graphml"), "--noise", "equal"])
        network = nx.read_graphml(tmp_path / "graph.graphml")
        assert set(network.edges) == set(zip(edges.source, edges.target, strict=True))

    @pytest.mark.parametrize("kind", ["csv", "json", "graphml", "dot"])
    def test_formats_on_standard_output(self, table, capfdbinary, kind):
        assert cli.main(["fit", str(table), "--format", kind, "--noise", "equal"]) == 0
        start = {"csv": b"source,", "json": b"{", "graphml": b"<?xml", "dot": b"digraph"}[kind]
        assert capfdbinary.readouterr().out.startswith(start)

    def test_pages(self, table, tmp_path):
        assert cli.main(["fit", str(table), "-o", str(tmp_path / "graph.html")]) == 0
        page = (tmp_path / "graph.html").read_bytes()
        assert b"<html" in page
        assert b'<details id="report">' in page

    def test_options_reach_the_estimator(self, table, tmp_path):
        path = tmp_path / "graph.json"
        options = ["--refine", "none", "--dag", "none", "--threshold", "0.1", "--seed", "7", "--skewness", "0"]
        assert cli.main(["fit", str(table), "-o", str(path), "--noise", "equal", *options]) == 0
        settings = load(path).settings_
        assert settings["refine"] is settings["dag"] is None
        assert (settings["threshold"], settings["random_state"], settings["noise"]) == (0.1, 7, "equal")

    def test_warnings_are_lines(self, table, capsys):
        assert cli.main(["fit", str(table)]) == 0
        assert "icid: warning: " in capsys.readouterr().err
        assert cli.main(["fit", str(table), "--quiet"]) == 0
        assert capsys.readouterr().err == ""

    def test_unwritable_outputs_are_refused_first(self, table, tmp_path, capsys):
        assert "there is no folder" in refused(capsys, "fit", table, "-o", tmp_path / "none" / "graph.json")
        assert "this is a folder" in refused(capsys, "fit", table, "-o", tmp_path, "--format", "json")
        assert "the suffix must be one of .json" in refused(capsys, "fit", table, "-o", tmp_path / "graph.xls")
        if os.geteuid():
            (tmp_path / "closed").mkdir(mode=0o500)
            assert "cannot be written" in refused(capsys, "fit", table, "-o", tmp_path / "closed" / "graph.json")

    def test_covariates_are_taken_out(self, table, tmp_path, frame):
        graph = tmp_path / "graph.json"
        assert cli.main(["fit", str(table), "-o", str(graph), "--adjust", "gene 0,gene 3", "--quiet"]) == 0
        expected = ICID(adjust=["gene 0", "gene 3"]).fit(frame).edges()
        pd.testing.assert_frame_equal(load(graph).edges(), expected)

    def test_standardised_columns(self, table, tmp_path, frame):
        assert cli.main(["fit", str(table), "-o", str(tmp_path / "graph.json"), "--standardise", "--quiet"]) == 0
        expected = ICID().fit((frame - frame.mean()) / frame.std(ddof=0)).edges()
        pd.testing.assert_frame_equal(load(tmp_path / "graph.json").edges(), expected)


class TestKnowledge:
    def test_it_reaches_the_estimator(self, table, tmp_path, edges):
        known, graph = tmp_path / "known.json", tmp_path / "graph.json"
        cause, effect = edges[["source", "target"]].iloc[0]
        known.write_text(json.dumps({"forbidden": [[cause, effect]]}))
        assert cli.main(["fit", str(table), "-q", "--knowledge", str(known), "-o", str(graph)]) == 0
        assert cause not in load(graph).parents(effect)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "line 1: no JSON"),
            ("[]", "an object with some of the keys"),
            ('{"requried": []}', "an object with some of the keys"),
            ('{"required": [["a"]]}', "must hold pairs"),
            ('{"tiers": "ab"}', "a list of lists"),
            ('{"tiers": [[null]]}', "names or numbers"),
            ('{"required": [["nobody", "else"]]}', "no variable is named 'nobody'"),
        ],
    )
    def test_bad_files(self, table, tmp_path, capsys, content, message):
        known = tmp_path / "known.json"
        known.write_text(content)
        assert message in refused(capsys, "fit", table, "--knowledge", known)


@pytest.mark.parametrize("policy", ["drop", "em", "pairwise"])
def test_missing_values(frame, tmp_path, capsys, policy):
    holes = frame.copy()
    holes.iloc[3, 1] = np.nan
    path, graph = tmp_path / "holes.csv", tmp_path / "graph.json"
    holes.to_csv(path, index=False)
    assert "row 3, column" in refused(capsys, "fit", path, "--missing", "raise")
    assert cli.main(["fit", str(path), "-q", "--missing", policy, "-o", str(graph)]) == 0
    expected = ICID(missing=policy).fit(holes)
    assert abs(load(graph).adjacency_matrix_ - expected.adjacency_matrix_).max() < 1e-10


class TestScore:
    @pytest.fixture
    def graphs(self, tmp_path) -> Path:
        assert (
            cli.main(["simulate", "-d", "8", "-o", str(tmp_path / "data.csv"), "--truth", str(tmp_path / "a.json")])
            == 0
        )
        graph = load(tmp_path / "a.json")
        graph.save(tmp_path / "a.csv")
        graph.save(tmp_path / "a.graphml")
        np.save(tmp_path / "a.npy", graph.adjacency_matrix_.toarray())
        order = np.random.default_rng(0).permutation(8)
        graph.subgraph([graph.names_[k] for k in order], 0).save(tmp_path / "b.json")
        return tmp_path

    @pytest.mark.parametrize("other", ["a.json", "a.csv", "a.graphml", "a.npy", "b.json"])
    def test_a_graph_is_itself(self, graphs, capfd, other):
        for pair in (("a.json", other), (other, "a.json")):
            assert cli.main(["score", *(str(graphs / name) for name in pair), "--json"]) == 0
            score = json.loads(capfd.readouterr().out)
            assert (score["shd"], score["tpr"], score["nnz"]) == (0, 1.0, 8)

    def test_figures_in_words(self, graphs, capfd):
        assert cli.main(["score", str(graphs / "a.json"), str(graphs / "a.csv")]) == 0
        assert "shd  0      edges missing, extra or reversed" in capfd.readouterr().out

    def test_graphs_that_do_not_match(self, graphs, tmp_path, capsys):
        load(graphs / "a.json").subgraph("x0", 0).save(graphs / "small.json")
        assert "small.json has no variable 'x1', but" in refused(
            capsys, "score", graphs / "a.json", graphs / "small.json"
        )
        (graphs / "other.csv").write_text("source,target,weight\nrain,wet,1\n")
        assert "no variable 'rain'" in refused(capsys, "score", graphs / "a.json", graphs / "other.csv")
        assert "no variable in common" in refused(capsys, "score", graphs / "a.csv", graphs / "other.csv")
        np.save(graphs / "small.npy", np.zeros((2, 2)))
        assert "have 8 and 2 variables" in refused(capsys, "score", graphs / "a.json", graphs / "small.npy")
        np.save(graphs / "small.npy", np.zeros((2, 3)))
        assert "must be square" in refused(capsys, "score", graphs / "a.json", graphs / "small.npy")


def test_demo_prints_what_was_recovered(capsys):
    assert cli.main(["demo", "-d", "50", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "50 variables, 50 edges" in out
    assert "500 samples" in out
    assert "SHD" in out
    assert out.count("true weight") >= 3


@pytest.mark.parametrize("command", [[], ["fit"], ["simulate"], ["score"], ["demo"]])
def test_help_teaches(capsys, command):
    with pytest.raises(SystemExit) as exit_info:
        cli.main([*command, "--help"])
    assert exit_info.value.code == 0
    out = capsys.readouterr().out
    assert "icid" in out
    assert max(map(len, out.splitlines())) <= 110

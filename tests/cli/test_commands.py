"""The command line, as it is run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, cli, datasets, load, metrics
from icid_rs.cli.text import TextOptions, read_text

COMMAND = [sys.executable, "-m", "icid_rs.cli"]


def icid(*arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def on_terminal(*arguments: object, interrupt: bytes | None = None) -> tuple[int, bytes]:
    """Run a command with a terminal for standard error; interrupt it a second after it has shown something."""
    pytest.importorskip("tqdm")
    termios = pytest.importorskip("termios")
    reader, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 100))
    shown = b""
    with subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=terminal) as run:
        os.close(terminal)
        # Reading fails when the other end is closed.
        with contextlib.suppress(OSError):
            while chunk := os.read(reader, 4096):
                shown += chunk
                if interrupt is not None and interrupt in shown:
                    interrupt = None
                    time.sleep(1.0)
                    run.send_signal(signal.SIGINT)
        os.close(reader)
        return run.wait(60), shown


def refused(capsys, *arguments: object) -> str:
    """Run a command that must fail with one line; return the line."""
    assert cli.main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("icid: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    return captured.err[6:-1]


@pytest.fixture(scope="module")
def truth() -> np.ndarray:
    return datasets.random_dag(10, 1, random_state=3).toarray()


@pytest.fixture(scope="module")
def frame(truth) -> pd.DataFrame:
    X = datasets.sample_sem(truth, 300, random_state=3)
    return pd.DataFrame(X, columns=[f"gene {k}" for k in range(10)])


@pytest.fixture(scope="module")
def edges(frame) -> pd.DataFrame:
    return ICID(noise="equal").fit(frame).edges()


@pytest.fixture
def table(frame, tmp_path) -> Path:
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def assert_same_edges(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """To rounding: sums over rows depend on how a table lies in memory."""
    assert found.iloc[:, :2].values.tolist() == expected.iloc[:, :2].values.tolist()
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-10)


class TestRuns:
    """As a user starts it."""

    def test_from_simulation_to_score(self, tmp_path):
        for arguments in (
            ["simulate", "-d", 12, "-n", 500, "-o", tmp_path / "data.csv", "--truth", tmp_path / "truth.json"],
            ["fit", tmp_path / "data.csv", "-o", tmp_path / "graph.json", "--noise", "equal"],
        ):
            done = icid(*arguments)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "graph.json", "truth.json"]
        done = icid("score", tmp_path / "truth.json", tmp_path / "graph.json", "--json")
        assert done.returncode == 0
        expected = metrics.count_accuracy(
            load(tmp_path / "truth.json").adjacency_matrix_, load(tmp_path / "graph.json").adjacency_matrix_
        )
        assert json.loads(done.stdout) == expected

    def test_edges_are_printed(self, table, edges):
        done = icid("fit", table, "--noise", "equal")
        assert (done.returncode, done.stderr) == (0, "")
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
            assert run.wait(60) == 141

    def test_interrupted(self, tmp_path):
        rng = np.random.default_rng(0)
        np.save(tmp_path / "data.npy", rng.normal(size=(3000, 300)) @ (np.eye(300) + 0.2 * rng.normal(size=(300, 300))))
        arguments = ["fit", tmp_path / "data.npy", "-o", tmp_path / "graph.json", "--trials", "100000000"]
        code, shown = on_terminal(*arguments, interrupt=b"fitting")
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
        assert b"<html" in (tmp_path / "graph.html").read_bytes()

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

    def test_standardised_columns(self, table, tmp_path, frame):
        assert cli.main(["fit", str(table), "-o", str(tmp_path / "graph.json"), "--standardise", "--quiet"]) == 0
        expected = ICID().fit((frame - frame.mean()) / frame.std(ddof=0)).edges()
        pd.testing.assert_frame_equal(load(tmp_path / "graph.json").edges(), expected)


class TestTables:
    """Every kind of file gives the same numbers and names."""

    def read(self, path: Path, *options: str) -> pd.DataFrame:
        """Fit the file, and return what was found with which names."""
        target = path.with_name("graph.json")
        assert cli.main(["fit", str(path), "-o", str(target), "--noise", "equal", *options]) == 0
        return load(target).edges()

    def test_kinds(self, frame, edges, tmp_path):
        X, names = frame.to_numpy(), np.array(frame.columns.tolist())
        frame.to_csv(tmp_path / "a.csv", index=False)
        frame.to_csv(tmp_path / "b.tsv", index=False, sep="\t")
        frame.to_csv(tmp_path / "c.csv", sep=";")
        frame.to_csv(tmp_path / "d.txt", sep="|", index=False, encoding="utf-8-sig", lineterminator="\r\n")
        np.savez(tmp_path / "e.npz", X=X, names=names)
        for path in sorted(tmp_path.iterdir()):
            assert_same_edges(self.read(path), edges)

    def test_parquet(self, frame, edges, tmp_path):
        pytest.importorskip("pyarrow")
        frame.assign(id="text").to_parquet(tmp_path / "data.parquet")
        assert_same_edges(self.read(tmp_path / "data.parquet", "--drop", "id"), edges)

    def test_without_names(self, frame, edges, tmp_path):
        number = {name: k for k, name in enumerate(frame.columns)}
        expected = edges.assign(source=edges.source.map(number), target=edges.target.map(number))
        np.save(tmp_path / "data.npy", frame.to_numpy())
        np.savez(tmp_path / "data.npz", anything=frame.to_numpy())
        frame.to_csv(tmp_path / "data.csv", header=False, index=False)
        for name in ("data.npy", "data.npz", "data.csv"):
            assert_same_edges(self.read(tmp_path / name), expected)
        np.savez(tmp_path / "two.npz", a=frame.to_numpy(), b=frame.to_numpy())
        assert_same_edges(self.read(tmp_path / "two.npz", "--array", "b"), expected)

    def test_simulated_tables_are_the_same_in_all_formats(self, tmp_path):
        pytest.importorskip("pyarrow")
        for suffix in ("csv", "tsv", "npz", "parquet"):
            assert cli.main(["simulate", "-d", "5", "-n", "50", "-o", str(tmp_path / f"data.{suffix}")]) == 0
        expected = np.load(tmp_path / "data.npz")["X"]
        np.testing.assert_array_equal(pd.read_csv(tmp_path / "data.csv", float_precision="round_trip"), expected)
        np.testing.assert_array_equal(pd.read_parquet(tmp_path / "data.parquet"), expected)
        values, names = read_text(str(tmp_path / "data.tsv"), TextOptions())
        np.testing.assert_array_equal(values, expected)
        assert names == ["x0", "x1", "x2", "x3", "x4"]

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("a,b\n1,2\n", ["a", "b"]),
            ("1,2\n3,4\n", None),
            ("0,1\n3,4\n", None),
            ("0,1,2\n3,4,5\n", ["0", "1", "2"]),
            (",0,1\n0,3,4\n", ["0", "1"]),
            (",a,b\n0,3,4\n", ["a", "b"]),
            ('"",a,b\nrow 1,3,4\n', ["a", "b"]),
            ("a,1\n3,4\n", ["a", "1"]),
            ("\n\na;b\n1;2\n\n3;4\n", ["a", "b"]),
            ('"x, y","two\nlines"\n1,2\n', ["x, y", "two\nlines"]),
            ("=1+1,<b>\n1,2\n", ["=1+1", "<b>"]),
            ("a\n1\n", ["a"]),
            ("été\t温度\n1\t2\n", ["été", "温度"]),
            ("a_1,b_2\n1,2\n", ["a_1", "b_2"]),
        ],
    )
    def test_headers(self, tmp_path, text, names):
        (tmp_path / "data.csv").write_text(text, encoding="utf-8")
        assert read_text(str(tmp_path / "data.csv"), TextOptions())[1] == names

    def test_headers_can_be_told(self, tmp_path):
        path = tmp_path / "data.csv"
        path.write_text("0,1,2\n3,4,5\n")
        values, names = read_text(str(path), TextOptions(header="no"))
        assert (values.tolist(), names) == ([[0, 1, 2], [3, 4, 5]], None)
        path.write_text("5,7\n3,4\n")
        assert read_text(str(path), TextOptions(header="yes"))[1] == ["5", "7"]
        assert read_text(str(path), TextOptions(header="no", drop=("0",)))[1] == [1]
        path.write_text("5 7\n3  4\n")
        assert read_text(str(path), TextOptions(delimiter="space"))[0].tolist() == [[5, 7], [3, 4]]
        path.write_bytes("é,b\n1,2\n".encode("utf-16"))
        assert read_text(str(path), TextOptions(encoding="utf-16"))[1] == ["é", "b"]


class TestBadFiles:
    """Exit code 2, and one line that says what and where."""

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "data.csv is empty"),
            (b"\n\n", "data.csv is empty"),
            (b"a,b\n", "has no rows below its header"),
            (b"a,b\n1,2\n3\n", "line 3: there are 1 cells, but 2 in the first line"),
            (b"a,b\n1,2,3\n", "line 2: there are 3 cells, but 2 in the first line"),
            (b"a,b\n1,2\n3,four\n", "line 3, column 'b': 'four' is not a number; if this is no variable, leave it out"),
            (b'a,b\n1,2\n3,"4,5"\n', "line 3, column 'b': '4,5' is not a number; write it with a decimal point"),
            (b"a,b\n1,2\n3,4_5\n", "line 3, column 'b': '4_5' is not a number"),
            (b"a,b\n1,2\n,4\n", "line 3, column 'a': the value is missing"),
            (b"a,b\n1,NaN\n3,4\n", "line 2, column 'b': the value is missing"),
            (b"1,NA\n3,4\n", "line 1, column 1: the value is missing"),
            (b"a,b\n1,2\n3,-inf\n", "line 3, column 'b': '-inf' is not finite"),
            (b"a,b\n1,2\n3,1e999\n", "line 3, column 'b': '1e999' is not finite"),
            (b"\n\na,b\n\n1,2\n3,x\n", "line 6, column 'b': 'x'"),
            (b"\na,a\n1,2\n", "line 2: columns 1 and 2 are both named 'a'"),
            (b"a,,c\n1,2,3\n", "line 1: column 2 has no name"),
            (b"a,b\n1,2\n\xe9,4\n", "line 3: byte 0xe9 is no UTF-8 text; name the encoding with --encoding"),
            (b"\xff\xfea\0,\0b\0\n\0", "line 1: byte 0xff is no UTF-8 text"),
            (b"PK\x03\x04\x00\x00,\x00\n", "line 1: it holds zero bytes"),
            (b'a,b\n1,2\n"3,4\n', "line 3: unexpected end of data"),
            (b"a,b\n1,2\n", "n_samples = 2"),
        ],
    )
    def test_text(self, tmp_path, capsys, content, message):
        path = tmp_path / "data.csv"
        path.write_bytes(content * 1 if message != "n_samples = 2" else content + b"3,5\n")
        line = refused(capsys, "fit", path)
        assert message in line
        assert "data.csv" in line or "n_samples" in line

    def test_random_bytes(self, tmp_path, capsys):
        rng = np.random.default_rng(0)
        for suffix in ("csv", "npy", "npz", "parquet", "tsv"):
            if suffix == "parquet":
                pytest.importorskip("pyarrow")
            for _ in range(20):
                (tmp_path / f"data.{suffix}").write_bytes(rng.bytes(int(rng.integers(1, 500))))
                assert f"data.{suffix}" in refused(capsys, "fit", tmp_path / f"data.{suffix}")

    def test_numpy(self, tmp_path, capsys):
        path = tmp_path / "data.npz"
        np.savez(path, X=np.ones((50, 3)))
        whole = path.read_bytes()
        for length in (0, 10, len(whole) // 2, len(whole) - 10):
            path.write_bytes(whole[:length])
            assert "no whole NumPy file" in refused(capsys, "fit", path)
        np.savez(path, a=np.ones((5, 3)), b=np.ones((5, 3)))
        assert "choose one with --array. It holds a (5, 3), b (5, 3)" in refused(capsys, "fit", path)
        np.savez(path, X=np.ones((5, 3)), names=np.array(["a", "b"]))
        assert "2 names, but 3 columns" in refused(capsys, "fit", path)
        np.savez(path, X=np.array([["a"]]))
        assert "not numbers" in refused(capsys, "fit", path)
        path = tmp_path / "data.npy"
        np.save(path, np.array([[{}]], dtype=object))
        assert "it holds Python objects" in refused(capsys, "fit", path)
        np.save(path, np.array([[1.0, np.nan]] * 5))
        assert "X contains NaN: row 0, column 1" in refused(capsys, "fit", path)

    def test_parquet(self, tmp_path, capsys, frame):
        pytest.importorskip("pyarrow")
        path = tmp_path / "data.parquet"
        frame.assign(site="north").to_parquet(path)
        assert "column 'site': it holds" in refused(capsys, "fit", path)
        holed = frame.astype("Float64")
        holed.iloc[2, 0] = pd.NA
        holed.to_parquet(path)
        assert "row 2, column 'gene 0': the value is missing" in refused(capsys, "fit", path)
        path.write_bytes(path.read_bytes()[:-20])
        assert "no valid Parquet file" in refused(capsys, "fit", path)

    def test_parquet_without_pyarrow(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        (tmp_path / "data.parquet").write_bytes(b"PAR1")
        line = refused(capsys, "fit", tmp_path / "data.parquet")
        assert line == "Parquet needs pyarrow: pip install 'icid_rs[parquet]'"

    def test_what_is_no_file(self, tmp_path, capsys):
        (tmp_path / "data.csv").mkdir()
        assert "Is a directory" in refused(capsys, "fit", tmp_path / "data.csv")
        assert "the suffix must be one of .csv" in refused(capsys, "fit", tmp_path / "data.xlsx")

    def test_columns_to_drop(self, table, capsys):
        assert "did you mean 'gene 7'" in refused(capsys, "fit", table, "--drop", "gene7")

    def test_the_audit_speaks_in_names(self, frame, tmp_path, capsys):
        frame.assign(copy=2 * frame["gene 3"]).to_csv(tmp_path / "data.csv", index=False)
        assert "columns 'gene 3' and 'copy' are the same up to scale" in refused(capsys, "fit", tmp_path / "data.csv")

    def test_parameters(self, table, capsys):
        assert refused(capsys, "demo", "-d", "0") == "d = 0: it must be at least 1"
        assert "time_limit = -1" in refused(capsys, "fit", table, "--time-limit", "-1")
        assert "--delimiter 'ab'" in refused(capsys, "fit", table, "--delimiter", "ab")
        assert "--variances 2 1" in refused(capsys, "simulate", "--variances", "2", "1")
        assert "noise='unequal'" in refused(capsys, "fit", table, "--noise", "unequal", "--refine", "none")
        assert "no such encoding" in refused(capsys, "fit", table, "--encoding", "klingon")
        for arguments in (["no-such-command"], ["fit"], ["fit", str(table), "--noise", "loud"]):
            with pytest.raises(SystemExit) as exit_info:
                cli.main(arguments)
            assert exit_info.value.code == 2


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


@pytest.mark.parametrize("policy", ["drop", "pairwise"])
def test_missing_values(frame, tmp_path, capsys, policy):
    holes = frame.copy()
    holes.iloc[3, 1] = np.nan
    path, graph = tmp_path / "holes.csv", tmp_path / "graph.json"
    holes.to_csv(path, index=False)
    assert "line 5, column" in refused(capsys, "fit", path)
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

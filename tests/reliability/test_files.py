"""Files on their worst day: damaged, hostile, or with no room to be written."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from icid_rs import CausalGraph, Moments, cli, datasets, load
from icid_rs._util.matlab import check_elements
from icid_rs.cli.tables import read_table
from icid_rs.data.text import TextOptions
from tests.helpers import fuzz_readers

GRAPH = CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"])


def test_damaged_files_are_refused_or_read():
    counts = fuzz_readers.run(0, executions=40)
    assert len(counts) == 11
    assert set(counts.values()) == {40}


class Bomb:
    """Something that leaves a trace when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".json", ".graphml", ".csv", ".mat", ".parquet"])
def test_no_pickle_is_ever_loaded(tmp_path, suffix, capsys):
    trace, path = tmp_path / "trace", tmp_path / f"bomb{suffix}"
    if suffix == ".npy":
        np.save(path, np.array([[Bomb(trace)]], dtype=object), allow_pickle=True)
    elif suffix == ".npz":
        np.savez(path, X=np.array([[Bomb(trace)]], dtype=object), header=np.array([Bomb(trace)], dtype=object))
    else:
        path.write_bytes(pickle.dumps(Bomb(trace)))
    for read in (load, Moments.load, Moments.read, datasets.load_netsim):
        with pytest.raises(ValueError):  # noqa: PT011 each reader in its own words
            read(path)
    for command in (["fit", str(path)], ["score", str(path), str(path)]):
        assert cli.main(command) == 2
    assert not trace.exists()


def test_entities_of_xml_neither_grow_nor_reach_out(tmp_path):
    """A file of a few lines that would be gigabytes, and one that asks for another file."""
    secret = tmp_path / "secret"
    secret.write_text("42")
    laughs = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10 if k else "ha" * 10}">' for k in range(12))
    for doctype, use in ((laughs, "&a11;"), (f'<!ENTITY a SYSTEM "{secret.as_uri()}">', "&a;")):
        path = tmp_path / "graph.graphml"
        path.write_text(
            f'<?xml version="1.0"?><!DOCTYPE g [{doctype}]><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
            f'<graph edgedefault="directed"><node id="a"><data key="d">{use}</data></node></graph></graphml>'
        )
        with pytest.raises(ValueError, match="not valid GraphML"):
            load(path)


def test_an_unknown_encoding(tmp_path):
    path = tmp_path / "graph.graphml"
    path.write_bytes(b'<?xml version="1.0" encoding="klingon"?><graphml/>')
    with pytest.raises(ValueError, match="not valid GraphML: unknown encoding"):
        load(path)


def test_an_absurd_exponent_is_read_as_what_it_is(tmp_path):
    """It once ended the process, inside the parser."""
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n6.3e+75634276369e-01,3\n4,5\n")
    with pytest.raises(ValueError, match="'a'"):
        Moments.read(path)
    path.write_text("a,b\n0.1,2\n0.30000000000000004,3\n1e-320,5\n")
    assert sorted(Moments.read(path).rows[:, 0].tolist()) == [1e-320, 0.1, 0.30000000000000004]


def test_a_header_of_numpy_that_does_not_end(tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, np.eye(3))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"}", b"("))
    with pytest.raises(ValueError, match="no whole NumPy file"):
        Moments.read(path)


def test_damaged_netsim_files(tmp_path):
    """Types and sizes that SciPy does not check, and reads beyond."""
    path = tmp_path / "sim.mat"
    net = np.array([[[-1.0, 0.4], [0.0, -1.0]]])
    for compressed in (False, True):
        scipy.io.savemat(path, {"ts": np.ones((9, 2)), "net": net, "more": 1.0}, do_compression=compressed)
        assert datasets.load_netsim(path)[0].shape == (9, 2)
    scipy.io.savemat(path, {"ts": np.ones((9, 2)), "net": net})
    content = path.read_bytes()
    for place in range(128, len(content)):
        for value in (0, 0xFF):
            path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
            try:
                X, _, _ = datasets.load_netsim(path)
            except ValueError as error:
                assert str(path) in str(error)  # noqa: PT017
            else:
                assert X.shape == (9, 2)
    path.write_bytes(content[:-30])
    with pytest.raises(ValueError, match="ends too early"):
        datasets.load_netsim(path)


def element(kind: int, content: bytes) -> bytes:
    """An element of a MATLAB file of version 5: its type, its size, and its content in whole words."""
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def array(flags: bytes = b"\x06" + bytes(7), dimensions: tuple[int, ...] = (1, 2), numbers: bytes = bytes(16)) -> bytes:
    shape = struct.pack(f"<{len(dimensions)}i", *dimensions)
    return element(14, element(6, flags) + element(5, shape) + element(1, b"ts") + element(9, numbers))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (element(15, zlib.compress(array() + array())), "hold one array"),
        (element(9, bytes(8)), "type 9 is where an array should be"),
        (element(14, element(6, bytes(8))), "lacks flags, dimensions, a name or numbers"),
        (array(flags=b"\x06\x08" + bytes(6)), "something else than real numbers"),
        (array(flags=b"\x04" + bytes(7)), "something else than real numbers"),
        (array(dimensions=(2,)), "no dimensions, or too many"),
        (array(dimensions=(1,) * 33), "no dimensions, or too many"),
        (array(dimensions=(1, -2)), "the dimension -2"),
        (array(dimensions=(2, 2)), "as many numbers as its dimensions say"),
        (array()[:-1], "ends too early"),
        (array() + bytes(7), "ends too early"),
        (struct.pack("<HHI", 9, 5, 0), "a small element is too large"),
        (element(8, b""), "an element of type 8, which is none"),
    ],
)
def test_matlab_files_that_scipy_would_believe(content, message):
    header = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
    check_elements(header + array())
    with pytest.raises(ValueError, match=message):
        check_elements(header + content)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device of Linux")
def test_a_full_disk_is_told(tmp_path, capsys):
    for suffix in (".json", ".csv", ".dot", ".html"):
        path = tmp_path / f"graph{suffix}"
        path.symlink_to("/dev/full")
        with pytest.raises(OSError, match="No space left"):
            GRAPH.save(path)
        table = tmp_path / "data.csv"
        np.savetxt(table, np.random.default_rng(0).normal(size=(20, 2)), delimiter=",", header="a,b", comments="")
        assert cli.main(["fit", str(table), "-q", "-o", str(path)]) == 2
        assert "No space left" in capsys.readouterr().err
    path = tmp_path / "moments.npz"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        Moments().update(np.eye(3)).save(path)


def test_a_limit_on_sizes_leaves_the_old_file(tmp_path):
    """As on a disk that fills up half-way: what was there before is there, and nothing else."""
    script = """
import resource, signal, sys
import numpy as np
from icid_rs import CausalGraph, Moments
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
for save in (CausalGraph(np.triu(np.ones((99, 99)), 1)).save, Moments().update(np.eye(99)).save):
    try:
        save(sys.argv[1] + "/old" + (".json" if "Graph" in repr(save) else ".npz"))
    except OSError as error:
        print(error.strerror)
"""
    old = {"old.json": b"old", "old.npz": b"older"}
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    result = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["File too large"] * 2
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


@pytest.mark.parametrize("name", ["a b.json", "-o.json", "näme.json", "a\nb.json", "..json", "%s{}.json", "$(x).json"])
def test_odd_names_of_files_are_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    GRAPH.save(name)
    assert os.listdir() == [name]
    assert load(name).names_ == ["rain", "wet"]


def test_folders_and_loops_are_no_files(tmp_path):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    for name in ("folder.json", "loop.json", "no/folder.json"):
        with pytest.raises(OSError):  # noqa: PT011 the system's words
            load(tmp_path / name)
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        GRAPH.save(tmp_path / "folder.json")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        GRAPH.save(tmp_path / "no" / "folder.json")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Moments().update(np.eye(2)).save(tmp_path / "no" / "moments.npz")


def test_moments_are_readable_by_whom_the_user_allows(tmp_path):
    previous = os.umask(0o022)
    try:
        Moments().update(np.eye(2)).save(tmp_path / "moments.npz")
    finally:
        os.umask(previous)
    assert (tmp_path / "moments.npz").stat().st_mode & 0o777 == 0o644


def test_enormous_headers(tmp_path, capsys):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"column{k}" for k in range(100_000)) + "\n1,2,3\n")
    assert cli.main(["fit", str(path)]) == 2
    assert "there are 3 cells, but 100000" in capsys.readouterr().err
    # A line of many columns, each of a usual size, is nothing unusual.
    X = np.random.default_rng(0).normal(size=(3, 20_000))
    header = ",".join(f"gene{k:05}" for k in range(20_000))
    np.savetxt(path, X, delimiter=",", header=header, comments="")
    table = read_table(str(path), TextOptions())
    assert table.columns[-1] == "gene19999"
    np.testing.assert_array_equal(np.column_stack([part.values for part in table.parts]), X)
    path.write_text("x" * 10**7 + ",b\n1,2\n3,4\n")
    assert cli.main(["fit", str(path)]) == 2
    assert len(capsys.readouterr().err) < 1000
    with pytest.raises(ValueError, match="field larger") as caught:
        load(path)
    assert len(str(caught.value)) < 300


def test_sparse_matrices_that_lead_out_of_themselves(tmp_path, capsys):
    parts = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(1), "indptr": np.array([0, 1, 1])}
    path = tmp_path / "graph.npz"
    for change, message in (
        ({"indices": np.array([10**6])}, "no valid sparse matrix"),
        ({"indices": np.array([1]), "indptr": np.array([0, 5, 9])}, "no valid sparse matrix"),
        ({"indices": np.array([1]), "format": np.array(b"bsr")}, "csr or csc"),
    ):
        np.savez(path, **{**parts, **change})
        assert cli.main(["score", str(path), str(path)]) == 2
        assert message in capsys.readouterr().err


def test_temporary_files_of_killed_runs_are_removed(tmp_path):
    old, young = tmp_path / ".icid-0123456789abcdef.tmp", tmp_path / ".icid-fedcba9876543210.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    Moments().update(np.eye(3)).save(tmp_path / "moments.npz")
    assert sorted(path.name for path in tmp_path.iterdir()) == [young.name, "moments.npz"]


def test_names_do_not_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text("a\x1b[31m,a\x1b[31m\n1,2\n")
    assert cli.main(["fit", str(path)]) == 2
    rows = "".join(f"{k * 7 % 11},{k * 5 % 13},1\n" for k in range(60))
    path.write_text("a,b\x9b,c\x1b]0;x\x07\n" + rows)
    cli.main(["fit", str(path), "-o", str(tmp_path / "graph.json")])
    said = capsys.readouterr()
    assert not set("\x1b\x9b\x07") & set(said.err + said.out)

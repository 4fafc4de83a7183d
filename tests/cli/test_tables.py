"""Tables that the command line reads, and those it refuses."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, Moments, cli, datasets, load
from icid_rs.cli.tables import read_table, without
from icid_rs.data.text import TextOptions
from tests.helpers.commands import assert_same_edges, refused
from tests.helpers.needs import need


def read_text(path, options, drop=()):
    """Return the numbers of a file, and its names if it has any."""
    table = without(read_table(path, options), drop)
    return np.column_stack([part.values for part in table.parts]), table.columns if table.is_named else None


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
        need("pyarrow")
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
        need("pyarrow")
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
        assert read_text(str(path), TextOptions(header="no"), ("0",))[1] == [1]
        path.write_text("5 7\n3  4\n")
        assert read_text(str(path), TextOptions(delimiter="space"))[0].tolist() == [[5, 7], [3, 4]]
        path.write_bytes("é,b\n1,2\n".encode("utf-16-le"))
        assert read_text(str(path), TextOptions(encoding="utf-16-le"))[1] == ["é", "b"]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_a_byte_order_mark_names_the_encoding(self, tmp_path, encoding):
        path = tmp_path / "data.txt"
        path.write_bytes("é\tb\n1\t2\n".encode(encoding))
        assert read_text(str(path), TextOptions())[1] == ["é", "b"]

    @pytest.mark.parametrize("name", ["data", "data.asc", "data.test.gz"])
    def test_text_with_any_suffix(self, tmp_path, name):
        path = tmp_path / name
        content = b"a\tb\n1\t2\n3\t4\n"
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        assert read_text(str(path), TextOptions())[0].tolist() == [[1, 2], [3, 4]]


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
            (
                b"a,b\n1,2\n3,four\n",
                "line 3, column 'b': 'four' is not a number; say --na 'four' if that is a missing value",
            ),
            (b'a,b\n1.5,2\n3,"4,5"\n', "line 3, column 'b': '4,5' is not a number; write it with a decimal point"),
            (b"a,b\n1,2\n3,4_5\n", "line 3, column 'b': '4_5' is not a number"),
            (b"a,b\n1,2\n3,-inf\n", "line 3, column 'b': '-inf' is not finite"),
            (b"a,b\n1,2\n3,1e999\n", "line 3, column 'b': '1e999' is not finite"),
            (b"\n\na,b\n\n1,2\n3,x\n4,5\n", "line 6, column 'b': 'x'"),
            (b"\na,a\n1,2\n", "line 2: columns 1 and 2 are both named 'a'"),
            (b"a,,c\n1,2,3\n", "line 1: column 2 has no name"),
            (b"a,b\n1,2\n\xe9,4\n", "line 3: byte 0xe9 is no UTF-8 text; name the encoding with --encoding"),
            (b"\xff\xfea\0,\0b\0\n\0", "has no rows below its header"),
            (b"\xffa,b\n", "line 1: byte 0xff is no UTF-8 text"),
            (b"a,b,c\nm,kg,K\n1,2,3\n4,5,6\n", "'K' is not a number; say --skip 2 if that line is no row of the table"),
            (b"a,b\n1,2\n3,-Inf\n", "say --na='-Inf' if that is a missing value"),
            (b"PK\x03\x04\x00\x00,\x00\n", "line 1: it holds zero bytes"),
            (b'a,b\n1,2\n"3,4\n', "line 3: a quote is opened that is not closed"),
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
                need("pyarrow")
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
        np.save(path, np.array([[1.0, np.nan], [2.5, 0.5], [0.5, 3.5], [7.0, 1.0], [0.1, 0.2]]))
        assert "X contains NaN: row 0, column 1" in refused(capsys, "fit", path, "--missing", "raise")

    def test_parquet(self, tmp_path, capsys, frame):
        need("pyarrow")
        path = tmp_path / "data.parquet"
        frame.assign(site=[["north"]] * len(frame)).to_parquet(path)
        assert "column 'site' (" in refused(capsys, "fit", path)
        holed = frame.astype("Float64")
        holed.iloc[2, 0] = pd.NA
        holed.to_parquet(path)
        line = refused(capsys, "fit", path, "--missing", "raise")
        assert "X contains NaN: row 2, column 'gene 0'" in line
        assert "--missing em" in line
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
        for name, content in {"data.xls": b"\xd0\xcf\x11\0", "data.json": b"[1, 2]"}.items():
            (tmp_path / name).write_bytes(content)
            assert "the suffix must be one of .csv" in refused(capsys, "fit", tmp_path / name)

    def test_columns_to_drop(self, table, capsys):
        assert "did you mean 'gene 7'" in refused(capsys, "fit", table, "--drop", "gene7")

    def test_the_audit_speaks_in_names(self, frame, tmp_path, capsys):
        frame.assign(copy=2 * frame["gene 3"]).to_csv(tmp_path / "data.csv", index=False)
        assert "columns 'gene 3' and 'copy' are the same up to scale" in refused(
            capsys, "fit", tmp_path / "data.csv", "--collinear", "raise"
        )

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


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_files_that_unpack_to_far_more(tmp_path, capsys, suffix):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = pa.table({name: pa.array(np.zeros(6_000_000)) for name in "ab"})
    path = tmp_path / f"bomb.{suffix}"
    writer = parquet.write_table if suffix == "parquet" else feather.write_feather
    writer(table, path, compression="zstd")
    message = refused(capsys, "fit", path)
    assert "more than 200 times its size" in message
    assert str(path) in message


#: Files that need an option: the one that the refusal names, and the columns that are then fitted.
MENDED = {
    "a preamble": ("Station Hull\nof 2020\n\nrain,wet,flood\n{rows}", ["--skip", "1-2"], ["rain", "wet", "flood"]),
    "a footnote": ("rain,wet,flood\n{rows}Source: Hull\n", ["--skip", "32"], ["rain", "wet", "flood"]),
    "a row of units": ("rain,wet,flood\nmm,m,m\n{rows}", ["--skip", "2"], ["rain", "wet", "flood"]),
    "names of rows without a name": ('"rain" "wet" "flood"\n{named}', ["--row-names"], ["rain", "wet", "flood"]),
    "a name twice": ("rain,rain,flood\n{rows}", ["--skip", "1", "--header", "no"], [0, 1, 2]),
}


@pytest.mark.filterwarnings("ignore:along:icid_rs.ScaleWarning")
@pytest.mark.parametrize("kind", list(MENDED))
def test_a_refusal_names_the_option_that_mends(kind, tmp_path, capsys):
    text, options, names = MENDED[kind]
    values = datasets.sample_sem(0.9 * np.eye(3, k=1), 30, random_state=0).round(3).tolist()
    rows = "".join(f"{a},{b},{c}\n" for a, b, c in values)
    named = "".join(f'"{k}" {a} {b} {c}\n' for k, (a, b, c) in enumerate(values, 1))
    path, target = tmp_path / "data.csv", tmp_path / "graph.json"
    path.write_text(text.format(rows=rows, named=named))
    line = refused(capsys, "fit", path)
    assert " ".join(options[:2]) in line
    assert all(option in line for option in options if option.startswith("--"))
    assert cli.main(["fit", str(path), "-o", str(target), "-q", *options]) == 0
    assert load(target).names_ == names


class TestCovariances:
    """Covariance matrices in files."""

    names = ("rain", "wet", "flood", "damage")
    matrix = np.linalg.inv(2 * np.eye(4) - 0.4 * (np.eye(4, k=1) + np.eye(4, k=-1))).round(4)

    def triangle(self, *, labelled: bool = False) -> str:
        rows = [[f"{value}" for value in row[: i + 1]] for i, row in enumerate(self.matrix)]
        rows = [[name, *row] if labelled else row for name, row in zip(self.names, rows, strict=True)]
        return "".join("\t".join(row) + "\n" for row in rows)

    @property
    def forms(self) -> dict[str, str]:
        header = "\t".join(self.names) + "\n"
        square = "".join(
            ",".join([name, *map(str, row)]) + "\n" for name, row in zip(self.names, self.matrix.tolist(), strict=True)
        )
        entries = [[str(value) if j <= i else "" for j, value in enumerate(row)] for i, row in enumerate(self.matrix)]
        blanks = "".join(",".join(row) + "\n" for row in entries)
        return {
            "titled": f"/Covariance\n2000\n{header}{self.triangle()}",
            "not titled": f"2000\n{header}{self.triangle()}",
            "without a number of rows": header + self.triangle(),
            "with names of rows": header + self.triangle(labelled=True),
            "with blanks above the diagonal": header.replace("\t", ",") + blanks,
            "whole": f",{','.join(self.names)}\n{square}",
        }

    @pytest.mark.parametrize("suffix", [".txt", ".cov", ".txt.gz"])
    @pytest.mark.parametrize(
        "form", ["titled", "not titled", "without a number of rows", "with names of rows", "whole"]
    )
    def test_forms(self, tmp_path, form, suffix):
        path, target = tmp_path / f"known{suffix}", tmp_path / "graph.json"
        text = self.forms[form].encode()
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
        arguments = ["fit", str(path), "-q", "-o", str(target), "--rows", "2000"]
        assert cli.main(arguments) == 0
        expected = ICID().fit(Moments.from_covariance(self.matrix, 2000, names=self.names))
        assert_same_edges(load(target).edges(), expected.edges())
        assert cli.main([*arguments, "--drop", "damage"]) == 0
        assert load(target).names_ == ["rain", "wet", "flood"]

    def test_refusals(self, tmp_path, capsys):
        path = tmp_path / "known.txt"
        for form in ("without a number of rows", "whole"):
            path.write_text(self.forms[form])
            assert "how many rows it comes from: say --rows N" in refused(capsys, "fit", path)
        path.write_text(self.forms["titled"])
        assert "line 2: there were 2000 rows, not 300" in refused(capsys, "fit", path, "--rows", "300")
        assert "has numbers alone" in refused(capsys, "fit", path, "--categorical", "rain")
        path.write_text(self.forms["titled"].replace("2000", "many"))
        assert "line 2: 'many' is no number of rows" in refused(capsys, "fit", path)
        path.write_text("a,b\n1,2\n3,4\n5,7\n")
        assert "--rows is for a covariance matrix, but this table is 3 × 2" in refused(
            capsys, "fit", path, "--rows", "9"
        )

"""The reader of delimited text: what it takes, what it refuses, and that it never reads anything otherwise."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import random
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import Moments
from icid_rs.cli.tables import read_table
from icid_rs.data.cells import Numerals, find_decimal
from icid_rs.data.columns import Columns, Labels, Mixed, Numbers
from icid_rs.data.text import TextOptions, open_text
from icid_rs.data.text_columns import read_columns

NAN = math.nan
#: What is in a file, and its columns: numbers, or labels.
FILES = {
    "commas": ("a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "a byte order mark": ("\ufeffa,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "semicolons and decimal commas": ("a;b\n1,5;2\n-0,25;4\n", {"a": [1.5, -0.25], "b": [2, 4]}),
    "semicolons and decimal points": ("a;b\n1.5;2\n3;4\n", {"a": [1.5, 3], "b": [2, 4]}),
    "decimal commas in quotes": ('a,b\n"1,5",2\n"3,25",4\n', {"a": [1.5, 3.25], "b": [2, 4]}),
    "thousands": ("a;b\n1.234,5;2\n12.345,25;4\n", {"a": [1234.5, 12345.25], "b": [2, 4]}),
    "English thousands": ('a,b\n"1,234",2.5\n"12,345,678",4\n', {"a": [1234, 12345678], "b": [2.5, 4]}),
    "spaces in thousands": ("a;b\n1 234;2\n12\u00a0345;4\n", {"a": [1234, 12345], "b": [2, 4]}),
    "percent": ("a,b\n12%,2\n3.5 %,4\n", {"a": [12, 3.5], "b": [2, 4]}),
    "bars": ("a|b\n1|2\n3|4\n", {"a": [1, 3], "b": [2, 4]}),
    "spaces": ("a   b\n 1   2\n 3 4  \n", {"a": [1, 3], "b": [2, 4]}),
    "spaces and tabs": ("1.5\t\t2\n3\t4\n", {0: [1.5, 3], 1: [2, 4]}),
    "aligned columns, then a tab": (
        '1.5  2\t"ford t"\n3    4\t"saab"\n',
        {0: [1.5, 3], 1: [2, 4], 2: ["ford t", "saab"]},
    ),
    "Excel's delimiter": ("sep=;\na;b\n1,5;2\n", {"a": [1.5], "b": [2]}),
    "values above labels": ("Oslo,2.5\nHull,4\n", {0: ["Oslo", "Hull"], 1: [2.5, 4]}),
    "spaces after commas": ('a, b\n1, "x, y"\n3, z\n', {"a": [1, 3], "b": ["x, y", "z"]}),
    "missing values": ("a,b,c\n?,NA,x\n3,*,\n5,.,y\n", {"a": [NAN, 3, 5], "b": [NAN] * 3, "c": ["x", None, "y"]}),
    "comments": ("# made by hand\na,b\n1,2\n# seen twice\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "names in a comment": ("# a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "a delimiter at the end": ("a,b,\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4]}),
    "old line ends": ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
    "values in two lines": ('a,b\n1,"x\ny"\n3,z\n', {"a": [1, 3], "b": ["x\ny", "z"]}),
    "labels of rows": (",a,b\nr1,1,2\nr2,3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "no header": ("1,2\n3,4\n", {0: [1, 3], 1: [2, 4]}),
    "no header, and labels": ("M,2.5\nF,4\nM,3\n", {0: ["M", "F", "M"], 1: [2.5, 4, 3]}),
    "labels that look like numbers": ("a\nA\nB\n1\nC\n", {"a": ["A", "B", "1", "C"]}),
    "signs": ("a,b\n\u22121,+2\n3e2,-4.\n", {"a": [-1, 300], "b": [2, -4]}),
}
#: What is in a file, and what the refusal says.
BAD = {
    "long row": ("a,b\n1,2\n1,2,3\n", "line 3: there are 3 cells, but 2 in the first line"),
    "short row": ("a,b\n1,2\n1\n", "line 3: there are 1 cells, but 2 in the first line"),
    "all rows longer than the header": ("a,b\n1,2,3\n4,5,6\n", "line 2: there are 3 cells, but 2"),
    "a longer row after many": ("a,b\n" + "1,2\n" * 999 + "1,2,3\n", "line 1001: there are 3 cells"),
    "names that occur twice": ("a,b,a,b\n1,2,3,4\n", "line 1: columns 1 and 3 are both named 'a', columns 2 and 4"),
    "no names": ("a,,,d\n1,2,3,4\n", "line 1: column 2 has no name, column 3 has no name"),
    "several rows": (
        "a,b\n1,2\n1\n3,4\n5\n6,7,8\n",
        "line 3: there are 1 cells, but 2 in the first line; if lines 3, 5-6 are no rows of the table, say --skip 3,5",
    ),
    "a preamble": (
        "Oslo\n\na,b,c\n1,2,3\n3,4,5\n",
        "line 1: there are 1 cells, but 3 in most lines; if line 1 is no row of the table, say --skip 1",
    ),
    "open quote": ('a,b\n1,2\n"3,4\n5,6\n', "line 3: a quote is opened that is not closed"),
    "text after a quote": ('a,b\n1,2\n"3"x,4\n', "line 3: ',' expected after '\"'"),
    "zero bytes": ("a,b\n1,2\n\0,4\n", "line 3: it holds zero bytes"),
    "nothing": ("", "is empty"),
    "comments alone": ("# a\n# b\n", "is empty"),
    "names alone": ("a,b\n", "has no rows below its header"),
    "a comma that may be either": ("a;b\n1,234;2\n5,678;4\n", "the comma in '1,234' may be a decimal mark"),
    "names or values": ("country,1990,1991\nPeru,2.5,1\nCuba,3.5,2\n", "line 1: this line may hold names or values"),
    "a value without a name": ("a,b,\n1,2,\n3,4,5\n", "cells"),
}


def contents(table):
    found = {}
    for name, part in zip(table.columns, table.parts, strict=True):
        if isinstance(part, Numbers):
            found[name] = part.values.tolist()
        else:
            assert isinstance(part, Labels), part
            found[name] = [None if code < 0 else part.labels[code] for code in part.codes.tolist()]
    return found


@pytest.mark.parametrize("kind", list(FILES))
def test_what_is_read(kind, tmp_path):
    text, expected = FILES[kind]
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8", newline="")
    np.testing.assert_equal(contents(read_columns(path, TextOptions())), expected)


@pytest.mark.parametrize("kind", list(BAD))
def test_what_is_refused_with_its_line(kind, tmp_path):
    text, message = BAD[kind]
    path = tmp_path / "data.csv"
    path.write_text(text, newline="")
    for read in (lambda: read_columns(path, TextOptions()), lambda: Moments.read(path)):
        with pytest.raises(ValueError, match=r"data\.csv") as caught:
            read()
        assert message in str(caught.value) or kind == "a value without a name"


@pytest.mark.parametrize("pack", [gzip, bz2, lzma])
def test_compressed_files(pack, tmp_path):
    suffix = {gzip: "gz", bz2: "bz2", lzma: "xz"}[pack]
    path = tmp_path / f"data.csv.{suffix}"
    path.write_bytes(pack.compress(b"a,b\n1,2\n3,4\n"))
    assert contents(read_table(str(path), TextOptions())) == {"a": [1, 3], "b": [2, 4]}
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match=rf"data.csv.{suffix}: the compressed file is damaged"):
        read_table(str(path), TextOptions())
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match=rf"data.csv.{suffix}: the compressed file is damaged"):
        read_table(str(path), TextOptions())


@pytest.mark.parametrize("content", [b"1", b"1,2\n", b'"', b'a,b\n"', b"#", b" ", b"\n"])
def test_bombs_do_not_fill_the_memory(content, tmp_path, monkeypatch):
    """8 MiB in 8 KiB; the limit of what a file may unpack to is lowered, which else is 64 MiB at least."""
    monkeypatch.setattr("icid_rs._util.bounds.HARMLESS", 1 << 20)
    monkeypatch.setattr("icid_rs._util.bounds.GROWTH", 10)
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(content * ((1 << 23) // len(content))))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"data\.csv\.gz"):
            read_columns(path, TextOptions())
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_mixed_columns_name_their_cells(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n3,x\n4,5\ny,6\n7,z\n8,9\n")
    a, b = read_columns(path, TextOptions()).parts
    assert isinstance(a, Mixed)
    assert (b.cells, b.count, b.line) == (("x", "z"), 2, 3)
    a, b = read_columns(path, TextOptions(na=("y", "X", "z"))).parts
    np.testing.assert_array_equal(b.values, [2, NAN, 5, 6, NAN, 9])
    a, b = read_columns(path, TextOptions(labels=("b",))).parts
    assert b.labels == ("2", "5", "6", "9", "x", "z")


def test_numbers_that_mean_a_missing_value(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n-999,2\n3,-999.0\n4,5\n")
    parts = read_columns(path, TextOptions(na=("-999",))).parts
    np.testing.assert_array_equal(parts[0].values, [NAN, 3, 4])
    np.testing.assert_array_equal(parts[1].values, [2, NAN, 5])


def test_many_rows_come_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("icid_rs.data.text._CHUNK_CELLS", 10)
    path = tmp_path / "data.csv"
    X = np.random.default_rng(0).normal(size=(500, 3))
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    with path.open("a") as file:
        file.write("\n1_000,2,3\n\n\u0661,2,3\n4,5,6\n")
    a, b, _ = read_columns(path, TextOptions()).parts
    assert (a.cells, a.line) == (("1_000", "\u0661"), 503)
    np.testing.assert_array_equal(b.values[:500], X[:, 1])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.text("ab \"',;\t#é\n", max_size=6)),
        min_size=3,
        max_size=12,
    )
)
def test_what_pandas_writes_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("written") / "data.csv"
    frame = pd.DataFrame(rows, columns=["number", "text"])
    frame.to_csv(path, index=False)
    with open_text(path, TextOptions(delimiter=",", header="yes", decimal=".")) as table:
        found = [row for chunk in table.chunks for row in chunk.rows]
    assert [float(row[0]) for row in found] == [row[0] for row in rows]
    # Carriage returns and spaces at the start of a cell are not part of it.
    assert [row[1].strip() for row in found] == [row[1].strip() for row in rows]


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([".", ","]))
def test_numbers_come_back(value, decimal):
    assert Numerals(decimal).number(repr(value).replace(".", decimal)) == value


@given(st.text(max_size=12))
def test_a_cell_is_a_number_in_one_way(cell):
    value = Numerals().number(cell)
    plain = cell.strip()
    if value is not None and math.isfinite(value) and not set(plain) & set(",'%\u2019\u00a0\u202f\u2212 "):
        assert float(plain) == value


@pytest.mark.parametrize(
    ("cells", "delimiter", "decimal"),
    [
        (["1,5"], ",", ","),
        (["1,234"], ",", "."),
        (["1,234", "0,5"], ";", ","),
        (["1,234", "1.5"], ";", "."),
        (["1.234", "2,5"], ";", ","),
        (["1,234,567"], ";", "."),
        ([], ";", "."),
        (["1,234"], ";", None),
        (["10:30, noon", "x,y"], ";", "."),
    ],
)
def test_decimal_marks(cells, delimiter, decimal):
    assert find_decimal(cells, delimiter) == decimal


class TestOddButRight:
    """Files that spreadsheets write, and that say one thing only."""

    @pytest.mark.parametrize(
        ("cell", "number"),
        [
            ("$1,234.50", 1234.5),
            ("-$3", -3.0),
            ("€ 7.25", 7.25),
            ("7.25 €", 7.25),
            ("£0.5", 0.5),
            ("$", None),
            ("$$3", None),
        ],
    )
    def test_amounts_of_money(self, cell, number):
        assert Numerals(".").number(cell) == number

    def test_empty_columns_at_the_end(self, tmp_path):
        path = tmp_path / "table.csv"
        path.write_text("a,b,,\n" + "1,2,,\n" * 5)
        assert read_columns(path, TextOptions()).columns == ["a", "b"]
        path.write_text("a,b,,\n" + "1,2,,\n" * 300 + "1,2,3,\n")
        with pytest.raises(ValueError, match="line 302: the last cell is in a column without a name"):
            read_columns(path, TextOptions())

    def test_numbers_with_the_other_decimal_mark_are_no_labels(self, tmp_path):
        path = tmp_path / "table.csv"
        path.write_text("a;b\n" + "".join(f"{k},5;{k}.5\n" for k in range(1, 30)))
        column = read_columns(path, TextOptions()).parts[0]
        assert (type(column).__name__, column.count, column.line) == ("Mixed", 29, 2)
        labelled = read_columns(path, TextOptions(labels=("a",))).parts[0]
        assert type(labelled).__name__ == "Labels"

    def test_names_of_rows_without_a_name(self, tmp_path):
        path = tmp_path / "table.txt"
        path.write_text("a b\n" + "".join(f"row{k} {k} {k}\n" for k in range(9)))
        with pytest.raises(ValueError, match="line 2: there are 3 cells, but 2 in the first line; if the first column"):
            read_columns(path, TextOptions())


#: What is put into files, or put in the place of something else.
PIECES = [
    *(",", ";", "\t", " ", "|", '"', "'", "\n", "\r", "#", "\0", "NA", "?", "-", "1e999", "inf", "nan", "1,5", "1.234"),
    *("1_0", "é", "\ufeff", "sep=;", "%", "$", "\\N", "(3)", "a", "--", "."),
]


@pytest.mark.parametrize("seed", range(3))
def test_readers_agree_on_damaged_files(seed, tmp_path):
    """Each file is refused by its name, or read as the same numbers by the command line and by moments."""
    rng = random.Random(seed)
    path, read, refusals = tmp_path / "data.csv", 0, []
    for _ in range(300):
        mark, width = rng.choice([",", ";", "\t", " ", "|"]), rng.randint(1, 4)
        lines = [[f"{rng.gauss(0, 1):.2f}" for _ in range(width)] for _ in range(rng.randint(2, 8))]
        text = list("\n".join(mark.join(line) for line in [[f"c{k}" for k in range(width)], *lines]) + "\n")
        for _ in range(rng.randint(0, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 1)] = rng.choice(PIECES)
        path.write_bytes("".join(text).encode())
        found = []
        for reader in (lambda: read_table(str(path), TextOptions()), lambda: Moments.read(path, missing="drop")):
            try:
                found.append(reader())
            except ValueError as error:
                refusals.append(str(error))
        if len(found) == 2 and isinstance(found[0], Columns):
            values = np.column_stack([part.values for part in found[0].parts])
            complete = values[np.isfinite(values).all(axis=1)]
            assert found[1].n == len(complete)
            if found[1].n:
                np.testing.assert_allclose(found[1].mean, complete.mean(axis=0), atol=1e-9)
            read += 1
        # Moments are of numbers alone, so that they refuse more.
        assert not found or isinstance(found[0], Columns)
    assert read > 50
    assert all("data.csv" in refusal for refusal in refusals)

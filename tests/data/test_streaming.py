"""Files and objects that are read in chunks have the moments of the table."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import Moments
from tests.helpers.needs import need

NAMES = [f"x{k}" for k in range(6)]


@pytest.fixture
def table() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(1_000, 6)) + 1e3


def assert_same(moments: Moments, X: np.ndarray, names: list[str] | None = NAMES) -> None:
    assert moments.n == len(X)
    assert moments.names == names
    np.testing.assert_allclose(moments.covariance, np.cov(X.T, bias=True), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather", "folder", "dataset", "table", "reader"])
def test_arrow(kind, table, tmp_path):
    X = table
    pyarrow = need("pyarrow")
    dataset = need("pyarrow.dataset")
    feather = need("pyarrow.feather")
    parquet = need("pyarrow.parquet")
    table = pyarrow.table(dict(zip(NAMES, X.T, strict=True)))
    source: object = tmp_path / f"x.{kind}"
    if kind == "parquet":
        parquet.write_table(table, source)
    elif kind in ("feather", "arrow"):
        feather.write_feather(table, str(source))
    elif kind in ("folder", "dataset"):
        source = tmp_path / "parts"
        source.mkdir()
        for k in range(3):
            parquet.write_table(table[k * 400 : (k + 1) * 400], source / f"{k}.parquet")
        if kind == "dataset":
            source = dataset.dataset(source)
    else:
        source = table if kind == "table" else table.to_reader(300)
    assert_same(Moments.read(source, chunk_rows=128), X)


def test_arrow_columns_and_nulls(table, tmp_path):
    X = table
    pyarrow = need("pyarrow")
    parquet = need("pyarrow.parquet")
    columns = dict(zip(NAMES, X.T, strict=True))
    columns["x2"] = pyarrow.array([None if k % 10 == 0 else value for k, value in enumerate(X[:, 2])])
    parquet.write_table(pyarrow.table({**columns, "who": ["a"] * len(X)}), tmp_path / "x.parquet")
    picked = ["x4", "x2", "x0"]
    with pytest.raises(ValueError, match="NaN: row 0, column 'x2'"):
        Moments.read(tmp_path / "x.parquet", columns=picked)
    moments = Moments.read(tmp_path / "x.parquet", columns=picked, missing="drop")
    assert_same(moments, X[np.arange(1_000) % 10 > 0][:, [4, 2, 0]], picked)
    with pytest.raises(ValueError, match="not numeric"):
        Moments.read(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="no column 'y'"):
        Moments.read(tmp_path / "x.parquet", columns=["y"])


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t"), ("csv.gz", ",")])
def test_text(suffix, separator, table, tmp_path):
    X = table
    pandas = need("pandas")
    # The first rows are whole numbers, the rest are not.
    X[:500] = np.round(X[:500])
    pandas.DataFrame(X, columns=NAMES).to_csv(tmp_path / f"x.{suffix}", sep=separator, index=False)
    assert_same(Moments.read(tmp_path / f"x.{suffix}", chunk_rows=100), X)
    assert_same(Moments.read(tmp_path / f"x.{suffix}", columns=NAMES[::-1]), X[:, ::-1], NAMES[::-1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_maps(order, table, tmp_path):
    X = table
    np.save(tmp_path / "x.npy", np.asarray(X, order=order).astype(np.float32))
    single = X.astype(np.float32).astype(float)
    assert_same(Moments.read(tmp_path / "x.npy", chunk_rows=333), single, None)
    assert_same(Moments.read(np.load(tmp_path / "x.npy", mmap_mode="r"), columns=[3, 1]), single[:, [3, 1]], None)


@pytest.mark.parametrize("sparse", [False, True])
def test_annotated_data(sparse, table, tmp_path):
    X = table
    anndata = need("anndata")
    pandas = need("pandas")
    import scipy.sparse as sp

    X[X < 1e3] = 0
    data = anndata.AnnData(sp.csr_matrix(X) if sparse else X, var=pandas.DataFrame(index=NAMES))
    data.write_h5ad(tmp_path / "x.h5ad")
    assert_same(Moments.read(tmp_path / "x.h5ad", chunk_rows=300), X)
    assert_same(Moments.read(data, columns=["x5", "x1"]), X[:, [5, 1]], ["x5", "x1"])


def test_chunks_of_any_size(table):
    X = table
    assert_same(Moments.from_chunks(row[None] for row in X), X, None)
    assert_same(Moments.read(iter([X[:1], X[1:990], X[990:990], X[990:]])), X, None)
    with pytest.raises(ValueError, match="5 columns, but 6 before"):
        Moments.from_chunks([X, X[:, :5]])


def test_progress_is_shown_on_request(table, capsys):
    X = table
    need("tqdm")
    Moments.read(X, chunk_rows=100, progress=True)
    assert "1.00k/1.00k" in capsys.readouterr().err
    Moments.read(X, chunk_rows=100)
    assert capsys.readouterr().err == ""


def test_unknown_sources(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Moments.read(tmp_path / "x.parquet")
    (tmp_path / "x.xyz").touch()
    with pytest.raises(ValueError, match="not known by its suffix"):
        Moments.read(tmp_path / "x.xyz")
    with pytest.raises(TypeError, match="moments cannot be read from int"):
        Moments.read(3)

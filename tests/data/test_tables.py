"""Whatever holds the numbers, the graph is the same to the bit, and names stay with their columns."""

from __future__ import annotations

import datetime
import decimal
import sys
import tracemalloc

import narwhals
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import LedoitWolf

from icid_rs import ICID, Moments, datasets
from icid_rs.data.tables import as_numbers, column_names, open_table
from tests.helpers.needs import need

pl = need("polars")
pa = need("pyarrow")

NAMES = ["rain", "wet", "slip", "fall", "cast"]


@pytest.fixture(scope="module")
def X() -> np.ndarray:  # noqa: N802
    return datasets.sample_sem(datasets.random_dag(5, 1, random_state=0), 200, random_state=0)


def strided(X):
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


ARRAYS = {
    "columns": np.asfortranarray,
    "strided": strided,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "byte-swapped": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
    "masked": lambda X: np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool)),
    "matrix of lists": lambda X: X.tolist(),
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_array,
    "dok": sp.dok_array,
    "lil": sp.lil_matrix,
}
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, nullable": lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "pandas, Arrow": lambda X: pd.DataFrame(X, columns=NAMES).astype("double[pyarrow]"),
    "pandas, sparse": lambda X: pd.DataFrame(X, columns=NAMES).astype(pd.SparseDtype("float64")),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars, lazy": lambda X: pl.LazyFrame(X, schema=NAMES),
    "narwhals": lambda X: narwhals.from_native(pl.DataFrame(X, schema=NAMES)),
    "Arrow table": lambda X: pl.DataFrame(X, schema=NAMES).to_arrow(),
    "Arrow batch": lambda X: pl.DataFrame(X, schema=NAMES).to_arrow().combine_chunks().to_batches()[0],
}


def numbers(container) -> np.ndarray:
    table = as_numbers(open_table(container))
    return np.asarray(table.toarray() if sp.issparse(table) else table, dtype=np.float64)


@settings(max_examples=20, deadline=None)
@given(
    values=st.lists(st.lists(st.floats(allow_infinity=False, width=64), min_size=5, max_size=5), min_size=1, max_size=6)
)
@pytest.mark.parametrize("kind", [*ARRAYS, *FRAMES])
def test_no_bit_is_lost(kind, values):
    X = np.array(values) + 0.0  # a sparse matrix has no negative zero
    X[:, 0] = np.where(np.isnan(X[:, 0]), 1.0, X[:, 0])  # a column of nothing but missing values has no type
    read = numbers((ARRAYS | FRAMES)[kind](X))
    np.testing.assert_array_equal(read, X)


@pytest.mark.parametrize("kind", ARRAYS)
def test_any_array_gives_the_same_bits(X, kind):
    model, expected = ICID().fit(ARRAYS[kind](X)), ICID().fit(X)
    np.testing.assert_array_equal(model.adjacency_matrix_.toarray(), expected.adjacency_matrix_.toarray())
    np.testing.assert_array_equal(model.covariance_, expected.covariance_)
    assert model.score(ARRAYS[kind](X)) == expected.score(X)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("kind", FRAMES)
def test_any_frame_gives_the_same_bits_and_keeps_names(X, kind):
    model, expected = ICID().fit(FRAMES[kind](X)), ICID().fit(X)
    np.testing.assert_array_equal(model.adjacency_matrix_.toarray(), expected.adjacency_matrix_.toarray())
    np.testing.assert_array_equal(model.covariance_, expected.covariance_)
    assert list(model.feature_names_in_) == NAMES
    assert set(model.edges()["source"]) | set(model.edges()["target"]) <= set(NAMES)
    assert model.score(FRAMES[kind](X)) == expected.score(X)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float16"])
def test_numbers_of_any_kind(dtype):
    X = np.random.default_rng(0).integers(0, 50, (100, 3)).astype(dtype)
    for container in (X, pd.DataFrame(X), pl.DataFrame(X.astype("f4" if dtype == "float16" else dtype))):
        np.testing.assert_array_equal(numbers(container), X.astype(np.float64))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"noise": "unequal"},
        {"precision": "lasso"},
        {"precision": "empirical", "skewness": 5.0, "refine": None},
        {"precision": LedoitWolf()},
        {"missing": "drop"},
        {"missing": "pairwise"},
        {"groups": True},
        {"large": True, "precision": "lasso", "noise_variances": 1.0},
    ],
    ids=str,
)
def test_single_precision_is_computed_with_in_double(parameters, monkeypatch):
    parameters = dict(parameters)
    groups = np.arange(300) % 3 if parameters.pop("groups", False) else None
    if parameters.pop("large", False):
        monkeypatch.setattr("icid_rs.precision.estimate.WIDE", 5)
    B = datasets.random_dag(12, 1, random_state=0)
    single = (datasets.sample_sem(B, 300, noise="exponential", random_state=0) + 1e3).astype(np.float32)
    if "missing" in parameters:
        single[::50, 3] = np.nan
    one, other = (ICID(**parameters).fit(X, groups=groups) for X in (single, single.astype(np.float64)))
    for name in ("adjacency_matrix_", "precision_", "covariance_"):
        assert abs(getattr(one, name) - getattr(other, name)).max() == 0
    assert (one.noise_variances_ == other.noise_variances_).all()
    complete = single[~np.isnan(single).any(axis=1)]
    assert one.score(complete) == other.score(complete.astype(np.float64))


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "Arrow table"])
def test_a_table_in_single_precision_is_not_copied_in_double(kind):
    X = np.random.default_rng(0).normal(size=(200_000, 5)).astype(np.float32)
    table = X if kind == "array" else FRAMES[kind](X)
    tracemalloc.start()
    try:
        with pytest.warns(UserWarning, match="empty"):
            ICID().fit(table)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A copy of a frame in one array is needed.
    assert peak < X.nbytes * (0.75 if kind == "array" else 1.9)


def test_booleans_decimals_and_nullable_numbers():
    flags = [True, False, None, True]
    money = [decimal.Decimal("1.5"), None, decimal.Decimal("-2.25"), decimal.Decimal(0)]
    counts = [1, 2, 3, None]
    expected = np.array([[1, 1.5, 1], [0, np.nan, 2], [np.nan, -2.25, 3], [1, 0, np.nan]])
    frame = pl.DataFrame({"flag": flags, "money": money, "count": counts})
    pandas = pd.DataFrame(
        {"flag": pd.array(flags, dtype="boolean"), "money": money, "count": pd.array(counts, dtype="Int64")}
    )
    for container in (frame, frame.lazy(), frame.to_arrow(), pandas, pandas.astype(object), pandas.to_numpy()):
        np.testing.assert_array_equal(numbers(container), expected)


def test_memory_maps(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(ICID().fit(mapped).covariance_, ICID().fit(X).covariance_)


def test_masked_entries_are_missing(X):
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    masked.mask[3, 1] = True
    masked.data[3, 1] = -999.0
    with pytest.raises(ValueError, match="NaN: row 3, column 1"):
        ICID().fit(masked)
    expected = np.delete(X, 3, axis=0)
    np.testing.assert_array_equal(ICID(missing="drop").fit(masked).covariance_, ICID().fit(expected).covariance_)
    integers = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    np.testing.assert_array_equal(numbers(integers), [[np.nan, 2], [3, 4]])


def test_annotated_data(X):
    anndata = need("anndata")
    for matrix in (X, sp.csr_matrix(X)):
        adata = anndata.AnnData(matrix, var=pd.DataFrame(index=NAMES))
        model = ICID().fit(adata)
        assert list(model.feature_names_in_) == NAMES
        np.testing.assert_array_equal(model.covariance_, ICID().fit(X).covariance_)
        part = open_table(adata[:, ["wet", "rain"]])
        assert column_names(part) == ["wet", "rain"]
        np.testing.assert_array_equal(as_numbers(part), X[:, [1, 0]])


@pytest.mark.parametrize("library", ["pandas", "polars", "polars, lazy", "Arrow table"])
def test_columns_that_are_no_numbers(X, library):
    frame = FRAMES["pandas"](X)
    frame["when"] = datetime.date(2020, 1, 1)
    frame.loc[3, "when"] = datetime.date(2021, 1, 1)
    frame["time"] = pd.Timestamp(0) + pd.to_timedelta(np.arange(len(X)), "h")
    frame["text"] = [f"{k}.5" for k in range(len(X))]
    frame["label"] = pd.Categorical(["a", "b"] * 100)
    if library != "pandas":
        frame = pl.from_pandas(frame.astype({"label": str})).with_columns(pl.col("label").cast(pl.Categorical))
        frame = {"polars": frame, "polars, lazy": frame.lazy(), "Arrow table": frame.to_arrow()}[library]
    with pytest.warns(UserWarning, match="left out: 'when'"):
        model = ICID().fit(frame)
    assert model.dropped_ == {"when": "dates", "time": "dates", "text": "numbers that are stored as text"}
    assert model.variables_ == [*NAMES, "label"]
    with pytest.raises(ValueError, match="not numeric; drop them, or encode them"):
        Moments().update(frame)


@pytest.mark.parametrize("array", [np.array([["1", "2"]] * 9), np.zeros((9, 2), "M8[s]")])
def test_arrays_without_numbers(array):
    with pytest.raises(ValueError, match=r"no column is left to fit: 0 \(constant\)"):
        ICID().fit(array)


@pytest.mark.parametrize("thing", [None, "data.csv", {"a": [1.0, 2.0]}])
def test_no_tables(thing):
    with pytest.raises(TypeError, match=f"not {type(thing).__name__}; read files"):
        ICID().fit(thing)


@pytest.mark.parametrize("kind", ["pandas", "polars", "polars, lazy", "Arrow table"])
def test_other_columns_at_score_time(X, kind):
    model = ICID().fit(FRAMES[kind](X))
    swapped = pd.DataFrame(X[:, ::-1], columns=NAMES[::-1])
    with pytest.raises(ValueError, match="same order as they were in fit"):
        model.score(pl.from_pandas(swapped) if kind != "pandas" else swapped)
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.score(swapped.rename(columns={"wet": "dry"}))


def test_names_that_are_no_strings_are_compared_too(X):
    model = ICID().fit(pd.DataFrame(X, columns=[3, 1, 4, 15, 9]))
    assert model.score(pd.DataFrame(X, columns=[3, 1, 4, 15, 9])) == model.score(X)
    with pytest.raises(ValueError, match="in their order"):
        model.score(pd.DataFrame(X, columns=[1, 3, 4, 15, 9]))


@pytest.mark.parametrize("kind", ["pandas", "pandas, nullable", "polars", "Arrow table"])
def test_frames_without_narwhals(X, kind, monkeypatch):
    frame = FRAMES[kind](X)
    monkeypatch.setitem(sys.modules, "narwhals", None)
    np.testing.assert_array_equal(numbers(frame), X)
    assert column_names(frame) == NAMES
    labelled = pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Categorical})
    for other in (labelled, labelled.to_pandas(), labelled.to_arrow()):
        with pytest.raises(ValueError, match="not numeric"):
            numbers(other)
    with pytest.raises(ImportError, match=r"pip install 'icid_rs\[frames\]'"):
        open_table(pl.LazyFrame({"a": [1.0]}))


def test_a_theta_in_a_frame():
    theta = datasets.sem_precision(datasets.random_dag(5, 1, random_state=0)).toarray()
    for kind in ("pandas", "polars", "polars, lazy", "Arrow table"):
        model = ICID(precision="precomputed").fit(FRAMES[kind](theta))
        assert list(model.feature_names_in_) == NAMES
        np.testing.assert_array_equal(model.precision_.toarray(), theta)

"""The same table in every form that `fit` takes: arrays, frames, sparse matrices, moments, collections of Dask."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anndata
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp
from benches.corpus.cases.common import EQUAL, SKEWED, Cases
from benches.corpus.simulation import Simulation

from icid_rs import ICID, Moments

#: Few columns, so that turning them into other forms costs nothing.
_SMALL = Simulation(d=6, n=300, seed=10)
#: What moments are computed of.
_DATA = {"equal": EQUAL, "skewed": SKEWED}


def frame() -> pd.DataFrame:
    """The small table with names."""
    return pd.DataFrame(_SMALL.rows, columns=_SMALL.names)


def counts() -> np.ndarray:
    """The small table in whole numbers."""
    return np.round(100 * _SMALL.rows).astype(int)


def masked() -> np.ma.MaskedArray:
    """The small table with some entries masked."""
    return np.ma.MaskedArray(_SMALL.rows, mask=np.random.default_rng(11).random((300, 6)) < 0.02)


def nullable() -> pd.DataFrame:
    """The small table in nullable columns, two of them with missing entries."""
    table = frame().astype("Float64")
    table.loc[3, "x1"] = pd.NA
    table.loc[7, "x4"] = pd.NA
    return table


_TABLES: dict[str, Callable[[], Any]] = {
    "float64": lambda: _SMALL.rows,
    "float32": lambda: _SMALL.rows.astype(np.float32),
    "float16": lambda: _SMALL.rows.astype(np.float16),
    "integers": counts,
    "small integers": lambda: counts().astype(np.int16),
    "booleans": lambda: _SMALL.rows > 0,
    "objects": lambda: _SMALL.rows.astype(object),
    "Fortran order": lambda: np.asfortranarray(_SMALL.rows),
    "Fortran order float32": lambda: np.asfortranarray(_SMALL.rows.astype(np.float32)),
    "every second row": lambda: np.repeat(_SMALL.rows, 2, axis=0)[::2],
    "read-only": lambda: np.broadcast_to(_SMALL.rows, (300, 6)),
    "lists": lambda: _SMALL.rows.tolist(),
    "lists of integers": lambda: counts().tolist(),
    "tuple of rows": lambda: tuple(map(tuple, _SMALL.rows)),
    "matrix": lambda: np.asmatrix(_SMALL.rows),
    "complex": lambda: _SMALL.rows.astype(complex),
    "pandas": frame,
    "pandas float32": lambda: frame().astype(np.float32),
    "pandas mixed": lambda: frame().assign(
        x0=lambda table: (100 * table.x0).astype(int), x1=lambda table: table.x1 > 0
    ),
    "pandas numbered columns": lambda: pd.DataFrame(_SMALL.rows),
    "pandas mixed names": lambda: pd.DataFrame(_SMALL.rows, columns=["a", 1, "c", 3, ("e", "f"), "g"]),
    "pandas category": lambda: frame().assign(x0=pd.Categorical(["a", "b"] * 150)),
    "pandas repeated names": lambda: pd.DataFrame(_SMALL.rows, columns=list("aabcde")),
    "polars": lambda: pl.DataFrame(_SMALL.rows, schema=_SMALL.names),
    "polars lazy": lambda: pl.DataFrame(_SMALL.rows, schema=_SMALL.names).lazy(),
    "polars integers": lambda: pl.DataFrame(counts(), schema=_SMALL.names),
    "arrow": lambda: pa.Table.from_pandas(frame()),
    "arrow batch": lambda: pa.RecordBatch.from_pandas(frame()),
    "csr_array": lambda: sp.csr_array(_SMALL.rows * (_SMALL.rows > 0)),
    "csc_matrix": lambda: sp.csc_matrix(_SMALL.rows * (_SMALL.rows > 0)),
    "coo float32": lambda: sp.coo_array((_SMALL.rows * (_SMALL.rows > 0)).astype(np.float32)),
    "anndata": lambda: anndata.AnnData(frame()),
    "dask array": lambda: dask.array.from_array(_SMALL.rows, chunks=(70, 4)),
    "dask frame": lambda: dask.dataframe.from_pandas(frame(), npartitions=3),
}
_THETAS: dict[str, Callable[[], Any]] = {
    "dense": lambda: EQUAL.theta,
    "float32": lambda: EQUAL.theta.astype(np.float32),
    "csr_array": lambda: sp.csr_array(EQUAL.theta),
    "coo_matrix": lambda: sp.coo_matrix(EQUAL.theta),
    "lists": lambda: EQUAL.theta.tolist(),
    "frame": lambda: pd.DataFrame(EQUAL.theta, columns=EQUAL.names, index=EQUAL.names),
    "indefinite": lambda: EQUAL.theta - 3 * np.eye(12),
    "not symmetric": lambda: np.triu(EQUAL.theta),
    "not square": lambda: EQUAL.theta[:5],
    "estimate": lambda: np.linalg.inv(np.cov(EQUAL.rows.T)),
}


def streamed(data: Simulation, chunk: int = 64, **settings: Any) -> Moments:
    """Sum up the rows chunk by chunk."""
    moments = Moments(**settings)
    for start in range(0, data.n, chunk):
        moments.update(data.rows[start : start + chunk])
    return moments


def merged(data: Simulation, **settings: Any) -> Moments:
    """Sum up three parts of the rows, and merge them."""
    parts = [Moments(**settings).update(part) for part in np.array_split(data.rows, 3)]
    return (parts[0] + parts[1]).merge(parts[2])


def weighted(data: Simulation, **settings: Any) -> Moments:
    """Sum up rows with weights."""
    return Moments(**settings).update(data.rows, weights=np.random.default_rng(12).uniform(0, 2, size=data.n))


def published(data: Simulation) -> Moments:
    """Make moments of a covariance."""
    return Moments.from_covariance(
        np.cov(data.rows.T, bias=True), data.n, mean=data.rows.mean(axis=0), names=data.names
    )


def restored(data: Simulation) -> Moments:
    """Save moments and load them again."""
    streamed(data, third=True).save("moments.npz")
    return Moments.load("moments.npz")


def incomplete(data: Simulation) -> Moments:
    """Sum up rows with missing entries, which are dropped."""
    X = data.rows
    X[::17, 3] = np.nan
    return Moments(missing="drop").update(X)


def read_file(suffix: str) -> Moments:
    """Sum up a file."""
    path = f"table{suffix}"
    if suffix == ".parquet":
        pyarrow.parquet.write_table(pa.Table.from_pandas(frame()), path)
    elif suffix == ".csv":
        frame().to_csv(path, index=False)
    else:
        np.save(path, _SMALL.rows)
    return Moments.read(path, chunk_rows=100, progress=False)


_MOMENTS: dict[str, Callable[[Simulation], Moments]] = {
    "streamed": streamed,
    "streamed third": partial(streamed, third=True),
    "few rows kept": partial(streamed, reservoir=50),
    "no rows kept": partial(streamed, reservoir=0),
    "merged": merged,
    "merged third": partial(merged, third=True),
    "weighted": weighted,
    "weighted, few rows kept": partial(weighted, reservoir=50, third=True),
    "covariance": published,
    "restored": restored,
    "incomplete": incomplete,
}


def cases() -> Cases:
    """Yield names and functions."""
    for name, table in _TABLES.items():
        yield f"input/{name}", lambda table=table: ICID().fit(table())
    for name, table in {"masked array": masked, "nullable pandas": nullable}.items():
        for missing in ("raise", "drop", "pairwise"):
            yield f"input/{name} {missing}", lambda table=table, missing=missing: ICID(missing=missing).fit(table())
    for name in ("float32", "pandas", "dask array", "csr_array"):
        yield f"input/{name} lasso", lambda name=name: ICID(precision="lasso").fit(_TABLES[name]())
        yield f"input/{name} skewness", lambda name=name: ICID(skewness=0.1).fit(_TABLES[name]())
        yield f"input/{name} search", lambda name=name: ICID(refine="search").fit(_TABLES[name]())
    for name, theta in _THETAS.items():
        yield f"input/theta {name}", lambda theta=theta: ICID(precision="precomputed").fit(theta())
        yield (
            f"input/theta {name} refine=None",
            lambda theta=theta: ICID(precision="precomputed", refine=None).fit(theta()),
        )
    for (name, make), (label, data) in ((a, b) for a in _MOMENTS.items() for b in _DATA.items()):
        yield f"moments/{name}/{label}", partial(make, data)
        for settings in ({}, {"skewness": 0.1}, {"precision": "lasso"}, {"refine": None}, {"refine": "search"}):
            how = " ".join(f"{key}={value}" for key, value in settings.items()) or "default"
            yield (
                f"moments/{name}/{label}/fit {how}",
                lambda make=make, data=data, settings=settings: ICID(**settings).fit(make(data)),
            )
    for suffix in (".parquet", ".csv", ".npy"):
        yield f"moments/read {suffix}", partial(read_file, suffix)
    yield "moments/from_chunks", lambda: Moments.from_chunks(np.array_split(_SMALL.rows, 5), progress=False)
    yield "moments/repr", lambda: [repr(streamed(_SMALL)), repr(published(_SMALL)), repr(Moments())]

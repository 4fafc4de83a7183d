"""Strategies for inputs that are legal and unpleasant."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from icid_rs import datasets

#: What may happen to a table, by name; each takes a random generator and a table with rows to spare.
TABLES: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "as it is": lambda rng, X: X,
    "huge": lambda rng, X: X * 1e150,
    "tiny": lambda rng, X: X * 1e-150,
    "large": lambda rng, X: X * 1e70,
    "small": lambda rng, X: X * 1e-70,
    "denormal": lambda rng, X: X * 1e-310,
    "mixed units": lambda rng, X: X * 10.0 ** rng.integers(-60, 60, X.shape[1]),
    "far from zero": lambda rng, X: X + 1e9,
    "farther from zero": lambda rng, X: X + 1e16,
    "a copy": lambda rng, X: np.column_stack([X, X[:, 0]]),
    "nearly a copy": lambda rng, X: np.column_stack([X, X[:, 0] + 1e-6 * rng.normal(size=len(X))]),
    "a sum": lambda rng, X: np.column_stack([X, X.sum(axis=1)]),
    "of rank one": lambda rng, X: np.outer(X[:, 0], np.arange(1.0, X.shape[1] + 1)),
    "a constant": lambda rng, X: np.column_stack([X, np.full(len(X), 3.7)]),
    "one odd value": lambda rng, X: np.column_stack([X, np.arange(len(X)) == 0]),
    "few values": lambda rng, X: np.sign(X),
    "integers": lambda rng, X: np.round(X).astype(np.int8),
    "booleans": lambda rng, X: X > 0,
    "single precision": lambda rng, X: X.astype(np.float32),
    "half precision": lambda rng, X: X.astype(np.float16),
    "objects": lambda rng, X: X.astype(object),
    "byte-swapped": lambda rng, X: X.astype(">f8"),
    "no rows": lambda rng, X: X[:0],
    "one row": lambda rng, X: X[:1],
    "two rows": lambda rng, X: X[:2],
    "fewer rows than columns": lambda rng, X: X[: max(3, X.shape[1] - 1)],
    "one column": lambda rng, X: X[:, :1],
    "two columns": lambda rng, X: X[:, :2],
    "no columns": lambda rng, X: X[:, :0],
    "heavy tails": lambda rng, X: X / rng.uniform(1e-8, 1.0, X.shape),
    "a missing value": lambda rng, X: np.where(np.arange(X.size).reshape(X.shape) == 1, np.nan, X),
    "an infinity": lambda rng, X: np.where(np.arange(X.size).reshape(X.shape) == 1, -np.inf, X),
}


def _strided(X: np.ndarray) -> np.ndarray:
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _mapped(X: np.ndarray) -> np.ndarray:
    if X.dtype == object or not X.size:
        return X
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, X)
        file.flush()
        return np.load(file.name, mmap_mode="r")


#: How an array may lie in memory.
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "strided": _strided,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _read_only,
    "memory-mapped": _mapped,
}


@st.composite
def tables(draw: Any) -> np.ndarray:
    """Draw a table of samples by variables."""
    d = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    B = datasets.random_dag(d, min(1, (d - 1) // 2), random_state=rng)
    X = datasets.sample_sem(B, d + draw(st.integers(4, 60)), noise=draw(NOISES), random_state=rng)
    X = TABLES[draw(st.sampled_from(sorted(TABLES)))](rng, X)
    return LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](X)


NOISES = st.sampled_from(["gaussian", "exponential", "uniform"])

#: What may happen to an inverse covariance.
THETAS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "as it is": lambda rng, T: T,
    "huge": lambda rng, T: T * 1e150,
    "tiny": lambda rng, T: T * 1e-150,
    "denormal": lambda rng, T: T * 1e-312,
    "mixed units": lambda rng, T: T * np.multiply.outer(*[10.0 ** rng.integers(-40, 40, len(T))] * 2),
    "one ulp off": lambda rng, T: np.triu(T) + np.tril(np.nextafter(T, np.inf), -1),
    "indefinite": lambda rng, T: T - 2 * np.linalg.eigvalsh(T)[-1] * np.eye(len(T)) * (rng.random(len(T)) < 0.5),
    "singular": lambda rng, T: np.ones_like(T),
    "nearly singular": lambda rng, T: np.ones_like(T) + 1e-9 * np.eye(len(T)),
    "nearly diagonal": lambda rng, T: np.diag(T.diagonal()) + 1e-17 * np.ones_like(T),
    "disconnected": lambda rng, T: np.diag(T.diagonal()),
    "complete": lambda rng, T: T @ T + 0.1,
    "star": lambda rng, T: _star(len(T)),
    "integers": lambda rng, T: np.round(4 * T).astype(np.int32),
    "booleans": lambda rng, T: T != 0,
    "single precision": lambda rng, T: T.astype(np.float32),
    "byte-swapped": lambda rng, T: T.astype(">f8"),
    "empty": lambda rng, T: T[:0, :0],
    "negative": lambda rng, T: -T,
}


def _star(d: int) -> np.ndarray:
    theta = np.eye(d) * d
    theta[0] = theta[:, 0] = 0.5
    theta[0, 0] = d
    return theta


@st.composite
def thetas(draw: Any) -> Any:
    """Draw a matrix that claims to be an inverse covariance, dense or sparse."""
    d = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    B = datasets.random_dag(d, min(1, (d - 1) // 2), random_state=rng)
    theta = THETAS[draw(st.sampled_from(sorted(THETAS)))](rng, datasets.sem_precision(B).toarray())
    if draw(st.booleans()) and theta.dtype.isnative:
        return sp.csr_array(theta)
    return LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](theta)

"""The compiled core. Private: its names may change with any release."""

from collections.abc import Callable
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Accumulator",
    "NumericalError",
    "arrange",
    "available_memory",
    "correlations",
    "decompose",
    "eliminate",
    "eliminate_dense",
    "eliminate_sinks",
    "equivalence_class",
    "evaluate",
    "heaviest_acyclic",
    "refit",
    "regress_along",
    "regress_within",
    "scaled_lasso",
    "search",
    "stepwise",
]

_Csr: TypeAlias = tuple[int, int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
_CsrParts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
_Elimination: TypeAlias = tuple[_CsrParts, NDArray[np.int64], NDArray[np.float64]]
_Edges: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
_Knowledge: TypeAlias = tuple[_Edges, _Edges, NDArray[np.int64]]

_Sums: TypeAlias = tuple[
    int,
    float,
    float,
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64] | None,
]

class NumericalError(ArithmeticError): ...

def available_memory() -> int | None: ...

@final
class Accumulator:
    def __new__(cls, columns: int, third: bool) -> Accumulator: ...
    @staticmethod
    def from_sums(
        rows: int,
        weight: float,
        squares: float,
        shift: NDArray[np.float64],
        mean: NDArray[np.float64],
        second: NDArray[np.float64],
        third: NDArray[np.float64] | None,
    ) -> Accumulator: ...
    @property
    def columns(self) -> int: ...
    @property
    def rows(self) -> int: ...
    def update(
        self,
        chunk: NDArray[np.float64] | NDArray[np.float32],
        weights: NDArray[np.float64] | None,
        *,
        drop: bool,
        seed: int | None,
        n_threads: int | None,
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_], tuple[int, int] | None]: ...
    def merge(self, other: Accumulator) -> None: ...
    def sums(self) -> _Sums: ...

def decompose(
    theta: _Csr,
    *,
    noise_variances: NDArray[np.float64] | None,
    skewness: tuple[_Csr, float] | None,
    forbidden: _Csr | None,
    l1_weight: float,
    max_alm_iter: int,
    max_fista_iter: int,
    tol: float,
    fista_tol: float,
    schedule: str,
    kernel: str,
    callback: Callable[[dict[str, Any]], object] | None,
    n_threads: int | None,
) -> tuple[
    _CsrParts,
    str,
    float,
    dict[str, Any],
    list[dict[str, Any]],
]: ...
def arrange(order: NDArray[np.int64], knowledge: _Knowledge) -> NDArray[np.int64]: ...
def heaviest_acyclic(b: _Csr) -> tuple[_CsrParts, NDArray[np.int64]]: ...
def equivalence_class(b: _Csr, order: NDArray[np.int64]) -> _CsrParts: ...
def correlations(values: NDArray[np.float64], *, cut: float, n_threads: int | None) -> _CsrParts: ...
def scaled_lasso(
    values: NDArray[np.float64], sparse: _Csr | None, *, level: float, n_threads: int | None
) -> tuple[_CsrParts, tuple[int, int] | None]: ...
def stepwise(
    values: NDArray[np.float64],
    sparse: _Csr | None,
    start: _Csr,
    *,
    places: NDArray[np.int64] | None,
    samples: int,
    penalty: float,
    n_threads: int | None,
) -> tuple[_CsrParts, NDArray[np.float64]]: ...
def eliminate_sinks(
    values: NDArray[np.float64],
    variances: NDArray[np.float64],
    pattern: _Csr,
    *,
    samples: int,
    penalty: float,
    n_threads: int | None,
) -> NDArray[np.int64]: ...
def refit(values: NDArray[np.float64], support: _Csr, *, shrinkage: float, n_threads: int | None) -> _CsrParts: ...
def eliminate(
    theta: _Csr,
    *,
    order: NDArray[np.int64] | None,
    noise_variances: NDArray[np.float64] | None,
    drop: float,
    n_threads: int | None,
) -> _Elimination: ...
def eliminate_dense(
    theta: NDArray[np.float64],
    *,
    order: NDArray[np.int64] | None,
    noise_variances: NDArray[np.float64] | None,
    drop: float,
    knowledge: _Knowledge | None = None,
    n_threads: int | None = None,
) -> _Elimination: ...
def regress_along(
    theta: NDArray[np.float64],
    covariance: NDArray[np.float64],
    *,
    samples: int,
    penalty: float,
    order: NDArray[np.int64] | None,
    noise_variances: NDArray[np.float64] | None,
    knowledge: _Knowledge | None,
    n_threads: int | None,
) -> tuple[_Elimination, float]: ...
def regress_within(
    pattern: _Csr,
    covariance: NDArray[np.float64],
    *,
    samples: int,
    penalty: float,
    order: NDArray[np.int64],
    noise_variances: NDArray[np.float64] | None,
    knowledge: _Knowledge | None,
    n_threads: int | None,
) -> tuple[_Elimination, float]: ...
def search(
    correlation: NDArray[np.float64],
    values: NDArray[np.float64] | None,
    candidates: _Csr,
    starts: list[NDArray[np.int64]],
    *,
    samples: float,
    penalty: float,
    least: NDArray[np.float64],
    noise_shares: NDArray[np.float64] | None,
    knowledge: _Knowledge | None,
    trials: int,
    patience: int | None,
    seconds: float | None,
    seed: int,
    n_threads: int | None,
) -> tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], float, list[float], int, int, tuple[int, float]
]: ...
def evaluate(
    theta: _Csr,
    b: _Csr,
    z: _Csr,
    *,
    noise_variances: NDArray[np.float64] | None = None,
    skewness: tuple[_Csr, float] | None = None,
    multiplier_at: _Csr | None = None,
    rho: float = 1.0,
    kernel: str = "auto",
    repeat: int = 1,
    n_threads: int | None = None,
) -> tuple[float, NDArray[np.float64], float, float, list[float]]: ...

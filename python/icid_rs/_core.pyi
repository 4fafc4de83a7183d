"""The compiled core. Private: its names may change with any release."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Accumulator",
    "CopiesError",
    "NumericalError",
    "OrderFit",
    "Searched",
    "Searcher",
    "Sem",
    "WidePrecision",
    "arrange",
    "available_memory",
    "correlation_matrix",
    "correlations",
    "decompose",
    "discoveries",
    "edge_penalty",
    "eliminate",
    "eliminate_dense",
    "eliminate_sinks",
    "equivalence_class",
    "evaluate",
    "heaviest_acyclic",
    "neighbourhood_precision",
    "neighbourhood_support",
    "refit",
    "regress_along",
    "regress_on_rows",
    "regress_within",
    "scaled_lasso",
    "score",
    "search",
    "search_budget",
    "shape_statistics",
    "stepwise",
    "wide_precision",
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
class CopiesError(ValueError): ...

@final
class Sem:
    @property
    def b(self) -> _CsrParts: ...
    @property
    def order(self) -> NDArray[np.int64]: ...
    @property
    def noise_variances(self) -> NDArray[np.float64]: ...
    def __iter__(self) -> Iterator[Any]: ...

@final
class OrderFit:
    @property
    def sem(self) -> Sem: ...
    @property
    def score(self) -> float: ...
    @property
    def order(self) -> Literal["elimination", "decomposition"]: ...
    @property
    def scores(self) -> dict[str, float]: ...

@final
class Searched:
    @property
    def sem(self) -> Sem: ...
    @property
    def score(self) -> float: ...
    @property
    def start_scores(self) -> list[float]: ...
    @property
    def trials(self) -> int: ...
    @property
    def improvements(self) -> int: ...
    @property
    def descent(self) -> tuple[int, float]: ...

@final
class Searcher:
    def __new__(
        cls,
        covariance: NDArray[np.float64],
        theta: _Csr,
        inverse: NDArray[np.float64] | None,
        *,
        samples: int,
        knowledge: _Knowledge | None,
        n_threads: int | None,
    ) -> Searcher: ...
    def best_order(
        self, proposed: NDArray[np.int64], *, penalty: float, noise_variances: NDArray[np.float64] | None
    ) -> OrderFit: ...
    def search(
        self,
        starts: list[NDArray[np.int64]],
        *,
        penalty: float,
        noise_variances: NDArray[np.float64] | None,
        values: NDArray[np.float64] | None,
        trials: int,
        patience: int | None,
        seconds: float | None,
        seed: int,
    ) -> Searched: ...
    def smallest_pivots(self, model_covariance: NDArray[np.float64] | None = None) -> NDArray[np.int64]: ...
    def null_inflation(self, b: _Csr) -> float: ...

@final
class WidePrecision:
    @property
    def theta(self) -> _CsrParts: ...
    @property
    def correlations(self) -> _CsrParts: ...

def edge_penalty(samples: float, variables: int) -> float: ...
def score(
    residual_variances: NDArray[np.float64],
    edges: int,
    *,
    samples: float,
    penalty: float,
    noise: Literal["equal", "unequal"] | NDArray[np.float64],
) -> float: ...
def shape_statistics(
    rows: NDArray[np.float64] | NDArray[np.float32],
    location: NDArray[np.float64],
    b: _Csr,
    *,
    n_threads: int | None,
) -> NDArray[np.float64]: ...
def discoveries(
    theta: NDArray[np.float64], degrees: int, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def correlation_matrix(covariance: NDArray[np.float64]) -> NDArray[np.float64]: ...
def search_budget(variables: int) -> tuple[int, int]: ...
def neighbourhood_support(
    values: NDArray[np.float64], samples: int, *, correlations: _Csr | None = None, n_threads: int | None = None
) -> _CsrParts: ...
def neighbourhood_precision(
    values: NDArray[np.float64], deviations: NDArray[np.float64], samples: int, *, n_threads: int | None = None
) -> _CsrParts: ...
def wide_precision(
    values: NDArray[np.float64], variances: NDArray[np.float64], samples: int, *, n_threads: int | None = None
) -> WidePrecision: ...
def regress_on_rows(
    values: NDArray[np.float64],
    correlations: _Csr,
    start: _Csr,
    order: NDArray[np.int64],
    *,
    deviations: NDArray[np.float64],
    samples: int,
    penalty: float,
    n_threads: int | None = None,
) -> tuple[_CsrParts, NDArray[np.float64]]: ...
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
    theta: NDArray[np.float64] | _Csr,
    *,
    order: NDArray[np.int64] | None,
    noise_variances: NDArray[np.float64] | None,
    drop: float,
    knowledge: _Knowledge | None = None,
    n_threads: int | None = None,
) -> Sem: ...
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

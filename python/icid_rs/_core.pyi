"""The compiled core. Private: its names may change with any release."""

from collections.abc import Callable
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Accumulator",
    "BlockSearcher",
    "CopiesError",
    "Decomposed",
    "Evaluation",
    "ExactTable",
    "NumericalError",
    "Optimum",
    "OrderFit",
    "Searched",
    "Searcher",
    "Sem",
    "Settled",
    "Sums",
    "WidePrecision",
    "WideSearcher",
    "arrange",
    "available_memory",
    "correlation_matrix",
    "decompose",
    "dependence_statistics",
    "deviance",
    "discoveries",
    "edge_penalty",
    "eliminate",
    "equivalence_class",
    "evaluate",
    "expected_values",
    "heaviest_acyclic",
    "neighbourhood_precision",
    "robust_weight_errors",
    "score",
    "search_budget",
    "settle",
    "shape_statistics",
    "weight_errors",
    "wide_precision",
    "wide_weight_errors",
]

_Csr: TypeAlias = tuple[tuple[int, int], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
_CsrParts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
_Edges: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
_Knowledge: TypeAlias = tuple[_Edges, _Edges, NDArray[np.int64]]

class _Problem(TypedDict):
    theta: _Csr
    noise_variances: NotRequired[NDArray[np.float64] | None]
    skewness: NotRequired[tuple[_Csr, float] | None]
    forbidden: NotRequired[_Csr | None]

class _Settings(TypedDict):
    l1_weight: float
    max_alm_iter: int
    max_fista_iter: int
    tol: float
    fista_tol: float
    schedule: str
    kernel: str

class _Budget(TypedDict):
    trials: int
    patience: int | None
    seconds: float | None
    seed: int

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
    @property
    def ended(self) -> Literal["converged", "out of trials", "out of time"]: ...

@final
class ExactTable:
    def optimum(self, *, penalty: float, margins: bool = False) -> Optimum: ...

@final
class Optimum:
    @property
    def sem(self) -> Sem: ...
    @property
    def score(self) -> float: ...
    @property
    def absent(self) -> NDArray[np.float64]: ...
    @property
    def reversed(self) -> NDArray[np.float64]: ...

@final
class BlockSearcher:
    def __new__(
        cls,
        covariance: NDArray[np.float64],
        inverse: NDArray[np.float64] | None,
        offsets: NDArray[np.int64],
        is_category: NDArray[np.bool_],
        *,
        samples: int,
        knowledge: _Knowledge | None,
        n_threads: int | None,
    ) -> BlockSearcher: ...
    def search(self, starts: list[NDArray[np.int64]], *, penalty: float, budget: _Budget) -> Searched: ...
    def exact_table(self) -> ExactTable: ...
    def exact_cost(self) -> tuple[float, float, bool]: ...
    def search_resamples(
        self,
        rows: NDArray[np.float64],
        counts: NDArray[np.uint16],
        order: NDArray[np.int64],
        *,
        penalty: float,
        budget: _Budget,
    ) -> tuple[_CsrParts, _CsrParts]: ...
    def search_covariances(
        self, covariances: NDArray[np.float64], order: NDArray[np.int64], *, penalty: float, budget: _Budget
    ) -> tuple[_CsrParts, _CsrParts]: ...
    def smallest_pivots(self) -> NDArray[np.int64]: ...
    def coefficients(self, b: _Csr) -> tuple[_CsrParts, _CsrParts]: ...
    def null_inflation(self, b: _Csr) -> float: ...

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
        budget: _Budget,
        shape: str = "negentropy",
    ) -> Searched: ...
    def exact_table(
        self,
        *,
        noise_variances: NDArray[np.float64] | None,
        values: NDArray[np.float64] | None,
        equal: bool = False,
        shape: str = "negentropy",
    ) -> ExactTable: ...
    def exact_cost(self, *, rows: int | None) -> tuple[float, float, bool]: ...
    def search_resamples(
        self,
        rows: NDArray[np.float64],
        counts: NDArray[np.uint16],
        order: NDArray[np.int64],
        *,
        penalty: float,
        noise_variances: NDArray[np.float64] | None,
        shape: str | None,
        removed: NDArray[np.float64] | None,
        budget: _Budget,
    ) -> tuple[_CsrParts, _CsrParts]: ...
    def search_covariances(
        self,
        covariances: NDArray[np.float64],
        order: NDArray[np.int64],
        *,
        penalty: float,
        noise_variances: NDArray[np.float64] | None,
        removed: NDArray[np.float64] | None,
        budget: _Budget,
    ) -> tuple[_CsrParts, _CsrParts]: ...
    def smallest_pivots(self, model_covariance: NDArray[np.float64] | None = None) -> NDArray[np.int64]: ...
    def null_inflation(self, b: _Csr) -> float: ...

@final
class WidePrecision:
    @property
    def theta(self) -> _CsrParts: ...
    @property
    def correlations(self) -> _CsrParts: ...
    @property
    def order(self) -> NDArray[np.int64]: ...
    @property
    def timings(self) -> dict[str, float]: ...

@final
class WideSearcher:
    def __new__(
        cls,
        values: NDArray[np.float64],
        variances: NDArray[np.float64],
        correlations: _Csr,
        theta: _Csr,
        *,
        samples: int,
        knowledge: _Knowledge | None,
        n_threads: int | None,
    ) -> WideSearcher: ...
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
        budget: _Budget,
        shape: str = "negentropy",
    ) -> Searched: ...
    def null_inflation(self, b: _Csr) -> float: ...

def edge_penalty(samples: float, variables: int) -> float: ...
def score(
    residual_variances: NDArray[np.float64],
    edges: int,
    *,
    samples: float,
    penalty: float,
    noise: str | NDArray[np.float64],
) -> float: ...
def shape_statistics(
    rows: NDArray[np.float64] | NDArray[np.float32],
    location: NDArray[np.float64],
    b: _Csr,
    *,
    n_threads: int | None,
    shape: str = "negentropy",
) -> NDArray[np.float64]: ...
def dependence_statistics(
    rows: NDArray[np.float64] | NDArray[np.float32],
    location: NDArray[np.float64],
    b: _Csr,
    *,
    n_threads: int | None,
) -> NDArray[np.float64]: ...
def weight_errors(
    covariance: NDArray[np.float64], b: _Csr, *, n_threads: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def wide_weight_errors(
    values: NDArray[np.float64], b: _Csr, *, n_threads: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def robust_weight_errors(
    rows: NDArray[np.float64] | NDArray[np.float32], b: _Csr, *, n_threads: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def discoveries(
    theta: NDArray[np.float64], degrees: int, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def correlation_matrix(covariance: NDArray[np.float64]) -> NDArray[np.float64]: ...
def search_budget(variables: int) -> tuple[int, int]: ...
def neighbourhood_precision(
    values: NDArray[np.float64], deviations: NDArray[np.float64], samples: int, *, n_threads: int | None = None
) -> tuple[_CsrParts, dict[str, float]]: ...
def wide_precision(
    values: NDArray[np.float64], variances: NDArray[np.float64], samples: int, *, n_threads: int | None = None
) -> WidePrecision: ...
def expected_values(
    theta: NDArray[np.float64],
    pull: NDArray[np.float64],
    counts: NDArray[np.int64],
    places: NDArray[np.int64],
    *,
    n_threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]: ...

@final
class Settled:
    @property
    def sem(self) -> Sem: ...
    @property
    def loadings(self) -> NDArray[np.float64]: ...
    @property
    def deviance(self) -> float: ...
    @property
    def spectrum(self) -> list[float]: ...

def settle(
    correlation: NDArray[np.float64],
    inverse: NDArray[np.float64] | None,
    sem: tuple[_Csr, NDArray[np.int64], NDArray[np.float64]],
    loadings: NDArray[np.float64],
    errors: NDArray[np.float64],
    *,
    rounds: int,
    n_threads: int | None,
) -> Settled: ...
def deviance(
    correlation: NDArray[np.float64],
    sem: tuple[_Csr, NDArray[np.int64], NDArray[np.float64]],
    loadings: NDArray[np.float64],
    errors: NDArray[np.float64],
    *,
    n_threads: int | None,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...
def available_memory() -> int | None: ...

@final
class Sums:
    @property
    def rows(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def squares(self) -> float: ...
    @property
    def shift(self) -> NDArray[np.float64]: ...
    @property
    def mean(self) -> NDArray[np.float64]: ...
    @property
    def second(self) -> NDArray[np.float64]: ...
    @property
    def third(self) -> NDArray[np.float64] | None: ...

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
    def copy(self) -> Accumulator: ...
    def sums(self) -> Sums: ...

@final
class Decomposed:
    @property
    def b(self) -> _CsrParts: ...
    @property
    def status(self) -> str: ...
    @property
    def residual(self) -> float: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def history(self) -> list[dict[str, Any]]: ...

@final
class Evaluation:
    @property
    def value(self) -> float: ...
    @property
    def gradient(self) -> NDArray[np.float64]: ...
    @property
    def curvature(self) -> float: ...
    @property
    def residual(self) -> float: ...
    @property
    def seconds(self) -> list[float]: ...

def decompose(
    problem: _Problem,
    settings: _Settings,
    *,
    callback: Callable[[dict[str, Any]], object] | None,
    n_threads: int | None,
) -> Decomposed: ...
def evaluate(
    problem: _Problem,
    b: _Csr,
    z: _Csr,
    *,
    multiplier_at: _Csr | None = None,
    rho: float = 1.0,
    kernel: str = "auto",
    repeat: int = 1,
    n_threads: int | None = None,
) -> Evaluation: ...
def arrange(order: NDArray[np.int64], knowledge: _Knowledge) -> NDArray[np.int64]: ...
def heaviest_acyclic(b: _Csr) -> tuple[_CsrParts, NDArray[np.int64]]: ...
def equivalence_class(b: _Csr, order: NDArray[np.int64]) -> _CsrParts: ...
def eliminate(
    theta: NDArray[np.float64] | _Csr,
    *,
    order: NDArray[np.int64] | None,
    noise_variances: NDArray[np.float64] | None,
    drop: float,
    knowledge: _Knowledge | None = None,
    n_threads: int | None = None,
) -> Sem: ...

"""The compiled core. Private: its names may change with any release."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["NumericalError", "decompose", "evaluate", "heaviest_acyclic"]

_Csr: TypeAlias = tuple[int, int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

class NumericalError(ArithmeticError): ...

def decompose(
    theta: _Csr,
    *,
    noise_variances: NDArray[np.float64] | None,
    skewness: tuple[_Csr, float] | None,
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
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    str,
    float,
    dict[str, Any],
    list[dict[str, Any]],
]: ...
def heaviest_acyclic(
    b: _Csr,
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]], NDArray[np.int64]]: ...
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

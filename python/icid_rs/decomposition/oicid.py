"""O-ICID: a sparse B inside the support of Θ with Θ = (I − B) D (I − B)ᵀ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from icid_rs import _core
from icid_rs._util.validation import (
    as_csr,
    as_theta,
    as_vector,
    check_int,
    check_real,
    check_threads,
    csr_from_parts,
    csr_parts,
)
from icid_rs._util.warn import warn_user

Schedule = Literal["restart", "paper"]


@dataclass(frozen=True)
class Decomposition:
    """A decomposition Θ ≈ (I − B) D (I − B)ᵀ, and how it was found.

    Attributes
    ----------
    B : scipy.sparse.csr_array
        ``B[i, j] != 0`` means i → j. Not necessarily acyclic.
    status : str
        ``"converged"``: the residual is within `tol`. ``"max_alm_iter"``: all rounds were used, the last of them to its
        tolerance. ``"stalled"``: the residual stopped falling, at a local minimum or because D does not fit Θ.
        ``"max_fista_iter"``: the last descent ran out of iterations. ``"interrupted"``: stopped by the callback.
    residual : float
        ‖Θ − (I − B) D (I − B)ᵀ‖ in the Frobenius norm.
    info : dict
        What it took: ``iterations`` and ``evaluations`` of the objective over all rounds, of the connected component
        that took most; the number of ``components``; the final weight ``rho`` of the equation and the ``optimality``
        distance Δ(B); the ``kernel`` used, the off-diagonal entries of the ``support`` and the clique ``pairs``;
        ``n_threads`` and the ``timings`` of its phases in seconds.
    history : list of dict
        One record for each round: ``round``, ``rho``, ``iterations``, ``objective``, ``optimality``, ``residual``.
    """

    B: sp.csr_array[np.float64, tuple[int, int]]
    status: str
    residual: float
    info: dict[str, Any]
    history: list[dict[str, Any]]

    def __repr__(self) -> str:
        return (
            f"Decomposition({self.B.shape[0]} variables, {self.B.nnz} nonzeros, status={self.status!r}, "
            f"residual={self.residual:.3g}, iterations={self.info['iterations']})"
        )

    def as_info(self) -> dict[str, Any]:
        """Return how it was found, as `ICID.info_` shows it."""
        return {"residual": self.residual, **self.info, "history": self.history}


def decompose(
    theta: Any,
    noise_variances: ArrayLike | None = None,
    *,
    skewness_matrix: Any = None,
    skewness: float = 0.0,
    forbidden: Any = None,
    l1_weight: float = 1.0,
    max_alm_iter: int = 3,
    max_fista_iter: int = 3000,
    tol: float = 5e-3,
    fista_tol: float = 1e-4,
    schedule: Schedule = "restart",
    callback: Callable[[dict[str, Any]], object] | None = None,
    n_threads: int | None = None,
) -> Decomposition:
    """Decompose an inverse covariance matrix: Algorithms 1 and 2 of the paper.

    Minimises ‖B‖₁ + λ₂ tr(M̃ᵀ(B ⊙ B)) subject to Θ = (I − B) D (I − B)ᵀ over matrices B with a zero diagonal whose
    nonzeros lie among those of Θ. One iteration costs O(Σ_j k_j²) for k_j neighbours of j in Θ: linear in the number of
    variables when Θ is sparse.

    Parameters
    ----------
    theta : array or sparse matrix of shape (d, d)
        The inverse covariance Θ. Its zeros say where B must be zero.
    noise_variances : float or array of shape (d,), optional
        The diagonal of Ω = D⁻¹. By default all noise is taken to be equal, with D = min_j Θ_jj.
    skewness_matrix : array or sparse matrix of shape (d, d), optional
        The paper's M̃. Needed if `skewness` is positive.
    skewness : float, default 0
        The paper's λ₂.
    forbidden : sparse matrix of shape (d, d), optional
        Its nonzeros are edges that B must not have.
    l1_weight : float, default 1
        The paper's λ₁' = 1/ρ₀: the larger, the sparser B in the first round.
    max_alm_iter, max_fista_iter : int
        Rounds of the augmented Lagrangian method, and iterations of FISTA in each.
    tol, fista_tol : float
        Residual at which to stop, and optimality distance Δ(B) at which a round is finished.
    schedule : {"restart", "paper"}
        ``"restart"`` lets steps grow and restarts the momentum; ``"paper"`` is as printed, and slower.
    callback : callable, optional
        Called every ten iterations with a dict of ``iteration``, counted over all connected components of Θ, and of the
        ``round``, ``objective``, ``step``, ``optimality`` and ``rho`` of the component being solved. The solve stops
        with what it has if it returns something true; what it raises is raised.
    n_threads : int, optional
        Threads to use; by default all cores for large problems, one for small. The result is the same.

    Returns
    -------
    Decomposition

    Warns
    -----
    ConvergenceWarning
        If a descent ran out of iterations.
    RuntimeWarning
        If Θ cannot be positive definite, so that no B satisfies the equation.

    Examples
    --------
    Three variables, 0 → 1 → 2, with unit noise:

    >>> import numpy as np
    >>> from icid_rs import decompose
    >>> B = np.array([[0, 0.8, 0], [0, 0, -0.7], [0, 0, 0]])
    >>> theta = (np.eye(3) - B) @ (np.eye(3) - B).T
    >>> result = decompose(theta, l1_weight=0.1, max_alm_iter=20)
    >>> result.status
    'converged'
    >>> bool(np.abs(result.B.toarray() - B).max() < 0.01)
    True
    """
    found = solve(
        theta,
        noise_variances,
        skewness_matrix=skewness_matrix,
        skewness=skewness,
        forbidden=forbidden,
        l1_weight=l1_weight,
        max_alm_iter=max_alm_iter,
        max_fista_iter=max_fista_iter,
        tol=tol,
        fista_tol=fista_tol,
        schedule=schedule,
        callback=callback,
        n_threads=n_threads,
    )
    if found.status == "max_fista_iter":
        warn_user(
            f"the last descent ended for want of iterations at {found.info['optimality']:.2g} not {fista_tol:.2g}; "
            "raise max_fista_iter or fista_tol, or use schedule='restart' if it is 'paper'",
            ConvergenceWarning,
        )
    return found


def solve(
    theta: Any,
    noise_variances: ArrayLike | None,
    *,
    skewness_matrix: Any,
    skewness: float,
    forbidden: Any,
    l1_weight: float,
    max_alm_iter: int,
    max_fista_iter: int,
    tol: float,
    fista_tol: float,
    schedule: Schedule,
    callback: Callable[[dict[str, Any]], object] | None,
    n_threads: int | None,
) -> Decomposition:
    """Decompose as `decompose` does, without a warning if iterations run out."""
    theta = as_csr(as_theta(theta), "theta", copy=False)
    d = theta.shape[0]
    variances = None if noise_variances is None else as_vector(noise_variances, d, "noise_variances")
    skewness = check_real(skewness, "skewness")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, not {callback!r}")
    if not isinstance(schedule, str):
        raise TypeError(f"schedule must be a string, not {schedule!r}")
    found = _core.decompose(
        {
            "theta": csr_parts(theta),
            "noise_variances": variances,
            "skewness": _skewness_term(skewness_matrix, skewness, theta),
            "forbidden": None if forbidden is None else _forbidden_edges(forbidden),
        },
        {
            "l1_weight": check_real(l1_weight, "l1_weight"),
            "max_alm_iter": check_int(max_alm_iter, "max_alm_iter", 1),
            "max_fista_iter": check_int(max_fista_iter, "max_fista_iter", 1),
            "tol": check_real(tol, "tol"),
            "fista_tol": check_real(fista_tol, "fista_tol"),
            "schedule": schedule,
            "kernel": "auto",
        },
        callback=callback,
        n_threads=check_threads(n_threads),
    )
    if (pair := found.info.pop("indefinite_pair")) is not None:
        i, j = pair
        warn_user(
            f"theta is not positive definite: theta[{i}, {j}]² ≥ theta[{i}, {i}] · theta[{j}, {j}], so no model has it "
            "as inverse covariance; estimate it again with more regularisation, or from more samples",
            RuntimeWarning,
        )
    return Decomposition(csr_from_parts(found.b, d), found.status, found.residual, found.info, found.history)


def _forbidden_edges(edges: Any) -> Any:
    edges = as_csr(edges, "forbidden")
    edges.eliminate_zeros()
    return csr_parts(edges)


def _skewness_term(matrix: Any, weight: float, theta: sp.csr_array[np.float64, tuple[int, int]]) -> Any:
    if matrix is None:
        if weight != 0:
            raise ValueError("skewness is positive but there is no skewness_matrix; compute one from the data")
        return None
    if not sp.issparse(matrix):
        # Only the entries on the support matter; a dense matrix of them need not be copied whole.
        matrix = np.asarray(matrix)
        if matrix.shape == theta.shape and matrix.dtype.kind in "buif":
            rows, columns = (abs(theta) + abs(theta.T)).nonzero()
            matrix = sp.csr_array((matrix[rows, columns], (rows, columns)), shape=theta.shape)
    return csr_parts(as_csr(matrix, "skewness_matrix")), weight

"""Order elimination: the exact decomposition of Θ where the noise variances are known or equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icid_rs import _core
from icid_rs._util.validation import as_csr, as_order, as_theta, as_vector, check_real, check_threads, csr_parts
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.sem import LinearSem


class Elimination(LinearSem):
    """An exact decomposition Θ = (I − B) Ω⁻¹ (I − B)ᵀ.

    Attributes
    ----------
    B : scipy.sparse.csr_array
        The weights: acyclic, ``B[i, j] != 0`` means i → j.
    order : numpy.ndarray of shape (d,)
        The variables, causes first.
    noise_variances : numpy.ndarray of shape (d,)
        The diagonal of Ω.
    """


def eliminate(
    theta: Any, noise_variances: ArrayLike | None = None, *, drop: float = 0.0, n_threads: int | None = None
) -> Elimination:
    """Decompose an inverse covariance matrix by eliminating one sink after another.

    A sink is a variable without effects. For sinks Θ_ii Ω_i = 1, and for all other variables it is larger, so the
    smallest value belongs to a sink. The causes of the sink are read off its column of Θ; then it is removed, and the
    same is done with the variables that remain. With the true Θ and the true Ω, or equal noise variances, the result is
    exactly the true graph.

    A sparse Θ costs O(Σ_j k_j²) for k_j remaining neighbours of j when it is removed, a dense one d³/3 multiplications.
    Partial correlations up to 1e-9 count as zero, as rounding errors of entries that cancel. The result depends on the
    order of the columns only where the entries of Θ do not distinguish two variables.

    Parameters
    ----------
    theta : array or sparse matrix of shape (d, d)
        The inverse covariance Θ.
    noise_variances : float or array of shape (d,), optional
        The diagonal of Ω, up to a common factor. By default all are taken to be equal.
    drop : float, default 0
        Weights up to this size are left out of B; they still count in the elimination.
    n_threads : int, optional
        Threads to use; by default all cores for large problems, one for small. The result is the same.

    Returns
    -------
    Elimination

    Raises
    ------
    NumericalError
        If Θ is singular or indefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets, eliminate
    >>> B = datasets.random_dag(100, 2, random_state=0)
    >>> result = eliminate(datasets.sem_precision(B))
    >>> bool(abs(result.B - B).max() < 1e-12)
    True
    """
    return eliminate_respecting(theta, noise_variances, None, n_threads, drop=drop)


def eliminate_along(theta: Any, order: ArrayLike, *, drop: float = 0.0, n_threads: int | None = None) -> Elimination:
    """Decompose an inverse covariance matrix along a causal order.

    For every order there is exactly one pair of a B in which causes come before effects and noise variances Ω such that
    Θ = (I − B) Ω⁻¹ (I − B)ᵀ. It is found by a Cholesky factorisation.

    Parameters
    ----------
    order : array of shape (d,)
        The variables, causes first.
    theta, drop, n_threads
        As for `eliminate`, which also raises the same errors.

    Returns
    -------
    Elimination

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import eliminate_along
    >>> result = eliminate_along([[2.0, 1.0], [1.0, 1.0]], order=[1, 0])
    >>> result.B.toarray()
    array([[ 0. ,  0. ],
           [-0.5,  0. ]])
    >>> result.noise_variances
    array([0.5, 2. ])
    """
    return eliminate_respecting(theta, None, None, n_threads, drop=drop, order=order)


def eliminate_respecting(
    theta: Any,
    noise_variances: ArrayLike | None,
    knowledge: Knowledge | None,
    n_threads: int | None,
    *,
    drop: float = 0.0,
    order: ArrayLike | None = None,
) -> Elimination:
    """Decompose as `eliminate` does, but put required causes before their effects and earlier tiers before later ones.

    With an `order`, decompose along it, as `eliminate_along` does.
    """
    theta = as_theta(theta)
    d = theta.shape[0]
    return Elimination.from_core(
        _core.eliminate(
            theta if isinstance(theta, np.ndarray) else csr_parts(as_csr(theta, "theta", copy=False)),
            order=None if order is None else as_order(order, d, "order"),
            noise_variances=None if noise_variances is None else as_vector(noise_variances, d, "noise_variances"),
            drop=check_real(drop, "drop"),
            knowledge=None if knowledge is None else knowledge.parts,
            n_threads=check_threads(n_threads),
        )
    )

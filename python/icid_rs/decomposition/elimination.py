"""Order elimination: the exact decomposition of Θ where the noise variances are known or equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icid_rs import _core
from icid_rs._util.validation import as_csr, as_order, as_theta, as_vector, check_int, check_real, csr_parts
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

    A sink is a variable without effects: there, and only there, Θ_ii Ω_i = 1, and it is larger everywhere else. So the
    smallest belongs to a sink, whose causes are read off its column; what is left is the same problem without it. With
    the true Θ and Ω, or equal noise variances, the result is the true graph, exactly.

    A sparse Θ costs O(Σ_j k_j²) for k_j neighbours of j when its turn comes, a dense one d³/3 multiplications. Partial
    correlations up to 1e-9 count as zero: they are what rounding leaves of entries that cancel. The result does not
    depend on the order of the columns, as far as the entries of Θ tell them apart.

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
    return _eliminate(theta, None, noise_variances, drop, n_threads)


def eliminate_along(theta: Any, order: ArrayLike, *, drop: float = 0.0, n_threads: int | None = None) -> Elimination:
    """Decompose an inverse covariance matrix along a causal order: there is exactly one way.

    For every order there are a B, in which causes come before effects, and noise variances Ω such that
    Θ = (I − B) Ω⁻¹ (I − B)ᵀ. This is a Cholesky factorisation.

    Parameters
    ----------
    theta : array or sparse matrix of shape (d, d)
        The inverse covariance Θ.
    order : array of shape (d,)
        The variables, causes first.
    drop : float, default 0
        Weights up to this size are left out of B.
    n_threads : int, optional
        As for `eliminate`.

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
    >>> from icid_rs import eliminate_along
    >>> result = eliminate_along([[2.0, 1.0], [1.0, 1.0]], order=[1, 0])
    >>> result.B.toarray()
    array([[ 0. ,  0. ],
           [-0.5,  0. ]])
    >>> result.noise_variances
    array([0.5, 2. ])
    """
    return _eliminate(theta, order, None, drop, n_threads)


def eliminate_respecting(
    theta: Any, noise_variances: ArrayLike | None, knowledge: Knowledge, n_threads: int | None
) -> Elimination:
    """Do as `eliminate`, with required causes before their effects and earlier tiers before later ones."""
    return _eliminate(theta, None, noise_variances, 0.0, n_threads, knowledge)


def _eliminate(
    theta: Any,
    order: ArrayLike | None,
    noise_variances: ArrayLike | None,
    drop: float,
    n_threads: int | None,
    knowledge: Knowledge | None = None,
) -> Elimination:
    theta = as_theta(theta)
    d = theta.shape[0]
    return Elimination.from_core(
        _core.eliminate(
            theta if isinstance(theta, np.ndarray) else csr_parts(as_csr(theta, "theta", copy=False)),
            order=None if order is None else as_order(order, d, "order"),
            noise_variances=None if noise_variances is None else as_vector(noise_variances, d, "noise_variances"),
            drop=check_real(drop, "drop"),
            knowledge=None if knowledge is None else knowledge.parts,
            n_threads=None if n_threads is None else check_int(n_threads, "n_threads", 1, 1024),
        )
    )

"""Random causal models, and data drawn from them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from icid_rs._util.memory import ensure_room, ensure_square
from icid_rs._util.randomness import RandomState, generator
from icid_rs._util.validation import FloatArray, as_numbers, as_square, as_vector, check_int, check_real
from icid_rs.data.netsim import load_netsim as load_netsim
from icid_rs.graph.equivalence import causal_order
from icid_rs.graph.random_edges import er_edges, sf_edges
from icid_rs.graph.sem import Csr

Noise: TypeAlias = Literal["gaussian", "exponential", "gumbel", "uniform", "laplace"]

#: Draws of noise with mean zero and variance one.
_NOISE: dict[str, Any] = {
    "gaussian": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.standard_exponential(size) - 1.0,
    "gumbel": lambda rng, size: (rng.gumbel(size=size) - np.euler_gamma) * np.sqrt(6.0) / np.pi,
    "uniform": lambda rng, size: rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size),
    "laplace": lambda rng, size: rng.laplace(scale=np.sqrt(0.5), size=size),
}


def random_dag(d: int, degree: int, kind: Literal["ER", "SF"] = "ER", *, random_state: RandomState = None) -> Csr:
    """Draw a weighted acyclic graph.

    Parameters
    ----------
    d : int
        Number of variables.
    degree : int
        Edges per variable.
    kind : {"ER", "SF"}
        ``"ER"`` (Erdős–Rényi): ``degree * d`` edges, every set of them equally likely given the causal order.
        ``"SF"`` (scale-free, Barabási–Albert): each new variable points to ``degree`` earlier ones, chosen with
        probability proportional to one plus the edges they have received; this makes hubs.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    scipy.sparse.csr_array of shape (d, d)
        ``[i, j]`` is the weight of i → j, uniform on ±[0.5, 2]. The variables are in random order.

    Examples
    --------
    >>> from icid_rs.datasets import random_dag
    >>> B = random_dag(100, 2, random_state=0)
    >>> B.shape, B.nnz
    ((100, 100), 200)
    """
    d, degree = check_int(d, "d", 1), check_int(degree, "degree", 0)
    rng = generator(random_state)
    if kind == "ER":
        causes, effects = er_edges(d, degree, rng)
    elif kind == "SF":
        causes, effects = sf_edges(d, degree, rng)
    else:
        raise ValueError(f"kind = {kind!r}: it must be 'ER' or 'SF'")
    label = rng.permutation(d)
    weights = rng.uniform(0.5, 2.0, causes.size) * rng.choice([-1.0, 1.0], causes.size)
    B = sp.csr_array((weights, (label[causes], label[effects])), shape=(d, d))
    B.sort_indices()
    return B


def random_sem(
    d: int,
    degree: int,
    kind: Literal["ER", "SF"] = "ER",
    *,
    r2: tuple[float, float] = (0.3, 0.8),
    random_state: RandomState = None,
) -> tuple[Csr, FloatArray]:
    """Draw a linear model whose variables have unit variance and stated shares of explained variance.

    In the models of `random_dag` variances grow along the causal order, and late variables are almost determined by
    their causes. Here every variable has variance 1, of which its causes explain a share R² drawn from an interval.

    Parameters
    ----------
    d, degree, kind
        Of the graph, as in `random_dag`.
    r2 : pair of floats
        R² of each variable that has causes is uniform between the two, which lie in (0, 1).
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    B : scipy.sparse.csr_array of shape (d, d)
        Weights; those of one variable have the proportions and signs that `random_dag` gives them.
    noise_variances : numpy.ndarray of shape (d,)
        1 − R², or 1 without causes.

    Notes
    -----
    The covariances of all variables need O(d²) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.datasets import random_sem, sample_sem
    >>> B, noise_variances = random_sem(50, 2, random_state=0)
    >>> bool(noise_variances.min() >= 0.2), float(noise_variances.max())
    (True, 1.0)
    >>> X = sample_sem(B, 10000, noise_variances=noise_variances, random_state=0)
    >>> bool(np.abs(X.var(axis=0) - 1).max() < 0.1)
    True
    """
    low, high = _interval(r2)
    rng = generator(random_state)
    B = random_dag(d, degree, kind, random_state=rng)
    ensure_square(B.shape[0], "the covariances", copies=2)
    explained = rng.uniform(low, high, B.shape[0])
    columns = B.tocsc()
    covariance = np.eye(B.shape[0])
    for j in causal_order(B):
        own = slice(columns.indptr[j], columns.indptr[j + 1])
        causes, weights = columns.indices[own], columns.data[own]
        if not causes.size:
            explained[j] = 0.0
            continue
        weights *= np.sqrt(explained[j] / (weights @ covariance[np.ix_(causes, causes)] @ weights))
        covariance[j] = covariance[:, j] = weights @ covariance[causes]
        covariance[j, j] = 1.0
    return sp.csr_array(columns), 1.0 - explained


def sample_sem(
    B: Any,
    n: int,
    *,
    noise: Noise = "gaussian",
    noise_variances: ArrayLike = 1.0,
    hidden: int | ArrayLike | None = None,
    measurement_error: float | ArrayLike | None = None,
    random_state: RandomState = None,
) -> FloatArray:
    """Draw samples of the linear model ``X = X B + E``, as they are or as they would be measured.

    Parameters
    ----------
    B : array or sparse matrix of shape (d, d)
        Weights of an acyclic graph.
    n : int
        Number of samples.
    noise : {"gaussian", "exponential", "gumbel", "uniform", "laplace"}
        Distribution of the entries of E, shifted to mean zero.
    noise_variances : float or array of shape (d,)
        Their variances.
    hidden : int or array of shape (d, k), optional
        Hidden common causes, independent and Gaussian with variance 1, are added to what the model gives: their
        loadings, or their number k. Loadings are then drawn from a normal distribution, with half the standard
        deviation of each column for theirs.
    measurement_error : float or array of shape (d,), optional
        The share of each column's variance that is to be error of measurement, independent and Gaussian, less than 1.
        A share τ of a column whose variance is v needs errors of variance v τ / (1 − τ).
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    numpy.ndarray of shape (n, d)

    Examples
    --------
    >>> from icid_rs.datasets import sample_sem
    >>> X = sample_sem([[0, 2.0], [0, 0]], 1000, noise="uniform", random_state=0)
    >>> X.shape
    (1000, 2)
    >>> measured = sample_sem([[0, 2.0], [0, 0]], 1000, noise="uniform", measurement_error=0.2, random_state=0)
    >>> float(round(X[:, 0].var() / measured[:, 0].var(), 1))                # 80 % of the variance is not error
    0.8
    """
    B = as_square(B, "B")
    d, n = B.shape[0], check_int(n, "n", 1)
    if noise not in _NOISE:
        raise ValueError(f"noise = {noise!r}: it must be one of {', '.join(map(repr, _NOISE))}")
    variances = _variances(noise_variances, d)
    rng = generator(random_state)
    ensure_room(16 * d * n, f"{n} samples of {d} variables", "draw fewer at a time")
    # Variables as rows: every step of the recursion then reads and writes whole rows.
    samples: FloatArray = np.sqrt(variances)[:, None] * _NOISE[noise](rng, (d, n))
    parents = B.T.tocsr()
    for j in causal_order(B):
        own = slice(parents.indptr[j], parents.indptr[j + 1])
        if own.start < own.stop:
            samples[j] += parents.data[own] @ samples[parents.indices[own]]
    if hidden is not None:
        loadings = _loadings(hidden, samples, rng)
        samples += loadings @ rng.standard_normal((loadings.shape[1], n))
    if measurement_error is not None:
        shares = _shares(measurement_error, d)
        samples += np.sqrt(samples.var(axis=1) * shares / (1.0 - shares))[:, None] * rng.standard_normal((d, n))
    return np.ascontiguousarray(samples.T)


def sem_precision(B: Any, noise_variances: ArrayLike = 1.0) -> Csr:
    """Compute the inverse covariance Θ = (I − B) Ω⁻¹ (I − B)ᵀ of the model ``X = X B + E``.

    Parameters
    ----------
    B : array or sparse matrix of shape (d, d)
    noise_variances : float or array of shape (d,)
        The diagonal of Ω.

    Returns
    -------
    scipy.sparse.csr_array of shape (d, d)

    Examples
    --------
    >>> from icid_rs.datasets import sem_precision
    >>> sem_precision([[0, 2.0], [0, 0]]).toarray()
    array([[ 5., -2.],
           [-2.,  1.]])
    """
    B = as_square(B, "B")
    d = B.shape[0]
    A = sp.eye_array(d, format="csr") - B
    theta = sp.csr_array(A @ sp.diags_array(1.0 / _variances(noise_variances, d)) @ A.T)
    theta.sort_indices()
    return theta


def rescale_sem(B: Any, noise_variances: ArrayLike, exponent: float) -> tuple[Csr, FloatArray]:
    """Rescale the variables of a model by a power of their standard deviations.

    With ``u`` the standard deviations, ``X / u**exponent`` again obeys a linear model. An exponent of 0 changes
    nothing, 1 standardises; the paper calls it λ.

    Parameters
    ----------
    B : array or sparse matrix of shape (d, d)
    noise_variances : float or array of shape (d,)
    exponent : float

    Returns
    -------
    B : scipy.sparse.csr_array of shape (d, d)
    noise_variances : numpy.ndarray of shape (d,)
        Weights and noise variances of the rescaled model.

    Notes
    -----
    The variances of all variables need O(d²) memory.

    Examples
    --------
    >>> from icid_rs.datasets import rescale_sem
    >>> B, noise_variances = rescale_sem([[0, 2.0], [0, 0]], 1.0, 1.0)
    >>> (B.toarray()[0, 1] ** 2 + noise_variances[1]).round(12)  # the variance of variable 1
    np.float64(1.0)
    """
    B, exponent = as_square(B, "B"), check_real(exponent, "exponent")
    if not np.isfinite(exponent):
        raise ValueError(f"exponent = {exponent}: it must be finite")
    d = B.shape[0]
    omega = _variances(noise_variances, d)
    ensure_square(d, "the variances", copies=3)
    order = causal_order(B)
    weights = B.toarray()[np.ix_(order, order)]
    # Row i of the inverse holds the total effects of the noise of i.
    total = np.linalg.inv(np.eye(d) - weights)
    scale = np.empty(d)
    scale[order] = np.sqrt(omega[order] @ total**2) ** exponent
    rescaled = sp.csr_array(sp.diags_array(scale) @ B @ sp.diags_array(1.0 / scale))
    return rescaled, omega / scale**2


def _interval(r2: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (check_real(bound, "r2") for bound in r2)
    except (TypeError, ValueError):
        raise TypeError(f"r2 = {r2!r}: it must be a pair of numbers, the least and the largest R²") from None
    if not 0 < low <= high < 1:
        raise ValueError(f"r2 = ({low}, {high}): both must be between 0 and 1, the smaller first")
    return low, high


def _loadings(hidden: int | ArrayLike, samples: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return loadings as they were given, or draw those of a number of hidden causes."""
    d = len(samples)
    if isinstance(hidden, int | np.integer):
        k = check_int(hidden, "hidden", 0)
        return np.asarray(0.5 * samples.std(axis=1)[:, None] * rng.standard_normal((d, k)))
    loadings = as_numbers(hidden, "hidden")
    loadings = loadings[:, None] if loadings.ndim == 1 else loadings
    if loadings.ndim != 2 or len(loadings) != d:
        raise ValueError(f"hidden has shape {np.shape(hidden)}: loadings need a row for each of the {d} variables")
    return loadings


def _shares(values: float | ArrayLike, d: int) -> FloatArray:
    shares = as_vector(values, d, "measurement_error")
    if shares.size != d:
        raise ValueError(f"measurement_error has length {shares.size}, but B has {d} variables")
    bad = np.flatnonzero(~((shares >= 0) & (shares < 1)))
    if bad.size:
        raise ValueError(
            f"measurement_error[{bad[0]}] = {shares[bad[0]]}: a share of the variance is at least 0 and less than 1"
        )
    return shares


def _variances(values: ArrayLike, d: int) -> FloatArray:
    variances = as_vector(values, d, "noise_variances")
    if variances.size != d:
        raise ValueError(f"noise_variances has length {variances.size}, but B has {d} variables")
    bad = np.flatnonzero(~(np.isfinite(variances) & (variances > 0)))
    if bad.size:
        raise ValueError(f"noise_variances[{bad[0]}] = {variances[bad[0]]}: variances must be positive and finite")
    return variances

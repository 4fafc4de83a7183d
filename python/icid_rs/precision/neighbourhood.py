"""Inverse covariance where there are few rows: neighbourhood selection, and a refit on what it finds.

The neighbours of a variable in Θ are those that its regression on all others needs (Meinshausen and Bühlmann 2006).
Three steps find them and fit Θ:

- The scaled lasso (Sun and Zhang 2012) of each variable on all others, whose penalty λ₀ σ follows the noise, so that
  nothing is cross-validated. λ₀ = √(log d / n) lets in too many rather than too few.
- Least squares on these, one variable in or out at a time, by Fisher's z of its partial correlation: squared, it must
  come to log n + 2 log d, the extended BIC with γ = 1 (Chen and Chen 2008).
- The Gaussian fit of greatest likelihood with Θ zero elsewhere. Two variables are neighbours if either regression needs
  the other: for a cause with many effects it takes more rows to see one of them than the other way round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs import _core
from icid_rs._util.memory import ensure_room
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, Rows, check_int, csr_parts
from icid_rs.data.checks import check_scales
from icid_rs.data.tables import as_table
from icid_rs.graph.sem import LinearSem
from icid_rs.precision.covariance import Covariance, checked_covariance, log_determinant
from icid_rs.precision.variants import FewRows, Precision, Wide

#: Variables from which on nothing of size d × d is made.
LARGE = 20_000
#: Rows that are the least to test a correlation with.
FEWEST = 5
#: Times that an order is found, and neighbours along it, at most.
_ROUNDS = 5
#: Variables that tell how many correlations of all will be kept, and the bytes that one takes in all.
_FEW, _BYTES = 256, 48
#: What is taken off the weights of a Θ that is not positive definite, as often as it takes.
_SHRINKAGE = 0.05

Csr = sp.csr_array


def lasso_precision(X: Any, *, n_threads: int | None = None) -> Precision:
    """Estimate the inverse covariance from few rows, by neighbourhood selection.

    The scaled lasso proposes the neighbours of each variable, tests by least squares choose among them, and Θ is fitted
    to what is found by maximum likelihood. Works with fewer rows than columns; with many more, `fdr_precision` has more
    power. Nothing has to be chosen, and the units of the columns do not matter.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples, at least five of them.
    n_threads : int, optional
        Threads to use; by default all cores for large problems, one for small. The result is the same.

    Returns
    -------
    Precision
        With a positive definite Θ and without ``inverse``: the empirical covariance may have none. With more than
        20 000 columns nothing of size d × d is made: the covariance is sparse, with what correlations above
        √(log d / n) amount to.

    Raises
    ------
    ValueError
        If there are too few rows, or columns that are constant or the same up to scale.

    Examples
    --------
    >>> from icid_rs import datasets, lasso_precision
    >>> B = datasets.random_dag(60, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 40, random_state=0)
    >>> theta = lasso_precision(X).theta
    >>> theta.shape, bool(((theta != 0) != (theta.T != 0)).nnz == 0)
    ((60, 60), True)
    """
    watch = Stopwatch()
    table, names = as_table(X)
    if table.shape[1] > LARGE:
        return wide_precision(table, len(table), names, watch, n_threads)
    covariance, *_ = checked_covariance(table)
    watch.lap("covariance")
    values = standardise(table, covariance.location, np.sqrt(covariance.matrix.diagonal()))
    return neighbourhood_precision(values, covariance, names, watch, n_threads)


def neighbourhood_precision(
    values: FloatArray, covariance: Covariance, names: Any, watch: Stopwatch, n_threads: int | None = None
) -> FewRows:
    """Do as `lasso_precision`, given standardised variables that n rows are behind.

    Parameters
    ----------
    values : array of shape (d, m)
        From `standardise` or `standardised_root`.
    covariance : Covariance
    names : sequence of length d
        The columns, for messages.
    watch : Stopwatch
    n_threads : int, optional

    Returns
    -------
    FewRows
    """
    n = covariance.samples
    support = select_neighbours(values, n, names, n_threads)
    watch.lap("support")
    theta = _matrix(_core.refit(values, csr_parts(support), shrinkage=1.0 / n, n_threads=n_threads), len(values))
    theta = _definite(theta, np.sqrt(covariance.matrix.diagonal()))
    watch.lap("inverse")
    return FewRows(theta, covariance.matrix, location=covariance.location, samples=n, timings=dict(watch.timings))


def wide_precision(X: Rows, n: int, names: Any, watch: Stopwatch, n_threads: int | None = None) -> Wide:
    """Do as `lasso_precision` without any matrix of size d × d.

    Correlations are thresholded block by block. In place of a fit of greatest likelihood, sinks are eliminated one
    after another by regressions on their neighbours, as if noise variances were equal. This gives a graph B and noise
    variances Ω, and with them Θ = (I − B) Ω⁻¹ (I − B)ᵀ.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.precision.neighbourhood import wide_precision
    >>> x = np.random.default_rng(0).normal(size=(50, 3))
    >>> x[:, 1] += x[:, 0]
    >>> wide_precision(x, 50, range(3), Stopwatch()).theta.nnz
    5
    """
    location = X.mean(axis=0, dtype=np.float64)
    columns = (column.astype(np.float64) for column in X.T)
    variances = np.array([np.mean((column - mean) ** 2) for column, mean in zip(columns, location, strict=True)])
    check_scales(X, sp.diags_array(variances), location, names)
    scale = np.sqrt(variances)
    values = standardise(X, location, scale)
    d = len(values)
    level = float(np.sqrt(np.log(d) / n))
    _ensure_room_for_correlations(values, level)
    sparse = _matrix(_core.correlations(values, cut=level, n_threads=n_threads), d)
    watch.lap("covariance")
    support = select_neighbours(values, n, names, n_threads, sparse)
    watch.lap("support")
    given: dict[str, Any] = {"samples": n, "penalty": _penalty(n, d), "n_threads": n_threads}
    best = np.inf
    for _ in range(_ROUNDS):
        order = _core.eliminate_sinks(values, variances, csr_parts(support), **given)
        fit = _regress(values, scale, sparse, support, order, **given)
        score = n * d * np.log(fit.noise_variances.mean()) + given["penalty"] * fit.B.nnz
        if score >= best:
            break
        # What is found along the order tells more of neighbours than regressions on all others do.
        best, fitted = score, fit
        A = sp.csr_array(sp.eye_array(d) - fitted.B)
        theta = sp.csr_array(A @ sp.diags_array(1.0 / fitted.noise_variances) @ A.T)
        support = sp.csr_array(theta - sp.diags_array(theta.diagonal()))
        support.eliminate_zeros()
        support.sort_indices()
    covariance = sp.csr_array(sparse + sp.eye_array(d))
    _rescale(covariance, scale)
    # Mirror images the same to the bit.
    theta = sp.csr_array(sp.tril(theta) + sp.tril(theta, -1).T)
    theta.sort_indices()
    watch.lap("inverse")
    return Wide(theta, covariance, location=location, samples=n, values=values, timings=dict(watch.timings))


def regress_on_rows(
    values: FloatArray,
    covariance: Any,
    start: Any,
    order: Any,
    *,
    samples: int,
    penalty: float,
    n_threads: int | None = None,
) -> LinearSem:
    """Regress each variable on those before it in an order, one in or out at a time, from its neighbours in a pattern.

    Parameters
    ----------
    values : array of shape (d, n)
        Standardised variables.
    covariance : scipy.sparse.csr_array of shape (d, d)
        Covariances; those that it lacks are too small to matter.
    start : scipy.sparse.csr_array of shape (d, d)
    order : array of shape (d,)
        The variables, causes first.
    samples, penalty, n_threads
        As for `refine_by_order`.

    Returns
    -------
    LinearSem

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.precision.neighbourhood import regress_on_rows, standardise
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> x[:, 1] += 2 * x[:, 0]
    >>> values, covariance = standardise(x, x.mean(axis=0), x.std(axis=0)), sp.csr_array(np.cov(x.T, bias=True))
    >>> fit = regress_on_rows(values, covariance, sp.csr_array((2, 2)), [0, 1], samples=50, penalty=10.0)
    >>> fit.B.toarray().round(1)
    array([[0. , 2.2],
           [0. , 0. ]])
    """
    scale = np.sqrt(covariance.diagonal())
    known = sp.csr_array(covariance - sp.diags_array(scale**2))
    known.eliminate_zeros()
    _rescale(known, 1.0 / scale)
    return _regress(values, scale, known, start, order, samples=samples, penalty=penalty, n_threads=n_threads)


def _regress(
    values: FloatArray,
    scale: FloatArray,
    correlation: Any,
    start: Any,
    order: Any,
    *,
    samples: int,
    penalty: float,
    n_threads: int | None,
) -> LinearSem:
    """Do as `regress_on_rows`, given deviations and correlations without their diagonal."""
    order = np.asarray(order, dtype=np.intp)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    parts, left = _core.stepwise(
        values,
        csr_parts(correlation),
        csr_parts(start),
        places=places,
        samples=samples,
        penalty=penalty,
        n_threads=n_threads,
    )
    weights = sp.coo_array(_matrix(parts, len(values)))
    data = weights.data * scale[weights.row] / scale[weights.col]
    B = sp.csr_array((data, (weights.col, weights.row)), shape=start.shape)
    return LinearSem(B, order, left * scale**2)


def _rescale(matrix: Csr[np.float64, tuple[int, int]], scale: FloatArray) -> None:
    """Multiply rows and columns in place: such a matrix may fill most of the memory."""
    matrix.data *= scale[matrix.indices]
    matrix.data *= np.repeat(scale, np.diff(matrix.indptr))


def _ensure_room_for_correlations(values: FloatArray, cut: float) -> None:
    """Raise MemoryError unless those above the cut fit, judged by a few of the variables."""
    d = len(values)
    few = values[:: max(1, d // _FEW)]
    share = np.mean(np.abs(few @ values.T) > cut)
    ensure_room(round(_BYTES * share * d * d), f"correlations of {d} variables", "use fewer of them")


def select_neighbours(
    values: FloatArray, n: int, names: Any, n_threads: int | None = None, sparse: Any = None
) -> Csr[np.float64, tuple[int, int]]:
    """Return the pattern of pairs of which one needs the other; with sparse correlations, those stand for all.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.neighbourhood import select_neighbours, standardise
    >>> x = np.random.default_rng(0).normal(size=(50, 3))
    >>> x[:, 1] += x[:, 0]
    >>> select_neighbours(standardise(x, x.mean(axis=0), x.std(axis=0)), 50, "abc").nonzero()[1].tolist()
    [1, 0]
    """
    d = len(values)
    if n < FEWEST:
        raise ValueError(
            f"n_samples = {n}: correlations cannot be tested with fewer than {FEWEST} rows, whatever their columns"
        )
    threads = None if n_threads is None else check_int(n_threads, "n_threads", 1, 1024)
    if d == 1:
        return sp.csr_array((1, 1))
    known = None if sparse is None else csr_parts(sparse)
    proposed, same = _core.scaled_lasso(values, known, level=float(np.sqrt(np.log(d) / n)), n_threads=threads)
    if same is not None:
        first, second = sorted(same)
        raise ValueError(f"columns {names[first]!r} and {names[second]!r} are the same up to scale; drop one of them")
    given: dict[str, Any] = {"samples": n, "penalty": _penalty(n, d), "n_threads": threads}
    start = csr_parts(_matrix(proposed, d))
    chosen = _matrix(_core.stepwise(values, known, start, places=None, **given)[0], d)
    pattern = abs(chosen) + abs(chosen.T)
    pattern.data[:] = 1.0
    pattern.sort_indices()
    return sp.csr_array(pattern)


def _penalty(n: int, d: int) -> float:
    return float(np.log(n) + 2.0 * np.log(d))


def standardise(X: Rows, location: FloatArray, scale: FloatArray) -> FloatArray:
    """Return variables in rows, centred and of length one.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.neighbourhood import standardise
    >>> standardise(np.array([[1.0], [3.0]]), np.array([2.0]), np.array([1.0])).round(3)
    array([[-0.707,  0.707]])
    """
    values = np.array(X.T, dtype=np.float64, order="C")
    values -= location[:, None]
    values /= scale[:, None] * np.sqrt(len(X))
    return values


def standardised_root(covariance: FloatArray) -> FloatArray:
    """Return what has the same correlations as the rows behind a covariance, where these are not at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.neighbourhood import standardised_root
    >>> values = standardised_root(np.array([[4.0, 1.0], [1.0, 1.0]]))
    >>> (values @ values.T).round(12)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    scale = np.sqrt(covariance.diagonal())
    sizes, directions = np.linalg.eigh(covariance / np.outer(scale, scale))
    values = directions * np.sqrt(np.maximum(sizes, 0.0))
    return np.ascontiguousarray(values / np.linalg.norm(values, axis=1, keepdims=True))


def _definite(theta: Csr[np.float64, tuple[int, int]], scale: FloatArray) -> Csr[np.float64, tuple[int, int]]:
    """Divide by scales; a fit that has not quite converged is shrunk off the diagonal until it is definite."""
    diagonal = theta.diagonal()
    upper = sp.coo_array(sp.triu(theta + theta.T, 1))
    data = upper.data / 2
    while log_determinant(upper.row, upper.col, data, diagonal) == -np.inf:
        data = (1.0 - _SHRINKAGE) * data
    data = data / (scale[upper.row] * scale[upper.col])
    off = sp.coo_array((data, (upper.row, upper.col)), shape=theta.shape)
    return sp.csr_array(off + off.T + sp.diags_array(diagonal / scale**2))


def _matrix(parts: Any, d: int) -> Csr[np.float64, tuple[int, int]]:
    indptr, indices, data = parts
    return sp.csr_array((data, indices, indptr), shape=(d, d))

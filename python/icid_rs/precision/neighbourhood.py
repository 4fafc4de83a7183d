"""Inverse covariance from few rows: neighbourhood selection, then a fit on the support that it finds.

The neighbours of a variable in Θ are the variables with nonzero coefficients in its regression on all others
(Meinshausen and Bühlmann 2006). Three steps find them and fit Θ:

- The scaled lasso (Sun and Zhang 2012) of each variable on all others. Its penalty λ₀ σ is proportional to the noise,
  which is estimated too, so nothing is cross-validated. λ₀ = √(log d / n) selects too many rather than too few.
- Stepwise least squares among these: a neighbour is kept if its squared Fisher z, the test statistic of its partial
  correlation, reaches log n + 2 log d, the penalty of the extended BIC with γ = 1 (Chen and Chen 2008).
- The Gaussian maximum likelihood estimate with Θ zero elsewhere. Two variables are neighbours if either regression
  selects the other: where a cause has many effects, its own regression needs more rows to detect one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from icid_rs import _core
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, Rows, check_threads, csr_from_parts
from icid_rs.data.checks import check_scales
from icid_rs.data.tables import as_table
from icid_rs.precision.covariance import Covariance, checked_covariance
from icid_rs.precision.leading import Causes, take_out
from icid_rs.precision.standardise import standardise
from icid_rs.precision.variants import FewRows, Precision, Wide, rescale

#: With more variables than this, no matrix of size d × d is stored (`benches/wide.py`).
WIDE = 4_000


def lasso_precision(X: Any, *, n_threads: int | None = None) -> Precision:
    """Estimate the inverse covariance from few rows, by neighbourhood selection.

    The scaled lasso proposes the neighbours of each variable, tests by least squares choose among them, and Θ is fitted
    to this support by maximum likelihood. Works with fewer rows than columns; with many more, `fdr_precision` has more
    power. There is nothing to tune, and the units of the columns do not matter.

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
        4 000 columns no matrix of size d × d is stored: the covariance is sparse and holds only pairs with a
        correlation above √(log d / n).

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
    if table.shape[1] > WIDE:
        return wide_precision(table, len(table), names, watch, n_threads)
    covariance, *_ = checked_covariance(table)
    watch.lap("covariance")
    values = standardise(table, covariance.location, np.sqrt(covariance.matrix.diagonal()))
    return neighbourhood_precision(values, covariance, names, watch, n_threads)


def neighbourhood_precision(
    values: FloatArray, covariance: Covariance, names: Any, watch: Stopwatch, n_threads: int | None = None
) -> FewRows:
    """Estimate Θ as `lasso_precision` does, from standardised variables instead of a table.

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
    n, scale = covariance.samples, np.sqrt(covariance.matrix.diagonal())
    # The time of standardising, which only the support needs, counts towards it.
    watch.lap("support")
    with _naming_copies(names):
        parts, timings = _core.neighbourhood_precision(values, scale, n, n_threads=check_threads(n_threads))
    watch.add(timings)
    return FewRows.of(csr_from_parts(parts, len(values)), covariance, watch)


def wide_precision(
    X: Rows,
    n: int,
    names: Any,
    watch: Stopwatch,
    n_threads: int | None = None,
    *,
    hidden: int | Literal["auto"] | None = None,
    penalty: float = 0.0,
) -> Wide:
    """Estimate Θ as `lasso_precision` does, without any matrix of size d × d.

    Correlations are thresholded block by block. Instead of a lasso and maximum likelihood, a search over orders finds a
    graph B with noise variances Ω, and with them Θ = (I − B) Ω⁻¹ (I − B)ᵀ. Hidden causes are taken out first, if any
    are asked for or earn their price beside that of an edge, `penalty`.

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
    causes: Causes | None = None
    if hidden is not None:
        causes = take_out(values, n, hidden, penalty, names)
        variances, n = variances * causes.left, n - causes.loadings.shape[1]
        causes, scale = replace(causes, loadings=scale[:, None] * causes.loadings), np.sqrt(variances)
    watch.lap("covariance")
    with _naming_copies(names):
        found = _core.wide_precision(values, variances, n, n_threads=check_threads(n_threads))
    watch.add(found.timings)
    d = len(values)
    covariance = sp.csr_array(csr_from_parts(found.correlations, d) + sp.eye_array(d))
    rescale(covariance, scale)
    watch.lap("covariance")
    theta, order = csr_from_parts(found.theta, d), found.order.astype(np.intp)
    return Wide.of(theta, Covariance(covariance, location, n), watch, values=values, order=order, causes=causes)


@contextmanager
def _naming_copies(names: Any) -> Iterator[None]:
    """Turn the core's error for two columns that are the same up to scale into one with their names."""
    try:
        yield
    except _core.CopiesError as error:
        first, second = (names[k] for k in error.args)
        raise ValueError(f"columns {first!r} and {second!r} are the same up to scale; drop one of them") from None

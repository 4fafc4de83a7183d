"""Indices of fit: how well a graph reproduces the covariance of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from icid_rs._util.validation import FloatArray


@dataclass(frozen=True)
class FitIndices:
    """Indices of fit of a graph, as structural equation modelling has them.

    Weights and noise variances are those of maximum likelihood, given the edges. Noise is independent between all
    variables: causes without causes of their own are uncorrelated unless an edge joins them, as the graph says. (Other
    programs may let such variables be correlated, which costs degrees of freedom.)

    Attributes
    ----------
    chi2 : float
        n times the discrepancy log det Σ + tr(Σ⁻¹ S) − log det S − d, with n the number of rows (not n − 1) and S the
        covariance with divisor n.
    df : int
        Pairs without an edge.
    p_value : float
        Chance of so large a χ² if the graph is right and the data are Gaussian. With many rows it is small for any
        model that is not exactly right: judge by `rmsea` and `srmr`.
    rmsea : float
        Root of (χ²/df − 1)/(n − 1), 0 if that is negative: misfit per degree of freedom. Below 0.05 is good, above 0.1
        bad.
    cfi : float
        1 − (χ² − df)/(χ² − df of the graph without edges); slightly above 1 where χ² is below df. Above 0.95 is good.
    srmr : float
        Root mean square of the differences between S and Σ, in standard deviations of the data. Below 0.08 is good.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.trust.check.fit_indices import fit_indices
    >>> S = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> chain = sp.csr_array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> indices = fit_indices(S, chain, np.arange(3), 100)
    >>> abs(round(float(indices.chi2), 6)), indices.df, round(indices.srmr, 6)
    (0.0, 1, 0.0)
    """

    chi2: float
    df: int
    p_value: float
    rmsea: float
    cfi: float
    srmr: float


def fit_indices(covariance: FloatArray, B: Any, order: NDArray[np.intp], n: int) -> FitIndices | None:
    """Compute the indices of fit of a graph; None if the covariance is singular.

    Parameters
    ----------
    covariance : array of shape (d, d)
        With divisor n.
    B : sparse matrix of shape (d, d)
        The graph; its weights do not matter.
    order : array of shape (d,)
        Its causal order.
    n : int
        Number of rows.
    """
    scale = np.sqrt(covariance.diagonal())
    R = covariance / np.outer(scale, scale)
    sign, log_det = np.linalg.slogdet(R)
    if sign <= 0 or n <= len(R):
        return None
    d = len(R)
    parents = sp.csc_array(B)
    implied, log_variances = np.zeros((d, d)), 0.0
    for k, j in enumerate(order.tolist()):
        done = order[:k]
        P = parents.indices[parents.indptr[j] : parents.indptr[j + 1]]
        weights = np.linalg.solve(R[np.ix_(P, P)], R[P, j])
        implied[j, done] = implied[done, j] = weights @ implied[np.ix_(P, done)]
        variance = 1.0 - float(R[j, P] @ weights)
        implied[j, j] = variance + weights @ implied[np.ix_(P, P)] @ weights
        log_variances += float(np.log(variance))
    pairs = d * (d - 1) // 2
    df = pairs - parents.nnz
    chi2, base = n * (log_variances - float(log_det)), -n * float(log_det)
    lower = np.tril_indices(d)
    srmr = float(np.sqrt(np.mean((R - implied)[lower] ** 2)))
    excess = max(chi2 / df - 1.0, 0.0) if df else 0.0
    baseline = base - pairs
    return FitIndices(
        chi2=chi2,
        df=df,
        p_value=float(stats.chi2.sf(chi2, df)) if df else float("nan"),
        rmsea=float(np.sqrt(excess / (n - 1))),
        cfi=1.0 - (chi2 - df) / baseline if baseline else float("nan"),
        srmr=srmr,
    )

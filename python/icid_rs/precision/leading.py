"""Hidden causes of tables so wide that nothing of size d × d is stored: their leading principal components.

What a cause of many columns contributes to thousands of them tells its value in each row almost without error (Bai and
Ng 2002). So the residuals of all columns, regressed on the leading components, stand for the columns without the hidden
causes, and graphs are fitted to these.

A component must earn its price. Its loadings cost log n each. Instead, one of the columns could be the cause; an edge to
each column that shares in the component would then explain it. So what it gains counts in each column up to the price
of an edge, and it is taken for a hidden cause where the sum exceeds the price of the loadings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from icid_rs._util.validation import FloatArray

#: Components that are looked for at first, and vectors beyond these, which speed up convergence.
_FIRST, _SPARE = 4, 6
#: Products with the table. Components of hidden causes are far larger than others, so that few suffice.
_PRODUCTS = 6
#: A column of which a component explains this much is the cause itself.
_SAME = 0.99
#: Samples that must be left beside hidden causes.
_LEAST_LEFT = 5


@dataclass(frozen=True)
class Causes:
    """Hidden causes that were taken out of standardised variables.

    Attributes
    ----------
    loadings : numpy.ndarray of shape (d, k)
        Effects of the causes, of variance 1, on the columns.
    left : numpy.ndarray of shape (d,)
        The share of each variance that they leave.
    gain : float
        What they gain in twice the log-likelihood for each sample, counted up to the price of edges, less their own.
    """

    loadings: FloatArray
    left: FloatArray
    gain: float


def take_out(
    values: FloatArray, samples: int, hidden: int | Literal["auto"], penalty: float, names: Sequence[Any]
) -> Causes:
    """Take leading components out of standardised variables, in place; what is left is standardised again.

    Parameters
    ----------
    values : array of shape (d, n)
        From `standardise`.
    samples : int
        Effective sample size.
    hidden : int or "auto"
        How many; "auto" for those that earn their price.
    penalty : float
        The price of an edge.
    names : sequence of length d
        The columns, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.precision.leading import take_out
    >>> from icid_rs.precision.standardise import standardise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 500)) + rng.standard_normal((100, 1)) * rng.standard_normal(500)
    >>> values = standardise(X, X.mean(axis=0), X.std(axis=0))
    >>> take_out(values, 100, "auto", 30.0, range(500)).loadings.shape
    (500, 1)
    """
    most = samples - _LEAST_LEFT
    if hidden != "auto" and hidden > most:
        raise ValueError(f"hidden = {hidden}: {samples} samples can carry at most {max(most, 0)} hidden causes")
    count = _FIRST if hidden == "auto" else hidden
    while True:
        scores = _components(values, min(count, most))
        loadings = values @ scores
        gains = [_gain(column, samples, penalty) for column in loadings.T]
        if hidden != "auto":
            break
        earned = next((k for k, gain in enumerate(gains) if gain <= 0), len(gains))
        if earned < count or earned == most:
            scores, loadings, gains = scores[:, :earned], loadings[:, :earned], gains[:earned]
            break
        count *= 2
    left = np.maximum(1.0 - np.sum(loadings**2, axis=1), 0.0)
    if loadings.shape[1]:
        j = int(np.argmin(left))
        if left[j] < 1.0 - _SAME:
            raise ValueError(
                f"hidden = {hidden}: they would leave {left[j]:.1%} of the variance of column {names[j]!r}; ask for "
                "fewer, or name this column in adjust="
            )
        values -= loadings @ scores.T
        values /= np.sqrt(left)[:, None]
    return Causes(np.ascontiguousarray(loadings), left, float(np.sum(gains)) / samples)


def _gain(correlations: FloatArray, samples: int, penalty: float) -> float:
    """Return what a component gains, in each column up to the price of an edge, less the price of its loadings."""
    shares = correlations**2
    if shares.max() > _SAME:
        return -np.inf
    gains = np.minimum(-samples * np.log1p(-shares), penalty)
    return float(gains.sum() - len(shares) * np.log(samples))


def _components(values: FloatArray, count: int) -> FloatArray:
    """Return leading principal components by rows of the table, in orthonormal columns, by subspace iteration."""
    n = values.shape[1]
    basis = np.random.default_rng(0).standard_normal((n, min(count + _SPARE, n)))
    for _ in range(_PRODUCTS):
        basis = np.linalg.qr(values.T @ (values @ basis))[0]
    rotation = np.linalg.svd(values @ basis, full_matrices=False)[2]
    return np.asarray(basis @ rotation.T[:, :count])

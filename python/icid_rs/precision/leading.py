"""Hidden causes of tables so wide that nothing of size d × d is stored: their leading principal components.

What a cause of many columns contributes to thousands of them tells its value in each row almost without error (Bai and
Ng 2002). So the residuals of all columns, regressed on the leading components, stand for the columns without the hidden
causes, and graphs are fitted to these.

A component must earn its price. Its loadings cost log n each. If one of the columns were the cause instead, an edge to
each column that shares in the component would explain it. So what it gains counts in each column up to the price of an
edge, and it may be a hidden cause where the sum exceeds the price of the loadings.

In a dense graph, components of what it explains may earn that too. These decline slowly, one after the other, whereas
what a hidden cause explains grows with the number of columns. So the last hidden cause must explain several times what
the next component does (after the eigenvalue ratios of Ahn and Horenstein 2013).
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
#: What the last hidden cause explains, as a multiple of what the next component does.
_FALL = 2.0
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
        scores, sizes = _components(values, min(count, most))
        loadings = values @ scores
        gains = [_gain(column, samples, penalty) for column in loadings.T]
        if hidden != "auto":
            break
        earned = next((k for k, gain in enumerate(gains) if gain <= 0), len(gains))
        if earned < count or earned == most:
            earned = max((k for k in range(1, earned + 1) if sizes[k - 1] >= _FALL * sizes[k]), default=0)
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


def _components(values: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Find leading principal components by subspace iteration.

    Returns their scores, in orthonormal columns, and what they and the next one explain, summed over the variables.
    """
    n = values.shape[1]
    basis = np.random.default_rng(0).standard_normal((n, min(count + _SPARE, n)))
    for _ in range(_PRODUCTS):
        basis = np.linalg.qr(values.T @ (values @ basis))[0]
    _, roots, rotation = np.linalg.svd(values @ basis, full_matrices=False)
    return np.asarray(basis @ rotation.T[:, :count]), roots[: count + 1] ** 2

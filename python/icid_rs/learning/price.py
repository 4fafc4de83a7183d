"""Prices of parameters: of noise variances, and of an edge where the data have many weak edges.

The extended BIC, log n + 4 log d, keeps nearly every edge out that chance would add. Where weak edges are common, as in
networks estimated from real data, it keeps those out too. Between two prices, chance adds about as many edges as there
are pairs of variables whose χ² statistic lies between them. If many times as many come in, most of them are real.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erfc, pdtrc

from icid_rs._util.validation import FloatArray
from icid_rs.learning.search import Searched

#: The price is log n plus these multiples of log d, one after another.
_STEPS = (2.0, 1.0, 0.0)
#: A lower price is taken if more than so many times the edges of chance come in, so that most of them are real,
_ODDS = 4.0
#: and if chance would bring in so many in fewer than one table of so many,
_TABLES = 100.0
#: with so many times the edges that it is expected to: it has more than one order to find them in.
_LENIENCE = 2.0


def variance_price(variances: FloatArray, n: int) -> float:
    """Return the price of a noise variance for each variable, to compare it with log n for a single one.

    If logarithms of noise variances have variance τ² from variable to variable, twice the negative logarithm of the
    marginal likelihood charges log(1 + n τ² / 2) for each beyond the first. τ² is that of the columns. So nothing is
    saved by equal noise variances where the columns have the same variance anyway, as standardised ones do.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.learning.price import variance_price
    >>> [round(variance_price(np.array(variances), 1000), 1) for variances in ([1.0, 1.0, 1.0], [1.0, 2.0, 5.0])]
    [6.9, 18.5]
    """
    spread = float(np.var(np.log(variances), ddof=1)) if len(variances) > 1 else 0.0
    return float(np.log(n) + (len(variances) - 1) * np.log1p(n * spread / 2.0))


def lower_price(
    first: Searched, price: float, fit: Callable[[float, Searched], Searched], n: int, d: int
) -> tuple[Searched, float]:
    """Lower the price of an edge while far more edges come in than by chance.

    Parameters
    ----------
    first : Searched
        The graph at the ordinary price.
    price : float
        The ordinary price.
    fit : callable
        Finds the graph at another price, given the last one.
    n, d : int
        Samples and variables.

    Returns
    -------
    graph, price
    """
    found = first
    for step in _STEPS:
        lower = float(np.log(n) + step * np.log(d))
        if lower >= price:
            continue
        further = fit(lower, found)
        by_chance = _edges_by_chance(lower, d) - _edges_by_chance(price, d)
        more = further.sem.B.nnz - found.sem.B.nnz
        # Of a Poisson variable: the probability to be at least as large.
        if more <= _ODDS * by_chance or pdtrc(more - 1, _LENIENCE * by_chance) > 1 / _TABLES:
            break
        found, price = further, lower
    return found, price


def _edges_by_chance(price: float, d: int) -> float:
    """Return the expected number of pairs, of independent variables, whose edge would earn a price.

    Examples
    --------
    >>> round(_edges_by_chance(3.84, 100))
    248
    """
    return float(d * (d - 1) / 2 * erfc(np.sqrt(price / 2)))

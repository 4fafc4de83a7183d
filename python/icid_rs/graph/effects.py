"""Causes and effects in a graph, direct and indirect."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from icid_rs._util.validation import FloatArray, check_int
from icid_rs.graph.sem import Csr

Indices = NDArray[np.intp]


def total_effects(B: Csr, order: Indices) -> Csr:
    """Sum the products of weights over all directed paths: (I − B)⁻¹ − I.

    A triangular solve along the causal order, from the last variable to the first: the effects of i are those of its
    children, times the weights. Rows hold descendants only, so that an edge costs as much as its target has of them.

    Parameters
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
    order : array of shape (d,)
        The variables, causes first.

    Returns
    -------
    scipy.sparse.csr_array of shape (d, d)
        ``[i, j]`` is the change of j when i is set one unit higher.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.effects import total_effects
    >>> B = sp.csr_array([[0, 2.0, 1.0], [0, 0, 3.0], [0, 0, 0]])
    >>> total_effects(B, np.arange(3)).toarray()
    array([[0., 2., 7.],
           [0., 0., 3.],
           [0., 0., 0.]])
    """
    d = B.shape[0]
    nothing = np.empty(0, dtype=np.intp), np.empty(0)
    rows: list[tuple[Indices, FloatArray]] = [nothing] * d
    total, last = np.zeros(d), np.empty(d, dtype=np.intp)
    for i in order[::-1]:
        start, stop = B.indptr[i], B.indptr[i + 1]
        if start == stop:
            continue
        children = B.indices[start:stop]
        total[children] = B.data[start:stop]
        for child, weight in zip(children.tolist(), B.data[start:stop].tolist(), strict=True):
            reached, effects = rows[child]
            total[reached] += weight * effects
        found = np.concatenate([children, *(rows[child][0] for child in children.tolist())])
        # Each variable once: where it occurs last. Sorting would cost more than the sums.
        places = np.arange(found.size)
        last[found] = places
        own = found[last[found] == places]
        rows[i] = own, total[own]
        total[own] = 0.0
    indptr = np.concatenate([[0], np.cumsum([reached.size for reached, _ in rows])])
    indices = np.concatenate([reached for reached, _ in [nothing, *rows]])
    T = sp.csr_array((np.concatenate([effects for _, effects in [nothing, *rows]]), indices, indptr), shape=(d, d))
    T.sort_indices()
    T.eliminate_zeros()
    return T


def parents(B: Csr, i: int) -> Indices:
    """Return the direct causes of i.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.effects import parents
    >>> parents(sp.csr_array([[0, 2.0, 1.0], [0, 0, 3.0], [0, 0, 0]]), 2)
    array([0, 1])
    """
    return np.flatnonzero(B[:, [i]].toarray().ravel())


def children(B: Csr, i: int) -> Indices:
    """Return the direct effects of i.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.effects import children
    >>> children(sp.csr_array([[0, 2.0, 1.0], [0, 0, 3.0], [0, 0, 0]]), 1)
    array([2])
    """
    return np.flatnonzero(B[[i]].toarray().ravel())


def descendants(B: Csr, i: int) -> Indices:
    """Return the direct and indirect effects of i.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.effects import descendants
    >>> descendants(sp.csr_array([[0, 2.0, 0], [0, 0, 3.0], [0, 0, 0]]), 0)
    array([1, 2])
    """
    found = breadth_first_order(B, i, return_predecessors=False)
    return np.sort(found[found != i]).astype(np.intp)


def ancestors(B: Csr, i: int) -> Indices:
    """Return the direct and indirect causes of i.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.effects import ancestors
    >>> ancestors(sp.csr_array([[0, 2.0, 0], [0, 0, 3.0], [0, 0, 0]]), 2)
    array([0, 1])
    """
    return descendants(B.T.tocsr(), i)


def markov_blanket(B: Csr, i: int) -> Indices:
    """Return parents, children, and other parents of the children: given these, i is independent of the rest.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.effects import markov_blanket
    >>> markov_blanket(sp.csr_array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 0]]), 0)
    array([1, 2])
    """
    below = children(B, i)
    blanket = np.unique(np.concatenate([parents(B, i), below, B[:, below].nonzero()[0]]))
    return np.asarray(blanket[blanket != i], dtype=np.intp)


def neighbourhood(B: Csr, centre: list[int], radius: int) -> Indices:
    """Return the variables within so many edges of any of the given ones, whichever way the edges point.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.effects import neighbourhood
    >>> neighbourhood(sp.csr_array([[0, 2.0, 0], [0, 0, 3.0], [0, 0, 0]]), [0], 1)
    array([0, 1])
    """
    radius = check_int(radius, "radius", 0)
    inside = np.zeros(B.shape[0], dtype=bool)
    inside[centre] = True
    joined = B.astype(bool)
    for _ in range(radius):
        wider = inside | (joined @ inside) | (joined.T @ inside)
        if (wider == inside).all():
            break
        inside = wider
    return np.flatnonzero(inside)

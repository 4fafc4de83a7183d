"""Markov equivalence: causal orders, the equivalence class of a graph, and the edges whose direction stays open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import as_csr, csr_parts
from icid_rs.graph.sem import Csr


def causal_order(B: Any) -> NDArray[np.intp]:
    """Order the variables of an acyclic graph, causes first.

    Parameters
    ----------
    B : array or sparse matrix of shape (d, d)

    Returns
    -------
    numpy.ndarray of shape (d,)

    Raises
    ------
    ValueError
        If the graph has a directed cycle.

    Examples
    --------
    >>> from icid_rs.graph.equivalence import causal_order
    >>> causal_order([[0, 0], [1, 0]])
    array([1, 0])
    """
    B = as_csr(B, "B")
    if B.shape[0] != B.shape[1]:
        raise ValueError(f"B must be square, but its shape is {B.shape}")
    B.eliminate_zeros()
    (_, _, kept), order = _core.heaviest_acyclic(csr_parts(B))
    if kept.size < B.nnz:
        raise ValueError("B has a directed cycle, so its variables have no causal order")
    return order.astype(np.intp)


def equivalence_class(B: Any) -> Csr:
    """Return the completed partially directed graph of an acyclic one.

    Graphs with the same skeleton and the same colliders have the same independences, and fit Gaussian data with unequal
    noise variances equally well. An edge that points the same way in all of them is compelled; the others are
    reversible.

    Parameters
    ----------
    B : array or sparse matrix of shape (d, d)
        An acyclic graph.

    Returns
    -------
    scipy.sparse.csr_array of shape (d, d)
        Ones: at [i, j] alone for a compelled edge i → j, at [i, j] and [j, i] for a reversible one.

    Examples
    --------
    A collider is compelled, a chain is not:

    >>> from icid_rs import equivalence_class
    >>> equivalence_class([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).toarray()
    array([[0., 0., 1.],
           [0., 0., 1.],
           [0., 0., 0.]])
    >>> equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    B = as_csr(B, "B")
    order = causal_order(B).astype(np.int64)
    indptr, indices, data = _core.equivalence_class(csr_parts(B), order)
    return sp.csr_array((data, indices, indptr), shape=B.shape)


def reversible_edges(cpdag: Any) -> Csr:
    """Return the edges of an equivalence class that point either way: ones at [i, j] and at [j, i].

    Examples
    --------
    >>> from icid_rs.graph.equivalence import equivalence_class, reversible_edges
    >>> reversible_edges(equivalence_class([[0, 1], [0, 0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    cpdag = sp.csr_array(cpdag)
    return sp.csr_array(cpdag.multiply(cpdag.T))


def undetermined_edges(cpdag: Any, shaped: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """List the edges whose direction the data leave open, each in both directions.

    A reversible edge can be oriented by non-Gaussian noise: reversed, it leaves residuals that are not independent.
    That fails only if both its ends have Gaussian residuals.

    Parameters
    ----------
    cpdag : sparse matrix of shape (d, d)
        The equivalence class, as `equivalence_class` returns it.
    shaped : sequence of int
        The variables whose residuals are not Gaussian.

    Returns
    -------
    causes, effects : numpy.ndarray

    Examples
    --------
    >>> from icid_rs.graph.equivalence import equivalence_class, undetermined_edges
    >>> cpdag = equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> undetermined_edges(cpdag, [0])
    (array([1, 2]), array([2, 1]))
    """
    causes, effects = (ends.astype(np.intp) for ends in reversible_edges(cpdag).nonzero())
    oriented = np.isin(causes, shaped) | np.isin(effects, shaped)
    return causes[~oriented], effects[~oriented]

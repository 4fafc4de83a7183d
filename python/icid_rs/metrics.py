"""Distances between an estimated graph and the true one."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from icid_rs._util.extras import require
from icid_rs._util.validation import as_square
from icid_rs.graph.equivalence import equivalence_class


def count_accuracy(true: Any, estimated: Any) -> dict[str, float]:
    """Compare two directed graphs, edge by edge.

    Parameters
    ----------
    true, estimated : array or sparse matrix of shape (d, d)
        Adjacency matrices; ``[i, j] != 0`` means i → j. Only where they are nonzero matters; diagonals are ignored.

    Returns
    -------
    dict
        ``shd``: pairs joined in one graph only, plus edges that point the other way (each counts once).
        ``tpr``: share of true edges that were found with their direction.
        ``fdr``: share of estimated edges that are absent from the true graph or reversed.
        ``fpr``: the same edges, as a share of the pairs without a true edge.
        ``nnz``: number of estimated edges.

    Notes
    -----
    A pair of opposite edges where the truth has one counts as one found and one reversed.

    Examples
    --------
    >>> from icid_rs.metrics import count_accuracy
    >>> true = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> estimated = [[0, 1, 1], [0, 0, 0], [0, 1, 0]]
    >>> count_accuracy(true, estimated)
    {'shd': 2, 'tpr': 0.5, 'fdr': 0.6666666666666666, 'fpr': 2.0, 'nnz': 3}
    """
    truth, guess = _edges(true, "true"), _edges(estimated, "estimated")
    if truth.shape != guess.shape:
        raise ValueError(f"the graphs have different sizes: {truth.shape} and {guess.shape}")
    d = truth.shape[0]
    n_true, n_guess = truth.nnz, guess.nnz
    found = truth.multiply(guess).nnz
    reversed_ = guess.multiply(truth.T).nnz - truth.multiply(truth.T).multiply(guess).nnz
    false = n_guess - found
    skeleton, guessed_skeleton = _skeleton(truth), _skeleton(guess)
    common = skeleton.multiply(guessed_skeleton).nnz
    unmatched_pairs = (skeleton.nnz + guessed_skeleton.nnz - 2 * common) // 2
    return {
        "shd": int(unmatched_pairs + reversed_),
        "tpr": found / max(n_true, 1),
        "fdr": false / max(n_guess, 1),
        "fpr": false / max(d * (d - 1) // 2 - n_true, 1),
        "nnz": int(n_guess),
    }


def class_distance(a: Any, b: Any) -> int:
    """Count the pairs of variables that are joined differently in the equivalence classes of two graphs.

    Parameters
    ----------
    a, b : array or sparse matrix of shape (d, d)
        Each an acyclic graph, of which the class is taken; or a class as `equivalence_class` returns it and other
        packages write it, with both ``[i, j]`` and ``[j, i]`` for an undirected edge.

    Returns
    -------
    int
        Pairs whose mark (none, →, ← or undirected) differs.

    Examples
    --------
    A chain can be reversed without leaving its class; a collider cannot:

    >>> from icid_rs.metrics import class_distance
    >>> chain, reverse = [[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    >>> collider = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
    >>> class_distance(chain, reverse), class_distance(chain, collider)
    (0, 2)
    """
    first, second = _class(a, "a"), _class(b, "b")
    if first.shape != second.shape:
        raise ValueError(f"the graphs have different sizes: {first.shape} and {second.shape}")
    differing = (first != second).astype(np.int64)
    return int(_skeleton(differing).nnz // 2)


def adjustment_distance(true: Any, estimated: Any, kind: Literal["optimal", "parents", "ancestors"] = "optimal") -> int:
    """Count the effects that an estimated graph would get wrong: adjustment identification distance, with `gadjid`.

    For each ordered pair of variables the estimated graph names an adjustment set, or says that there is no effect; the
    pair counts if that is wrong in the true graph (Henckel, Würtzen and Weichwald 2024).

    Parameters
    ----------
    true, estimated : array or sparse matrix of shape (d, d)
        Acyclic graphs or equivalence classes, as for `class_distance`; each is taken as it is.
    kind : {"optimal", "parents", "ancestors"}
        The adjustment sets: the optimal ones, the parents of the cause (between two acyclic graphs this is the
        structural intervention distance), or its ancestors.

    Returns
    -------
    int
        At most d (d − 1).

    Examples
    --------
    >>> from icid_rs.metrics import adjustment_distance
    >>> chain, reverse = [[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    >>> adjustment_distance(chain, chain)  # doctest: +SKIP
    0
    >>> adjustment_distance(chain, reverse)  # doctest: +SKIP
    6
    """
    functions = {"optimal": "oset_aid", "parents": "parent_aid", "ancestors": "ancestor_aid"}
    if kind not in functions:
        raise ValueError(f"kind = {kind!r}: it must be one of {', '.join(map(repr, functions))}")
    first, second = _edges(true, "true"), _edges(estimated, "estimated")
    if first.shape != second.shape:
        raise ValueError(f"the graphs have different sizes: {first.shape} and {second.shape}")
    for edges, name in ((first, "true"), (second, "estimated")):
        # Raises if there is a cycle, with which gadjid would not return.
        _class(edges, name)
    gadjid = require("gadjid", "adjustment_distance", "distances")
    if first.shape[0] < 2:
        return 0
    distance = getattr(gadjid, functions[kind])
    return int(distance(_coded(first), _coded(second), edge_direction="from row to column")[1])


def _coded(edges: Any) -> Any:
    """Return a dense matrix as gadjid reads it: 1 for i → j, and one 2 for an undirected edge."""
    ones = edges.toarray().astype(np.int8)
    mutual = ones * ones.T
    return ones + np.triu(mutual) - np.tril(mutual)


def _class(matrix: Any, name: str) -> Any:
    """Return the equivalence class of an acyclic graph; a graph with undirected edges is one already."""
    edges = _edges(matrix, name)
    if edges.multiply(edges.T).nnz:
        return edges
    try:
        return equivalence_class(edges).astype(np.int64)
    except ValueError:
        raise ValueError(f"{name} has a directed cycle: it is neither an acyclic graph nor a class of such") from None


def _edges(matrix: Any, name: str) -> Any:
    """Return a matrix with ones for the nonzeros off the diagonal."""
    csr = as_square(matrix, name, "it is an edge or none; use 0 for none")
    rows, columns = csr.nonzero()
    off = rows != columns
    ones = np.ones(int(off.sum()), dtype=np.int64)
    return sp.csr_array((ones, (rows[off], columns[off])), shape=csr.shape)


def _skeleton(edges: Any) -> Any:
    return ((edges + edges.T) != 0).astype(np.int64)

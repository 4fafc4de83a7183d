"""Distances between an estimated graph and the true one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs._util.validation import as_square


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


def _edges(matrix: Any, name: str) -> Any:
    """Return a matrix with ones for the nonzeros off the diagonal."""
    csr = as_square(matrix, name, "it is an edge or none; use 0 for none")
    rows, columns = csr.nonzero()
    off = rows != columns
    ones = np.ones(int(off.sum()), dtype=np.int64)
    return sp.csr_array((ones, (rows[off], columns[off])), shape=csr.shape)


def _skeleton(edges: Any) -> Any:
    return ((edges + edges.T) != 0).astype(np.int64)

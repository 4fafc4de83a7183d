"""A bounded sample of the rows of a stream that does not depend on how the stream is divided into chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray


@dataclass
class Reservoir:
    """The distinct rows with the smallest keys, where a key is a hash of the row.

    The sample depends only on the rows, not on their order, nor on chunks and merges. Equal rows have equal keys: they
    are kept once, with the sum of their weights. This sum is exact, because a key that is among the smallest at the end
    has been among them since its first row.

    Attributes
    ----------
    size : int
        How many rows are kept at most.
    keys : numpy.ndarray of shape (k,)
        Ascending.
    rows : numpy.ndarray of shape (k, d)
    weights : numpy.ndarray of shape (k,)
    complete : bool
        Whether every row that was offered is there.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.reservoir import Reservoir
    >>> reservoir = Reservoir.empty(size=2, columns=1)
    >>> reservoir.offer(np.array([5, 3, 9, 3], dtype=np.uint64), np.array([[0.5], [0.3], [0.9], [0.3]]), np.ones(4))
    >>> reservoir.rows.ravel(), reservoir.weights, reservoir.complete
    (array([0.3, 0.5]), array([2., 1.]), False)
    """

    size: int
    keys: NDArray[np.uint64]
    rows: FloatArray
    weights: FloatArray
    complete: bool = True

    @classmethod
    def empty(cls, size: int, columns: int) -> Reservoir:
        """Return a reservoir without rows."""
        return cls(size, np.empty(0, dtype=np.uint64), np.empty((0, columns)), np.empty(0))

    def offer(self, keys: NDArray[np.uint64], rows: NDArray[np.floating], weights: FloatArray) -> None:
        """Add the rows whose keys are among the smallest."""
        offered = np.arange(len(keys))
        if len(self.keys) == self.size:
            # Most rows of a long stream are left out here, before anything is copied.
            offered = np.flatnonzero(keys <= self.keys[-1]) if self.size else offered[:0]
        elif len(keys) > 2 * self.size:
            # Selecting is faster than sorting. Equal rows count once: with too few distinct ones, all are sorted.
            small = np.flatnonzero(keys <= np.partition(keys, self.size - 1)[self.size - 1])
            offered = small if len(np.unique(keys[small])) >= self.size else offered
        self.complete = self.complete and len(offered) == len(keys)
        if not len(offered):
            return
        before = len(self.keys)
        all_keys = np.concatenate((self.keys, keys[offered]))
        distinct, first, member = np.unique(all_keys, return_index=True, return_inverse=True)
        total: FloatArray = np.zeros(len(distinct))
        np.add.at(total, member, np.concatenate((self.weights, weights[offered])))
        self.complete = self.complete and len(distinct) <= self.size
        first = first[: self.size]
        old = first < before
        kept = np.empty((len(first), rows.shape[1]))
        kept[old] = self.rows[first[old]]
        kept[~old] = rows[offered[first[~old] - before]]
        self.keys, self.rows, self.weights = distinct[: self.size], kept, total[: self.size]

    def merge(self, other: Reservoir) -> None:
        """Add the rows of another reservoir, as if they had been offered to this one; keep the smaller size."""
        self.size = min(self.size, other.size)
        complete = self.complete and other.complete
        self.offer(other.keys, other.rows, other.weights)
        # Without rows from the other, this one may still exceed the smaller size.
        complete = complete and self.complete and len(self.keys) <= self.size
        self.keys, self.rows, self.weights = self.keys[: self.size], self.rows[: self.size], self.weights[: self.size]
        self.complete = complete

    def sample(self, worth: int) -> FloatArray:
        """Return rows of equal weight, at most `worth` of them if the reservoir is complete.

        Parameters
        ----------
        worth : int
            Effective sample size of all rows that were offered.

        Returns
        -------
        numpy.ndarray of shape (k, d)
            Rows of unequal weights are repeated in proportion to them (systematic resampling); their number is the
            effective sample size (Σw)² / Σw², after Kish (1965).
        """
        if not len(self.keys):
            return self.rows
        total = self.weights.sum()
        if not self.complete:
            worth = round(total**2 / (self.weights**2).sum())
        count = max(1, min(worth, self.size))
        # The row in the middle of each of `count` equal shares of the total weight; equal weights give every row once.
        chosen = np.searchsorted(np.cumsum(self.weights) / total, (np.arange(count) + 0.5) / count)
        return self.rows[np.minimum(chosen, len(self.rows) - 1)]

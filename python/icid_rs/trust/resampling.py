"""Resampling of rows: one by one, in blocks of consecutive rows, or as whole groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, Rows


@dataclass(frozen=True)
class Resampling:
    """A sequence of draws, each of which depends only on the seed and its own number.

    Attributes
    ----------
    n : int
        Number of rows.
    seed : int
        The entropy of a ``numpy.random.SeedSequence``, of which every draw takes a child.
    member : array of shape (n,), optional
        The group of each row, numbered from 0. Whole groups are drawn.
    block : int
        Length of the blocks of consecutive rows that are drawn; the first row follows the last (the circular bootstrap
        of Politis and Romano 1992).
    subsample : float, optional
        Share of the rows, blocks or groups that are drawn, without replacement. Up to a half, draws come in
        complementary pairs, without common rows (Shah and Samworth 2013). None: draw as many as there are, with
        replacement.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.trust.resampling import Resampling
    >>> halves = Resampling(6, seed=0, subsample=0.5)
    >>> sorted(np.concatenate([halves.draw(0)[0], halves.draw(1)[0]]).tolist())
    [0, 1, 2, 3, 4, 5]
    """

    n: int
    seed: int
    member: NDArray[np.intp] | None = None
    block: int = 1
    subsample: float | None = None

    def draw(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
        """Return the rows of draw k and, if there are groups, the group of each; one drawn twice counts as two."""
        in_pairs = self.subsample is not None and self.subsample <= 0.5
        # Child k of SeedSequence.spawn, without spawning the others.
        child = np.random.SeedSequence(self.seed, spawn_key=(k - k % 2 if in_pairs else k,))
        rng = np.random.default_rng(child)
        second = in_pairs and k % 2 == 1
        if self.member is not None:
            order = np.argsort(self.member, kind="stable")
            groups = np.split(order, np.cumsum(np.bincount(self.member))[:-1])
            drawn = [groups[g] for g in self._choose(rng, len(groups), second)]
            return np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [len(rows) for rows in drawn])
        if self.subsample is None:
            starts = rng.integers(0, self.n, -(-self.n // self.block))
        else:
            # Blocks that do not overlap, from a random first row on.
            starts = rng.integers(self.n) + self.block * self._choose(rng, self.n // self.block, second)
        rows = (starts[:, None] + np.arange(self.block)).ravel() % self.n
        return rows[: self.n], None

    def in_bags(self, bags: int) -> Resampling:
        """Return a resampling of bags: rows or groups dealt at random, or runs of consecutive rows in place of blocks.

        The sums of many rows that are drawn together vary as those of as many rows drawn one by one, and their
        covariances take less time, since each bag is multiplied once. The same resampling if there are no more rows or
        groups than bags, or if blocks are longer than bags.

        Examples
        --------
        >>> from icid_rs.trust.resampling import Resampling
        >>> rows, bags = Resampling(6, seed=0).in_bags(3).draw(0)
        >>> sorted(bags.tolist())
        [0, 0, 1, 1, 2, 2]
        """
        if self.block > 1:
            length = -(-self.n // bags)
            return replace(self, member=np.arange(self.n) // length, block=1) if length >= self.block else self
        units = self.n if self.member is None else int(self.member.max()) + 1
        if units <= bags:
            return self
        # A child of its own, which no draw takes.
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(0, 0)))
        bag = rng.permutation(units) % bags
        return replace(self, member=bag if self.member is None else bag[self.member])

    def _choose(self, rng: np.random.Generator, units: int, second: bool) -> NDArray[np.intp]:
        if self.subsample is None:
            return rng.integers(0, units, units)
        size = int(self.subsample * units)
        shuffled = rng.permutation(units)
        return shuffled[size : 2 * size] if second else shuffled[:size]


def block_length(X: Any) -> int:
    """Choose the length of blocks from the autocorrelation of the columns.

    The rule of Politis and White (2004), with the correction of Patton, Politis and White (2009), for circular blocks;
    the largest of the lengths that it gives for single columns. About 1 if rows are independent.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows in the order of time; NaN where they are missing.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.trust.resampling import block_length
    >>> steps = np.random.default_rng(0).normal(size=(1000, 3))
    >>> block_length(steps) < block_length(np.cumsum(steps, axis=0))
    True
    """
    return int(np.ceil(block_lengths(np.asarray(X)).max()))


def block_lengths(X: Rows) -> FloatArray:
    """Compute the length of blocks that suits each column, at least 1; see `block_length`."""
    n = len(X)
    patience = max(5, int(np.ceil(np.sqrt(np.log10(n)))))
    furthest = min(n - 1, int(np.ceil(np.sqrt(n))) + patience)
    longest = max(1, int(min(3 * np.sqrt(n), n / 3)))
    notable = 2.0 * np.sqrt(np.log10(n) / n)
    lengths = np.ones(X.shape[1])
    for number, column in enumerate(X.T):
        autocovariance = _autocovariance(np.asarray(column, dtype=np.float64), furthest)
        if not autocovariance[0] > 0:
            continue
        small = np.abs(autocovariance[1:] / autocovariance[0]) < notable
        # The last lag before `patience` negligible ones in a row.
        runs = np.convolve(small, np.ones(patience), mode="valid") == patience
        last = int(np.argmax(runs)) if runs.any() else furthest
        window = min(2 * last, furthest)
        if window == 0:
            continue
        lags = np.arange(1, window + 1)
        taper = np.minimum(1.0, 2.0 * (1.0 - lags / window)) * autocovariance[lags]
        slope = 2.0 * np.sum(lags * taper)
        spectrum = autocovariance[0] + 2.0 * np.sum(taper)
        # If the tapered spectrum vanishes at frequency zero, the rule diverges: take the longest block.
        ratio = 1.5 * n * (slope / spectrum) ** 2 if spectrum else np.inf
        lengths[number] = max(1.0, min(float(np.cbrt(ratio)), longest))
    return lengths


def _autocovariance(column: FloatArray, furthest: int) -> FloatArray:
    """Compute the autocovariances up to a lag, with missing values replaced by the mean."""
    n = len(column)
    observed = ~np.isnan(column)
    centred = np.where(observed, column - (column[observed].mean() if observed.any() else 0.0), 0.0)
    padded = np.fft.rfft(centred, 2 * n)
    return np.asarray(np.fft.irfft(np.abs(padded) ** 2, 2 * n)[: furthest + 1] / n)

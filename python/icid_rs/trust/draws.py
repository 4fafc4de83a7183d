"""Resamples of a table: from its rows, from sums over parts of them, or from second moments alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky

from icid_rs._util.validation import FloatArray, Rows
from icid_rs.data.sample import Rows as CompleteRows
from icid_rs.data.sample import Sample, Summary
from icid_rs.precision.variants import Precision
from icid_rs.trust.resampling import Resampling, block_lengths

#: Where a covariance takes more products than this, rows are drawn in bags.
_MANY_PRODUCTS = 3e8
#: The variances of what is computed from resamples are then known to about a tenth, as from so many draws.
_BAGS = 250
#: Fewer groups than this say too little about how groups vary; rows are then drawn one by one.
_FEWEST_GROUPS = 20
#: The length of blocks is read off at most so many rows.
_ROWS_FOR_BLOCKS = 50_000
#: Correlations need a longer block only if both columns are autocorrelated: the longest quarter of lengths is ignored.
_SHARE_OF_COLUMNS = 0.75
#: Bytes of covariances at a time.
_ROOM = 5e8
#: Added to the diagonal of correlations before they are factorised.
_JITTER = 1e-9


@dataclass(frozen=True)
class RowDraws:
    """Rows, drawn as `resampling` says."""

    rows: Rows
    resampling: Resampling

    def counts(self, first: int, last: int, *, one_by_one: bool) -> NDArray[np.uint16]:
        """Count how often each row comes in the draws from `first` to before `last`.

        Rows of large tables are drawn in a few hundred bags, whose products are computed once for all resamples, unless
        they are wanted one by one.
        """
        (n, d), most = self.rows.shape, np.iinfo(np.uint16).max
        resampling = self.resampling if one_by_one or n * d * d <= _MANY_PRODUCTS else self.resampling.in_bags(_BAGS)
        counts = np.empty((last - first, n), dtype=np.uint16)
        for row, k in zip(counts, range(first, last), strict=True):
            row[:] = np.minimum(np.bincount(resampling.draw(k)[0], minlength=n), most)
        return counts

    def resampling_of_rows(self, rows: Rows) -> Resampling:
        """Return how rows are drawn: these are all rows."""
        return self.resampling


@dataclass(frozen=True)
class MomentDraws:
    """Covariances of so many Gaussian rows as there are samples (Wishart), around the one of the table."""

    covariance: FloatArray
    samples: int
    seed: int

    def covariances(self, first: int, last: int) -> Iterator[FloatArray]:
        """Draw covariances, a few at a time."""
        scale = np.sqrt(np.diagonal(self.covariance))
        correlation = self.covariance / np.outer(scale, scale)
        d = len(scale)
        # In an order of the variables that does not depend on the order of the columns.
        order = np.argsort(np.round(np.sum(correlation**2, axis=0), 9), kind="stable")
        lower = cholesky(correlation[np.ix_(order, order)] + _JITTER * np.eye(d), lower=True)
        factor = np.empty_like(lower)
        factor[order] = lower
        at_once = max(1, int(_ROOM / (8 * d * d)))
        for start in range(first, last, at_once):
            draws = [self._draw(factor, k) for k in range(start, min(start + at_once, last))]
            yield np.ascontiguousarray(draws)

    def _draw(self, factor: FloatArray, k: int) -> FloatArray:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(k,)))
        d = len(factor)
        degrees = self.samples - 1
        if degrees < d:
            noise = rng.standard_normal((d, degrees))
        else:
            # The decomposition of Bartlett (1933).
            noise = np.tril(rng.standard_normal((d, d)), -1)
            noise[np.diag_indices(d)] = np.sqrt(rng.chisquare(degrees - np.arange(d)))
        mixed = factor @ noise
        return np.asarray(mixed @ mixed.T / self.samples)

    def resampling_of_rows(self, rows: Rows) -> Resampling:
        """Return how a kept sample of rows is drawn."""
        return resampling_of(rows, None, self.seed)


Draws: TypeAlias = RowDraws | MomentDraws


def draws_of(sample: Sample, estimate: Precision, seed: int) -> Draws:
    """Choose how a table is resampled.

    Rows are drawn one by one, in blocks where they are autocorrelated, or as whole groups. Without all rows, second
    moments are drawn.

    Examples
    --------
    >>> from icid_rs import ICID, Moments, fdr_precision, datasets
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.reading import read
    >>> from icid_rs.options import Options
    >>> from icid_rs.trust.draws import draws_of
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 100, random_state=0)
    >>> options = Options.of(ICID(), {"auto": True})
    >>> type(draws_of(read(X, None, options, Stopwatch()), fdr_precision(X), 0)).__name__
    'RowDraws'
    """
    rows = all_rows(sample)
    if rows is None:
        samples = getattr(sample, "samples", 0)
        return MomentDraws(np.asarray(estimate.covariance), samples, seed)
    return RowDraws(rows, resampling_of(rows, getattr(sample, "member", None), seed))


def all_rows(sample: Sample) -> Rows | None:
    """Return the rows of a table if all of them are at hand and complete."""
    if isinstance(sample, CompleteRows):
        return sample.values
    if isinstance(sample, Summary) and sample.moments.complete and len(sample.moments.rows):
        return sample.shape_rows
    return None


def resampling_of(rows: Rows, member: NDArray[np.intp] | None, seed: int) -> Resampling:
    """Choose how rows are drawn: as whole groups, in blocks where they are autocorrelated, or one by one."""
    n = len(rows)
    if member is not None and member.max() + 1 >= _FEWEST_GROUPS:
        return Resampling(n, seed, member)
    seen = min(n, _ROWS_FOR_BLOCKS)
    lengths = block_lengths(rows[:seen]) * np.cbrt(n / seen)
    return Resampling(n, seed, block=round(float(np.quantile(lengths, _SHARE_OF_COLUMNS))))

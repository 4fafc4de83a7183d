"""The input of a fit: rows of a table, their moments, or Θ itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs._util.validation import Rows as RowArray
from icid_rs.data import missing
from icid_rs.data.adjustment import Adjustment, has_few_levels
from icid_rs.data.blocks import Blocks
from icid_rs.data.em import EmCovariance
from icid_rs.data.encoding import Encoding
from icid_rs.data.moments import Moments
from icid_rs.report import SampleFacts


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """The columns of a sample.

    Attributes
    ----------
    encoding : Encoding
        All columns of the table, and how those that are variables became numbers.
    is_named : bool
        Whether the columns have names.
    facts : SampleFacts
        Missing values, groups, covariates and kept rows.
    adjustment : Adjustment or None
        The effects of covariates, if columns are adjusted for.
    """

    encoding: Encoding
    is_named: bool
    facts: SampleFacts = field(default_factory=SampleFacts)
    adjustment: Adjustment | None = None

    @property
    def names(self) -> list[Any]:
        """Names, or else numbers, of the variables."""
        return self.encoding.names

    @property
    def blocks(self) -> Blocks:
        """The columns of `values` that each variable consists of."""
        return self.encoding.blocks


@dataclass(frozen=True, kw_only=True)
class Rows(_Columns):
    """Complete rows.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, p)
        Samples by columns of the blocks. Where rows are grouped, the means of groups are taken out, and then the
        effects of covariates.
    samples : int
        Effective sample size: the number of rows, less what means of groups and covariates cost.
    member : array of shape (n,), optional
        The number of each row's group.
    numbers : array of shape (n,), optional
        The places that these rows have in the table, where others were left out.
    hides_levels : bool
        Whether covariates were taken out of a variable with few levels, which now looks continuous.
    """

    values: RowArray
    samples: int
    member: NDArray[np.intp] | None = None
    numbers: NDArray[np.intp] | None = None
    hides_levels: bool = False

    @property
    def shape_rows(self) -> RowArray | None:
        """Rows that show the shape of residuals; None where covariates hide it, or normal scores took it away."""
        has_none = self.hides_levels or (self.encoding.is_scored and self.blocks.is_single)
        return None if has_none else self.values


@dataclass(frozen=True, kw_only=True)
class IncompleteRows(_Columns):
    """Rows with missing values, and the moments that were estimated from them.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, d)
        With NaN for missing values.
    estimated : PairwiseCovariance or EmCovariance
    samples : int
        Effective sample size.
    """

    values: FloatArray
    estimated: missing.PairwiseCovariance | EmCovariance
    samples: int

    @property
    def shape_rows(self) -> RowArray | None:
        """None: residuals need complete rows, so they are taken to be Gaussian."""
        return None


@dataclass(frozen=True, kw_only=True)
class Summary(_Columns):
    """Moments of rows that are not at hand.

    Attributes
    ----------
    moments : Moments
        Of all columns; `covariance`, `location` and `rows` are those of the variables, without effects of covariates.
    """

    moments: Moments

    @property
    def samples(self) -> int:
        """Effective sample size."""
        samples = self.moments.n_effective
        return samples if self.adjustment is None else self.adjustment.samples_left(samples)

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the variables."""
        if self.adjustment is None:
            return self.moments.covariance
        places = self._places
        return self.adjustment.covariance_left(self.moments.covariance[np.ix_(places, places)])

    @property
    def location(self) -> FloatArray:
        """Means of the variables."""
        return self.moments.mean[self._kept]

    @property
    def third(self) -> FloatArray | None:
        """E[(x_i − μ_i)² (x_j − μ_j)], if it was computed, and no covariates were taken out."""
        return self.moments.third if self.adjustment is None else None

    @property
    def rows(self) -> FloatArray:
        """The kept rows."""
        rows, kept = self.moments.rows, self._kept
        if self.adjustment is None:
            return rows[:, kept]
        return self.adjustment.taken_out(rows[:, kept], rows[:, self.adjustment.covariates.kept])

    @property
    def shape_rows(self) -> RowArray | None:
        """The kept rows, moved to the mean of all rows; None if none were kept, or their shape would be mistaken."""
        if self.adjustment is not None and has_few_levels(self.moments.rows[:, self.encoding.kept]):
            return None
        rows = self.rows
        # Third powers about the mean of all rows vary 2.5 times as much as those about the mean of the kept ones.
        return np.asarray(rows - rows.mean(axis=0) + self.location) if len(rows) else None

    @property
    def _kept(self) -> NDArray[np.intp]:
        """The columns of variables among those of the moments; nothing is left out beside categories."""
        return np.arange(self.blocks.columns) if self.moments.categories else self.encoding.kept

    @property
    def _places(self) -> NDArray[np.intp]:
        """The columns of variables, and then those of covariates."""
        covariates = [] if self.adjustment is None else [self.adjustment.covariates.kept]
        return np.concatenate([self.encoding.kept, *covariates])


@dataclass(frozen=True, kw_only=True)
class GivenTheta(_Columns):
    """An inverse covariance given by the caller, without data."""

    theta: sp.csr_array[np.float64, tuple[int, int]]


Sample: TypeAlias = Rows | IncompleteRows | Summary | GivenTheta

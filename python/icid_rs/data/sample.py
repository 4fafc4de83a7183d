"""The input of a fit: rows of a table, their moments, or Θ itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from icid_rs import _core
from icid_rs._util.memory import ensure_room
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, as_csr, as_theta, csr_parts
from icid_rs._util.validation import Rows as RowArray
from icid_rs.data import checks, missing
from icid_rs.data.dask import is_dask, moments_of
from icid_rs.data.moments import Moments
from icid_rs.data.tables import as_numbers, column_names, open_table
from icid_rs.options import Options
from icid_rs.report import KeptRows, SampleFacts


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """The columns of a sample.

    Attributes
    ----------
    columns : list or None
        Names of the columns, if the table has them.
    names : sequence
        Names, or else numbers.
    facts : SampleFacts
        Missing values, groups and kept rows.
    """

    columns: list[Any] | None
    names: Sequence[Any]
    facts: SampleFacts = field(default_factory=SampleFacts)


@dataclass(frozen=True, kw_only=True)
class Rows(_Columns):
    """Complete rows.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, d)
        Samples by variables. Where rows are grouped, the means of groups are taken out.
    samples : int
        Effective sample size: the number of rows, less what the means of groups cost.
    """

    values: RowArray
    samples: int

    @property
    def shape_rows(self) -> RowArray | None:
        """Rows that show the shape of residuals."""
        return self.values


@dataclass(frozen=True, kw_only=True)
class IncompleteRows(_Columns):
    """Rows with missing values: each pair of columns uses the rows that are complete in both.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, d)
        With NaN for missing values.
    pairwise : PairwiseCovariance
    samples : int
        Effective sample size: the smallest number of rows that two columns have in common.
    """

    values: FloatArray
    pairwise: missing.PairwiseCovariance
    samples: int

    @property
    def shape_rows(self) -> RowArray | None:
        """None: residuals need complete rows, so they are taken to be Gaussian."""
        return None


@dataclass(frozen=True, kw_only=True)
class Summary(_Columns):
    """Moments of rows that are not at hand."""

    moments: Moments

    @property
    def samples(self) -> int:
        """Effective sample size."""
        return self.moments.n_effective

    @property
    def shape_rows(self) -> RowArray | None:
        """The kept rows, moved to the mean of all rows; None if none were kept."""
        rows = self.moments.rows
        # Third powers about the mean of all rows vary 2.5 times as much as those about the mean of the kept ones.
        return np.asarray(rows - rows.mean(axis=0) + self.moments.mean) if len(rows) else None


@dataclass(frozen=True, kw_only=True)
class GivenTheta(_Columns):
    """An inverse covariance given by the caller, without data."""

    theta: sp.csr_array[np.float64, tuple[int, int]]


Sample: TypeAlias = Rows | IncompleteRows | Summary | GivenTheta


def read(X: Any, groups: Any, options: Options, watch: Stopwatch) -> Sample:
    """Turn the arguments of `ICID.fit` into a sample; raise where they are not valid.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.sample import read
    >>> from icid_rs.options import Options
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 100, random_state=0)
    >>> read(X, None, Options.of(ICID(), {"auto": True}), Stopwatch()).samples
    100
    """
    if isinstance(options.precision, str) and options.precision == "precomputed":
        return _given_theta(X, groups)
    if is_dask(X) or isinstance(X, Moments):
        return _summary(X, groups, options, watch)
    return _rows(X, groups, options, watch)


def table_rows(X: Any) -> RowArray:
    """Return the numbers of an opened table in C order, in single or double precision as they are."""
    table: Any = check_array(
        as_numbers(X),
        dtype=[np.float64, np.float32],
        order="C",
        accept_sparse=True,
        ensure_all_finite=False,
        estimator="ICID",
        input_name="X",
    )
    if not hasattr(table, "toarray"):
        return np.ascontiguousarray(table)
    n, d = table.shape
    ensure_room(table.dtype.itemsize * n * d, f"a table of {n} rows and {d} columns", "give it as moments")
    # The covariance of sparse data is dense in any case.
    return np.ascontiguousarray(table.toarray())


def _rows(X: Any, groups: Any, options: Options, watch: Stopwatch) -> Rows | IncompleteRows:
    X = open_table(X)
    columns = column_names(X)
    values = table_rows(X)
    names = range(values.shape[1]) if columns is None else columns
    checks.check_values(values, names, missing=options.missing)
    holes = missing.count_missing(values, options.missing, names)
    if options.missing == "drop" and holes.entries:
        n, d = values.shape
        complete = missing.complete_rows(values, names, least=min(n, d + 3) if options.may_invert else 3)
        groups = None if groups is None else checks.check_groups(groups, n)[complete]
        values = values[complete]
    count = None
    if groups is not None:
        values, count = checks.within_groups(values, groups)
    pairwise = None
    if options.missing == "pairwise" and holes.entries:
        values = values.astype(np.float64, copy=False)
        pairwise = missing.pairwise_covariance(values, names)
        holes = replace(holes, samples=pairwise.samples, shrinkage=pairwise.shrinkage)
    samples = _less_groups(len(values) if pairwise is None else pairwise.samples, count)
    watch.lap("audit")
    table: dict[str, Any] = {"columns": columns, "names": names, "values": values, "samples": samples}
    table["facts"] = SampleFacts(holes, count)
    return Rows(**table) if pairwise is None else IncompleteRows(**table, pairwise=pairwise)


def _less_groups(samples: int, groups: int | None) -> int:
    """Return the effective sample size after the means of groups have been subtracted."""
    if groups is None:
        return samples
    samples -= groups - 1
    if samples < 3:
        raise ValueError(
            f"the means of {groups} groups leave {max(samples, 0)} samples; pass fewer groups or more rows"
        )
    return samples


def _summary(X: Any, groups: Any, options: Options, watch: Stopwatch) -> Summary:
    moments = X
    if is_dask(X):
        if options.missing == "pairwise":
            raise ValueError("missing='pairwise' needs the rows themselves, not a Dask collection; use missing='drop'")
        moments = moments_of(X, third=options.skewness > 0, missing=options.missing)
    if groups is not None:
        raise ValueError("groups needs the rows themselves; take their means out before moments are computed")
    names = range(len(moments.mean)) if moments.names is None else moments.names
    watch.lap("moments")
    return Summary(columns=moments.names, names=names, facts=SampleFacts(kept=_kept_rows(moments)), moments=moments)


def _kept_rows(moments: Moments) -> KeptRows:
    """Report how many rows there were, how many are kept, and what that means for the shape of residuals."""
    kept = len(moments.rows)
    note = None
    if not kept:
        note = "no rows are kept: residuals are taken to be Gaussian"
    elif not moments.complete:
        note = f"the shape of residuals is that of a sample of {kept} rows, and counts as much"
    return KeptRows(moments.n, moments.n_effective, kept, moments.dropped, note)


def _given_theta(theta: Any, groups: Any) -> GivenTheta:
    if groups is not None:
        raise ValueError("groups needs data, but precision='precomputed' gives none")
    theta = open_table(theta)
    columns = column_names(theta)
    theta = as_csr(as_theta(theta if columns is None else as_numbers(theta)), "theta")
    theta.eliminate_zeros()
    d = theta.shape[0]
    if theta.shape != (d, d):
        raise ValueError(f"precision='precomputed' needs a square matrix, but its shape is {theta.shape}")
    diagonal = theta.diagonal()
    if not (diagonal > 0).all() or not np.isfinite(theta.data).all():
        # The core raises an error that names the entry.
        parts = csr_parts(theta)
        _core.evaluate({"theta": parts}, parts, parts)
    extreme = np.flatnonzero((diagonal < 1e-150) | (diagonal > 1e150))
    if extreme.size:
        i = int(extreme[0])
        raise ValueError(f"theta[{i}, {i}] = {diagonal[i]:.3g} is out of range; rescale the variables")
    return GivenTheta(columns=columns, names=range(d) if columns is None else columns, theta=theta)

"""The input of a fit: rows of a table, their moments, or Θ itself."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from icid_rs import _core
from icid_rs._util.memory import ensure_room
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, as_csr, as_theta, csr_parts, listed
from icid_rs._util.validation import Rows as RowArray
from icid_rs._util.warn import warn_user
from icid_rs.data import checks, missing
from icid_rs.data.blocks import Blocks
from icid_rs.data.columns import Columns
from icid_rs.data.dask import is_dask, moments_of
from icid_rs.data.em import EmCovariance, em_covariance
from icid_rs.data.encoding import Encoding, column_faults
from icid_rs.data.faults import Fault, TableError
from icid_rs.data.frames import as_columns, is_numeric
from icid_rs.data.kinds import NOT_CHOSEN, WITHOUT_SPREAD, Wishes
from icid_rs.data.moments import Moments
from icid_rs.data.narrowing import without_collinear, without_empty_levels
from icid_rs.data.tables import as_numbers, column_names, open_table
from icid_rs.data.transforms import asked_curves
from icid_rs.graph.curves import Curve
from icid_rs.options import Options
from icid_rs.report import KeptRows, SampleFacts


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
        Missing values, groups and kept rows.
    """

    encoding: Encoding
    is_named: bool
    facts: SampleFacts = field(default_factory=SampleFacts)

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
        Samples by columns of the blocks. Where rows are grouped, the means of groups are taken out.
    samples : int
        Effective sample size: the number of rows, less what the means of groups cost.
    member : array of shape (n,), optional
        The number of each row's group.
    numbers : array of shape (n,), optional
        The places that these rows have in the table, where others were left out.
    """

    values: RowArray
    samples: int
    member: NDArray[np.intp] | None = None
    numbers: NDArray[np.intp] | None = None

    @property
    def shape_rows(self) -> RowArray | None:
        """Rows that show the shape of residuals; None where normal scores have taken it away."""
        return None if self.encoding.is_scored and self.blocks.is_single else self.values


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
        if options.transform not in (None, "auto"):
            raise ValueError("transform needs data, but precision='precomputed' gives none")
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


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows of a table that were encoded before, such as a resample: no column is judged or left out again.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, p)
    encoding : Encoding
    is_named : bool
    """

    values: RowArray
    encoding: Encoding
    is_named: bool


def encode(X: Any, wishes: Wishes, missing: str = "raise") -> Encoded:
    """Return the numbers of a table, and how they were made; raise with all that is wrong with it.

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs.data.kinds import Wishes
    >>> from icid_rs.data.sample import encode
    >>> encode(pd.DataFrame({"x": [0.5] * 20, "sex": ["f", "m"] * 10}), Wishes()).encoding.names
    ['sex']
    """
    if isinstance(X, Encoded):
        return X
    X = open_table(X)
    if is_numeric(X):
        values = table_rows(X)
        checks.check_count(len(values))
        names = column_names(X)
        columns = list(range(values.shape[1])) if names is None else names
        wishes.check(columns)
        encoding = Encoding.of_numbers(values, columns, wishes)
        return Encoded(encoding.select(values), encoding, names is not None)
    table = as_columns(X)
    wishes.check(table.columns)
    if faults := column_faults(table, wishes):
        raise TableError(table.source, [*faults.values(), *_other_faults(table, faults, wishes, missing)])
    checks.check_count(table.shape[0])
    encoding = Encoding.of(table, wishes)
    return Encoded(encoding.values(table), encoding, table.is_named)


def _other_faults(table: Columns, faulty: Container[int], wishes: Wishes, missing: str) -> list[Fault]:
    """Describe what is wrong with the other columns of a table that is refused anyway."""
    good = [k for k in range(len(table.columns)) if k not in faulty]
    rest = replace(table, columns=[table.columns[k] for k in good], parts=[table.parts[k] for k in good])
    try:
        encoding = Encoding.of(rest, wishes)
    except ValueError:
        return []
    names = encoding.blocks.column_names(encoding.names)
    return checks.value_faults(encoding.values(rest), names, missing=missing)


def _rows(X: Any, groups: Any, options: Options, watch: Stopwatch) -> Rows | IncompleteRows:
    table = encode(X, Wishes.of(options.columns, options.categorical, options.ordinal), options.missing)
    values, encoding = table.values, table.encoding
    names = encoding.blocks.column_names(encoding.names)
    checks.check_values(values, names, missing=options.missing)
    # A category lacks all of its columns in a row, or none.
    ones = values if encoding.blocks.is_single else values[:, encoding.blocks.offsets[: encoding.blocks.variables]]
    holes = missing.count_missing(ones, options.missing, encoding.names)
    numbers = None
    if options.missing == "drop" and holes.entries:
        n, d = values.shape
        complete = missing.complete_rows(values, names, least=min(n, d + 3) if options.may_invert else 3)
        groups = None if groups is None else checks.check_groups(groups, n)[complete]
        values, numbers = values[complete], np.flatnonzero(complete)
    if len(encoding.blocks.categories):
        values, encoding = without_empty_levels(values, encoding)
        names = encoding.blocks.column_names(encoding.names)
    if not isinstance(X, Encoded):
        encoding = encoding.with_curves(asked_curves(options.transform, values, encoding))
        values = encoding.straightened(values)
    count = member = None
    if groups is not None:
        values, member = checks.within_groups(values, groups)
        count = int(member.max()) + 1
    if not isinstance(X, Encoded):
        if options.collinear == "drop":
            values, encoding = without_collinear(values, encoding)
            names = encoding.blocks.column_names(encoding.names)
        _warn_of_dropped(encoding)
    estimated = _estimated(values, names, options) if holes.entries and options.missing in ("em", "pairwise") else None
    if estimated is not None:
        holes = replace(holes, **estimated.facts())
    samples = _less_groups(len(values) if estimated is None else estimated.samples, count)
    watch.lap("audit")
    shared: dict[str, Any] = {"encoding": encoding, "is_named": table.is_named, "values": values}
    shared |= {"samples": samples, "facts": SampleFacts(holes, count)}
    if estimated is not None:
        return IncompleteRows(**shared, estimated=estimated)
    return Rows(**shared, member=member, numbers=numbers)


def straightened(sample: Rows | IncompleteRows, curves: Mapping[int, Curve], options: Options) -> Rows | IncompleteRows:
    """Return the same sample with some columns straightened, by their places among all.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import ICID
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.sample import read, straightened
    >>> from icid_rs.data.transforms import score_curves
    >>> from icid_rs.options import Options
    >>> options = Options.of(ICID(), {"auto": True})
    >>> sample = read(np.exp(np.random.default_rng(0).normal(size=(50, 2))), None, options, Stopwatch())
    >>> straightened(sample, score_curves(sample.values, sample.encoding, [0, 1]), options).encoding.is_scored
    True
    """
    encoding = sample.encoding.with_curves(curves)
    values = encoding.straightened(sample.values)
    if isinstance(sample, Rows):
        return replace(sample, encoding=encoding, values=values)
    estimated = _estimated(values, encoding.blocks.column_names(encoding.names), options)
    assert sample.facts.missing is not None
    facts = replace(sample.facts, missing=replace(sample.facts.missing, **estimated.facts()))
    changed: dict[str, Any] = {"encoding": encoding, "values": values, "facts": facts}
    return replace(sample, **changed, estimated=estimated, samples=estimated.samples)


def _estimated(values: RowArray, names: Sequence[Any], options: Options) -> missing.PairwiseCovariance | EmCovariance:
    """Estimate the moments of rows with missing values."""
    rows = values.astype(np.float64, copy=False)
    if options.missing == "pairwise":
        return missing.pairwise_covariance(rows, names)
    return em_covariance(rows, names, n_threads=options.n_threads)


def _warn_of_dropped(encoding: Encoding) -> None:
    """Name the columns that are left out without having been asked for."""
    shown = [f"{name!r} ({reason})" for name, reason in encoding.dropped.items() if reason != NOT_CHOSEN]
    if shown:
        remedy = "" if set(encoding.dropped.values()) <= {NOT_CHOSEN, *WITHOUT_SPREAD} else "; columns= takes them in"
        warn_user(f"column(s) left out: {listed(shown, 20)}{remedy}")


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
        if options.missing in ("em", "pairwise"):
            raise ValueError(
                f"missing={options.missing!r} needs the rows themselves, not a Dask collection; use missing='drop'"
            )
        moments = moments_of(X, third=options.skewness > 0, missing=options.missing)
    if options.transform not in (None, "auto"):
        raise ValueError("transform needs the rows themselves; transform the columns before moments are computed")
    if groups is not None:
        raise ValueError("groups needs the rows themselves; take their means out before moments are computed")
    names = range(len(moments.mean)) if moments.names is None else moments.names
    watch.lap("moments")
    facts = SampleFacts(kept=_kept_rows(moments))
    return Summary(encoding=Encoding.plain(names), is_named=moments.names is not None, facts=facts, moments=moments)


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
    encoding = Encoding.plain(range(d) if columns is None else columns)
    return GivenTheta(encoding=encoding, is_named=columns is not None, theta=theta)

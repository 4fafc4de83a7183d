"""The arguments of `ICID.fit` as a sample: checked, encoded, without what is left out or taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from icid_rs import _core
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import Rows as RowArray
from icid_rs._util.validation import as_csr, as_theta, csr_parts
from icid_rs.data import checks, missing
from icid_rs.data.adjustment import Adjustment, has_few_levels, joined, joint_names, parted
from icid_rs.data.blocks import supposing_numbers
from icid_rs.data.codes import warn_of_codes, with_codes
from icid_rs.data.dask import is_dask, moments_of
from icid_rs.data.em import EmCovariance, em_covariance
from icid_rs.data.encoded import Encoded, encode
from icid_rs.data.encoding import Encoding
from icid_rs.data.kinds import Wishes
from icid_rs.data.left_out import check_levels, warn_of_dropped, without_collinear, without_empty_levels
from icid_rs.data.moments import Moments
from icid_rs.data.sample import GivenTheta, IncompleteRows, Rows, Sample, Summary
from icid_rs.data.tables import as_numbers, column_names, open_table
from icid_rs.data.transforms import asked_curves
from icid_rs.graph.curves import Curve
from icid_rs.options import Options
from icid_rs.report import KeptRows, SampleFacts


def read(X: Any, groups: Any, options: Options, watch: Stopwatch) -> Sample:
    """Turn the arguments of `ICID.fit` into a sample; raise where they are not valid.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.reading import read
    >>> from icid_rs.options import Options
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 100, random_state=0)
    >>> read(X, None, Options.of(ICID(), {"auto": True}), Stopwatch()).samples
    100
    """
    if isinstance(options.precision, str) and options.precision == "precomputed":
        if options.transform not in (None, "auto"):
            raise ValueError("transform needs data, but precision='precomputed' gives none")
        return _given_theta(X, groups, options)
    if is_dask(X) or isinstance(X, Moments):
        return _summary(X, groups, options, watch)
    return _rows(X, groups, options, watch)


def _rows(X: Any, groups: Any, options: Options, watch: Stopwatch) -> Rows | IncompleteRows:
    wishes = _wishes(options)
    table = encode(X, wishes, options.missing)
    values, encoding, names = table.values, table.encoding, table.column_names
    table.check_values(missing=options.missing)
    first, own_names = table.first_columns
    holes = missing.count_missing(first, options.missing, own_names)
    numbers = None
    if options.missing == "drop" and holes.entries:
        n, d = values.shape
        complete = missing.complete_rows(values, names, least=min(n, d + 3) if options.may_invert else 3)
        groups = None if groups is None else checks.check_groups(groups, n)[complete]
        values, numbers = values[complete], np.flatnonzero(complete)
    values, beside = table.parts(values)
    is_first = not isinstance(X, Encoded)
    if is_first and not supposing_numbers(options):
        values, encoding = with_codes(values, encoding, wishes.told)
    if len(encoding.blocks.categories):
        values, encoding = without_empty_levels(values, encoding)
    if is_first:
        encoding = encoding.with_curves(asked_curves(options.transform, values, encoding))
        values = encoding.straightened(values)
    hides_levels = beside is not None and has_few_levels(values)
    count = member = None
    if groups is not None:
        values, member = checks.within_groups(values, groups)
        beside = None if beside is None else checks.within_groups(beside, groups)[0]
        count = int(member.max()) + 1
    if is_first:
        if options.collinear == "drop":
            values, encoding = without_collinear(values, encoding, beside, table.covariates)
        warn_of_dropped(encoding)
        warn_of_codes(encoding)
    estimated = None
    if holes.entries and options.missing in ("em", "pairwise"):
        names = joint_names(encoding, table.covariates)
        estimated = _estimated(joined(values, beside), names, options)
        holes = replace(holes, **estimated.facts())
    samples = _less_groups(len(values) if estimated is None else estimated.samples, count)
    facts, adjustment = SampleFacts(holes, count), None
    if beside is not None and table.covariates is not None:
        strict = is_first and options.collinear == "raise"
        if estimated is None:
            adjustment = Adjustment.of_rows(values, beside, table.covariates, strict=strict)
        else:
            both = (estimated.covariance, estimated.location)
            adjustment = Adjustment.of_moments(*both, table.covariates, strict=strict)
            left, means = adjustment.covariance_left(both[0]), both[1][: values.shape[1]]
            estimated = replace(estimated, covariance=left, location=means)
        adjustment.check_left(encoding)
        values, samples = adjustment.taken_out(values, beside), adjustment.samples_left(samples)
        facts = replace(facts, adjusted=adjustment.record)
    watch.lap("audit")
    shared: dict[str, Any] = {"encoding": encoding, "is_named": table.is_named, "values": values, "facts": facts}
    shared |= {"samples": samples, "adjustment": adjustment}
    if estimated is not None:
        return IncompleteRows(**shared, estimated=estimated)
    return Rows(**shared, member=member, numbers=numbers, hides_levels=hides_levels)


def _wishes(options: Options) -> Wishes:
    return Wishes.of(options.columns, options.categorical, options.ordinal, options.adjust)


def straightened(sample: Rows | IncompleteRows, curves: Mapping[int, Curve], options: Options) -> Rows | IncompleteRows:
    """Return the same sample with some columns straightened, by their places among all.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import ICID
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.reading import read, straightened
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
    encoding, covariates = _plain_parts(names, options)
    if moments.categories:
        if covariates is not None:
            raise ValueError("adjust needs the rows themselves, or moments without categories")
        encoding = moments.encoding
        check_levels(moments.mean, encoding)
    facts, adjustment = SampleFacts(kept=_kept_rows(moments)), None
    if covariates is not None:
        places = np.concatenate([encoding.kept, covariates.kept])
        joint = (moments.covariance[np.ix_(places, places)], moments.mean[places])
        adjustment = Adjustment.of_moments(*joint, covariates, strict=options.collinear == "raise")
        adjustment.check_left(encoding)
        facts = replace(facts, adjusted=adjustment.record)
    watch.lap("moments")
    shared: dict[str, Any] = {"is_named": moments.names is not None, "facts": facts, "moments": moments}
    return Summary(encoding=encoding, adjustment=adjustment, **shared)


def _plain_parts(columns: Sequence[Any], options: Options) -> tuple[Encoding, Encoding | None]:
    """Divide columns that are numbers into variables and covariates."""
    wishes = Wishes.of(None, None, None, options.adjust).among(columns)
    return parted(Encoding.plain(columns), wishes.adjust)


def _kept_rows(moments: Moments) -> KeptRows:
    """Report how many rows there were, how many are kept, and what that means for the shape of residuals."""
    kept = len(moments.rows)
    note = None
    if not kept:
        note = "no rows are kept: residuals are taken to be Gaussian"
    elif not moments.complete:
        note = f"the shape of residuals is that of a sample of {kept} rows, and counts as much"
    return KeptRows(moments.n, moments.n_effective, kept, moments.dropped, note)


def _given_theta(theta: Any, groups: Any, options: Options) -> GivenTheta:
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
    encoding, _ = _plain_parts(range(d) if columns is None else columns, options)
    # The inverse covariance of some variables given all others is that part of Θ.
    theta = theta if encoding.is_plain else as_csr(theta[encoding.kept][:, encoding.kept], "theta")
    return GivenTheta(encoding=encoding, is_named=columns is not None, theta=theta)

"""Choice of the estimator of Θ, and the estimate from a sample.

To add an estimator that inverts the covariance, write a file beside this one, and name it in `kinds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import clone

from icid_rs._util.memory import ensure_square
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import Rows as RowArray
from icid_rs._util.validation import as_csr, as_theta
from icid_rs.data import checks
from icid_rs.data.sample import GivenTheta, IncompleteRows, Rows, Sample, Summary
from icid_rs.options import Options
from icid_rs.precision.blocked import blocked_estimate, check_options
from icid_rs.precision.covariance import Covariance, empirical_covariance, invert
from icid_rs.precision.kinds import BY_INVERSE
from icid_rs.precision.neighbourhood import WIDE, neighbourhood_precision, wide_precision
from icid_rs.precision.standardise import standardise, standardised_root
from icid_rs.precision.variants import Full, Given, Indefinite, Precision

#: The fewest rows that a covariance is estimated from.
_FEWEST = 3
#: With more variables than this the covariance is not inverted.
LARGE = 20_000
#: Rows for each column from which the tests of ``"fdr"`` have the power that ``"lasso"`` has (`benches/wide.py`).
_ROWS_PER_COLUMN = 2.0
#: The ridge of ``collinear="ridge"``.
_RIDGE = 1e-6


@dataclass(frozen=True)
class Estimator:
    """The estimator of Θ that a fit uses.

    Attributes
    ----------
    kind : str or estimator
        One of `kinds.KINDS`, but never ``"auto"``; or an estimator of scikit-learn's kind.
    reason : str or None
        Why ``"auto"`` chose it.
    """

    kind: Any
    reason: str | None = None


def settle_kind(kind: Any, n: int, d: int, ridge: float = 0.0) -> Any:
    """Return the estimator that ``"auto"`` means for n samples of d variables; another kind is returned as it is.

    With few rows for each column, tests of all partial correlations at once have little power, and with fewer rows than
    columns they cannot be computed. A ridge makes the covariance invertible for these tests, so it selects ``"fdr"``.

    Examples
    --------
    >>> from icid_rs.precision.estimate import settle_kind
    >>> settle_kind("auto", 2000, 100), settle_kind("auto", 50, 100)
    ('fdr', 'lasso')
    """
    if kind != "auto":
        return kind
    if d <= LARGE and n >= d + 3 and (ridge or n >= _ROWS_PER_COLUMN * d):
        return "fdr"
    if ridge:
        raise ValueError(
            f"ridge = {ridge} with {n} samples of {d} variables: precision='lasso' needs none; leave it out"
        )
    return "lasso"


def reason(kind: str, n: int, d: int) -> str:
    """Say why ``"auto"`` chose this estimator.

    Examples
    --------
    >>> from icid_rs.precision.estimate import reason
    >>> reason("lasso", 50, 100)
    '50 samples of 100 variables, fewer than 2 for each: neighbours are selected, not tested all at once'
    """
    counts = f"{n} samples of {d} variables"
    if kind == "fdr":
        return f"{counts}: enough to test all partial correlations at once"
    if d > LARGE:
        return f"{counts}, more than {LARGE}: neighbours are selected, and nothing of size d × d is made"
    return f"{counts}, fewer than {_ROWS_PER_COLUMN:g} for each: neighbours are selected, not tested all at once"


def choose_estimator(sample: Sample, options: Options) -> Estimator:
    """Choose the estimator; raise if it needs rows that the sample does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import ICID, Moments
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.reading import read
    >>> from icid_rs.options import Options
    >>> from icid_rs.precision.estimate import choose_estimator
    >>> from icid_rs.precision.kinds import KINDS
    >>> options = Options.of(ICID(), KINDS)
    >>> sample = read(Moments.from_covariance(np.eye(3), 5), None, options, Stopwatch())
    >>> choose_estimator(sample, options).reason
    '5 samples of 3 variables, fewer than 2 for each: neighbours are selected, not tested all at once'
    """
    if isinstance(sample, GivenTheta):
        return Estimator("precomputed")
    n, d = sample.samples, len(sample.names)
    if not sample.blocks.is_single:
        check_options(options, sample.blocks, sample.names)
        counts = f"{n} samples of {sample.blocks.columns} columns for {d} variables, some of them categories"
        return Estimator("fdr", f"{counts}: pairs of variables are tested")
    kind = settle_kind(options.precision, n, d, options.ridge)
    _check_rows(sample, kind)
    return Estimator(kind, reason(kind, n, d) if options.precision == "auto" else None)


def estimate_precision(sample: Sample, estimator: Estimator, options: Options, watch: Stopwatch) -> Precision:
    """Estimate Θ from a sample by the chosen estimator.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.reading import read
    >>> from icid_rs.options import Options
    >>> from icid_rs.precision.estimate import choose_estimator, estimate_precision
    >>> from icid_rs.precision.kinds import KINDS
    >>> options, watch = Options.of(ICID(), KINDS), Stopwatch()
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 100, random_state=0)
    >>> sample = read(X, None, options, watch)
    >>> estimate_precision(sample, choose_estimator(sample, options), options, watch).theta.shape
    (2, 2)
    """
    if isinstance(sample, GivenTheta):
        return _given(sample)
    kind, names, d, threads = estimator.kind, sample.names, len(sample.names), options.n_threads
    if isinstance(sample, Rows) and kind == "lasso" and d > WIDE:
        hidden = options.hidden if options.unmeasured_because is None else None
        penalty = options.edge_penalty(sample.samples, d)
        return wide_precision(sample.values, sample.samples, names, watch, threads, hidden=hidden, penalty=penalty)
    covariance = _covariance(sample, watch)
    if not sample.blocks.is_single:
        return blocked_estimate(_numbers_apart(covariance, sample, options), sample.blocks, watch)
    covariance = covariance.ridged(options.ridge or _needed_ridge(covariance, kind, options))
    matrix, n = covariance.matrix, covariance.samples
    if kind not in BY_INVERSE or n <= d:
        # Estimators that do not invert the covariance do not notice that it is singular.
        checks.check_duplicates(matrix, names)
        if n > d:
            checks.check_covariance(matrix, names)
    if not isinstance(kind, str):
        return _fitted(sample, kind, covariance, watch)
    if kind == "lasso":
        if isinstance(sample, Rows):
            values = standardise(sample.values, covariance.location, np.sqrt(matrix.diagonal()))
        else:
            values = standardised_root(matrix)
        return neighbourhood_precision(values, covariance, names, watch, threads)
    try:
        module = import_module(f"icid_rs.precision.{kind}")
        estimate: Full = module.estimate(covariance, options, watch)
        return estimate
    except np.linalg.LinAlgError:
        checks.check_covariance(matrix, names)
        raise


def _numbers_apart(covariance: Covariance, sample: Rows | IncompleteRows | Summary, options: Options) -> Covariance:
    """Return the covariance of the columns of blocks; raise where numbers are combinations of each other.

    Categories may determine each other, since the search shrinks their correlations.
    """
    numbers = np.flatnonzero(~sample.blocks.is_category)
    columns = sample.blocks.offsets[numbers]
    matrix, names = covariance.matrix[np.ix_(columns, columns)], [sample.names[j] for j in numbers.tolist()]
    if not len(numbers):
        return covariance
    if options.collinear == "ridge":
        return covariance.ridged(_RIDGE) if checks.is_collinear(matrix) else covariance
    checks.check_duplicates(matrix, names)
    if covariance.samples > len(matrix):
        checks.check_covariance(matrix, names)
    return covariance


def _needed_ridge(covariance: Covariance, kind: Any, options: Options) -> float:
    """Return the ridge that ``collinear="ridge"`` adds where columns are collinear."""
    if options.collinear != "ridge" or kind not in BY_INVERSE or covariance.samples <= len(covariance.matrix):
        return 0.0
    return _RIDGE if checks.is_collinear(covariance.matrix) else 0.0


def _check_rows(sample: Rows | IncompleteRows | Summary, kind: Any) -> None:
    """Raise if the estimator needs rows that the sample does not have."""
    # Named estimators start from a covariance, others from rows.
    by_rows = not isinstance(kind, str)
    if isinstance(sample, IncompleteRows) and by_rows:
        raise ValueError(
            f"precision={kind!r} needs complete rows, which missing values do not leave; use precision='fdr', "
            "'lasso' or 'empirical', or missing='drop'"
        )
    if not isinstance(sample, Summary):
        return
    if sample.moments.n < _FEWEST:
        raise ValueError(
            f"the moments are those of {sample.moments.n} row(s): causes cannot be told from fewer than {_FEWEST}"
        )
    if by_rows and not sample.moments.complete:
        raise ValueError(
            f"precision={kind!r} needs all rows, but the moments keep only some of them; use precision='fdr', or "
            "moments with a larger reservoir"
        )


def _covariance(sample: Rows | IncompleteRows | Summary, watch: Stopwatch) -> Covariance:
    values: RowArray | None = None
    match sample:
        case Summary():
            matrix, location = sample.covariance, sample.location
        case IncompleteRows(values=values, estimated=estimated):
            matrix, location = estimated.covariance, estimated.location
        case Rows(values=values):
            # The covariance, its correlations, and its inverse.
            ensure_square(values.shape[1], "the covariance", copies=3)
            matrix, location = empirical_covariance(values)
    watch.lap("covariance")
    checks.check_scales(values, matrix, location, sample.blocks.column_names(sample.names))
    return Covariance(matrix, location, sample.samples)


def _fitted(sample: Any, estimator: Any, covariance: Covariance, watch: Stopwatch) -> Full | Indefinite:
    """Take Θ from an estimator of scikit-learn's kind; if it is indefinite, later fits use the inverse covariance."""
    rows = sample.rows if isinstance(sample, Summary) else sample.values
    fitted = clone(estimator).fit(rows.astype(np.float64, copy=False))
    if not hasattr(fitted, "precision_"):
        raise TypeError(f"precision: {estimator!r} has no attribute precision_ after fit")
    watch.lap("inverse")
    theta = as_csr(as_theta(fitted.precision_), "precision_")
    theta.eliminate_zeros()
    inverse = theta.toarray()
    try:
        np.linalg.cholesky(inverse)
    except np.linalg.LinAlgError:
        try:
            inverse = invert(covariance.matrix)
        except np.linalg.LinAlgError:
            return Indefinite.of(theta, covariance, watch)
    return Full.of(theta, covariance, watch, inverse=inverse)


def _given(sample: GivenTheta) -> Given:
    d = sample.theta.shape[0]
    ensure_square(d, "the covariance", copies=4)
    try:
        covariance = invert(sample.theta.toarray())
    except np.linalg.LinAlgError:
        raise ValueError(
            "theta is not positive definite, or nearly singular: no model has it as inverse covariance"
        ) from None
    return Given(sample.theta, covariance, location=np.zeros(d))

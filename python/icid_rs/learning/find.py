"""From a sample to a causal model, on straightened columns where these fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from icid_rs._core import NumericalError
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.data.faults import TableError
from icid_rs.data.reading import straightened
from icid_rs.data.sample import IncompleteRows, Rows, Sample
from icid_rs.learning.learn import learn
from icid_rs.learning.learned import Learned
from icid_rs.learning.straightening import choose_transform, rescue_by_scores
from icid_rs.options import Options
from icid_rs.precision.estimate import Estimator, choose_estimator, estimate_precision
from icid_rs.precision.variants import Precision
from icid_rs.report import TransformChoice


@dataclass(frozen=True)
class Found:
    """A causal model, with the sample and the options that led to it.

    Attributes
    ----------
    sample : Sample
        With straightened columns, where a transform was chosen.
    options : Options
        With unequal noise variances, where normal scores stand for columns.
    estimator : Estimator
    estimate : Precision
    learned : Learned
    transform : TransformChoice
    """

    sample: Sample
    options: Options
    estimator: Estimator
    estimate: Any
    learned: Learned
    transform: TransformChoice


def find(sample: Sample, options: Options, watch: Stopwatch) -> Found:
    """Learn a graph, and once more from straightened columns if the linear model fits these clearly better.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.reading import read
    >>> from icid_rs.learning.find import find
    >>> from icid_rs.options import Options
    >>> from icid_rs.precision.kinds import KINDS
    >>> options, watch = Options.of(ICID(), KINDS), Stopwatch()
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0)
    >>> find(read(X, None, options, watch), options, watch).learned.sem.B.nnz
    1
    """
    options = options.for_scores() if sample.encoding.is_scored else options
    try:
        found = _learned(sample, options, watch)
    except (NumericalError, TableError):
        straightening = rescue_by_scores(sample, options)
        if not straightening.curves:
            raise
    else:
        straightening = choose_transform(found.learned, sample, options)
    watch.lap("refine")
    if straightening.curves:
        assert isinstance(sample, Rows | IncompleteRows), "curves are those of rows"
        sample = straightened(sample, straightening.curves, options)
        found = _learned(sample, options.for_scores(), watch)
    return replace(found, transform=straightening.choice)


def _learned(sample: Sample, options: Options, watch: Stopwatch) -> Found:
    estimator = choose_estimator(sample, options)
    estimate: Precision = estimate_precision(sample, estimator, options, watch)
    return Found(sample, options, estimator, estimate, learn(estimate, sample, options, watch), TransformChoice())

"""Whether the columns are curved versions of columns that the linear model describes.

Monotone distortions (exponentials, powers, ranks) leave the dependences of a Gaussian model intact, but bend its lines;
normal scores undo them (the nonparanormal of Liu, Lafferty and Wasserman 2009). They would also bend the lines of a
linear model whose noise has a shape. What tells the two apart is whether residuals are independent of their causes:
for the columns as they are, or for their scores. Both are measured on the graph that was found in the columns as they
are, so that a table that needs no transform is fitted once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs import _core
from icid_rs._util.validation import FloatArray, csr_parts
from icid_rs.data import collinear
from icid_rs.data.blocks import Blocks
from icid_rs.data.sample import IncompleteRows, Rows, Sample
from icid_rs.data.transforms import score_curves, transformable
from icid_rs.graph.curves import Curve
from icid_rs.graph.sem import Csr, LinearSem
from icid_rs.learning.learned import Learned
from icid_rs.options import Options
from icid_rs.report import TransformChoice

#: Residuals that depend on their causes by more than this do not fit; with few rows by more than so much times 1/n. A
#: fit by scores has a dependence below the second number, or below this share of the former. All were chosen after
#: looking at simulated tables with Gaussian, exponential, uniform, Laplace, Gumbel and t noise, distorted and not.
_MISFIT, _MISFIT_ROWS, _FIT, _SHARE = 0.05, 40.0, 0.02, 0.25
#: Fewer rows show too little.
_FEWEST_ROWS = 100
#: Rows and variables that are looked at.
_MOST_ROWS, _MOST_VARIABLES = 10_000, 300
#: Residuals that are smaller than this share of a column are rounding errors.
_NOTHING = 1e-6
#: No single residual is computed beside more columns than this.
_MOST_COLUMNS = 4000


@dataclass(frozen=True)
class Straightening:
    """Curves for columns by their places, none if they stay as they are, and the record of the choice."""

    choice: TransformChoice
    curves: dict[int, Curve] = field(default_factory=dict)


def choose_transform(learned: Learned, sample: Sample, options: Options) -> Straightening:
    """Decide whether normal scores should stand for the numbers of a table, given the graph that was found in them.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem(datasets.random_sem(10, 1, random_state=0)[0], 500, random_state=0)
    >>> [ICID().fit(table).info_["choices"]["transform"]["chosen"] for table in (X, np.exp(X))]
    [None, 'normal-scores']
    """
    if options.transform != "auto":
        curves = sample.encoding.variable_curves
        return Straightening(TransformChoice({sample.names[j]: curve.kind for j, curve in curves.items()}))
    rows = _rows(sample)
    reason = _reason_against(learned, sample, rows, options)
    if reason is not None or rows is None or not isinstance(sample, Rows | IncompleteRows):
        return Straightening(TransformChoice(reason=reason or "there are no rows to look at"))
    before = dependence(_without_extremes(rows, sample.blocks), sample.blocks, learned.sem.B, options.n_threads)
    if before <= max(_MISFIT, _MISFIT_ROWS / len(rows)):
        return Straightening(TransformChoice(dependence=before, reason="the linear model fits the columns as they are"))
    curves = score_curves(sample.values, sample.encoding, transformable(sample.values, sample.encoding))
    scored = np.asarray(sample.encoding.with_curves(curves).straightened(rows), dtype=np.float64)
    after = dependence(scored, sample.blocks, learned.sem.B, options.n_threads)
    found = TransformChoice(dependence=before, transformed=after)
    if not curves or after > max(_FIT, _SHARE * before):
        return _as_it_is(found, "normal scores do not fit clearly better")
    if _are_redundant(_numbers(scored, sample.blocks)):
        return _as_it_is(found, "normal scores of some columns are copies of each other, or add up to others")
    why = "residuals depend on their causes, but hardly those of normal scores"
    return Straightening(TransformChoice(_kinds(curves, sample), before, after, why), curves)


def rescue_by_scores(sample: Sample, options: Options) -> Straightening:
    """Choose normal scores for a table that cannot be fitted as it is, if only its largest values are to blame.

    Where a few rows are many powers of ten larger than others, correlations are those of these rows, and columns look
    like combinations of each other. Real combinations, such as shares that add up to one, are still there after each
    row, and a constant beside it, have been divided by the row's largest value.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import ICID, datasets
    >>> Z = datasets.sample_sem(datasets.random_dag(10, 2, random_state=0), 300, random_state=0)
    >>> ICID().fit(np.exp(2 * Z)).info_["choices"]["transform"]["reason"]
    'a few large values alone make columns look like combinations of others'
    """
    rows = _rows(sample)
    ready = rows is not None and options.transform == "auto" and not _settings_against(sample, rows, options)
    if not ready or rows is None or not isinstance(sample, Rows | IncompleteRows):
        return Straightening(TransformChoice())
    numbers = _numbers(rows, sample.blocks)
    typical = np.median(np.abs(numbers), axis=0)
    scaled = numbers / np.where(typical > 0, typical, 1.0)
    largest = np.abs(scaled).max(axis=1, keepdims=True)
    curves = score_curves(sample.values, sample.encoding, transformable(sample.values, sample.encoding))
    scored = np.asarray(sample.encoding.with_curves(curves).straightened(rows), dtype=np.float64)
    with_constant = np.column_stack([scaled, np.ones(len(scaled))]) / np.where(largest > 0, largest, 1.0)
    if _are_redundant(with_constant) or _are_redundant(_numbers(scored, sample.blocks)):
        return Straightening(TransformChoice())
    why = "a few large values alone make columns look like combinations of others"
    return Straightening(TransformChoice(_kinds(curves, sample), reason=why), curves)


def _numbers(rows: FloatArray, blocks: Blocks) -> FloatArray:
    return np.asarray(rows[:, blocks.offsets[np.flatnonzero(~blocks.is_category)]])


def _without_extremes(rows: FloatArray, blocks: Blocks) -> FloatArray:
    """Leave out one row in a hundred, those farthest out in any number: curves do not rest on single values."""
    numbers = _numbers(rows, blocks)
    low, centre, high = np.quantile(numbers, [0.25, 0.5, 0.75], axis=0)
    furthest = (np.abs(numbers - centre) / np.where(high > low, high - low, 1.0)).max(axis=1, initial=0.0)
    return np.asarray(rows[furthest <= np.quantile(furthest, 0.99)])


def _are_redundant(numbers: FloatArray) -> bool:
    """Tell whether some columns are constant, or combinations of others."""
    count = numbers.shape[1]
    return bool(
        (np.ptp(numbers, axis=0) == 0).any() or collinear.redundant(numbers, Blocks.numbers(count), range(count))
    )


def _kinds(curves: dict[int, Curve], sample: Sample) -> dict[Any, str]:
    return {sample.encoding.columns[k]: curve.kind for k, curve in curves.items()}


def _as_it_is(found: TransformChoice, reason: str) -> Straightening:
    return Straightening(TransformChoice({}, found.dependence, found.transformed, reason))


def _rows(sample: Sample) -> FloatArray | None:
    """Return complete rows, at most so many, at equal distances."""
    if not isinstance(sample, Rows | IncompleteRows):
        return None
    X = sample.values
    if isinstance(sample, IncompleteRows):
        X = X[np.isfinite(X).all(axis=1)]
    return np.ascontiguousarray(X[:: -(-len(X) // _MOST_ROWS) or 1], dtype=np.float64)


def _reason_against(learned: Learned, sample: Sample, rows: FloatArray | None, options: Options) -> str | None:
    """Say why a transform is not even looked for; None if it is."""
    if rows is None:
        return "there are no rows to look at"
    if not isinstance(learned.sem, LinearSem):
        return "the graph has cycles"
    return _settings_against(sample, rows, options)


def _settings_against(sample: Sample, rows: FloatArray, options: Options) -> str | None:
    """Say why the options or the size of a table rule out a transform; None if they do not."""
    if options.refine in (None, "order"):
        return "the graph is not searched for"
    if options.noise == "equal" or options.noise_variances is not None:
        return "the noise variances that are supposed are those of the columns as they are"
    if sample.facts.groups is not None:
        return "the means of groups were taken out of the columns as they are"
    if sample.adjustment is not None:
        return "the effects of covariates were taken out of the columns as they are"
    if len(rows) < _FEWEST_ROWS:
        return f"fewer than {_FEWEST_ROWS} complete rows show too little"
    return "there are too many columns" if sample.blocks.columns > _MOST_COLUMNS else None


def dependence(rows: FloatArray, blocks: Blocks, B: Csr, threads: int | None = None) -> float:
    """Return how far residuals are from being independent of their causes, in the median of the numbers with causes.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs import datasets
    >>> from icid_rs.data.blocks import Blocks
    >>> from icid_rs.learning.straightening import dependence
    >>> B = sp.csr_array([[0, 0.8], [0, 0]])
    >>> X = datasets.sample_sem(B, 1000, random_state=0)
    >>> [dependence(table, Blocks.numbers(2), B) < 0.05 for table in (X, np.exp(X))]
    [True, False]
    """
    location, deviations = rows.mean(axis=0), rows.std(axis=0)
    columns = sp.csc_array(B)
    degrees = np.diff(columns.indptr)
    effects = np.flatnonzero((degrees > 0) & ~blocks.is_category & (deviations[blocks.offsets[:-1]] > 0))
    if not len(effects):
        return 0.0
    effects = effects[:: -(-len(effects) // _MOST_VARIABLES)]
    weights = sp.lil_array((blocks.columns, blocks.columns))
    for j in effects.tolist():
        causes = columns.indices[columns.indptr[j] : columns.indptr[j + 1]]
        own, others = int(blocks.offsets[j]), blocks.select(causes.tolist())[1]
        others = others[deviations[others] > 0]
        Z = (rows[:, others] - location[others]) / deviations[others]
        centred = rows[:, own] - location[own]
        slopes = np.linalg.lstsq(Z, centred, rcond=None)[0]
        # A copy or a sum of its causes leaves no residual.
        if np.std(centred - Z @ slopes) > _NOTHING * deviations[own]:
            weights[others, own] = slopes / deviations[others]
    graph = sp.csr_array(weights)
    largest = np.full(blocks.columns, np.nan)
    np.fmax.at(largest, graph.indices, _core.dependence_statistics(rows, location, csr_parts(graph), n_threads=threads))
    known = largest[~np.isnan(largest)]
    return float(np.median(known)) if known.size else 0.0

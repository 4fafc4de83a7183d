"""What a fit reports: the record of its steps, and its warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.warn import warn_user
from icid_rs.data import checks
from icid_rs.data.sample import GivenTheta, Sample
from icid_rs.graph.layer import Layer
from icid_rs.learning.find import Found
from icid_rs.learning.learn import measurement_choice
from icid_rs.learning.learned import Learned
from icid_rs.learning.measurement import warn_of_layer
from icid_rs.options import Options
from icid_rs.precision.variants import Full, Precision
from icid_rs.report import FitReport
from icid_rs.trust import sortability
from icid_rs.trust.check.audit import Audit
from icid_rs.trust.claims import Claimed


def record_fit(
    claimed: Claimed,
    model: Found,
    found: Audit,
    watch: Stopwatch,
) -> FitReport:
    """Record the steps of a fit, and warn where its directions may depend on units.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> ICID().fit(datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0)).fit_report_.rows
    500
    """
    sample, options, estimate, estimator = model.sample, model.options, model.estimate, model.estimator
    learned, noise = claimed.learned, _noise(claimed.learned, options)
    sem, modelled = learned.sem, learned.modelled(estimate)
    by_scale = noise == "equal" and options.noise == "auto" and learned.choices is not None
    return FitReport(
        timings=dict(watch.timings),
        settings=options.settled(estimator.kind),
        sample=sample.facts,
        precision_reason=estimator.reason,
        refine=learned.refine,
        noise=noise,
        unit=learned.unit,
        lambda1=estimate.lambda1,
        criterion=estimate.criterion,
        decomposition={"history": []} if learned.decomposition is None else learned.decomposition.as_info(),
        refinement=learned.refinement,
        choices=learned.choices,
        claims=claimed.record,
        measurement=measurement_choice(learned, estimate, options, sample.names),
        variables=len(sample.names),
        acyclic=sem.order is not None,
        sortability=None
        if sem.order is None or learned.columns is not None
        else sortability.report(sem.B, modelled.variances, modelled.diagonal, by_scale=by_scale),
        checks=found.assumptions,
        rows=None if isinstance(sample, GivenTheta) else sample.samples,
        categories={sample.names[j]: int(sample.blocks.widths[j]) + 1 for j in sample.blocks.wide.tolist()},
        codes=sample.encoding.codes,
        dropped=sample.encoding.dropped,
        transform=model.transform,
    )


def measurement_layer(learned: Learned, estimate: Precision) -> Layer:
    """Return hidden causes and errors of measurement in the units of the columns."""
    if learned.measurement is None:
        return Layer.none(estimate.variables)
    return learned.measurement.layer.scaled(np.sqrt(estimate.variances))


def warn_of_fit(learned: Learned, sample: Sample, estimate: Precision, options: Options) -> None:
    """Warn of scales that decide directions, nearly collinear columns, a search cut short, and a measurement layer."""
    if _noise(learned, options) == "equal" and not isinstance(sample, GivenTheta):
        checks.warn_of_scales(estimate.covariance, sample.names)
    if isinstance(estimate, Full):
        checks.warn_of_collinearity(estimate.covariance, estimate.inverse, sample.names)
    _warn_if_cut_short(learned, options)
    if options.demanded is None:
        warn_of_layer(measurement_choice(learned, estimate, options, sample.names))


def warn_if_empty(learned: Learned, theta: Any, names: Sequence[Any], options: Options) -> None:
    """Warn of an empty graph, and name the cause; `theta` is the Θ that the graph was fitted to."""
    if learned.sem.B.nnz or len(names) == 1:
        return
    if learned.measurement is not None:
        why = (
            "hidden causes and errors of measurement explain all that the columns have in common; hidden=None and "
            "measurement_error=None give the graph without them"
        )
    elif theta.nnz == theta.shape[0]:
        why = "no partial correlation differs from zero: the variables look independent, or there are too few rows"
    elif options.threshold > 0:
        why = f"threshold = {options.threshold:g} may have removed every edge; lower it"
    elif learned.refine is None:
        why = "the penalty removed every edge: lower l1_weight"
    else:
        why = "no edge earns its penalty: find more rows"
    warn_user(f"the graph is empty: {why}")


def _noise(learned: Learned, options: Options) -> str:
    """Name the noise model of a fit: the one chosen, or else the one that the decomposition supposes."""
    if learned.choices is not None:
        return learned.choices.noise.chosen
    return "equal" if options.noise_variances is None else "known"


def _warn_if_cut_short(learned: Learned, options: Options) -> None:
    """Warn of a search that might have found a better graph."""
    ended = None if learned.refinement is None else learned.refinement.details.get("ended")
    remedy = {
        "out of trials": "all trials were made while they still improved the graph; raise trials",
        "out of time": f"its time limit of {options.time_limit} s was reached; raise time_limit",
    }
    if ended in remedy and options.trials != 0:
        warn_user(f"the search has not converged: {remedy[ended]}", ConvergenceWarning)

"""From an estimate of Θ to a causal model: which strategy learns it, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, Rows
from icid_rs.data.sample import GivenTheta, Sample
from icid_rs.graph.covariances import SampleMoments, residual_rows
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.sem import Csr, CyclicSem, LinearSem
from icid_rs.learning.contingency import codes_of, unconfirmed
from icid_rs.learning.exact import decompose_exactly
from icid_rs.learning.learned import Learned, class_of
from icid_rs.learning.measurement import choose_layer, layer_of_wide, member_along, unmeasured_because
from icid_rs.learning.noise_model import choose_noise_model, is_order_of_use
from icid_rs.learning.order import best_order
from icid_rs.learning.search import TimeLimit
from icid_rs.learning.starts import Proposal, Proposer
from icid_rs.options import Options
from icid_rs.precision.variants import Blocked, FewRows, Full, Given, Indefinite, Precision, Wide
from icid_rs.report import MeasurementChoice

#: Searches without edges that tables of levels do not confirm.
_CONFIRMING_ROUNDS = 8


@dataclass(frozen=True)
class Task:
    """The input of a strategy: the estimate of Θ, rows that show the shape of residuals, and a proposer of orders."""

    names: Sequence[Any]
    estimate: Any
    rows: Rows | None
    options: Options
    known: FloatArray | None
    knowledge: Knowledge | None
    proposer: Proposer
    watch: Stopwatch

    def propose(self, *, order_only: bool) -> Proposal:
        """Decompose Θ and project the result, and time both."""
        decomposition = self.proposer.decompose(order_only=order_only)
        self.watch.lap("decompose")
        proposal = self.proposer.project(decomposition)
        self.watch.lap("dag")
        return proposal


Strategy: TypeAlias = Callable[[Task], Learned]


def learn(estimate: Precision, sample: Sample, options: Options, watch: Stopwatch) -> Learned:
    """Learn a causal model by the strategy that fits the estimate and the options."""
    columns = sample.encoding.columns
    knowledge = Knowledge.make(columns, required=options.required, forbidden=options.forbidden, tiers=options.tiers)
    if knowledge is not None and len(sample.names) < len(columns):
        knowledge = knowledge.among(sample.encoding.kept, columns)
    known = options.known_variances(estimate.variables)
    strategy = choose_strategy(estimate, options, known, knowledge)
    proposer = Proposer.of(estimate, sample, options, knowledge)
    watch.lap("skewness")
    rows = None if isinstance(sample, GivenTheta) else sample.shape_rows
    if isinstance(estimate, Wide) and layer_of_wide(estimate) is not None:
        # Rows show residuals together with what hidden causes contribute.
        rows = None
    if isinstance(estimate, Blocked) and (sample.facts.groups or sample.facts.adjusted) is not None:
        # Without the means of groups, or effects of covariates, indicators are no levels.
        rows = None
    learned = strategy(Task(sample.names, estimate, rows, options, known, knowledge, proposer, watch))
    watch.lap("refine")
    sem = _cut(learned.sem, learned.modelled(estimate), proposer, options.threshold)
    watch.lap("noise")
    learned = replace(learned, sem=sem, unit=proposer.unit, cpdag=class_of(sem, knowledge), knowledge=knowledge)
    return learned.in_units(estimate, options.n_threads)


def measurement_choice(
    learned: Learned, estimate: Precision, options: Options, names: Sequence[Any]
) -> MeasurementChoice:
    """Record the measurement layer of a learned model, or why there is none.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0)
    >>> ICID(measurement_error=None, hidden=None).fit(X).info_["measurement"]["note"]
    'hidden causes and errors of measurement were switched off'
    """
    if learned.measurement is None:
        return MeasurementChoice(note=learned.unmeasured or unmeasured_because(estimate, options))
    return learned.measurement.choice(names)


def sample_moments(estimate: Precision, sample: Sample, learned: Learned) -> SampleMoments:
    """Return what effects in the learned graph are estimated from, and a sample of its residuals.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> ICID().fit(datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0)).graph_.sample_.samples
    500
    """
    rows = None if isinstance(sample, GivenTheta) or learned.measurement else sample.shape_rows
    weights = learned.sem.B if learned.columns is None else learned.columns.weights
    residuals = None if rows is None else residual_rows(rows, weights)
    return SampleMoments(estimate.covariances, getattr(estimate, "samples", None), residuals)


def choose_strategy(
    estimate: Precision, options: Options, known: FloatArray | None, knowledge: Knowledge | None
) -> Strategy:
    """Pick the strategy for an estimate and the options; raise if no strategy fits both.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, fdr_precision
    >>> from icid_rs.learning.learn import choose_strategy
    >>> from icid_rs.options import Options
    >>> estimate = fdr_precision(datasets.sample_sem(datasets.random_dag(5, 1, random_state=0), 100, random_state=0))
    >>> choose_strategy(estimate, Options.of(ICID(refine="order"), {"auto": True}), None, None).__name__
    'along_an_order'
    """
    kind, d = options.refine, estimate.variables
    unmeasured = unmeasured_because(estimate, options)
    if options.demanded is not None and unmeasured is not None:
        raise ValueError(f"{options.demanded}: {unmeasured}")
    if kind is None:
        return decomposition_alone
    unequal = options.noise == "unequal" and known is None
    match estimate:
        case Given():
            if kind == "search":
                raise ValueError("refine='search' needs data, but precision='precomputed' gives none")
            return exact_decomposition
        case Indefinite(samples=n) | Full(samples=n) if isinstance(estimate, Indefinite) or n < d + 3:
            if kind != "auto" or unequal:
                raise ValueError(
                    f"n_samples = {n} for {d} columns: refine={kind!r} regresses each column on those before it, "
                    f"which needs at least {d + 3} rows; use precision='lasso', refine=None, or fewer columns"
                )
            return decomposition_alone
        case Blocked():
            return noise_model
        case Full() | FewRows() | Wide():
            return along_an_order if kind == "order" else noise_model
    raise AssertionError(f"no strategy for {type(estimate).__name__}")


def decomposition_alone(task: Task) -> Learned:
    """Take the decomposition of Θ for the result, as in the paper."""
    proposal = task.propose(order_only=False)
    variances = task.estimate.residual_variances(proposal.B)
    return Learned(_sem(proposal.B, proposal.order, variances), proposal.decomposition)


def exact_decomposition(task: Task) -> Learned:
    """Decompose a given Θ exactly, or as the paper does where the exact decomposition has more edges.

    The exact decomposition of an estimate would make edges of its errors.
    """
    options = task.options
    proposal = task.propose(order_only=True)
    theta, knowledge = task.estimate.theta, task.knowledge
    exact = decompose_exactly(theta, _order(proposal), task.known, options.n_threads, knowledge=knowledge)
    if options.refine == "order" and knowledge is not None and not exact.confirmed:
        raise ValueError("theta has no exact decomposition that respects what is known of the edges; use refine=None")
    if options.refine == "order" or exact.confirmed:
        return Learned(exact.sem, proposal.decomposition, "order", exact.report)
    sparse = decomposition_alone(task)
    if exact.respectful and exact.sem.B.nnz <= sparse.sem.B.nnz:
        return Learned(exact.sem, sparse.decomposition, "order", exact.report)
    return sparse


def along_an_order(task: Task) -> Learned:
    """Fit the graph along the better of two orders."""
    proposal = task.propose(order_only=True)
    searcher = task.estimate.searcher(task.knowledge, task.options.n_threads)
    penalty = task.options.edge_penalty(task.estimate.samples, task.estimate.variables)
    fit = best_order(searcher, _order(proposal), penalty, task.known)
    return Learned(fit.sem, proposal.decomposition, "order", fit.report)


def noise_model(task: Task) -> Learned:
    """Choose between equal and unequal noise variances by the score; search for the graph if they are unequal."""
    decomposition = proposed = None
    # A caller who observes the decomposition is shown one, whether it is of use or not.
    is_observed = task.options.observer() is not None and not isinstance(task.estimate, Blocked)
    if is_order_of_use(task.estimate, task.options) or is_observed:
        proposal = task.propose(order_only=True)
        decomposition, proposed = proposal.decomposition, _order(proposal)
    limit = TimeLimit(task.options.time_limit)
    model = choose_noise_model(task.estimate, task.rows, task.proposer, proposed, task.options, limit)
    learned = Learned(model.sem, decomposition, model.refine, model.refinement, model.choices, search=model.search)
    if isinstance(task.estimate, Blocked) and task.rows is not None:
        learned = _confirmed(task, learned)
    task.watch.lap("refine")
    return _measured(task, learned, limit)


def _confirmed(task: Task, learned: Learned) -> Learned:
    """Search again without the edges between categories that rest on the misfit of straight lines."""
    search, refinement, choices = learned.search, learned.refinement, learned.choices
    assert search is not None
    assert refinement is not None
    assert choices is not None
    assert task.rows is not None
    codes = codes_of(task.rows, task.estimate.blocks)
    apart = np.empty((0, 2), dtype=np.int64)
    sem: Any = learned.sem
    is_thorough = True
    for _ in range(_CONFIRMING_ROUNDS):
        found = unconfirmed(sem.B, codes, task.knowledge)
        if not len(found) and is_thorough:
            break
        # Edges often fall in turns, so that trials wait until none is left that tables do not confirm.
        is_thorough = not len(found)
        apart = np.concatenate([apart, found])
        knowledge = (task.knowledge or Knowledge.nothing(len(task.names))).apart(apart)
        search = search.of(task.estimate.searcher(knowledge, task.options.n_threads))
        start = {"search": knowledge.arrange(sem.order)}
        again = search.run(start, penalty=choices.penalty.value, effort=search.effort if is_thorough else None)
        sem, refinement = again.sem, replace(refinement, score=again.score)
    if not len(apart):
        return learned
    names = [[task.names[i], task.names[j]] for i, j in apart.tolist()]
    refinement = replace(refinement, details={**refinement.details, "unconfirmed": names})
    return replace(learned, sem=sem, search=search, refinement=refinement, unconfirmed=apart)


def _measured(task: Task, without: Learned, limit: TimeLimit) -> Learned:
    """Add hidden causes and errors of measurement to the model, if they are asked for or worth their parameters."""
    unmeasured = unmeasured_because(task.estimate, task.options)
    if unmeasured is None and isinstance(task.estimate, Wide):
        return replace(without, measurement=layer_of_wide(task.estimate))
    if unmeasured is None and limit.is_over and task.options.demanded is None:
        # Whatever is added to a half-searched graph seems to be worth its parameters.
        unmeasured = "the time limit was reached before hidden causes and errors of measurement were looked for"
    if unmeasured is not None:
        return replace(without, unmeasured=unmeasured)
    assert isinstance(without.sem, LinearSem)
    measurement = choose_layer(task.estimate, without.sem, task.knowledge, task.options, task.names, limit)
    task.watch.lap("measurement")
    if measurement is None:
        return without
    # The residuals of what is behind the measurements are unknown, and taken to be Gaussian.
    model = choose_noise_model(measurement.estimate, None, task.proposer, measurement.order, task.options, limit)
    sem = model.sem
    # An order along which edges that knowledge forbids are reversed would not do.
    if model.choices.noise.chosen == "unequal" and task.knowledge is None:
        sem = member_along(sem, without.sem.order, measurement.estimate, task.options.n_threads)
    chosen = (model.refine, model.refinement, model.choices)
    return Learned(sem, without.decomposition, *chosen, search=model.search, measurement=measurement, observed=without)


def _order(proposal: Proposal) -> Any:
    assert proposal.order is not None, "options refuse dag=None together with a refinement"
    return proposal.order


def _cut(
    sem: LinearSem | CyclicSem, estimate: Precision, proposer: Proposer, threshold: float
) -> LinearSem | CyclicSem:
    """Drop weights below a threshold; required edges stay."""
    B = sem.B
    B.data[np.abs(B.data) < threshold] = 0.0
    B.eliminate_zeros()
    B = proposer.complete(B)
    return _sem(B, sem.order, estimate.residual_variances(B) if threshold else sem.noise_variances)


def _sem(B: Csr, order: NDArray[np.intp] | None, variances: FloatArray) -> LinearSem | CyclicSem:
    return CyclicSem(B, variances) if order is None else LinearSem(B, order, variances)

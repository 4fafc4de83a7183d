"""Choosing the noise model, the penalty, and whether the shape of residuals counts, without the true graph.

Everything is decided by one score, twice the negative log-likelihood plus penalties in the manner of BIC:

- Noise variances are equal (one parameter, log n) or unequal (d parameters, whose price is `variance_price`).
- The residuals of each variable are Gaussian, or have a shape (two parameters, log n each), which gains 2 n times their
  negentropy in twice the log-likelihood. Where no residual has a shape, none is looked for.
- An edge costs log n + 4 log d, times the inflation of the null (`calibrate`); less where the data have many weak edges
  (`lower_price`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from icid_rs import _core
from icid_rs._util.validation import FloatArray, Rows, csr_parts
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.sem import LinearSem
from icid_rs.learning.calibration import calibrate
from icid_rs.learning.order import OrderFit, best_order
from icid_rs.learning.price import variance_price
from icid_rs.learning.search import BudgetedSearch, Searched, TimeLimit
from icid_rs.learning.starts import Proposer
from icid_rs.learning.unequal import Modelled, Unequal, UnequalSearch
from icid_rs.options import Options
from icid_rs.precision.variants import Blocked, Corrected, FewRows, Full, NumberSearcher
from icid_rs.report import Choices, NoiseChoice, PenaltyChoice, Refinement

#: Columns whose variances differ relatively by less than this were standardised.
_SAME_VARIANCE = 1e-4
#: No order is improved if equal noise variances lose more than this many times the price of unequal ones.
_IMPLAUSIBLE = 20
#: With at most this many variables the order is always rechecked.
_FEW_VARIABLES = 2000
#: With more, it is rechecked if chance explains its noise variances in fewer than one table in ten.
_DOUBT = 0.1
#: Equal noise variances are beyond doubt if their score on the same graph is less by this: a Bayes factor of 1e12.
_BEYOND_DOUBT = 2.0 * np.log(1e12)


@dataclass(frozen=True)
class NoiseModel:
    """A graph, the record of its competitors, the choices that led to it, and the searches that found it."""

    sem: LinearSem
    refine: str
    refinement: Refinement
    choices: Choices
    search: BudgetedSearch


def choose_noise_model(
    estimate: Modelled,
    rows: Rows | None,
    proposer: Proposer,
    proposed: NDArray[np.intp] | None,
    options: Options,
    limit: TimeLimit,
) -> NoiseModel:
    """Choose the noise model, and search for the graph where elimination does not give it.

    Parameters
    ----------
    estimate : Full, FewRows, Wide or Blocked
    rows : array of shape (n, d), optional
        All rows or a sample of them, which show the shape of residuals; without them residuals are Gaussian.
    proposer : Proposer
        Proposes further start orders.
    proposed : array of shape (d,), optional
        The order of the decomposition, where there `is_order_of_use`.
    options : Options
    limit : TimeLimit
        Of the searches.

    Returns
    -------
    NoiseModel
    """
    shows_shapes = "shape" in options.orient and not isinstance(estimate, Blocked)
    task = _Task(estimate, rows if shows_shapes else None, proposer, proposed, options, limit)
    return task.with_misfit(_choose(task, options, proposer.knowledge))


def _choose(task: _Task, options: Options, knowledge: Knowledge | None) -> NoiseModel:
    if _is_unequal(task.estimate, options):
        return task.searched(task.unequal.run())
    ordered = task.fit_order()
    if not (task.given or ordered.is_beyond_doubt):
        # Variances may be equal by chance along a wrong order, with which conditional independences or shapes disagree.
        found = task.unequal.run()
        ordered = task.beside(ordered, found)
        if ordered.equal >= ordered.unequal:
            return task.searched(found, {"unequal": ordered.unequal, "equal": ordered.equal})
    # Elimination respects knowledge about orders, but not about single edges.
    if options.refine == "search" or not (knowledge is None or knowledge.is_order):
        return task.search_from(ordered)
    refine = "search" if ordered.fit.report.order == "search" else "order"
    return task.ordered(ordered.fit, refine, task.choices_of(ordered))


def is_order_of_use(estimate: Modelled, options: Options) -> bool:
    """Tell whether the order of the decomposition is fitted, or searched from.

    It depends on the units of the columns, so that searches with unequal noise variances do not start from it by
    default.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, fdr_precision
    >>> from icid_rs.learning.noise_model import is_order_of_use
    >>> from icid_rs.options import Options
    >>> estimate = fdr_precision(datasets.sample_sem(datasets.random_dag(5, 1, random_state=0), 100, random_state=0))
    >>> [is_order_of_use(estimate, Options.of(ICID(noise=noise), {"auto": True})) for noise in ("auto", "unequal")]
    [True, False]
    """
    return options.is_weighted or not _is_unequal(estimate, options)


def _is_unequal(estimate: Modelled, options: Options) -> bool:
    """Tell whether noise variances are unequal whatever the scores: as asked, or since columns are standardised."""
    if options.known_variances(estimate.variables) is not None or options.noise == "equal":
        return False
    if options.noise == "unequal" or "variance" not in options.orient or isinstance(estimate, Blocked):
        return True
    # With the same variance for all columns, noise variances can be equal only without any edge.
    variances = estimate.variances
    return bool(variances.max() <= variances.min() * (1 + _SAME_VARIANCE))


@dataclass(frozen=True)
class _Ordered:
    """A graph along an order with equal or known noise variances.

    Attributes
    ----------
    fit : OrderFit
    inflation : float
        Of the null.
    equal, unequal : float
        Scores with equal (or known) and with unequal noise variances.
    is_same_graph : bool
        Whether the score with unequal noise variances is that of the same graph, not of the best one.
    """

    fit: OrderFit
    inflation: float
    equal: float
    unequal: float
    is_same_graph: bool = True

    @property
    def is_beyond_doubt(self) -> bool:
        """Whether noise variances are so nearly equal that another graph need not be looked for."""
        return bool(self.unequal - self.equal > _BEYOND_DOUBT)


class _Task:
    """A table with its estimate; methods fit graphs to it under one noise model or another."""

    def __init__(
        self,
        estimate: Modelled,
        rows: Rows | None,
        proposer: Proposer,
        proposed: NDArray[np.intp] | None,
        options: Options,
        limit: TimeLimit,
    ) -> None:
        self.estimate, self.proposer, self._proposed = estimate, proposer, proposed
        self.n, self.d = estimate.samples, estimate.variables
        self.log_n = float(np.log(self.n))
        self.known = options.known_variances(self.d)
        self.given = options.noise == "equal" or self.known is not None
        self.searcher = estimate.searcher(proposer.knowledge, options.n_threads)
        self.searches = BudgetedSearch(self.searcher, options.trials, limit, options.seed, self.d)
        self.base, self.is_penalty_given = options.edge_penalty(self.n, self.d), options.penalty is not None
        if isinstance(estimate, Corrected) and estimate.price is not None:
            self.base, self.is_penalty_given = estimate.price, True
        start = proposed if options.is_weighted else None
        self.unequal = UnequalSearch(
            estimate, rows, self.searches, start, self.base, self.is_penalty_given, options.n_threads
        )

    @property
    def proposed(self) -> NDArray[np.intp]:
        """The order of the decomposition."""
        assert self._proposed is not None, "no order of use was given"
        return self._proposed

    def fit_order(self) -> _Ordered:
        """Fit along an order, and compare equal or known noise variances with unequal ones."""
        fit, inflation = self.along_order(1.0), 1.0
        refit: Callable[[float], OrderFit] = self.along_order
        if isinstance(self.estimate, FewRows) or self.may_be_improved(fit):
            fit, refit = self.improved_order(fit)
        if self.given or self.equal_score(fit.sem, 1.0) <= self.unequal_score(fit.sem, 1.0):
            # Calibrate the null only on a plausible order: under a wrong one residuals are correlated anyway.
            fit, inflation = (fit, 1.0) if self.is_penalty_given else calibrate(fit, refit, self.searcher)
        equal, unequal = self.equal_score(fit.sem, inflation), self.unequal_score(fit.sem, inflation)
        return _Ordered(fit, inflation, equal, unequal)

    def along_order(self, inflation: float) -> OrderFit:
        """Fit along the order of elimination, or the proposed one if that is better."""
        assert isinstance(self.searcher, NumberSearcher), "noise variances of blocks are unequal"
        return best_order(self.searcher, self.proposed, self.base * inflation, self.known)

    def may_be_improved(self, fit: OrderFit) -> bool:
        """Tell whether some variables may be in wrong places.

        A variable that comes before one of its causes keeps too much of its variance, and the cause too little, so that
        noise variances differ from those supposed by more than chance. If all of them differ by far, the noise model is
        wrong rather than the order. With few variables, a recheck costs little.
        """
        ratio = fit.sem.noise_variances / self.supposed(fit.sem)
        misfit = self.n * float(np.sum(ratio - 1.0 - np.log(ratio)))
        if not self.given and misfit > _IMPLAUSIBLE * self.d * self.log_n:
            return False
        largest = np.abs(np.log(ratio)).max() * np.sqrt(self.n / 2)
        return bool(self.d <= _FEW_VARIABLES or largest > norm.isf(_DOUBT / (2 * self.d)))

    def improved_order(self, first: OrderFit) -> tuple[OrderFit, Callable[[float], OrderFit]]:
        """Move variables where that fits better; return the graph, and a function that fits it with another penalty.

        Elimination sees the inverse covariance, whose errors are those of n − d samples; a score sees all n.
        """

        def search(inflation: float, start: LinearSem) -> OrderFit:
            penalty = self.base * inflation
            found = self.searches.run({"order": start.order}, penalty=penalty, noise_variances=self.supposed(start))
            return OrderFit(found.sem, replace(first.report, order="search", score=found.score, penalty=penalty))

        def score(sem: LinearSem) -> float:
            return self._score(sem, 1.0, "equal" if self.known is None else self.known)

        # Search once more with the noise variance of the improved graph: misplaced variables had inflated the first.
        found = search(1.0, search(1.0, first.sem).sem)
        if score(found.sem) >= score(first.sem):
            return first, self.along_order
        return found, lambda inflation: search(inflation, found.sem)

    def supposed(self, sem: LinearSem) -> FloatArray:
        """Return the known noise variances, or the mean of those of a graph for all."""
        return np.full(self.d, sem.noise_variances.mean()) if self.known is None else self.known

    def beside(self, ordered: _Ordered, found: Unequal) -> _Ordered:
        """Compare a graph along an order with the best one with unequal noise variances, at its price of an edge."""
        fit, inflation = ordered.fit, found.penalty.inflation
        if inflation != ordered.inflation and isinstance(self.estimate, Full):
            fit = self.along_order(inflation)
        equal = self.equal_score(fit.sem, inflation)
        if found.residuals.counts:
            equal -= float(self.unequal.shape_gains(fit.sem, found.shape).sum())
        return _Ordered(fit, inflation, equal, found.score, is_same_graph=False)

    def search_from(self, ordered: _Ordered) -> NoiseModel:
        """Search with the noise variances of a graph along an order."""
        starts = {"decomposition": self.proposed, "elimination": ordered.fit.sem.order}
        found = self.searches.run(
            starts,
            penalty=self.base * ordered.inflation,
            noise_variances=self.supposed(ordered.fit.sem),
            effort=self.searches.effort,
        )
        return self._with_search(found, found.start_scores, self.choices_of(ordered))

    def searched(self, found: Unequal, scores: dict[str, float] | None = None) -> NoiseModel:
        """Report the graph of a search with unequal noise variances."""
        noise = NoiseChoice("unequal", scores or {"unequal": found.score})
        return self._with_search(found.found, found.starts, self._choices(found, noise, found.penalty))

    def ordered(self, fit: OrderFit, refine: str, choices: Choices) -> NoiseModel:
        """Report a graph along an order."""
        return NoiseModel(fit.sem, refine, replace(fit.report, details={"kind": refine}), choices, self.searches)

    def with_misfit(self, model: NoiseModel) -> NoiseModel:
        """Record how far the null of the final graph is inflated."""
        measured = self.searcher.null_inflation(csr_parts(model.sem.B))
        penalty = replace(model.choices.penalty, measured=measured)
        return replace(model, choices=replace(model.choices, penalty=penalty))

    def choices_of(self, ordered: _Ordered) -> Choices:
        """Report that equal or known noise variances were accepted."""
        rival = "unequal, same graph" if ordered.is_same_graph else "unequal"
        scores = {"equal": ordered.equal, rival: ordered.unequal}
        is_beyond_doubt = not self.given and ordered.is_same_graph
        noise = NoiseChoice("equal" if self.known is None else "known", scores, is_beyond_doubt)
        return Choices(noise, PenaltyChoice(self.base, ordered.inflation))

    def equal_score(self, sem: LinearSem, inflation: float) -> float:
        """Score a graph with one noise variance for all variables."""
        return self._score(sem, inflation, "equal") + self.log_n

    def unequal_score(self, sem: LinearSem, inflation: float) -> float:
        """Score a graph with a noise variance for each variable."""
        return self._score(sem, inflation, "unequal") + variance_price(self.estimate.variances, self.n)

    def _score(self, sem: LinearSem, inflation: float, noise: Literal["equal", "unequal"] | FloatArray) -> float:
        penalty = self.base * inflation
        return _core.score(sem.noise_variances, sem.B.nnz, samples=self.n, penalty=penalty, noise=noise)

    def _choices(self, found: Unequal, noise: NoiseChoice, penalty: PenaltyChoice) -> Choices:
        return Choices(noise, penalty, residuals=found.residuals, starts=found.starts)

    def _with_search(self, found: Searched, starts: dict[str, float], choices: Choices) -> NoiseModel:
        details = {
            "kind": "search",
            "ended": found.ended,
            "proven optimal": found.ended == "proven",
            "trials": self.searches.trials,
            "improvements": self.searches.improvements,
        }
        report = Refinement("search", starts, found.score, choices.penalty.value, details)
        return NoiseModel(found.sem, "search", report, choices, self.searches)

"""Choosing without the truth: noise model, start, penalty, and whether the shape of the residuals counts.

Everything is decided by one score, twice the negative log-likelihood plus penalties in the manner of BIC:

- Noise variances are equal (one parameter) or unequal (d parameters, log n each).
- Residuals are Gaussian, or have a shape: skewness and kurtosis for each variable (2 d parameters, log n each). What
  the shape gains in twice the log-likelihood is n (skewness²/6 + excess kurtosis²/24) for each variable, to leading
  order; that is the statistic of Jarque and Bera.
- An edge costs log n + 4 log d (`refine.edge_penalty`), times the inflation of the null.

The null is what chance makes of the residuals' correlations (`residuals`). Where the linear model fits only roughly, or
rows are not independent, it is inflated, and an edge must stand out against that. An inflation that would cost most of
the edges, or that grows with every edge it drops, is not believed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from icid_rs._validation import FloatArray, Rows
from icid_rs.knowledge import Knowledge
from icid_rs.precision import Precision
from icid_rs.refine import Refined, edge_penalty, order_score, refine_by_order
from icid_rs.residuals import null_inflation, shape_statistics
from icid_rs.search import OrderSearch, Searched, smallest_pivots

#: Where the length of a search is not given, the most trials, for each variable and at least;
_TRIALS, _LEAST_TRIALS = 10, 5000
#: and so many variables to a trial, or so many trials, without improvement end it, twice as many at the beginning.
_VARIABLES, _LEAST_PATIENCE = 2, 500
#: Rounds in which the inflation of the null is brought up to date.
_ROUNDS = 4
#: One edge in this many, at least, must survive a higher penalty.
_SURVIVING = 4
#: A relative change of the inflation that is worth another round.
_NOTABLE = 1.1
#: What equal noise variances may cost, in multiples of what unequal ones would, for an order to be worth mending.
_MENDABLE = 20
#: Variables up to which there need be no doubts about the order;
_FEW_VARIABLES = 2000
#: and how often chance alone may raise doubts about an order of more.
_DOUBT = 0.1
#: How wide the middle half of a Gaussian is, in deviations.
_HALF_OF_A_GAUSSIAN = 1.349

#: A graph with its weights, however it was found.
Fitted = TypeVar("Fitted", Refined, Searched)
#: Causal orders by name: ``"first"`` the cheapest, ``"gaussian"`` more of them, ``"shaped"`` those that use the shape
#: of the noise.
Propose = Callable[[Literal["first", "gaussian", "shaped"]], dict[str, NDArray[np.intp]]]


def refine_by_search(
    X: Rows | None,
    location: FloatArray,
    estimate: Precision,
    propose: Propose,
    *,
    samples: int | None = None,
    noise: str,
    noise_variances: FloatArray | None,
    knowledge: Knowledge | None = None,
    always: bool,
    trials: int | None,
    seconds: float | None,
    seed: int,
    n_threads: int | None,
) -> Refined:
    """Choose the noise model, and search for the graph where elimination does not give it.

    Parameters
    ----------
    X : array of shape (n, d), optional
        All rows or some of them, which show the shape of residuals; without any, residuals are taken to be Gaussian.
    location : array of shape (d,)
        The means of X.
    estimate : Precision
        With its covariance, and its inverse if there is one.
    propose : callable
        Given ``"first"``, ``"gaussian"`` or ``"shaped"``, returns causal orders by name.
    samples : int, optional
        What all the rows are worth, if not their number; needed without X.
    noise : {"auto", "equal", "unequal"}
    noise_variances : array of shape (d,), optional
        Ω if it is known.
    knowledge : Knowledge, optional
        What is known of the edges.
    always : bool
        Search even if noise variances are equal or known, so that elimination gives the graph.
    trials : int, optional
        By default a search makes one for each variable, and 1000 at least, and then ends when half as many in a row
        found nothing better.
    seconds, seed, n_threads
        See `search.OrderSearch`.

    Returns
    -------
    Refined

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets, fdr_precision
    >>> from icid_rs.choices import refine_by_search
    >>> X = datasets.sample_sem(datasets.random_dag(20, 1, random_state=0), 500, random_state=0)
    >>> budget = {"trials": 0, "seconds": None, "seed": 0, "n_threads": None}
    >>> given = {"noise": "auto", "noise_variances": None, "always": False}
    >>> refined = refine_by_search(X, X.mean(axis=0), fdr_precision(X), lambda kind: {}, **given, **budget)
    >>> refined.info["choices"]["noise"]["chosen"]
    'equal'
    """
    if samples is None:
        assert X is not None, "there are samples, or their number"
        samples = len(X)
    effort: dict[str, Any] = {"trials": trials, "seconds": seconds, "seed": seed}
    task = _Task(X, location, estimate, samples, propose, noise_variances, knowledge, n_threads, **effort)
    ordered: Refined | None = None
    if noise != "unequal" or noise_variances is not None:
        ordered, settled = task.by_order(given=noise == "equal")
        # Elimination follows what is known of orders, not of single edges.
        if settled and not always and (knowledge is None or knowledge.is_order):
            searched = ordered.info["order"] == "search"
            return _with(ordered, "search" if searched else "order", task.choices)
        if settled:
            task.proposed["elimination"] = ordered.order
            inflation = task.choices["penalty"]["inflation"]
            found = task.search(task.proposed, inflation, noise_variances=task.omega(ordered), **task.effort)
            return task.refined(found)
        task.proposed["elimination"] = ordered.order
    found = task.by_search()
    if ordered is not None:
        ordered = task.reconsider(ordered)
    return task.refined(found) if ordered is None else _with(ordered, "order", task.choices)


class _Task:
    """What is to be refined, with what is given for it, and the choices made so far."""

    def __init__(
        self,
        X: Rows | None,
        location: FloatArray,
        estimate: Precision,
        n: int,
        propose: Propose,
        noise_variances: FloatArray | None,
        knowledge: Knowledge | None,
        n_threads: int | None,
        *,
        trials: int | None,
        seconds: float | None,
        seed: int,
    ) -> None:
        self.X, self.location, self.estimate, self.n = X, location, estimate, n
        self.propose, self.proposed = propose, propose("first")
        self.noise_variances, self.knowledge, self.n_threads = noise_variances, knowledge, n_threads
        d = len(location)
        self.base = edge_penalty(n, d)
        self.deadline = None if seconds is None else time.monotonic() + seconds
        #: How long to search in earnest.
        self.effort: dict[str, Any] = {"trials": trials, "seed": seed}
        if trials is None:
            patience = max(d // _VARIABLES, _LEAST_PATIENCE)
            self.effort |= {"trials": max(_TRIALS * d, _LEAST_TRIALS), "patience": patience}
        self.choices: dict[str, Any] = {}
        self.trials = self.improvements = 0
        self._orders: OrderSearch | None = None

    def left(self) -> float | None:
        """Return the seconds that are left."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def search(
        self, starts: Mapping[str, NDArray[np.intp]], inflation: float, *, share: float = 1.0, **how: Any
    ) -> Searched:
        """Search with a penalty so many times the ordinary one, in a share of the time that is left."""
        if self._orders is None:
            self._orders = OrderSearch(self.estimate, self.n, self.knowledge, self.n_threads)
        left = self.left()
        seconds = None if left is None else left * share
        found = self._orders.run(starts, penalty=self.base * inflation, seconds=seconds, **how)
        self.trials += found.trials
        self.improvements += found.improvements
        return found

    def along_order(self, inflation: float) -> Refined:
        """Fit along the order of elimination, or a proposed one if that is better."""
        return refine_by_order(
            self.estimate,
            self.n,
            self.proposed.get("decomposition", np.arange(len(self.location))),
            self.noise_variances,
            self.n_threads,
            penalty=self.base * inflation,
            knowledge=self.knowledge,
        )

    def omega(self, fitted: Refined | Searched) -> FloatArray:
        """Return the noise variances: those known, or the mean of those left."""
        if self.noise_variances is not None:
            return self.noise_variances
        return np.full(len(self.location), fitted.noise_variances.mean())

    def by_order(self, *, given: bool) -> tuple[Refined, bool]:
        """Fit along an order; say whether equal or known noise variances are given, or fit better."""
        given = given or self.noise_variances is not None
        ordered, inflation = self.along_order(1.0), 1.0
        fit: Callable[[float], Refined] = self.along_order
        if self.estimate.inverse is None or self.is_mendable(ordered, given=given):
            ordered, fit = self.mended(ordered)
        if given or _equal_score(ordered, self.n, self.base) <= _unequal_score(ordered, self.n, self.base):
            # What a wrong order leaves says nothing of the null.
            ordered, inflation = self.calibrate(ordered, fit)
        penalty = self.base * inflation
        equal, unequal = _equal_score(ordered, self.n, penalty), _unequal_score(ordered, self.n, penalty)
        settled = given or equal <= unequal
        if settled:
            chosen = "equal" if self.noise_variances is None else "known"
            self.choices["noise"] = {"chosen": chosen, "equal": equal, "unequal, same graph": unequal}
            self.choices["penalty"] = {"edge": self.base, "inflation": inflation}
        return ordered, settled

    def is_mendable(self, ordered: Refined, *, given: bool) -> bool:
        """Tell whether some variables may be in wrong places.

        A variable that comes before one of its causes keeps too much of its variance, and the cause too little. So
        noise variances differ from what is supposed of them by more than chance; but if all of them differ by far, it
        is not the order that is wrong. Where there are few variables, looking for wrong places costs little.
        """
        left = ordered.noise_variances / self.omega(ordered)
        misfit = self.n * float(np.sum(left - 1.0 - np.log(left)))
        if not given and misfit > _MENDABLE * left.size * np.log(self.n):
            return False
        largest = np.abs(np.log(left)).max() * np.sqrt(self.n / 2)
        return bool(left.size <= _FEW_VARIABLES or largest > norm.isf(_DOUBT / (2 * left.size)))

    def mended(self, ordered: Refined) -> tuple[Refined, Callable[[float], Refined]]:
        """Move variables where that fits better; return the graph, and what fits it with an inflated penalty.

        Elimination sees the inverse covariance, whose errors are those of n − d samples; a score sees all n.
        """

        def search(inflation: float, start: Refined) -> Refined:
            found = self.search({"order": start.order}, inflation, noise_variances=self.omega(start))
            info = {**ordered.info, "order": "search", "score": found.score, "penalty": self.base * inflation}
            return Refined(found.B, found.order, found.noise_variances, info)

        def score(fitted: Refined) -> float:
            return order_score(fitted, self.n, self.base, self.noise_variances)

        # What is mended has less noise, by which it can be judged better.
        found = search(1.0, search(1.0, ordered))
        if score(found) >= score(ordered):
            return ordered, self.along_order
        return found, lambda inflation: search(inflation, found)

    def by_search(self) -> Searched:
        """Search without supposing anything of the noise variances."""
        # A first graph, to see what residuals look like.
        pivots = smallest_pivots(self.estimate, self.n_threads)
        starts = {"smallest pivots": pivots, **self.proposed, **self.propose("gaussian")}
        found = self.search(starts, 1.0)
        start_scores = found.start_scores
        shape = self.shape(found)
        threshold = 2 * len(self.location) * float(np.log(self.n))
        values = None
        if self.X is not None and shape.sum() > threshold:
            # What was good without the shapes of the residuals need not be with them: all start again.
            deviations = np.sqrt(self.estimate.covariance.diagonal())
            values = np.ascontiguousarray(((self.X - self.location) / deviations).T)
            starts |= self.propose("shaped") | {"search": found.order}
            found = self.search(starts, 1.0, values=values)
            start_scores = found.start_scores

        # The null is judged by the best graph: one that is not found out yet leaves residuals that look inflated.
        further = self.search({"search": found.order}, 1.0, share=0.5, values=values, **self.effort)
        first = min(further, found, key=_score)
        found, inflation = self.calibrate(
            first,
            lambda inflation: self.search({"smallest pivots": pivots, "search": first.order}, inflation, values=values),
        )
        if self.left() == 0.0:
            # Graphs that time has cut short say nothing of the null.
            found, inflation = first, 1.0
        effort = dict(self.effort)
        if inflation == 1.0:
            effort["trials"] -= further.trials if self.deadline is not None else effort["trials"]
        if effort["trials"] > 0:
            further = self.search({"search": found.order}, inflation, values=values, **effort)
            found = min(further, found, key=_score)

        variances = self.estimate.covariance.diagonal()
        score = found.score + self.n * float(np.log(variances).sum()) + len(variances) * float(np.log(self.n))
        # What the score did not look at tells no direction.
        shaped = [] if values is None else np.flatnonzero(self.shape(found) > 2 * np.log(self.n)).tolist()
        self.choices["noise"] = {"chosen": "unequal", "unequal": score}
        self.choices["residuals"] = {
            "gaussian": values is None,
            "shape": float(shape.sum()),
            "threshold": threshold,
            "shaped": shaped,
            "shaped variables": len(shaped),
        }
        self.choices["penalty"] = {"edge": self.base, "inflation": inflation}
        self.choices["starts"] = start_scores
        return found

    def reconsider(self, ordered: Refined) -> Refined | None:
        """Return the graph along an order if equal variances fit better after all than what a search found."""
        noise, inflation = self.choices["noise"], self.choices["penalty"]["inflation"]
        if inflation > 1.0 and self.estimate.inverse is not None:
            ordered = self.along_order(inflation)
        noise["equal"] = _equal_score(ordered, self.n, self.base * inflation)
        if not self.choices["residuals"]["gaussian"]:
            noise["equal"] -= float(self.shape(ordered).sum())
        if noise["equal"] >= noise["unequal"]:
            return None
        noise["chosen"] = "equal"
        return ordered

    def calibrate(self, first: Fitted, fit: Callable[[float], Fitted]) -> tuple[Fitted, float]:
        """Raise the penalty until the null of the graph fitted with it is no more inflated than the penalty.

        Raising the penalty drops edges. If these were real, the null looks worse than before, and the penalty runs
        away. So what is no fixed point after a few rounds, or leaves few of the edges, is not a matter of the null: the
        first graph is kept.
        """
        fitted, inflation = first, 1.0
        for _ in range(_ROUNDS):
            measured = null_inflation(fitted.B, self.estimate.covariance, self.n)
            if measured <= inflation * _NOTABLE:
                return fitted, inflation
            inflation = measured
            fitted = fit(inflation)
            if _SURVIVING * fitted.B.nnz < first.B.nnz:
                break
        return first, 1.0

    def refined(self, found: Searched) -> Refined:
        """Add what led to it."""
        info = {
            "kind": "search",
            "order": "search",
            "scores": self.choices.get("starts", found.start_scores),
            "score": found.score,
            "penalty": self.base * self.choices["penalty"]["inflation"],
            "trials": self.trials,
            "improvements": self.improvements,
            "choices": self.choices,
        }
        return Refined(found.B, found.order, found.noise_variances, info)

    def shape(self, found: Refined | Searched) -> FloatArray:
        """Return what the shape of each variable's residuals gains; nothing without rows."""
        return np.zeros(1) if self.X is None else shape_statistics(self.X, self.location, found.B)


def refine_large(
    estimate: Precision,
    n: int,
    proposed: NDArray[np.intp],
    noise_variances: FloatArray | None,
    n_threads: int | None,
) -> Refined:
    """Fit along the better order, where there are too many variables for a search; and say so.

    Warns
    -----
    UserWarning
        If noise variances differ by more than the number of rows explains, so that directions may be wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets
    >>> from icid_rs.choices import refine_large
    >>> from icid_rs.neighbours import large_precision
    >>> from icid_rs.precision import Stopwatch
    >>> X = datasets.sample_sem(datasets.random_dag(20, 1, random_state=0), 200, random_state=0)
    >>> estimate, _ = large_precision(X, 200, range(20), Stopwatch())
    >>> refine_large(estimate, 200, np.arange(20), None, None).info["choices"]["search"]
    'left out: 20 variables are too many'
    """
    refined = refine_by_order(estimate, n, proposed, noise_variances, n_threads)
    penalty = refined.info["penalty"]
    # By the middle half of the variables: causes that are missed leave some others with far too much.
    low, high = np.quantile(np.log(refined.noise_variances), [0.25, 0.75])
    spread = float(high - low) / _HALF_OF_A_GAUSSIAN
    # What log-likelihoods gain by variances of their own, for a variable, against its price; both twice.
    if noise_variances is None and n * spread**2 / 2 > np.log(n):
        warnings.warn(
            "noise variances do not look equal, but there are too many variables for a search that needs no such "
            "supposition: directions may be wrong; choose fewer columns, or pass noise_variances",
            UserWarning,
            stacklevel=4,
        )
    choices = {
        "noise": {"chosen": "equal" if noise_variances is None else "known", "spread of logarithms": spread},
        "penalty": {"edge": penalty, "inflation": 1.0},
        "search": f"left out: {estimate.theta.shape[0]} variables are too many",
    }
    return _with(refined, "order", choices)


def _score(found: Searched) -> float:
    # Graphs of one class differ by rounding alone; the first is as good as any.
    return round(found.score, 5)


def _equal_score(refined: Refined, n: int, penalty: float) -> float:
    left = refined.noise_variances
    return float(n * left.size * np.log(left.mean()) + penalty * refined.B.nnz + np.log(n))


def _unequal_score(refined: Refined, n: int, penalty: float) -> float:
    left = refined.noise_variances
    return float(n * np.log(left).sum() + penalty * refined.B.nnz + left.size * np.log(n))


def _with(refined: Refined, kind: str, choices: dict[str, Any]) -> Refined:
    info = {**refined.info, "kind": kind, "choices": choices}
    return Refined(refined.B, refined.order, refined.noise_variances, info)

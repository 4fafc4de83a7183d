"""Searches of one table within a common budget of trials and time."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import FloatArray
from icid_rs.graph.sem import Csr, LinearSem
from icid_rs.precision.variants import Searcher

#: Of one core, at least.
_OPERATIONS_PER_SECOND = 5e9


@dataclass(frozen=True)
class Effort:
    """Trials of a search, and the number of them in a row without improvement after which it ends."""

    trials: int = 0
    patience: int | None = None


@dataclass(frozen=True)
class Searched:
    """A graph that a search found.

    Attributes
    ----------
    sem : LinearSem
        With least-squares weights.
    score : float
        Twice the negative log-likelihood up to a constant, for columns of unit variance, plus the penalties.
    start_scores : dict
        Scores of the start orders before any trial; empty for a proven optimum, which needs no start.
    trials : int
        Trials made.
    ended : str
        Why the search ended: ``"proven"`` if no graph has a better score, ``"converged"`` if many trials in a row
        brought no improvement, ``"out of trials"`` or ``"out of time"``.
    """

    sem: LinearSem
    score: float
    start_scores: dict[str, float]
    trials: int
    ended: str

    def or_better(self, other: Searched) -> Searched:
        """Return the better of two graphs of the same penalty, this one if they differ by rounding errors only."""
        return other if round(other.score, 5) < round(self.score, 5) else self


@dataclass(frozen=True)
class _Scored:
    """Scores of all sets of parents, which serve for any penalty, and the arguments that they were computed from."""

    table: _core.ExactTable
    values: FloatArray | None
    shape: str
    noise_variances: FloatArray | None

    def is_of(self, values: FloatArray | None, shape: str, noise_variances: FloatArray | None) -> bool:
        """Whether these arguments would give the same scores; the shape counts only where there are values."""
        if self.values is not values or not (values is None or self.shape == shape):
            return False
        if self.noise_variances is None or noise_variances is None:
            return self.noise_variances is noise_variances
        return np.array_equal(self.noise_variances, noise_variances)


class TimeLimit:
    """The end of the time that a fit may search for.

    Parameters
    ----------
    seconds : float or None
        From now on; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.is_set = seconds is not None
        self._deadline = np.inf if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return time.monotonic() >= self._deadline

    @property
    def seconds(self) -> float:
        """The time that is left, which may be infinite."""
        return float(max(0.0, self._deadline - time.monotonic()))


class BudgetedSearch:
    """Runs searches one after another, counts their trials, and keeps to a time limit.

    Parameters
    ----------
    searcher : Searcher
    trials : int or None
        Trials of the main search; None for the automatic number.
    limit : TimeLimit
        Of all searches together.
    seed : int
    """

    def __init__(self, searcher: Searcher, trials: int | None, limit: TimeLimit, seed: int, d: int) -> None:
        self._searcher, self._seed = searcher, seed
        self.limit = limit
        #: Trial budget of the main search; calibration uses none.
        self.effort = Effort(*_core.search_budget(d)) if trials is None else Effort(trials)
        self.trials = self.improvements = 0
        #: The last scores of all sets of parents, with the shape of residuals and without.
        self._scored: dict[bool, _Scored] = {}

    @property
    def searcher(self) -> Searcher:
        """The core's search of the table."""
        return self._searcher

    def of(self, searcher: Searcher) -> BudgetedSearch:
        """Return searches of another table, or under other knowledge, that keep to the same time limit."""
        other = copy.copy(self)
        other._searcher, other._scored = searcher, {}
        other.trials = other.improvements = 0
        return other

    def is_exact(self, rows: int | None, share: float = 1.0) -> bool:
        """Whether the best graph will be computed, not searched for; `rows` if the shape of their residuals counts."""
        match self._searcher:
            case _core.Searcher():
                operations, _, is_cheap = self._searcher.exact_cost(rows=rows)
            case _core.BlockSearcher():
                operations, _, is_cheap = self._searcher.exact_cost()
            case _:
                return False
        return bool(is_cheap and operations <= self._seconds(share) * _OPERATIONS_PER_SECOND)

    def _seconds(self, share: float) -> float:
        """Return a share of the time that is left, which may be infinite."""
        return self.limit.seconds * share

    def run(
        self,
        starts: Mapping[str, NDArray[np.intp]],
        *,
        penalty: float,
        values: FloatArray | None = None,
        shape: str = "negentropy",
        noise_variances: FloatArray | None = None,
        effort: Effort | None = None,
        share: float = 1.0,
    ) -> Searched:
        """Find the best graph: exactly where variables are few, otherwise by a search.

        A search improves start orders by moving variables, then perturbs the best within an effort.

        Parameters
        ----------
        starts : mapping from names to orders
            Causes first.
        penalty : float
            The least gain in twice the log-likelihood that is worth an edge.
        values : array of shape (d, n), optional
            Standardised variables. If given, the shape of residuals counts. Not for blocks.
        shape : str
            Name of the shape in the core.
        noise_variances : array of shape (d,), optional
            Ω if it is known or taken to be equal. Not for blocks.
        effort : Effort, optional
            By default no trials.
        share : float
            Share of the remaining time that may be used.
        """
        is_exact = self.is_exact(None if values is None else values.shape[1], share)
        if is_exact:
            table = self._exact_table(values, shape, noise_variances)
            optimum = table.optimum(penalty=penalty)
            return Searched(LinearSem.from_core(optimum.sem), optimum.score, {}, 0, "proven")
        effort = effort or Effort()
        seconds = self._seconds(share) if self.limit.is_set else None
        budget: Any = {**vars(effort), "seconds": seconds, "seed": self._seed if effort.trials else 0}
        orders = [order.astype(np.int64) for order in starts.values()]
        if isinstance(self._searcher, _core.BlockSearcher):
            found = self._searcher.search(orders, penalty=penalty, budget=budget)
        else:
            found = self._searcher.search(
                orders, penalty=penalty, values=values, shape=shape, noise_variances=noise_variances, budget=budget
            )
        self.trials += found.trials
        self.improvements += found.improvements
        scores = dict(zip(starts, found.start_scores, strict=True))
        return Searched(LinearSem.from_core(found.sem), found.score, scores, found.trials, found.ended)

    def reversal_margins(self, *, penalty: float, is_shaped: bool) -> Csr | None:
        """Return what the best graph loses if an edge is reversed, for each edge of the last optimum of this kind.

        None if none was computed.
        """
        scored = self._scored.get(is_shaped)
        if scored is None:
            return None
        optimum = scored.table.optimum(penalty=penalty, margins=True)
        B = LinearSem.from_core(optimum.sem).B
        # Entries of 0 stay, so that open edges are told from those of other graphs.
        return sp.csr_array((optimum.reversed, B.indices, B.indptr), shape=B.shape)

    def _exact_table(
        self, values: FloatArray | None, shape: str, noise_variances: FloatArray | None
    ) -> _core.ExactTable:
        """Score all sets of parents, unless the last search of this kind differed in nothing but the penalty."""
        has_values = values is not None
        # Taken out, so that scores of other arguments are freed before there are new ones.
        scored = self._scored.pop(has_values, None)
        if scored is None or not scored.is_of(values, shape, noise_variances):
            scored = None
            if isinstance(self._searcher, _core.BlockSearcher):
                table = self._searcher.exact_table()
            else:
                assert isinstance(self._searcher, _core.Searcher), "is_exact refuses others"
                table = self._searcher.exact_table(values=values, shape=shape, noise_variances=noise_variances)
            scored = _Scored(table, values, shape, noise_variances)
        self._scored[has_values] = scored
        return scored.table

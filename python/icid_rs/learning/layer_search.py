"""The search for a measurement layer: hidden common causes and errors of measurement.

What is measured is x = z + Λ h + ε: z follows the causal model, h are hidden causes of many columns, ε errors. Given
the layer (Λ and the error variances), the graph is searched for on the covariance without it; given the graph, Λ is
known in closed form (`_core.settle`). These two take turns. A graph without the layer explains hidden causes by many
edges, and a search that starts there hardly leaves it. So the first turns charge many times the price of an edge: what
is left between distant variables then goes into Λ, and as the price falls, edges take back what is theirs.

All models are compared by the likelihood of what was measured, with a price for each edge, loading and error. Hidden
causes are looked for at the ordinary price of an edge, log n + 4 log d: at a lower one, a dense graph without them is
hardly worse than half of the truth, where searches would stop. Errors of measurement weaken edges, whose ordinary price
would leave so few of them that hidden causes, with loadings at log n, seem to explain the rest. So errors are looked
for at log n + 2 log d, where both are compared with each other, and with the graph that was found without a layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from icid_rs import _core
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray, csr_parts
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.layer import Layer
from icid_rs.graph.sem import LinearSem
from icid_rs.learning.loadings import canonical, components, factors
from icid_rs.learning.search import TimeLimit
from icid_rs.learning.shares import check_hidden, check_shares, error_shares, most_hidden
from icid_rs.options import Options
from icid_rs.precision.covariance import Covariance, invert
from icid_rs.precision.fdr import estimate as tested_precision
from icid_rs.precision.variants import Corrected, Full

#: Multiples of the price of an edge, turn by turn, while hidden causes are looked for,
_HIDDEN_PRICES = (16.0, 8.0, 4.0, 2.0, 1.0, 1.0)
#: where another hidden cause is added to those that were found,
_FURTHER_PRICES = (8.0, 4.0, 2.0, 1.0, 1.0)
#: and while errors of measurement are.
_ERROR_PRICES = (8.0, 4.0, 2.0, 1.0)
#: Columns for each hidden cause that nobody asked for.
_COLUMNS_EACH = 6
#: What hidden causes leave, at least, of the variance in any direction.
_LEAST_LEFT = 1e-3
#: Regressions and updates of Λ in turns, for each graph.
_ROUNDS = 10
#: Multiple of log d in the price of an edge while errors of measurement are looked for.
_CHEAP = 2.0
#: Multiples of the price of an edge without errors that are tried.
_PRICES_WITHOUT_ERRORS = (1.0, 2.0, 4.0)
#: Error shares that are tried, as shares of the largest that the correlations allow.
_GRID = tuple(np.linspace(0.1, 0.98, 9))
#: The first of them to be tried; where it gains nothing, none is.
_FIRST_SHARE = 0.25
#: The largest share of what the correlations allow that is error.
_LARGEST_SHARE = 0.98
#: Rounds of annealing at a share of error, and of fitting the share to the graph.
_ERROR_ROUNDS = 3


@dataclass(frozen=True)
class Candidate:
    """A model with a layer, its score (smaller is better), and the largest eigenvalue that it leaves unexplained."""

    sem: LinearSem
    layer: Layer
    score: float
    left: float

    def or_better(self, other: Candidate | None) -> Candidate:
        """Return the better of the two."""
        return self if other is None or other.score >= self.score else other


@dataclass
class LayerSearch:
    """Looks for the layer of one table, on columns of unit variance."""

    estimate: Full
    knowledge: Knowledge | None
    options: Options
    limit: TimeLimit
    is_cheap: bool = False
    searches: int = field(default=0, init=False)
    _inverses: dict[bytes, FloatArray] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.scale = np.sqrt(self.estimate.variances)
        self.n, self.d = self.estimate.samples, len(self.scale)
        self.correlation = self.estimate.covariance / np.outer(self.scale, self.scale)
        self.log_n = float(np.log(self.n))
        self.price = self.options.edge_penalty(self.n, self.d)
        self.cheap_price = self.price
        if self.options.penalty is None:
            self.cheap_price = min(self.price, self.log_n + _CHEAP * float(np.log(self.d)))
        self.price = self.cheap_price if self.is_cheap else self.price
        #: The largest eigenvalue of white noise in a table of this shape (Marchenko and Pastur 1967).
        self.edge = (1.0 + np.sqrt(self.d / self.n)) ** 2
        self.nothing = Layer.none(self.d)

    def shares(self, names: Sequence[Any]) -> FloatArray | None:
        """Return the shares of error that the caller knows, checked; None if they are unknown or nothing."""
        given = self.options.measurement_error
        if given is None or isinstance(given, str):
            return None
        shares = error_shares(given, names)
        check_shares(shares, self.correlation, np.diagonal(self.estimate.inverse) * self.scale**2, names)
        return shares if shares.any() else None

    def chosen(self, graph: LinearSem, shares: FloatArray | None) -> tuple[Candidate, float]:
        """Return the best candidate, and its gain in the score over the graph without a layer.

        It has the layer that was asked for, or one that is worth its parameters.
        """
        if isinstance(self.options.hidden, int):
            check_hidden(self.options.hidden, self.d)
        without = self.without_layer(graph)
        start = without if shares is None else self.with_shares(without, shares)
        found = self.with_hidden_as_asked(start)
        cheap = LayerSearch(self.estimate, self.knowledge, self.options, self.limit, is_cheap=True)
        plain = cheap.without_layer(graph) if shares is None else cheap.again(start)
        hidden = cheap.again(found) if found.layer.hidden else None
        if hidden is not None and self.options.hidden == "auto" and hidden.score >= plain.score:
            # Weak edges that the lower price admits explain as much.
            found, hidden = start, None
        asks_errors = isinstance(self.options.measurement_error, str)
        best = cheap.with_error_or_instead(plain, hidden) if asks_errors else plain
        self.searches += cheap.searches
        # Without errors in it, the model is the one that was found at the ordinary price.
        if best is plain or best is hidden:
            return found, without.score - found.score
        return best, plain.score - best.score

    def with_error_or_instead(self, plain: Candidate, hidden: Candidate | None) -> Candidate:
        """Add errors to hidden causes that were found, or replace these by errors if that is better."""
        best = plain if hidden is None else self.with_error(hidden)
        if isinstance(self.options.hidden, int):
            return best
        instead = self.with_error(plain)
        if instead is not plain and instead.score < best.score:
            best = self.with_hidden_as_asked(instead)
        return best

    def again(self, found: Candidate) -> Candidate:
        """Score a candidate at the price of this search, or a better one that it leads to."""
        first = self.try_settle(found.sem, found.layer)
        return self.descended(found.layer, found.sem.order).or_better(first)

    def with_hidden_as_asked(self, start: Candidate) -> Candidate:
        """Add as many hidden causes as the caller wants, or as are worth their loadings."""
        hidden = self.options.hidden
        if not isinstance(hidden, int):
            return start if hidden is None else self.with_any_hidden(start)
        # One after another, as they would be found if nobody had asked.
        return reduce(lambda found, k: self.with_hidden(start, k, found), range(1, hidden + 1), start)

    def without_layer(self, found: LinearSem) -> Candidate:
        """Score the graph that was found without a layer, or a better one of the kind that is searched for here."""
        first = self.settled(LinearSem(found.B, found.order, found.noise_variances / self.scale**2), self.nothing)
        return first.or_better(self.descended(self.nothing, first.sem.order))

    def with_any_hidden(self, start: Candidate) -> Candidate:
        """Add hidden causes one by one while they are worth their loadings.

        The first is looked for only where more is left than white noise would leave. Once there is one, another is
        always tried: as long as one is missing, edges stand in for it, and may leave no more than white noise. There is
        one for six columns at most: among fewer, edges could explain the same.
        """
        best, k, most = start, 1, min(most_hidden(self.d), self.d // _COLUMNS_EACH)
        while k <= most and (k > 1 or best.left > self.edge) and not self.limit.is_over:
            further = self.with_hidden(start, k, best)
            if further.score >= best.score:
                break
            best, k = further, k + 1
        return best

    def with_hidden(self, start: Candidate, k: int, last: Candidate | None = None) -> Candidate:
        """Fit k hidden causes, from several starts; one of them adds to those of the last fit."""
        errors = start.layer.errors
        starts = {"factors": factors(self.correlation, k), "components": components(self.correlation, k)}
        found = None
        for loadings in starts.values():
            candidate = self.annealed(Layer(loadings, errors), _HIDDEN_PRICES)
            found = candidate if found is None else candidate.or_better(found)
        assert found is not None
        if last is not None and last.layer.hidden == k - 1 > 0:
            left = self.correlation - last.layer.covariance
            loadings = np.hstack((last.layer.loadings, components(left, 1)))
            found = found.or_better(self.annealed(Layer(loadings, errors), _FURTHER_PRICES))
        # A graph at the full price shows what the causes are; once more from there, with their loadings.
        return found.or_better(self.annealed(found.layer, _FURTHER_PRICES))

    def with_shares(self, start: Candidate, shares: FloatArray) -> Candidate:
        """Fit a graph with known shares of error."""
        return self.annealed(replace(start.layer, errors=shares), _ERROR_PRICES)

    def with_error(self, start: Candidate) -> Candidate:
        """Add one share of error for all columns if it is worth a parameter."""
        most = _LARGEST_SHARE * float(
            np.linalg.eigvalsh(self.correlation - start.layer.loadings @ start.layer.loadings.T)[0]
        )
        if most <= 0:
            return start
        if self.at_share(start, _FIRST_SHARE * most).score >= start.score:
            return start
        best = last = start
        for share in _GRID:
            if self.limit.is_over:
                return best
            last = self.at_share(last, share * most)
            best = best.or_better(last)
        for _ in range(_ERROR_ROUNDS):
            if self.limit.is_over:
                break
            share = self.best_share(best, most)
            further = self.annealed(self.layer_at(best, share), _ERROR_PRICES)
            improved = further.or_better(self.at_share(best, share))
            if improved.score >= best.score:
                break
            best = improved
        return best

    def at_share(self, start: Candidate, share: float) -> Candidate:
        """Descend from a graph with another share of error."""
        return self.descended(self.layer_at(start, share), start.sem.order)

    def layer_at(self, start: Candidate, share: float) -> Layer:
        """Return the loadings of a candidate with another share of error."""
        return Layer(start.layer.loadings, np.full(self.d, share))

    def best_share(self, start: Candidate, most: float) -> float:
        """Find the share of error that fits a graph best."""

        def score(share: float) -> float:
            found = self.try_settle(start.sem, self.layer_at(start, share))
            return np.inf if found is None else found.score

        return float(minimize_scalar(score, bounds=(0.0, most), method="bounded", options={"xatol": 1e-3}).x)

    def annealed(self, layer: Layer, multiples: Sequence[float]) -> Candidate:
        """Take turns between searches and updates of the loadings, at falling prices of an edge."""
        order: NDArray[np.intp] | None = None
        best: Candidate | None = None
        for multiple in multiples:
            candidate = self.descended(layer, order, multiple)
            layer, order = candidate.layer, candidate.sem.order
            best = candidate.or_better(best)
            if self.limit.is_over:
                break
        assert best is not None
        return best

    def descended(self, layer: Layer, order: NDArray[np.intp] | None, multiple: float = 1.0) -> Candidate:
        """Search for a graph on the covariance without a layer, and fit the loadings to it."""
        layer = self.feasible(layer)
        estimate = self.corrected(layer, order)
        searcher = estimate.searcher(self.knowledge, self.options.n_threads)
        assert isinstance(searcher, _core.Searcher), "the layer is one of numbers"
        starts = estimate.start_orders(searcher) if order is None else {"last": order}
        self.searches += 1
        found = searcher.search(
            [start.astype(np.int64) for start in starts.values()],
            penalty=self.price * multiple,
            values=None,
            shape="negentropy",
            noise_variances=None,
            budget={
                "trials": 0,
                "patience": None,
                "seconds": self.limit.seconds if self.limit.is_set else None,
                "seed": 0,
            },
        )
        sem = LinearSem.from_core(found.sem)
        settled = self.try_settle(sem, layer)
        return settled or Candidate(sem, layer, np.inf, np.inf)

    def try_settle(self, sem: LinearSem, layer: Layer) -> Candidate | None:
        """Fit weights and loadings to a graph; None where the layer leaves nothing of a variable."""
        try:
            return self.settled(sem, layer)
        except _core.NumericalError:
            return None

    def settled(self, sem: LinearSem, layer: Layer) -> Candidate:
        """Fit weights and loadings to a graph."""
        found = _core.settle(
            self.correlation,
            self.inverse(layer.errors) if layer.hidden else None,
            (csr_parts(sem.B), sem.order.astype(np.int64), sem.noise_variances),
            np.ascontiguousarray(layer.loadings),
            layer.errors,
            rounds=_ROUNDS,
            n_threads=self.options.n_threads,
        )
        k = layer.hidden
        parameters = k * self.d - k * (k - 1) / 2 + float(layer.errors.any())
        score = self.n * found.deviance + self.price * sem.B.nnz + parameters * self.log_n
        loadings = canonical(found.loadings)
        return Candidate(LinearSem.from_core(found.sem), Layer(loadings, layer.errors), score, found.spectrum[-1])

    def corrected(self, layer: Layer, order: NDArray[np.intp] | None) -> Corrected:
        """Estimate Θ from the covariance without a layer."""
        matrix = (self.correlation - self.feasible(layer).covariance) * np.outer(self.scale, self.scale)
        covariance = Covariance(matrix, self.estimate.location, self.n)
        full = tested_precision(covariance, self.options, Stopwatch())
        return Corrected(full.theta, matrix, location=full.location, samples=self.n, inverse=full.inverse, order=order)

    def price_without_errors(self, found: Candidate) -> float | None:
        """Return the price of an edge in the covariance without the errors of a model; None if it has none.

        In C − T, what two residuals have in common by chance is compared with their variances, the diagonal of Ω. But
        it comes from residuals of what was measured, whose variances are the diagonal of Ω + AᵀTA, so that it seems to
        gain more by the product of two such ratios. Their mean serves for all edges, so that several multiples of it
        are tried; the graph that fits best to what was measured decides. A price that the caller set is left as it is.
        """
        sem, layer = found.sem, found.layer
        if not layer.errors.any() or self.options.penalty is not None:
            return None
        added = sem.B.multiply(sem.B).T @ layer.errors + layer.errors
        ratio = float(np.exp(2.0 * np.mean(np.log1p(added / sem.noise_variances))))
        cheap = LayerSearch(self.estimate, self.knowledge, self.options, self.limit, is_cheap=True)
        tried = {}
        for multiple in _PRICES_WITHOUT_ERRORS:
            tried[multiple] = cheap.descended(layer, sem.order, multiple * ratio).score
            if self.limit.is_over:
                break
        self.searches += cheap.searches
        return self.cheap_price * ratio * min(tried, key=lambda multiple: tried[multiple])

    def inverse(self, errors: FloatArray) -> FloatArray:
        """Invert the correlations less error variances."""
        key = errors.tobytes()
        if key not in self._inverses:
            self._inverses = {key: invert(self.correlation - np.diag(errors))}
        return self._inverses[key]

    def feasible(self, layer: Layer) -> Layer:
        """Scale loadings down where they would leave less than nothing in some direction."""
        if not layer.hidden:
            return layer
        taken = layer.loadings.T @ self.inverse(layer.errors) @ layer.loadings
        largest = float(np.linalg.eigvalsh(taken)[-1])
        if largest <= 1.0 - _LEAST_LEFT:
            return layer
        return Layer(layer.loadings * np.sqrt((1.0 - _LEAST_LEFT) / largest), layer.errors)

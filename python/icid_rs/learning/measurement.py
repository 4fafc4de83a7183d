"""The measurement layer of a fit: whether there can be one, its choice, and its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import csr_parts, listed
from icid_rs._util.warn import warn_user
from icid_rs.graph.equivalence import causal_order, equivalence_class
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.layer import Layer
from icid_rs.graph.sem import LinearSem
from icid_rs.learning.layer_search import LayerSearch
from icid_rs.learning.search import TimeLimit
from icid_rs.options import Options
from icid_rs.precision.variants import Blocked, Corrected, Full, Precision, Wide
from icid_rs.report import MeasurementChoice

#: With fewer columns, hidden causes and errors are no different from edges.
_FEWEST = 4
#: Columns on which hidden causes load most, as many as are named.
_NAMED = 5
#: The least gain for each row of hidden causes or errors that nobody asked for. They hide the shape of residuals, which
#: is worth more than what they explain where they gain less: a slight misfit of any kind does so in large tables.
_NOTABLE = 0.01


@dataclass(frozen=True)
class Measurement:
    """The measurement layer of a fit, and what it is worth.

    Attributes
    ----------
    layer : Layer
        For columns of unit variance; in very wide tables, of which the layer leaves that.
    gain : float
        What it gains in twice the log-likelihood for each row, less the price of its parameters.
    without : LinearSem or None
        The graph that was found without it; None if none was looked for, in a very wide table.
    estimate : Corrected or Wide
        The estimate of the covariance without the layer.
    searches : int
        Searches for graphs with one layer or another.
    """

    layer: Layer
    gain: float
    without: LinearSem | None
    estimate: Corrected | Wide
    searches: int

    @property
    def order(self) -> NDArray[np.intp]:
        """Causal order of the graph that was found together with the layer."""
        assert self.estimate.order is not None
        return self.estimate.order

    def choice(self, names: Sequence[Any]) -> MeasurementChoice:
        """Return the record of the layer for reports."""
        loads = np.sum(self.layer.loadings**2, axis=1)
        strongest = np.argsort(-loads, kind="stable")[: _NAMED if self.layer.hidden else 0]
        return MeasurementChoice(
            hidden=self.layer.hidden,
            error=float(self.layer.errors.mean()),
            gain=self.gain,
            edges_without=None if self.without is None else self.without.B.nnz,
            searches=self.searches,
            strongest=tuple(names[int(j)] for j in strongest),
        )


def unmeasured_because(estimate: Precision, options: Options) -> str | None:
    """Say why neither hidden causes nor errors of measurement can become part of the model; None if they can.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, lasso_precision
    >>> from icid_rs.learning.measurement import unmeasured_because
    >>> from icid_rs.options import Options
    >>> estimate = lasso_precision(datasets.sample_sem([[0, 0.8], [0, 0]], 100, random_state=0))
    >>> unmeasured_because(estimate, Options.of(ICID(), {"auto": True}))
    'hidden causes and errors of measurement need about two rows for each column'
    """
    if isinstance(estimate, Blocked):
        return "hidden causes and errors of measurement are looked for among numbers, and some columns are categories"
    if options.unmeasured_because is not None:
        return options.unmeasured_because
    if isinstance(estimate, Wide):
        without_errors = options.measurement_error is None or isinstance(options.measurement_error, str)
        finds = options.hidden is not None and without_errors
        return None if finds else "errors of measurement need about two rows for each column"
    if options.precision not in ("auto", "fdr", "empirical"):
        return "hidden causes and errors of measurement need precision='auto' or 'fdr'"
    if not isinstance(estimate, Full) or estimate.samples < estimate.variables + 3:
        return "hidden causes and errors of measurement need about two rows for each column"
    if estimate.variables < _FEWEST:
        return f"hidden causes and errors of measurement cannot be told from edges with fewer than {_FEWEST} columns"
    return None


def choose_layer(
    estimate: Full,
    found: LinearSem,
    knowledge: Knowledge | None,
    options: Options,
    names: Sequence[Any],
    limit: TimeLimit,
) -> Measurement | None:
    """Choose hidden causes and errors of measurement; None if nothing is worth its parameters.

    Parameters
    ----------
    estimate : Full
        Of what was measured.
    found : LinearSem
        The graph that was found without a layer.
    knowledge : Knowledge or None
    options : Options
    names : sequence
        Of the columns.
    limit : TimeLimit
        Of the searches; the best model so far is returned when it is over.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, fdr_precision
    >>> from icid_rs.graph.sem import LinearSem
    >>> from icid_rs.learning.measurement import choose_layer
    >>> from icid_rs.learning.search import TimeLimit
    >>> from icid_rs.options import Options
    >>> B, noise_variances = datasets.random_sem(30, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 1000, noise_variances=noise_variances, hidden=1, random_state=0)
    >>> graph = ICID(hidden=None, measurement_error=None).fit(X)
    >>> found = LinearSem(graph.adjacency_matrix_, graph.causal_order_, graph.noise_variances_)
    >>> options = Options.of(ICID(), {"auto": True})
    >>> choose_layer(fdr_precision(X), found, None, options, range(30), TimeLimit(None)).layer.hidden
    1
    """
    search = LayerSearch(estimate, knowledge, options, limit)
    shares = search.shares(names)
    try:
        chosen, gained = search.chosen(found, shares)
    except _core.NumericalError:
        if options.demanded is not None:
            raise
        # Causes leave next to nothing of a variable, and so no room for a layer.
        return None
    gain = gained / estimate.samples
    if chosen.layer.is_empty or (options.demanded is None and gain <= _NOTABLE):
        return None
    errors = chosen.layer.errors * estimate.variances if chosen.layer.errors.any() else None
    price = search.price_without_errors(chosen)
    corrected = replace(search.corrected(chosen.layer, chosen.sem.order), errors=errors, price=price)
    return Measurement(chosen.layer, gain, found, corrected, search.searches)


def layer_of_wide(estimate: Wide) -> Measurement | None:
    """Return the hidden causes that were taken out of a very wide table before a graph was looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.learning.measurement import layer_of_wide
    >>> from icid_rs.precision.neighbourhood import wide_precision
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> layer_of_wide(wide_precision(X, 50, range(6), Stopwatch(), hidden=1)).layer.hidden
    1
    """
    causes = estimate.causes
    if causes is None or not causes.loadings.shape[1]:
        return None
    layer = Layer(causes.loadings, np.zeros(estimate.variables)).scaled(1.0 / np.sqrt(estimate.variances))
    return Measurement(layer, causes.gain, None, estimate, searches=0)


def member_along(sem: LinearSem, order: NDArray[np.intp], estimate: Precision, n_threads: int | None) -> LinearSem:
    """Return the member of a graph's equivalence class whose reversible edges follow an order, if there is one.

    The layer hides the shape of residuals. Directions within the class that the graph without it has from there are
    kept.

    Parameters
    ----------
    sem : LinearSem
    order : array of shape (d,)
        Causal order of the graph that was found without the layer.
    estimate : Precision
        The estimate that weights are fitted to.
    n_threads : int or None

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs import datasets, fdr_precision
    >>> from icid_rs.graph.sem import LinearSem
    >>> from icid_rs.learning.measurement import member_along
    >>> estimate = fdr_precision(datasets.sample_sem([[0, 1], [0, 0]], 500, random_state=0))
    >>> sem = LinearSem(sp.csr_array([[0, 1.0], [0, 0]]), np.array([0, 1]), np.ones(2))
    >>> member_along(sem, np.array([1, 0]), estimate, None).order
    array([1, 0])
    """
    cpdag = equivalence_class(sem.B)
    rank = np.argsort(order)
    causes, effects = cpdag.nonzero()
    d = len(order)
    is_reversible = np.isin(effects * d + causes, causes * d + effects)
    kept = ~is_reversible | (rank[causes] < rank[effects])
    pattern = sp.csr_array((np.ones(kept.sum()), (causes[kept], effects[kept])), shape=cpdag.shape)
    try:
        new_order = causal_order(pattern)
    except ValueError:
        return sem
    if abs(equivalence_class(pattern) - cpdag).nnz:
        return sem
    graph = (csr_parts(pattern), np.asarray(new_order, dtype=np.int64), sem.noise_variances)
    nothing = Layer.none(d)
    fitted = _core.settle(
        estimate.covariance, None, graph, nothing.loadings, nothing.errors, rounds=1, n_threads=n_threads
    )
    return LinearSem.from_core(fitted.sem)


def warn_of_layer(choice: MeasurementChoice) -> None:
    """Warn of hidden causes or errors of measurement that were found and not asked for.

    Examples
    --------
    >>> from icid_rs.learning.measurement import warn_of_layer
    >>> from icid_rs.report import MeasurementChoice
    >>> warn_of_layer(MeasurementChoice())
    """
    if choice.gain <= _NOTABLE:
        return
    found = []
    if choice.hidden:
        names = listed([repr(name) for name in choice.strongest])
        found.append(f"{choice.hidden} hidden, loading most on {names}")
    if choice.error:
        found.append(f"{choice.error:.0%} of each variance as error")
    warn_user(
        "hidden common causes, groups of rows or errors of measurement are likely, and were taken out of the graph "
        f"({'; '.join(found)}); hidden=None and measurement_error=None give the graph with them"
    )

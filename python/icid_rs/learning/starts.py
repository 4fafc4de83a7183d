"""Causal orders proposed by the decomposition, from which regression and search start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs.data.sample import Sample
from icid_rs.decomposition.acyclic import acyclic_graph
from icid_rs.decomposition.oicid import Decomposition, decompose, solve
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.sem import Csr
from icid_rs.options import Options
from icid_rs.precision.skewness import skewness_of
from icid_rs.precision.variants import Precision

#: Iterations of a decomposition that only proposes an order.
_ORDER_ONLY_ITERATIONS = 150


@dataclass(frozen=True)
class Proposal:
    """A decomposition of Θ, its weights after the projection, and their causal order (None if they may have cycles)."""

    decomposition: Decomposition
    B: Csr
    order: NDArray[np.intp] | None


@dataclass(frozen=True)
class Proposer:
    """Decomposes Θ and orders the variables by the result.

    Attributes
    ----------
    theta : scipy.sparse.csr_array
        Θ divided by `unit`.
    noise_variances : numpy.ndarray or None
        Ω times `unit`, if it is known.
    unit : float
        The size of the noise precision, so that a weight of the ℓ1 norm means the same in any unit; or 1.
    skewness_matrix : numpy.ndarray or None
        M̃, where the caller gives it a weight.
    estimate : Precision
        For the weights of required edges.
    options : Options
    knowledge : Knowledge or None

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> from icid_rs._util.stopwatch import Stopwatch
    >>> from icid_rs.data.reading import read
    >>> from icid_rs.learning.starts import Proposer
    >>> from icid_rs.options import Options
    >>> from icid_rs.precision.estimate import choose_estimator, estimate_precision
    >>> from icid_rs.precision.kinds import KINDS
    >>> options, watch = Options.of(ICID(), KINDS), Stopwatch()
    >>> X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=0), 500, random_state=0)
    >>> sample = read(X, None, options, watch)
    >>> estimate = estimate_precision(sample, choose_estimator(sample, options), options, watch)
    >>> proposer = Proposer.of(estimate, sample, options, None)
    >>> sorted(proposer.project(proposer.decompose(order_only=True)).order.tolist())
    [0, 1, 2, 3, 4]
    """

    theta: Csr
    noise_variances: FloatArray | None
    unit: float
    skewness_matrix: FloatArray | None
    estimate: Precision
    options: Options
    knowledge: Knowledge | None

    @classmethod
    def of(cls, estimate: Precision, sample: Sample, options: Options, knowledge: Knowledge | None) -> Proposer:
        """Divide Θ by the size of the noise precision, if the options ask for it."""
        d = estimate.theta.shape[0]
        known = options.known_variances(d)
        unit = 1.0
        if options.rescale and known is None:
            unit = float(estimate.theta.diagonal().min())
        elif options.rescale and known is not None and known.size == d and (known > 0).all():
            unit = float(np.exp(-np.mean(np.log(known))))
        theta = estimate.theta.copy()
        theta.data *= 1.0 / unit
        return cls(
            theta=theta,
            noise_variances=None if known is None else known * unit,
            unit=unit,
            skewness_matrix=skewness_of(sample) if options.skewness > 0 else None,
            estimate=estimate,
            options=options,
            knowledge=knowledge,
        )

    def decompose(self, *, order_only: bool) -> Decomposition:
        """Decompose Θ as the caller asked: to the end, or only as far as its order needs."""
        options = self.options
        return self._decompose(
            options.l1_weight, options.skewness, self.skewness_matrix, order_only, callback=options.observer()
        )

    def project(self, decomposition: Decomposition) -> Proposal:
        """Make a decomposition acyclic, if that is asked for; required edges stay."""
        B = self.complete(decomposition.B)
        if self.options.dag is None:
            return Proposal(decomposition, B, None)
        required = None if self.knowledge is None else self.knowledge.required_pattern()
        B, order = acyclic_graph(B, self.options.dag, required=required, random_state=self.options.seed)
        return Proposal(decomposition, B, order)

    def complete(self, B: Any) -> Any:
        """Drop forbidden edges from a graph and add required ones."""
        return B if self.knowledge is None else self.knowledge.impose(B, self.estimate.covariance_among)

    def _decompose(
        self, l1_weight: float, skewness: float, M: FloatArray | None, order_only: bool, callback: Any = None
    ) -> Decomposition:
        given: dict[str, Any] = {
            "skewness_matrix": M,
            "skewness": skewness,
            "forbidden": None if self.knowledge is None else self.knowledge.forbidden_in(self.theta),
            "l1_weight": l1_weight,
            "callback": callback,
            **self.options.solver,
        }
        if not order_only:
            return decompose(self.theta, self.noise_variances, **given)
        # The graph is fitted along the order later, so that it does not matter whether the solver has converged.
        given["max_fista_iter"] = min(given["max_fista_iter"], _ORDER_ONLY_ITERATIONS)
        return solve(self.theta, self.noise_variances, **given)

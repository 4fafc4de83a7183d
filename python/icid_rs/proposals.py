"""Causal orders proposed by the decomposition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from icid_rs._validation import FloatArray, Rows, as_vector
from icid_rs.choices import Propose
from icid_rs.dag import AcyclicGraph, acyclic_graph
from icid_rs.decomposition import Decomposition, decompose, solve, warn_if_indefinite
from icid_rs.knowledge import Knowledge
from icid_rs.skewness import skewness_matrix

#: Iterations of a decomposition that only proposes an order.
_PROPOSING = 150
#: Variables up to which decompositions with several weights propose orders.
_FEW = 60


@dataclass(frozen=True)
class Proposer:
    """Θ in units of the noise, and how it is to be decomposed.

    Attributes
    ----------
    theta : scipy.sparse.csr_array
        Θ divided by `unit`.
    noise_variances : numpy.ndarray or None
        Ω times `unit`, if it is known.
    unit : float
        The size of the noise precision, so that a weight of the ℓ1 norm means the same in any unit; or 1.
    solver : dict
        Arguments of `decompose`, all of those that steer it.
    dag, random_state
        As for `acyclic_graph`.
    knowledge : Knowledge, optional
        What is known of the edges; it needs the covariance, for the weights of required ones.
    covariance : array of shape (d, d), optional

    Examples
    --------
    >>> from icid_rs import datasets
    >>> from icid_rs.proposals import Proposer
    >>> theta = datasets.sem_precision(datasets.random_dag(5, 1, random_state=0))
    >>> iterations = {"max_alm_iter": 1, "max_fista_iter": 3000, "schedule": "restart"}
    >>> solver = {**iterations, "tol": 5e-3, "fista_tol": 1e-4, "n_threads": None}
    >>> proposer = Proposer.make(theta, None, rescale=True, solver=solver)
    >>> sorted(proposer.project(proposer.decompose(l1_weight=0.1).B).order.tolist())
    [0, 1, 2, 3, 4]
    """

    theta: Any
    noise_variances: FloatArray | None
    unit: float
    solver: dict[str, Any]
    dag: Any = "greedy"
    random_state: int | None = 0
    knowledge: Knowledge | None = None
    covariance: FloatArray | None = None

    @classmethod
    def make(
        cls, theta: Any, noise_variances: Any, *, rescale: bool, solver: dict[str, Any], **options: Any
    ) -> Proposer:
        """Bring Θ to units of the noise, if it is to be rescaled."""
        d = theta.shape[0]
        given = None if noise_variances is None else as_vector(noise_variances, d, "noise_variances")
        unit = 1.0
        if rescale and given is None:
            unit = float(theta.diagonal().min())
        elif rescale and given is not None and given.size == d and (given > 0).all():
            unit = float(np.exp(-np.mean(np.log(given))))
        return cls(theta / unit, None if given is None else given * unit, unit, solver, **options)

    def decompose(
        self,
        *,
        l1_weight: float,
        skewness: float = 0.0,
        M: FloatArray | None = None,
        proposing: bool = True,
        callback: Callable[[dict[str, Any]], object] | None = None,
    ) -> Decomposition:
        """Decompose Θ; for its order alone if `proposing`."""
        given: dict[str, Any] = {
            "skewness_matrix": M,
            "skewness": skewness,
            "forbidden": None if self.knowledge is None else self.knowledge.forbidden_in(self.theta),
            "l1_weight": l1_weight,
            "callback": callback,
            **self.solver,
        }
        if not proposing:
            return decompose(self.theta, self.noise_variances, **given)
        # Whether it has converged says nothing of what is made of its order.
        given["max_fista_iter"] = min(given["max_fista_iter"], _PROPOSING)
        found = solve(self.theta, self.noise_variances, **given)
        warn_if_indefinite(found)
        return found

    def project(self, B: Any) -> AcyclicGraph:
        """Make a decomposition acyclic; required edges stay."""
        required = None if self.knowledge is None else self.knowledge.required_pattern()
        return acyclic_graph(self.complete(B), self.dag, required=required, random_state=self.random_state)

    def complete(self, B: Any) -> Any:
        """Add required edges that a decomposition lacks."""
        if self.knowledge is None or self.covariance is None:
            return B
        return self.knowledge.impose(B, self.covariance)

    def proposals(self, X: Rows | None, order: Any, *, vary: bool) -> Propose:
        """Return what proposes orders: this one, and if `vary`, those of decompositions with other weights."""

        def propose(kind: str) -> dict[str, Any]:
            if kind == "first":
                return {"decomposition": order}
            if not vary or len(order) > _FEW:
                return {}
            M = skewness_matrix(X) if kind == "shaped" and X is not None else None
            variants = [(0.05, 0.0)] if kind == "gaussian" else [(0.1, 5.0), (0.1, 20.0)]
            return {
                f"decomposition, l1_weight={l1_weight}, skewness={skewness:g}": self.project(
                    self.decompose(l1_weight=l1_weight, skewness=skewness, M=M).B
                ).order
                for l1_weight, skewness in variants
            }

        return propose

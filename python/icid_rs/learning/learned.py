"""A causal model that was learned from data, with all that later steps ask of how it was learned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from icid_rs.decomposition.oicid import Decomposition
from icid_rs.graph.equivalence import equivalence_class
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.mixed import ColumnModel
from icid_rs.graph.orientation import orient
from icid_rs.graph.sem import Csr, CyclicSem, LinearSem
from icid_rs.learning.measurement import Measurement
from icid_rs.learning.search import BudgetedSearch
from icid_rs.precision.variants import Blocked, Precision
from icid_rs.report import Choices, Refinement


@dataclass(frozen=True)
class Learned:
    """A causal model and how it was learned.

    Attributes
    ----------
    sem : LinearSem or CyclicSem
    decomposition : Decomposition or None
        The last decomposition of Θ, if any was needed.
    refine : str or None
        The refinement that was done.
    refinement : Refinement or None
    choices : Choices or None
    unit : float
        Divisor of Θ before its decomposition.
    search : BudgetedSearch or None
        The searches of the table, where a noise model was chosen.
    cpdag : scipy.sparse.csr_array or None
        The equivalence class of the graph, oriented by background knowledge; None if it may have cycles.
    knowledge : Knowledge or None
        Background knowledge that the graph respects.
    measurement : Measurement or None
        Hidden causes and errors of measurement, if they are part of the model.
    unmeasured : str or None
        Why these were not looked for.
    observed : Learned or None
        The model without these, if they are part of this one: its residuals are of what was measured.
    columns : ColumnModel or None
        The regressions of categories and numbers, where some variables are categories of more than two levels.
    unconfirmed : array of shape (m, 2), optional
        Pairs of variables that a search had joined, and tables of their levels do not.
    """

    sem: LinearSem | CyclicSem
    decomposition: Decomposition | None
    refine: str | None = None
    refinement: Refinement | None = None
    choices: Choices | None = None
    unit: float = 1.0
    search: BudgetedSearch | None = None
    cpdag: Csr | None = None
    knowledge: Knowledge | None = None
    measurement: Measurement | None = None
    unmeasured: str | None = None
    observed: Learned | None = None
    columns: ColumnModel | None = None
    unconfirmed: NDArray[np.int64] | None = None

    @property
    def searched_under(self) -> Knowledge | None:
        """Background knowledge, without the edges that tables of levels do not confirm."""
        if self.unconfirmed is None:
            return self.knowledge
        known = Knowledge.nothing(self.sem.B.shape[0]) if self.knowledge is None else self.knowledge
        return known.apart(self.unconfirmed)

    def modelled(self, estimate: Precision) -> Precision:
        """Return the estimate that the graph was fitted to: without the measurement layer, if there is one."""
        return estimate if self.measurement is None else self.measurement.estimate

    def in_units(self, estimate: Precision, n_threads: int | None) -> Learned:
        """Return the model in the units of the table, whose graph a search among blocks gives as strengths."""
        if not isinstance(estimate, Blocked):
            return self
        assert isinstance(self.sem, LinearSem), "searches return acyclic graphs"
        columns = estimate.column_model(self.sem.B, n_threads)
        return replace(self, sem=columns.in_units(self.sem), columns=columns)

    @property
    def status(self) -> str:
        """How the decomposition ended."""
        return "not needed" if self.decomposition is None else self.decomposition.status


def class_of(sem: LinearSem | CyclicSem, knowledge: Knowledge | None) -> Csr | None:
    """Return the equivalence class of an acyclic graph, with the edges oriented that knowledge decides."""
    if isinstance(sem, CyclicSem):
        return None
    cpdag = equivalence_class(sem.B)
    return cpdag if knowledge is None else orient(cpdag, knowledge)

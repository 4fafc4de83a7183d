"""Graphs along a path of penalties: which edges depend on the price of an edge, and which do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from icid_rs._util.frames import frame_library, frame_of
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import FloatArray
from icid_rs.data.reading import read
from icid_rs.estimator import ICID
from icid_rs.graph.sem import Csr
from icid_rs.learning.find import find
from icid_rs.learning.learn import learn
from icid_rs.options import Options
from icid_rs.precision.kinds import KINDS

#: Half of BIC to sixteen times BIC.
_PENALTIES = 2.0 ** np.linspace(-1.0, 4.0, 11)


class PathEdge(NamedTuple):
    """A pair of variables that some penalty joins.

    ``source`` and ``target`` are those at the largest penalty that joins them; ``largest`` is that penalty, and
    ``joined`` the share of the penalties that do.
    """

    source: Any
    target: Any
    largest: float
    joined: float


@dataclass(frozen=True)
class PenaltyPath:
    """Graphs for a range of penalties.

    Attributes
    ----------
    penalties : numpy.ndarray
        In units of BIC, ascending.
    graphs : list of scipy.sparse.csr_array
        The weights of the graph at each of them; ``[i, j] != 0`` means i → j.
    names : list
        The variables.
    library : {"pandas", "polars"}
        That of the data frames, as of the table.
    """

    penalties: FloatArray
    graphs: list[Csr]
    names: list[Any]
    library: str = "pandas"

    @property
    def counts(self) -> list[int]:
        """The number of edges at each penalty."""
        return [graph.nnz for graph in self.graphs]

    def edges(self) -> Any:
        """List the pairs that some penalty joins, the most persistent first.

        Returns
        -------
        pandas.DataFrame or list of PathEdge
            A data frame if pandas is installed, of polars for a table of polars.
        """
        joined: dict[tuple[int, int], int] = {}
        last: dict[tuple[int, int], tuple[int, int, float]] = {}
        for penalty, graph in zip(self.penalties.tolist(), self.graphs, strict=True):
            for i, j in zip(*(ends.tolist() for ends in graph.nonzero()), strict=True):
                pair = (min(i, j), max(i, j))
                joined[pair] = joined.get(pair, 0) + 1
                last[pair] = (i, j, penalty)
        edges = [
            PathEdge(self.names[i], self.names[j], penalty, joined[pair] / len(self.graphs))
            for pair, (i, j, penalty) in sorted(last.items(), key=lambda item: (-item[1][2], -joined[item[0]], item[0]))
        ]
        return frame_of(edges, PathEdge._fields, self.library)

    def __repr__(self) -> str:
        steps = ", ".join(f"{p:.3g}: {count}" for p, count in zip(self.penalties, self.counts, strict=True))
        return f"PenaltyPath({len(self.names)} variables; edges by penalty {steps})"


def penalty_path(
    X: Any, penalties: ArrayLike | None = None, *, model: ICID | None = None, groups: Any = None
) -> PenaltyPath:
    """Learn a graph for each of several penalties, to see which edges depend on the choice.

    An edge that a wide range of penalties keeps is not an accident of one of them. The inverse covariance is estimated
    once, whatever the number of penalties.

    Parameters
    ----------
    X : table
        As for `ICID.fit`.
    penalties : sequence of float, optional
        In units of BIC, as the parameter `penalty` of `ICID`; by default eleven from 0.5 to 16.
    model : ICID, optional
        Its other parameters are used; by default those of ``ICID()``.
    groups : array of shape (n,), optional
        As for `ICID.fit`.

    Returns
    -------
    PenaltyPath

    Examples
    --------
    >>> from icid_rs import datasets, penalty_path
    >>> B = datasets.random_dag(10, 1, random_state=0)
    >>> path = penalty_path(datasets.sample_sem(B, 500, random_state=0), [1, 2, 4, 8])
    >>> path.counts                                  # BIC lets in two edges too many
    [12, 10, 10, 10]
    >>> int((path.edges()["joined"] == 1).sum())     # that no penalty drops
    10
    """
    grid = np.unique(_PENALTIES if penalties is None else np.asarray(penalties, dtype=np.float64))
    if not grid.size or not ((grid > 0) & np.isfinite(grid)).all():
        raise ValueError(f"penalties = {penalties!r}: there must be some, all positive and finite")
    model = ICID() if model is None else model
    options, watch = Options.of(model, KINDS), Stopwatch()
    if options.refine is None:
        raise ValueError("refine=None learns no graph by the score, so that no penalty counts; use refine='auto'")
    found = find(read(X, groups, options, watch), options, watch)
    sample, estimate, options = found.sample, found.estimate, found.options
    graphs = [learn(estimate, sample, replace(options, penalty=float(p)), watch).sem.B for p in grid]
    return PenaltyPath(grid, graphs, list(sample.names), frame_library(X))

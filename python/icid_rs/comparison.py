"""Two models or graphs, compared by the names of their variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from icid_rs import metrics
from icid_rs._util.frames import frame_of
from icid_rs._util.validation import listed
from icid_rs.estimator import ICID
from icid_rs.graph.evidence import open_edges
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.graph.sem import Csr
from icid_rs.plotting.comparison import plot_comparison

#: How two variables are joined: not, in a direction that is claimed, or in an open one.
MARKS = ("", "→", "←", "—")


class Difference(NamedTuple):
    """Two variables, and how each graph joins them: one of `MARKS`."""

    source: Any
    target: Any
    in_a: str
    in_b: str


@dataclass(frozen=True)
class Comparison:
    """How two graphs differ on the variables that they have in common.

    Attributes
    ----------
    names : list
        The common variables, in the order of the first graph.
    only_a, only_b : list
        Variables that only one of the graphs has. They and their edges do not count.
    shd : int
        Structural Hamming distance: pairs joined in one graph only, or the other way round as they are drawn.
    class_distance : int or None
        Pairs that are joined differently in the two equivalence classes; None where a graph has cycles.
    graphs : tuple of scipy.sparse.csr_array
        The weights of both on the common variables.
    marks : tuple of scipy.sparse.csr_array
        ``[i, j] != 0`` for i → j, and both ``[i, j]`` and ``[j, i]`` for an edge whose direction is open.
    library : {"pandas", "polars"}
        That of the data frames, as of the first graph.

    Examples
    --------
    >>> from icid_rs import CausalGraph, compare
    >>> a = CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["rain", "wet", "slips"])
    >>> b = CausalGraph([[0, 0], [1, 0]], ["rain", "wet"])
    >>> compare(a, b)
    Comparison(2 common variables, shd=1, class_distance=0)
    """

    names: list[Any]
    only_a: list[Any]
    only_b: list[Any]
    shd: int
    class_distance: int | None
    graphs: tuple[Csr, Csr]
    marks: tuple[Csr, Csr]
    library: str = "pandas"

    def differences(self) -> Any:
        """List the pairs that the graphs join differently.

        Returns
        -------
        pandas.DataFrame or list of Difference
            ``source``, ``target``, and how the graphs join them, ``in_a`` and ``in_b``: ``"→"``, ``"←"``, ``"—"`` for
            an open direction, or an empty text. A data frame if pandas is installed, of polars after a fit to one.

        Examples
        --------
        >>> from icid_rs import CausalGraph, compare
        >>> names = ["rain", "wet"]
        >>> compare(CausalGraph([[0, 1], [0, 0]], names), CausalGraph([[0, 0], [1, 0]], names)).differences()
          source target in_a in_b
        0   rain    wet    →    ←
        """
        first, second = (_pair_marks(marks) for marks in self.marks)
        found = [
            Difference(self.names[i], self.names[j], *(MARKS[int(code[i, j])] for code in (first, second)))
            for i, j in zip(*(ends.tolist() for ends in _differing(first, second)), strict=True)
        ]
        # An arrow is shown along the edge of the first graph, or of the second where the first has none.
        found = [_turned(row) if "←" in (row.in_a or row.in_b) else row for row in found]
        return frame_of(found, Difference._fields, self.library)

    def adjustment_distance(self, kind: Literal["optimal", "parents", "ancestors"] = "optimal") -> int:
        """Count the effects that the second graph gets wrong if the first is true, as they are drawn.

        See `metrics.adjustment_distance`; needs gadjid.
        """
        return metrics.adjustment_distance(*self.graphs, kind)

    def plot(self, ax: Any = None) -> Any:
        """Draw both graphs in one picture; see `icid_rs.plotting.plot_comparison`.

        Examples
        --------
        >>> from icid_rs import CausalGraph, compare
        >>> names = ["rain", "wet"]
        >>> ax = compare(CausalGraph([[0, 1], [0, 0]], names), CausalGraph([[0, 0], [1, 0]], names)).plot()
        """
        return plot_comparison(*self.marks, self.names, ax=ax)

    def __str__(self) -> str:
        differing = len(_differing(*(_pair_marks(marks) for marks in self.marks))[0])
        lines = [
            f"{len(self.names)} common variables; edges {self.graphs[0].nnz} and {self.graphs[1].nnz}",
            f"structural Hamming distance {self.shd}, between the classes "
            + ("not defined: a graph has cycles" if self.class_distance is None else f"{self.class_distance}"),
            f"{differing} pair(s) joined differently, counting open directions",
        ]
        for which, names in (("first", self.only_a), ("second", self.only_b)):
            if names:
                lines.append(f"only in the {which}: {listed([repr(name) for name in names])}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Comparison({len(self.names)} common variables, shd={self.shd}, class_distance={self.class_distance})"


def compare(a: ICID | NamedGraph, b: ICID | NamedGraph) -> Comparison:
    """Compare two models or graphs, matching their variables by name.

    Parameters
    ----------
    a, b : ICID or CausalGraph
        Fitted models, or graphs; make a `CausalGraph` of a matrix.

    Returns
    -------
    Comparison
        Distances, what differs, and a picture.

    Examples
    --------
    >>> from icid_rs import CausalGraph, compare
    >>> a = CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["season", "rain", "wet"])
    >>> b = CausalGraph([[0, 0, 0], [1, 0, 0], [0, 1, 0]], ["season", "rain", "wet"])
    >>> print(compare(a, b))
    3 common variables; edges 2 and 2
    structural Hamming distance 2, between the classes 0
    2 pair(s) joined differently, counting open directions
    """
    first, second = _graph(a, "a"), _graph(b, "b")
    theirs = {name: k for k, name in enumerate(second.names_)}
    names = [name for name in first.names_ if name in theirs]
    if not names:
        raise ValueError("the graphs have no variable in common; variables are matched by name")
    ours = set(names)
    places = [k for k, name in enumerate(first.names_) if name in ours], [theirs[name] for name in names]
    graphs, marks = [], []
    for graph, kept in zip((first, second), places, strict=True):
        B = graph.adjacency_matrix_
        joined = B.astype(bool).astype(np.float64)
        graphs.append(sp.csr_array(B[kept][:, kept]))
        marks.append(sp.csr_array(joined.maximum(open_edges(B, graph.evidence_).T)[kept][:, kept]))
    acyclic = first.causal_order_ is not None and second.causal_order_ is not None
    return Comparison(
        names=names,
        only_a=[name for name in first.names_ if name not in ours],
        only_b=[name for name in second.names_ if name not in ours],
        shd=int(metrics.count_accuracy(*graphs)["shd"]),
        class_distance=metrics.class_distance(*graphs) if acyclic else None,
        graphs=(graphs[0], graphs[1]),
        marks=(marks[0], marks[1]),
        library=first._library,
    )


def _graph(model: Any, name: str) -> NamedGraph:
    graph = getattr(model, "graph_", model)
    if isinstance(graph, NamedGraph):
        return graph
    if isinstance(model, ICID):
        raise ValueError(f"{name} is an ICID that was not fitted")
    kind = type(model).__name__
    raise TypeError(
        f"{name} must be a fitted ICID or a CausalGraph, not {kind}; make one by CausalGraph(matrix, names)"
    )


def _pair_marks(marks: Csr) -> Csr:
    """Return the place in `MARKS` for each pair i < j: 1 for i → j, 2 for i ← j and 3 for both."""
    joined = marks.astype(bool).astype(np.int8)
    return sp.csr_array(sp.triu(joined + 2 * joined.T, k=1))


def _differing(first: Any, second: Any) -> Any:
    return (first != second).nonzero()


def _turned(row: Difference) -> Difference:
    other = {"→": "←", "←": "→"}
    return Difference(row.target, row.source, other.get(row.in_a, row.in_a), other.get(row.in_b, row.in_b))

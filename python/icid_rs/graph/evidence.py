"""The evidence for each edge of a graph: its size and error, and what its direction rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs.graph.equivalence import equivalence_class, undetermined_edges
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.sem import Csr

#: What a direction rests on: every graph of the equivalence class has it, the shape of residuals, equal or known noise
#: variances, or background knowledge. ``"open"``: it is not claimed, and the edge may point either way.
DIRECTIONS = ("compelled", "shape", "variance", "knowledge", "open")
#: Attributes that are shares or probabilities.
_SHARES = ("p_value", "stability", "joined")


@dataclass(frozen=True, kw_only=True)
class EdgeEvidence:
    """Evidence for the edges of a graph, in the order of the entries of its CSR matrix of weights.

    Attributes
    ----------
    standardised : array
        Weight in standard deviations of cause and effect.
    std_error, p_value : array
        Of the weight, given the graph.
    direction : array of str
        What the direction rests on, one of `DIRECTIONS`.
    stability : array
        Share of resamples that have this direction.
    joined : array
        Share of resamples that join the two variables.
    margin : array
        Score that the best graph with the edge reversed loses.

    Numbers that are not known are NaN.

    Examples
    --------
    >>> from icid_rs.graph.evidence import EdgeEvidence
    >>> EdgeEvidence.unknown(2).direction
    array(['open', 'open'], dtype='<U9')
    """

    standardised: FloatArray
    std_error: FloatArray
    p_value: FloatArray
    direction: NDArray[np.str_]
    stability: FloatArray
    joined: FloatArray
    margin: FloatArray

    @classmethod
    def unknown(cls, edges: int) -> Self:
        """Return evidence that knows nothing of so many edges."""
        numbers = {name: np.full(edges, np.nan) for name in cls.columns() if name != "direction"}
        return cls(direction=np.full(edges, "open", dtype="<U9"), **numbers)

    @classmethod
    def columns(cls) -> list[str]:
        """Return the names of the attributes, in the order of the columns of a table of edges."""
        return [field.name for field in fields(cls)]

    def take(self, index: NDArray[Any]) -> Self:
        """Return the evidence for some of the edges."""
        return replace(self, **{name: getattr(self, name)[index] for name in self.columns()})

    def at(self, B: Csr, causes: NDArray[np.intp], effects: NDArray[np.intp]) -> Self:
        """Return the evidence for the edges of B between these causes and effects."""
        places = _places(edge_ends(B), B)
        return self.take(np.searchsorted(places, _places((causes, effects), B)))

    def among(self, B: Csr, variables: NDArray[np.intp]) -> Self:
        """Return the evidence for the edges of B among some variables, in the order of `B[variables][:, variables]`."""
        numbered = sp.csr_array((np.arange(1, B.nnz + 1), B.indices, B.indptr), shape=B.shape)
        return self.take(numbered[variables][:, variables].data - 1)

    def check(self, edges: Sequence[str]) -> None:
        """Raise a ValueError that names the edge whose evidence is impossible; `edges` describes each edge."""
        for name, values in ((name, getattr(self, name)) for name in self.columns()):
            if np.shape(values) != (len(edges),):
                raise ValueError(f"evidence.{name} has shape {np.shape(values)}, but there are {len(edges)} edges")
            if name == "direction":
                bad, demand = ~np.isin(values, DIRECTIONS), f"one of {', '.join(map(repr, DIRECTIONS))}"
            elif name in _SHARES:
                bad, demand = (values < 0) | (values > 1), "from 0 to 1, where it is known"
            elif name == "std_error":
                bad, demand = (values < 0) | np.isinf(values), "finite and not negative, where it is known"
            else:
                bad, demand = np.isinf(values), "finite, where it is known"
            if bad.any():
                k = int(np.argmax(bad))
                raise ValueError(f"the edge {edges[k]} has {name} = {values.tolist()[k]!r}: it must be {demand}")


def edge_ends(B: Csr) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the causes and the effects of all edges, in the order of the entries of B.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.evidence import edge_ends
    >>> edge_ends(sp.csr_array([[0, 0.5], [0, 0]]))
    (array([0]), array([1]))
    """
    causes = np.repeat(np.arange(B.shape[0], dtype=np.intp), np.diff(B.indptr))
    return causes, B.indices.astype(np.intp)


def directions(
    B: Csr,
    cpdag: Csr | None,
    *,
    knowledge: Knowledge | None = None,
    by_variance: bool = False,
    shaped: Sequence[int] = (),
) -> NDArray[np.str_]:
    """Tell what the direction of each edge rests on, in the order of the entries of B.

    Parameters
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
    cpdag : scipy.sparse.csr_array of shape (d, d) or None
        The equivalence class, oriented by background knowledge; None for a graph with cycles.
    knowledge : Knowledge, optional
        Bars the reverse of an edge, or orients it together with the class.
    by_variance : bool
        Whether equal or known noise variances determine all directions.
    shaped : sequence of int
        Variables whose residuals have a shape that orients edges.

    Returns
    -------
    numpy.ndarray of str
        For each edge the first of ``"knowledge"``, ``"variance"``, ``"compelled"`` and ``"shape"`` that holds, or
        ``"open"``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs import equivalence_class
    >>> from icid_rs.graph.evidence import directions
    >>> B = sp.csr_array([[0, 0, 1.0, 0], [0, 0, 1.0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    >>> directions(B, equivalence_class(B))
    array(['compelled', 'compelled'], dtype='<U9')
    """
    causes, effects = edge_ends(B)
    places = causes * B.shape[0] + effects
    result = np.full(B.nnz, "open", dtype="<U9")
    if cpdag is not None:
        open_to_shape, open_to_all = (_places(undetermined_edges(cpdag, given), B) for given in (shaped, ()))
        result[~np.isin(places, open_to_shape)] = "shape"
        result[~np.isin(places, open_to_all)] = "compelled"
    if by_variance:
        result[:] = "variance"
    if knowledge is not None:
        known = ~knowledge.allows(effects, causes)
        if cpdag is not None:
            reversible = _places(undetermined_edges(equivalence_class(B), ()), B)
            known |= np.isin(places, reversible) & ~np.isin(places, open_to_all)
        result[known] = "knowledge"
    return result


def open_edges(B: Csr, evidence: EdgeEvidence) -> Csr:
    """Return the pattern of the edges whose direction is open, with ones at [source, target].

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.evidence import EdgeEvidence, open_edges
    >>> open_edges(sp.csr_array([[0, 0.5], [0, 0]]), EdgeEvidence.unknown(1)).toarray()
    array([[0., 1.],
           [0., 0.]])
    """
    kept = evidence.direction == "open"
    causes, effects = (ends[kept] for ends in edge_ends(B))
    return sp.csr_array((np.ones(causes.size), (causes, effects)), shape=B.shape)


def with_open_edges(cpdag: Csr | None, B: Csr, evidence: EdgeEvidence) -> Csr | None:
    """Return the equivalence class in which all open edges of B are reversible; None if there is no class.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.evidence import EdgeEvidence, with_open_edges
    >>> B = sp.csr_array([[0, 0.5], [0, 0]])
    >>> with_open_edges(B.astype(bool).astype(float), B, EdgeEvidence.unknown(1)).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    if cpdag is None:
        return None
    return sp.csr_array(cpdag.maximum(open_edges(B, evidence).T))


def _places(ends: tuple[NDArray[np.intp], NDArray[np.intp]], B: Csr) -> NDArray[np.intp]:
    return ends[0] * B.shape[0] + ends[1]

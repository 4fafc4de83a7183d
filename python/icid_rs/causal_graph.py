"""A causal graph on its own, without the data and the estimator it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from icid_rs._validation import FloatArray, as_csr, as_order, as_vector
from icid_rs.dag import causal_order as find_order
from icid_rs.dag import equivalence_class
from icid_rs.pictures import PictureMixin
from icid_rs.result import GraphMixin


class CausalGraph(PictureMixin, GraphMixin):
    """A weighted graph with named variables, which answers what a fitted `ICID` does.

    `load` returns one, and so does `ICID.subgraph`.

    Parameters
    ----------
    adjacency_matrix : array or sparse matrix of shape (d, d)
        Weights; ``[i, j] != 0`` means i → j.
    names : sequence of length d, optional
        Without them, variables are numbered.
    causal_order : array of shape (d,), optional
        The variables, causes first; found if it is not given.
    cpdag : sparse matrix of shape (d, d), optional
        The equivalence class, as `equivalence_class` returns it; found if it is not given.
    noise_variances, location : array of shape (d,), optional
        What the causes leave unexplained of each variable, and the means.
    confidence : array or sparse matrix of shape (d, d), optional
        ``[i, j]`` is the probability of i → j, a column of `edges`.
    settings, info : mapping, optional
        How the graph was found.

    Attributes
    ----------
    adjacency_matrix_, causal_order_, cpdag_, noise_variances_, location_, info_
        As those of `ICID`. ``causal_order_`` and ``cpdag_`` are None if the graph has a cycle, ``noise_variances_`` and
        ``location_`` if they are not known.
    confidence_ : scipy.sparse.csr_array or None
    settings_ : dict
    names_ : list

    Examples
    --------
    >>> from icid_rs import CausalGraph
    >>> graph = CausalGraph([[0, 0.5, 0], [0, 0, 2.0], [0, 0, 0]], ["rain", "wet", "slippery"])
    >>> graph
    CausalGraph(3 variables, 2 edges)
    >>> graph.ancestors("slippery")
    ['rain', 'wet']
    """

    def __init__(
        self,
        adjacency_matrix: Any,
        names: Sequence[Any] | None = None,
        *,
        causal_order: ArrayLike | None = None,
        cpdag: Any = None,
        noise_variances: ArrayLike | None = None,
        location: ArrayLike | None = None,
        confidence: Any = None,
        settings: Mapping[str, Any] | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        B = _weights(adjacency_matrix)
        d = B.shape[0]
        self.n_features_in_ = d
        if isinstance(names, str):
            raise TypeError(f"names must be a sequence with one name for each variable, not {names!r}")
        self._columns = None if names is None else list(names)
        if len(self.names_) != d:
            raise ValueError(f"there are {len(self.names_)} names, but {d} variables")
        if len(set(self.names_)) < d:
            repeated = next(name for k, name in enumerate(self.names_) if name in self.names_[:k])
            raise ValueError(f"the name {repeated!r} occurs more than once; rename one of the variables")
        self.adjacency_matrix_ = B
        self.causal_order_ = _found_order(B) if causal_order is None else _checked_order(causal_order, B)
        if cpdag is None:
            self.cpdag_ = None if self.causal_order_ is None else equivalence_class(B)
        else:
            self.cpdag_ = _checked_class(cpdag, B)
        self.noise_variances_ = None if noise_variances is None else _variances(noise_variances, d)
        self.location_ = None if location is None else _finite(location, d, "location")
        self._confidence = None if confidence is None else _probabilities(confidence, d)
        self.settings_ = _mapping(settings, "settings")
        self.info_ = _mapping(info, "info")

    @classmethod
    def from_networkx(cls, graph: Any) -> CausalGraph:
        """Read a ``networkx.DiGraph``.

        Parameters
        ----------
        graph : networkx.DiGraph
            ``weight`` on the edges (1 where there is none); what `to_networkx` writes besides is read too. Edges are
            those of the adjacency matrix in the graph's attribute ``convention``, if it has one.

        Returns
        -------
        CausalGraph

        Examples
        --------
        >>> import networkx as nx
        >>> from icid_rs import CausalGraph
        >>> CausalGraph.from_networkx(nx.DiGraph([("rain", "wet")])).children("rain")
        ['wet']
        """
        from icid_rs.export.networks import from_networkx

        return from_networkx(graph)

    @property
    def confidence_(self) -> Any:
        """Probabilities of the edges, a sparse matrix of shape (d, d), or None if they are not known."""
        return self._confidence

    def __repr__(self) -> str:
        return f"CausalGraph({self.n_features_in_} variables, {self.adjacency_matrix_.nnz} edges)"

    def _settings(self) -> dict[str, Any]:
        return self.settings_

    def _summary(self) -> dict[str, Any]:
        return self.info_


def weight_matrix(
    sources: Sequence[int], targets: Sequence[int], weights: Sequence[float], names: Sequence[Any]
) -> Any:
    """Make a matrix of a list of edges, and refuse one that is listed twice, or is none.

    Examples
    --------
    >>> from icid_rs.causal_graph import weight_matrix
    >>> weight_matrix([0], [1], [0.5], ["rain", "wet"]).toarray()
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    seen = set()
    for i, j, weight in zip(sources, targets, weights, strict=True):
        for fault, happens in (("is listed more than once", (i, j) in seen), ("has the weight 0", weight == 0)):
            if happens:
                raise ValueError(f"the edge {names[i]!r} → {names[j]!r} {fault}")
        seen.add((i, j))
    return sp.csr_array((np.asarray(weights, dtype=np.float64), (sources, targets)), shape=(len(names), len(names)))


def _weights(matrix: Any) -> sp.csr_array[np.float64, tuple[int, int]]:
    B = as_csr(matrix, "adjacency_matrix")
    if B.shape[0] != B.shape[1]:
        raise ValueError(f"adjacency_matrix must be square, but its shape is {B.shape}")
    B.eliminate_zeros()
    rows, columns = B.nonzero()
    for bad, fault in ((~np.isfinite(B.data), "is not finite"), (rows == columns, "would be its own cause")):
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(f"adjacency_matrix[{rows[k]}, {columns[k]}] = {B.data[k]}: it {fault}")
    return B


def _found_order(B: sp.csr_array[np.float64, tuple[int, int]]) -> Any:
    try:
        return find_order(B)
    except ValueError:
        return None


def _checked_order(values: ArrayLike, B: sp.csr_array[np.float64, tuple[int, int]]) -> Any:
    d = B.shape[0]
    order = as_order(values, d, "causal_order").astype(np.intp)
    if order.size != d or np.unique(order).size != d:
        raise ValueError(f"causal_order must hold each of 0 to {d - 1} once")
    rank = np.argsort(order)
    rows, columns = B.nonzero()
    late = np.flatnonzero(rank[rows] >= rank[columns])
    if late.size:
        i, j = rows[late[0]], columns[late[0]]
        raise ValueError(f"causal_order puts {j} before {i}, but the edge {i} → {j} says otherwise")
    return order


def _checked_class(matrix: Any, B: sp.csr_array[np.float64, tuple[int, int]]) -> Any:
    cpdag = as_csr(matrix, "cpdag")
    cpdag.eliminate_zeros()
    if cpdag.shape != B.shape:
        raise ValueError(f"cpdag has shape {cpdag.shape}, but adjacency_matrix has {B.shape}")
    ours, theirs = B.astype(bool), cpdag.astype(bool)
    if (ours > theirs).nnz or ((ours + ours.T) != (theirs + theirs.T)).nnz:
        raise ValueError("cpdag does not join the same variables as adjacency_matrix")
    return cpdag


def _mapping(value: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping, not {value!r}")
    return dict(value or {})


def _finite(values: ArrayLike, d: int, name: str) -> FloatArray:
    vector = as_vector(values, d, name)
    if vector.size != d:
        raise ValueError(f"{name} has length {vector.size}, but there are {d} variables")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] = {vector[bad[0]]}: it must be finite")
    return vector


def _variances(values: ArrayLike, d: int) -> FloatArray:
    variances = _finite(values, d, "noise_variances")
    bad = np.flatnonzero(variances <= 0)
    if bad.size:
        raise ValueError(f"noise_variances[{bad[0]}] = {variances[bad[0]]}: it must be positive")
    return variances


def _probabilities(matrix: Any, d: int) -> Any:
    confidence = as_csr(matrix, "confidence")
    if confidence.shape != (d, d):
        raise ValueError(f"confidence has shape {confidence.shape}, but there are {d} variables")
    if not ((confidence.data >= 0) & (confidence.data <= 1)).all():
        raise ValueError("confidence must hold probabilities, from 0 to 1")
    return confidence

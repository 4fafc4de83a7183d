"""Results of a bootstrap: probabilities of edges, directions and paths, and the spread of weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs._util.frames import frame_of
from icid_rs._util.validation import FloatArray, check_real
from icid_rs.decomposition.acyclic import acyclic_graph
from icid_rs.graph.edges import entries_at
from icid_rs.graph.equivalence import causal_order
from icid_rs.graph.sem import Csr

#: Sources whose descendants are computed at a time, which bounds the memory.
_SOURCES = 1024


class LikelyEdge(NamedTuple):
    """An edge, its probability, and the mean and standard deviation of its weight."""

    source: Any
    target: Any
    probability: float
    joined: float
    weight: float
    deviation: float


@dataclass(frozen=True)
class Bootstrap:
    """Graphs found in resamples of the rows, and the probabilities they give; `bootstrap` returns one.

    In each resample an edge counts 1 if the data determine its direction, and ½ each way otherwise. Undetermined are,
    with unequal noise variances, the edges that are reversible in ``cpdag_`` and whose two ends have Gaussian
    residuals.

    Attributes
    ----------
    names : list
        The variables.
    graphs : list of scipy.sparse.csr_array
        The weights found in each resample.
    directions : list of scipy.sparse.csr_array
        The count of each edge there: 1, or ½ each way.
    failures : dict
        Error messages of resamples that could not be fitted, and how often each occurred.
    block : int or None
        Length of the blocks, if blocks were drawn.
    library : {"pandas", "polars"}
        That of the data frames, as of the table.

    Examples
    --------
    >>> from icid_rs import ICID, bootstrap, datasets
    >>> X = datasets.sample_sem([[0, 0.8, 0], [0, 0, 0.8], [0, 0, 0]], 500, random_state=0)
    >>> found = bootstrap(ICID(noise="equal").fit(X), X, n=20)
    >>> float(found.edge_probabilities[0, 1])
    1.0
    >>> float(found.ancestor_probabilities()[0, 2])
    1.0
    """

    names: list[Any]
    graphs: list[Csr] = field(repr=False)
    directions: list[Csr] = field(repr=False)
    failures: dict[str, int]
    block: int | None = None
    library: str = field(default="pandas", repr=False)

    @cached_property
    def edge_probabilities(self) -> Csr:
        """The share of resamples with i → j, at [i, j]."""
        cells, which, shares = _by_edge(self.directions)
        sums = np.bincount(which, shares, minlength=cells.size)
        return _matrix(cells, sums / len(self.directions), len(self.names))

    @property
    def adjacency_probabilities(self) -> Csr:
        """The share of resamples in which i and j are joined, whichever way; symmetric."""
        return sp.csr_array(self.edge_probabilities + self.edge_probabilities.T)

    @property
    def direction_probabilities(self) -> Csr:
        """The share of i → j in the resamples in which i and j are joined."""
        joined = self.adjacency_probabilities
        joined.data = 1.0 / joined.data
        return sp.csr_array(self.edge_probabilities.multiply(joined))

    def ancestor_probabilities(self) -> Csr:
        """Compute the share of resamples with a directed path from i to j; undetermined edges are left out."""
        d = len(self.names)
        determined = [sp.csc_array(directions.floor()) for directions in self.directions]
        for edges in determined:
            edges.eliminate_zeros()
        orders = [causal_order(edges) for edges in determined]
        blocks = []
        for first in range(0, d, _SOURCES):
            counts = np.zeros((d, min(_SOURCES, d - first)), dtype=np.int32)
            for edges, order in zip(determined, orders, strict=True):
                counts += _reached(edges, order, first, counts.shape[1])
            blocks.append(sp.csr_array(counts.T / len(self.graphs)))
        return sp.csr_array(sp.vstack(blocks))

    @property
    def weight_means(self) -> Csr:
        """The mean weight of i → j in the resamples that have it."""
        return self._weights[0]

    @property
    def weight_deviations(self) -> Csr:
        """The standard deviation of the weight of i → j in the resamples that have it."""
        return self._weights[1]

    @cached_property
    def _weights(self) -> tuple[Csr, Csr]:
        cells, which, weights = _by_edge(self.graphs)
        counts = np.bincount(which, minlength=cells.size)
        means = np.bincount(which, weights, minlength=cells.size) / counts
        variances = np.bincount(which, (weights - means[which]) ** 2, minlength=cells.size) / counts
        d = len(self.names)
        return _matrix(cells, means, d), _matrix(cells, np.sqrt(variances), d)

    def stable_graph(self, threshold: float = 0.75) -> Csr:
        """Return the edges that are found in most resamples, with their mean weights.

        Parameters
        ----------
        threshold : float in (0.5, 1]
            Smallest probability of i → j. Variables that are surely joined, but in an unsure direction, get no edge;
            see `adjacency_probabilities` for these.

        Returns
        -------
        scipy.sparse.csr_array of shape (d, d)
            Acyclic: of likely edges that close a cycle, the least likely is left out.

        Examples
        --------
        >>> from icid_rs import ICID, bootstrap, datasets
        >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0)
        >>> bootstrap(ICID(noise="equal").fit(X), X, n=20).stable_graph().nnz
        1
        """
        threshold = check_real(threshold, "threshold")
        if not 0.5 < threshold <= 1:
            raise ValueError(f"threshold = {threshold}: it must be above 0.5 and at most 1")
        likely = self.edge_probabilities.copy()
        # Counts are exact sums of halves and ones, but dividing by the number of resamples rounds.
        likely.data[likely.data < threshold - 1e-12] = 0.0
        likely.eliminate_zeros()
        kept, _ = acyclic_graph(likely)
        return sp.csr_array(self.weight_means.multiply(kept.astype(bool)))

    def edges(self) -> Any:
        """List the edges that were found in any resample, most probable first.

        Returns
        -------
        pandas.DataFrame or list of LikelyEdge
            ``source``, ``target``; the ``probability`` of this edge; ``joined``, the probability of an edge either
            way; the mean ``weight`` and its standard ``deviation``. A data frame if pandas is installed, of polars for
            a table of polars.
        """
        edges = self.edge_probabilities.tocoo()
        joined, weights, deviations = (
            entries_at(matrix, edges.row, edges.col)
            for matrix in (self.adjacency_probabilities, self.weight_means, self.weight_deviations)
        )
        first = np.lexsort((edges.col, edges.row, -joined, -edges.data))
        columns = np.column_stack([edges.data, joined, weights, deviations])[first].tolist()
        rows = [
            LikelyEdge(self.names[i], self.names[j], *values)
            for i, j, values in zip(edges.row[first], edges.col[first], columns, strict=True)
        ]
        return frame_of(rows, LikelyEdge._fields, self.library)


def _reached(edges: Any, order: NDArray[np.intp], first: int, width: int) -> NDArray[np.bool_]:
    """Tell which variables each of `width` sources, from `first` on, has a directed path to."""
    reached = np.zeros((len(order), width), dtype=bool)
    for j in order:
        causes = edges.indices[edges.indptr[j] : edges.indptr[j + 1]]
        if causes.size:
            reached[j] = reached[causes].any(axis=0)
            sources = causes[(causes >= first) & (causes < first + width)]
            reached[j, sources - first] = True
    return reached


def _by_edge(matrices: list[Csr]) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """Group the entries of all matrices by their place: return the places, the place of each entry, and the entries."""
    entries = [matrix.tocoo() for matrix in matrices]
    d = matrices[0].shape[0]
    cells, which = np.unique(np.concatenate([e.row.astype(np.intp) * d + e.col for e in entries]), return_inverse=True)
    return cells, which, np.concatenate([e.data for e in entries])


def _matrix(cells: NDArray[np.intp], values: FloatArray, d: int) -> Csr:
    return sp.csr_array((values, (cells // d, cells % d)), shape=(d, d))

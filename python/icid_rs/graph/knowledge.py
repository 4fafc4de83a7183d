"""Background knowledge: required edges, forbidden edges, and tiers of variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path

from icid_rs import _core
from icid_rs._util.validation import FloatArray
from icid_rs.graph.variables import locate_all

Csr = Any


@dataclass(frozen=True)
class Knowledge:
    """Required and forbidden edges, and tiers, in numbers of columns.

    Attributes
    ----------
    required, forbidden : numpy.ndarray of shape (m, 2)
        Causes and effects.
    tiers : numpy.ndarray of shape (d,)
        The number of each variable's tier, negative for none. There are no edges from later to earlier tiers.

    Examples
    --------
    >>> from icid_rs.graph.knowledge import Knowledge
    >>> known = Knowledge.make(["age", "dose", "pain"], required=[("dose", "pain")], tiers=[["age"], ["dose", "pain"]])
    >>> known.allows([0, 1], [1, 0])
    array([ True, False])
    """

    required: NDArray[np.int64]
    forbidden: NDArray[np.int64]
    tiers: NDArray[np.int64]

    @classmethod
    def nothing(cls, d: int) -> Knowledge:
        """Return what is known of d variables of which nothing is known.

        Examples
        --------
        >>> from icid_rs.graph.knowledge import Knowledge
        >>> Knowledge.nothing(2).allows([0, 1], [1, 0])
        array([ True,  True])
        """
        nothing = np.empty((0, 2), dtype=np.int64)
        return cls(nothing, nothing, np.full(d, -1, dtype=np.int64))

    def apart(self, pairs: NDArray[np.int64]) -> Knowledge:
        """Return what is known if some pairs of variables are not joined, either way.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs.graph.knowledge import Knowledge
        >>> Knowledge.nothing(2).apart(np.array([[0, 1]])).forbidden
        array([[0, 1],
               [1, 0]])
        """
        forbidden = np.unique(np.concatenate([self.forbidden, pairs, pairs[:, ::-1]]), axis=0)
        return replace(self, forbidden=forbidden)

    @classmethod
    def make(
        cls, names: Sequence[Any], *, required: Any = None, forbidden: Any = None, tiers: Any = None
    ) -> Knowledge | None:
        """Translate names into numbers, and raise if the parts contradict each other; None if nothing is known.

        Parameters
        ----------
        names : sequence of length d
        required, forbidden : iterable of pairs, optional
            Cause and effect, by name or number.
        tiers : sequence of groups, optional
            Earliest first.
        """
        if required is None and forbidden is None and tiers is None:
            return None
        knowledge = cls(
            _edges(required, names, "required"), _edges(forbidden, names, "forbidden"), _tiers(tiers, names)
        )
        knowledge._check(names)
        return knowledge if len(knowledge.required) or len(knowledge.forbidden) or tiers is not None else None

    def among(self, kept: NDArray[np.intp], names: Sequence[Any]) -> Knowledge:
        """Restrict knowledge about columns with these names to those that are variables, which are renumbered.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs.graph.knowledge import Knowledge
        >>> names = ["id", "age", "dose", "pain"]
        >>> Knowledge.make(names, required=[(2, 3)]).among(np.array([1, 2, 3]), names).required
        array([[1, 2]])
        """
        number = np.full(len(names), -1, dtype=np.int64)
        number[kept] = np.arange(len(kept))
        for cause, effect in self.required:
            if min(number[cause], number[effect]) < 0:
                lost = names[cause if number[cause] < 0 else effect]
                edge = f"{names[cause]!r} → {names[effect]!r}"
                raise ValueError(f"the required edge {edge} has no place: {lost!r} was left out; keep it with columns=")
        forbidden = number[self.forbidden]
        return Knowledge(number[self.required], forbidden[(forbidden >= 0).all(axis=1)], self.tiers[kept])

    @property
    def is_order(self) -> bool:
        """Whether it constrains nothing but the causal order."""
        return len(self.forbidden) == 0 and bool((self.tiers >= 0).all() or (self.tiers < 0).all())

    @property
    def parts(self) -> Any:
        """The three arrays, edges as one array of causes and one of effects, for the Rust core."""
        required, forbidden = (tuple(np.ascontiguousarray(edges.T)) for edges in (self.required, self.forbidden))
        return required, forbidden, self.tiers

    def allows(self, causes: Any, effects: Any) -> NDArray[np.bool_]:
        """Tell which of these edges are allowed."""
        causes, effects = np.asarray(causes), np.asarray(effects)
        d = self.tiers.size
        barred = np.isin(causes * d + effects, self.forbidden[:, 0] * d + self.forbidden[:, 1])
        barred |= np.isin(causes * d + effects, self.required[:, 1] * d + self.required[:, 0])
        earlier, later = self.tiers[effects], self.tiers[causes]
        return np.asarray(~(barred | ((earlier >= 0) & (later > earlier))))

    def arrange(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the closest order that has required causes before their effects and tiers one after another."""
        return _core.arrange(order.astype(np.int64), self.parts).astype(np.intp)

    def forbidden_in(self, B: Csr) -> Csr:
        """Return the pattern of the forbidden entries of B."""
        rows, columns = B.nonzero()
        barred = ~self.allows(rows, columns) & (rows != columns)
        return _pattern(rows[barred], columns[barred], self.tiers.size)

    def is_respected_by(self, B: Csr) -> bool:
        """Tell whether a graph has all required edges and no forbidden one."""
        return bool((self.required_pattern() > (abs(B) > 0)).nnz == 0 and self.forbidden_in(B).nnz == 0)

    def required_pattern(self) -> Csr:
        """Return the pattern of required edges."""
        return _pattern(self.required[:, 0], self.required[:, 1], self.tiers.size)

    def impose(self, B: Csr, covariance_among: Callable[[NDArray[Any]], FloatArray]) -> Csr:
        """Drop forbidden edges, and add missing required ones with their least-squares weights.

        `covariance_among` returns the covariance of some variables.
        """
        coo = sp.coo_array(B)
        kept = self.allows(coo.row, coo.col)
        B = sp.csc_array((coo.data[kept], (coo.row[kept], coo.col[kept])), shape=B.shape)
        missing = np.array([(i, j) for i, j in self.required if B[i, j] == 0], dtype=np.intp).reshape(-1, 2)
        weights = []
        for cause, effect in missing:
            own = B.indices[B.indptr[effect] : B.indptr[effect + 1]]
            causes = np.union1d(own, self.required[self.required[:, 1] == effect, 0])
            covariance = covariance_among(np.append(causes, effect))
            fitted = np.linalg.solve(covariance[:-1, :-1], covariance[:-1, -1])
            # An edge that explains nothing gets the smallest weight, since a zero would be no edge.
            weights.append(float(fitted[np.searchsorted(causes, cause)]) or np.finfo(np.float64).tiny)
        return sp.csr_array(B + sp.csr_array((weights, (missing[:, 0], missing[:, 1])), shape=B.shape))

    def _check(self, names: Sequence[Any]) -> None:
        def show(i: int, j: int) -> str:
            return f"{names[i]!r} -> {names[j]!r}"

        barred = {(int(i), int(j)) for i, j in self.forbidden}
        for i, j in self.required.tolist():
            if (i, j) in barred:
                raise ValueError(f"the edge {show(i, j)} is both required and forbidden; drop one of the two")
            if 0 <= self.tiers[j] < self.tiers[i]:
                raise ValueError(
                    f"the edge {show(i, j)} is required, but {names[i]!r} is in a later tier than {names[j]!r}"
                )
        cycle = self._cycle()
        if cycle:
            path = " -> ".join(repr(names[i]) for i in cycle)
            raise ValueError(f"required edges go round in a circle: {path}; drop one of these")

    def _cycle(self) -> list[int]:
        """Return a cycle of required edges as a path that ends where it begins; empty if there is none."""
        graph = self.required_pattern()
        _, labels = connected_components(graph, directed=True, connection="strong")
        inside = self.required[labels[self.required[:, 0]] == labels[self.required[:, 1]]]
        if not len(inside):
            return []
        start, end = inside[0].tolist()
        _, predecessors = shortest_path(graph, unweighted=True, indices=end, return_predecessors=True)
        path = [start]
        while path[-1] != end:
            path.append(int(predecessors[path[-1]]))
        path.append(start)
        return path[::-1]


def _edges(edges: Any, names: Sequence[Any], what: str) -> NDArray[np.int64]:
    if edges is None:
        return np.empty((0, 2), dtype=np.int64)
    # An iterator would be exhausted at the next fit.
    if isinstance(edges, str | Iterator) or not isinstance(edges, Iterable):
        raise TypeError(f"{what} must be a list of pairs (cause, effect), not {edges!r}")
    pairs = list(edges)
    for pair in pairs:
        ordered = isinstance(pair, Iterable) and not isinstance(pair, str | Iterator | Set)
        if not ordered or len(list(pair)) != 2:
            raise TypeError(f"{what}: {pair!r} is not a pair (cause, effect); one edge alone is [(cause, effect)]")
    found = np.array(_located([i for pair in pairs for i in pair], names, what), dtype=np.int64).reshape(-1, 2)
    own = np.flatnonzero(found[:, 0] == found[:, 1])
    if own.size:
        raise ValueError(f"{what}: {names[found[own[0], 0]]!r} cannot be its own cause")
    return np.unique(found, axis=0)


def _tiers(tiers: Any, names: Sequence[Any]) -> NDArray[np.int64]:
    numbers = np.full(len(names), -1, dtype=np.int64)
    if tiers is None:
        return numbers
    if isinstance(tiers, str | Iterator | Set) or not isinstance(tiers, Iterable):
        raise TypeError(f"tiers must be a list of groups of columns, earliest first, not {tiers!r}")
    for tier, group in enumerate(tiers):
        if isinstance(group, str | Iterator) or not isinstance(group, Iterable):
            raise TypeError(f"tiers: {group!r} is not a group of columns; one column alone is a list too")
        for i in _located(group, names, "tiers"):
            if numbers[i] >= 0:
                raise ValueError(f"tiers: {names[i]!r} is there more than once")
            numbers[i] = tier
    return numbers


def _located(variables: Any, names: Sequence[Any], what: str) -> list[int]:
    try:
        return locate_all(variables, names)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{what}: {error}") from None


def _pattern(rows: Any, columns: Any, d: int) -> Csr:
    # The graph algorithms of older SciPy take 32-bit indices only.
    rows, columns = np.asarray(rows, dtype=np.int32), np.asarray(columns, dtype=np.int32)
    pattern = sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(d, d))
    pattern.sum_duplicates()
    return pattern

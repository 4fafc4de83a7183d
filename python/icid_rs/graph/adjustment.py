"""Adjustment sets: variables that, in a regression on them and a cause, leave its coefficient the total effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Literal, TypeAlias, get_args

from icid_rs.graph.estimation import Network
from icid_rs.graph.separation import d_connected

Kind: TypeAlias = Literal["optimal", "minimal", "parents"]


def adjustment_sets(network: Network, a: int, b: int, kind: Kind, most: int) -> list[set[int]]:
    """Return the sets of a kind that are valid for the effect of a on b; an empty list if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.adjustment import adjustment_sets
    >>> from icid_rs.graph.estimation import Network
    >>> B = sp.csr_array([[0, 1.0, 1.0], [0, 0, 1.0], [0, 0, 0]])
    >>> adjustment_sets(Network(B, B.T.tocsr(), np.arange(3), "abc"), 1, 2, "optimal", 1)
    [{0}]
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind = {kind!r}: it must be one of {', '.join(map(repr, get_args(Kind)))}")
    if b in network.parents(a):
        # Their edge is a path from b to a that no set blocks.
        return []
    if kind == "minimal":
        return sorted(islice(_minimal_sets(network, a, b), most), key=lambda found: (len(found), sorted(found)))
    return [set(network.parents(a)) if kind == "parents" else optimal_set(network, a, b)]


def optimal_set(network: Network, a: int, b: int) -> set[int]:
    """Return the valid set with the smallest asymptotic variance: the parents of the variables on directed paths.

    See Henckel, Perković and Maathuis (2022). Without a directed path from a to b the parents of b are taken, or those
    of a where b is one of its causes.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.adjustment import optimal_set
    >>> from icid_rs.graph.estimation import Network
    >>> B = sp.csr_array([[0, 1.0, 0], [0, 0, 0], [0, 1.0, 0]])
    >>> optimal_set(Network(B, B.T.tocsr(), np.arange(3), "abc"), 0, 1)
    {2}
    """
    causal = network.between(a, b)
    if not causal and b in network.ancestors(a):
        return set(network.parents(a))
    return {k for i in causal or {b} for k in network.parents(i)} - causal - {a}


def is_valid(network: Network, a: int, b: int, given: set[int]) -> bool:
    """Tell whether a set is valid for adjustment.

    It must not hold descendants of variables on directed paths, and must block all other paths.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.adjustment import is_valid
    >>> from icid_rs.graph.estimation import Network
    >>> B = sp.csr_array([[0, 1.0, 1.0], [0, 0, 1.0], [0, 0, 0]])
    >>> network = Network(B, B.T.tocsr(), np.arange(3), "abc")
    >>> is_valid(network, 1, 2, {0}), is_valid(network, 1, 2, set())
    (True, False)
    """
    causal = network.between(a, b)
    if given & (_forbidden(network, causal) | {a, b}):
        return False
    parents, children = _without_causal_edges(network, a, causal)
    above = {k for i in given for k in _upwards({i}, parents)}
    return b not in d_connected(parents, children, [a], given, above)


Neighbours: TypeAlias = Callable[[int], list[int]]


def _forbidden(network: Network, causal: set[int]) -> set[int]:
    return {k for i in causal for k in network.descendants(i)}


def _without_causal_edges(network: Network, a: int, causal: set[int]) -> tuple[Neighbours, Neighbours]:
    """Return parents and children in the proper back-door graph, without the first edges of the directed paths."""

    def parents(i: int) -> list[int]:
        return [k for k in network.parents(i) if not (k == a and i in causal)]

    def children(i: int) -> list[int]:
        return [k for k in network.children(i) if not (i == a and k in causal)]

    return parents, children


def _upwards(start: set[int], parents: Neighbours) -> set[int]:
    found, waiting = set(start), list(start)
    while waiting:
        new = set(parents(waiting.pop())) - found
        found |= new
        waiting.extend(new)
    return found


def _minimal_sets(network: Network, a: int, b: int) -> Iterator[set[int]]:
    """List the valid sets of which no part is valid.

    They are the minimal separators of a and b among the ancestors of both in the proper back-door graph, once parents
    of a common child are joined (van der Zander, Liśkiewicz and Textor 2014).
    """
    causal = network.between(a, b)
    parents, _ = _without_causal_edges(network, a, causal)
    joined: dict[int, set[int]] = {i: set() for i in _upwards({a, b}, parents)}
    for i in joined:
        _join({i, *parents(i)}, joined)
    # What must not be adjusted for cannot block: its neighbours are joined in its place.
    for i in _forbidden(network, causal) & joined.keys() - {a, b}:
        neighbours = joined.pop(i)
        for k in neighbours:
            joined[k].discard(i)
        _join(neighbours, joined)
    if b not in joined[a]:
        yield from _separators(a, b, joined)


def _join(variables: set[int], joined: dict[int, set[int]]) -> None:
    for i in variables:
        joined[i] |= variables - {i}


def _separators(a: int, b: int, joined: dict[int, set[int]]) -> Iterator[set[int]]:
    """List the minimal separators of a and b, by the branching of Takata (2010).

    A branch holds those whose near side has all of `inside` and none of `barred`. The one next to `inside` decides: a
    variable of it goes to the near side in one branch, and is barred from it in the other.
    """
    branches: list[tuple[set[int], set[int]]] = [({a}, set())]
    while branches:
        inside, barred = branches.pop()
        border = {k for i in inside for k in joined[i]} - inside
        if b in border:
            continue
        far = _spread({b}, border, joined)
        separator = {i for i in border if joined[i] & far}
        near = _spread(inside, separator, joined)
        if near & barred:
            continue
        choice = min(separator - barred, default=None)
        if choice is None:
            yield separator
        else:
            branches += [(near, barred | {choice}), (near | {choice}, barred)]


def _spread(start: set[int], walls: set[int], joined: dict[int, set[int]]) -> set[int]:
    """Return the variables that can be reached without crossing the walls."""
    return _upwards(start, partial(_open_neighbours, walls, joined))


def _open_neighbours(walls: set[int], joined: dict[int, set[int]], i: int) -> list[int]:
    return [k for k in joined[i] if k not in walls]

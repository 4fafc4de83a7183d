"""Causes that a variable may have where directions are open, each set with its effect (IDA, Maathuis et al. 2009)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from icid_rs.graph.estimation import Network
from icid_rs.graph.orientation import PartlyDirected

Pair: TypeAlias = tuple[int, int]

#: Sets of causes that are looked at. A variable with open edges to so many others that are all joined has 2^k sets.
MOST_SETS = 10_000


def possible_causes(network: Network, graph: PartlyDirected, a: int, b: int) -> tuple[list[set[int]], list[Pair]]:
    """Return sets of causes of a, one for each effect that it may have on b, and the open edges that decide.

    The first set is the drawn one, and stands for the drawn graph.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs import equivalence_class
    >>> from icid_rs.graph.estimation import Network
    >>> from icid_rs.graph.ida import possible_causes
    >>> from icid_rs.graph.orientation import PartlyDirected
    >>> B = sp.csr_array([[0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]])
    >>> network, graph = Network(B, B.T.tocsr(), np.arange(3), "abc"), PartlyDirected(equivalence_class(B))
    >>> possible_causes(network, graph, 1, 2)
    ([{0}, {2}], [(1, 2)])
    """
    drawn = set(network.parents(a))
    if _is_markov(network, graph):
        deciding = deciding_edges(graph, a, b)
        if not deciding:
            return [drawn], []
        return _distinct(parent_sets(graph, a, drawn), deciding), [(a, k) for k in sorted(deciding)]
    # The graphs of the class have different independences, so that no two sets need have the same effect.
    passed = _reached(graph, a, graph.children) & _reached(graph, b, graph.parents.__getitem__)
    if b not in passed:
        return [drawn], []
    edges = [(a, k) for k in sorted(graph.open[a])]
    edges += [(i, k) for i in sorted(passed - {a}) for k in sorted(graph.open[i] & passed - {a}) if i < k]
    return ([drawn, *parent_sets(graph, a, drawn)], edges) if edges else ([drawn], [])


def deciding_edges(graph: PartlyDirected, a: int, b: int) -> set[int]:
    """Return the variables whose open edge to a decides the effect of a on b: those from which a path may lead on to b.

    Without any, the effect is the same in all graphs of an equivalence class (Perković 2020).

    Examples
    --------
    >>> from icid_rs import equivalence_class
    >>> from icid_rs.graph.ida import deciding_edges
    >>> from icid_rs.graph.orientation import PartlyDirected
    >>> graph = PartlyDirected(equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> deciding_edges(graph, 1, 2), deciding_edges(graph, 0, 2)
    ({2}, {1})
    """
    # A path that may be directed from a does not touch the causes of a.
    closed = {a} | graph.parents[a]
    if b in closed:
        return set()
    return graph.open[a] & _reached(graph, b, graph.parents.__getitem__, closed)


def _reached(
    graph: PartlyDirected, start: int, directed: Callable[[int], set[int]], closed: Collection[int] = ()
) -> set[int]:
    """Return the variables that open edges and directed ones of one direction lead to, without some others."""
    found, waiting = {start}, [start]
    while waiting:
        i = waiting.pop()
        new = (directed(i) | graph.open[i]) - found - set(closed)
        found |= new
        waiting.extend(new)
    return found


def _is_markov(network: Network, graph: PartlyDirected) -> bool:
    """Tell whether all colliders of the drawn graph are directed, so that all graphs of the class have them.

    They are not if the class compels a direction that is too unsure to be claimed.
    """
    for j, others in enumerate(graph.open):
        causes = set(network.parents(j)) if others else set()
        if any(causes - graph.adjacent[i] - {i} for i in others & causes):
            return False
    return True


def _distinct(sets: Sequence[set[int]], deciding: set[int]) -> list[set[int]]:
    """Keep one set of causes for each way in which the deciding edges may point: effects differ between these alone."""
    kept: dict[frozenset[int], set[int]] = {}
    for found in sets:
        kept.setdefault(frozenset(found & deciding), found)
    return list(kept.values())


def parent_sets(graph: PartlyDirected, a: int, drawn: set[int]) -> list[set[int]]:
    """Return the sets of causes that a has in the graphs of the class; the first is the drawn one.

    Open edges into a must not make a new collider there or close a triangle, which suffices (Fang and He 2020). A
    collider is not new if the drawn graph has it: it may have edges that the class compels but the data do not.

    Raises
    ------
    ValueError
        If there are more than `MOST_SETS`.

    Examples
    --------
    >>> from icid_rs import equivalence_class
    >>> from icid_rs.graph.ida import parent_sets
    >>> from icid_rs.graph.orientation import PartlyDirected
    >>> graph = PartlyDirected(equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> parent_sets(graph, 1, {0})
    [{0}, set(), {2}]
    """
    sets = list(islice(_extensions(graph, a, drawn), MOST_SETS + 1))
    if len(sets) > MOST_SETS:
        raise ValueError(f"more than {MOST_SETS} sets of causes are possible; background knowledge would leave fewer")
    return [drawn] * (drawn in sets) + [found for found in sets if found != drawn]


def _extensions(graph: PartlyDirected, a: int, drawn: set[int]) -> Iterator[set[int]]:
    """List sets of causes: those of which any two may point at a together, smaller ones first along each branch."""
    fixed, siblings = graph.parents[a], graph.open[a] | graph.children(a)

    def together(i: int) -> set[int]:
        return graph.adjacent[i] | drawn if i in drawn else graph.adjacent[i]

    waiting = [(set(fixed), {i for i in graph.open[a] if fixed <= together(i)})]
    while waiting:
        causes, candidates = waiting.pop()
        # An edge from an effect of a to one of its causes would close a triangle.
        if not any((graph.parents[i] & siblings) - causes for i in causes):
            yield causes
        waiting += [(causes | {i}, {k for k in candidates & together(i) if k > i}) for i in sorted(candidates)]


def joint_parent_sets(
    graph: PartlyDirected, causes: Sequence[int], drawn: Sequence[set[int]]
) -> list[tuple[set[int], ...]]:
    """Return the combinations of sets of causes that several variables have in the graphs of the class, drawn first.

    After the edges of one variable are decided, others may follow (Nandy, Maathuis and Richardson 2017).

    Raises
    ------
    ValueError
        If there are more than `MOST_SETS`.

    Examples
    --------
    >>> from icid_rs import equivalence_class
    >>> from icid_rs.graph.ida import joint_parent_sets
    >>> from icid_rs.graph.orientation import PartlyDirected
    >>> graph = PartlyDirected(equivalence_class([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> joint_parent_sets(graph, [0, 1], [set(), {0}])
    [(set(), {0}), ({1}, set()), ({1}, {2})]
    """
    found: list[tuple[PartlyDirected, tuple[set[int], ...]]] = [(graph, ())]
    for a, own in zip(causes, drawn, strict=True):
        longer = []
        for oriented, sets in found:
            for chosen in parent_sets(oriented, a, own):
                longer.append((_decided(oriented, a, chosen), (*sets, chosen)))
                if len(longer) > MOST_SETS:
                    raise ValueError(f"more than {MOST_SETS} combinations of causes are possible; ask for fewer causes")
        found = longer
    return [sets for _, sets in found]


def _decided(graph: PartlyDirected, a: int, causes: set[int]) -> PartlyDirected:
    """Return the graph with all edges of a directed, and what follows."""
    result = graph.copy()
    for i in list(result.open[a]):
        result.orient(*((i, a) if i in causes else (a, i)))
    result.close()
    return result

"""d-separation: the independences that a graph implies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from icid_rs.graph.estimation import Network

#: The direct causes of a variable, or its direct effects.
Neighbours = Callable[[int], Iterable[int]]


def d_connected(
    parents: Neighbours, children: Neighbours, starts: Collection[int], given: Collection[int], above: Collection[int]
) -> set[int]:
    """Return the variables that open paths lead to from the starts, given some variables (the Bayes ball).

    Parameters
    ----------
    parents, children : callable
        The neighbours of a variable.
    starts, given : collection of int
    above : collection of int
        The given variables and all their ancestors.

    Returns
    -------
    set of int
        With the starts themselves, without the given variables.

    Examples
    --------
    Two causes of 2 are connected given 2:

    >>> from icid_rs.graph.separation import d_connected
    >>> parents, children = [[], [], [0, 1]], [[2], [2], []]
    >>> d_connected(parents.__getitem__, children.__getitem__, [0], [], [])
    {0, 2}
    >>> d_connected(parents.__getitem__, children.__getitem__, [0], [2], [0, 1, 2])
    {0, 1}
    """
    given, above = set(given), set(above)
    # Each variable is visited at most twice: from one of its effects, and from one of its causes.
    waiting = [(i, True) for i in starts]
    seen = set(waiting)
    while waiting:
        i, from_effect = waiting.pop()
        upwards = i in above if not from_effect else i not in given
        steps = [(k, True) for k in parents(i)] if upwards else []
        steps += [(k, False) for k in children(i)] if i not in given else []
        new = [step for step in steps if step not in seen]
        seen.update(new)
        waiting.extend(new)
    return {i for i, _ in seen} - given


def d_separated(network: Network, a: Collection[int], b: Collection[int], given: Collection[int]) -> bool:
    """Tell whether some variables block all paths between two sets of others.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.estimation import Network
    >>> from icid_rs.graph.separation import d_separated
    >>> B = sp.csr_array([[0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]])
    >>> chain = Network(B, B.T.tocsr(), np.arange(3), "abc")
    >>> d_separated(chain, [0], [2], [1]), d_separated(chain, [0], [2], [])
    (True, False)
    """
    above = {k for i in given for k in network.ancestors(i)}
    return d_connected(network.parents, network.children, a, given, above).isdisjoint(b)

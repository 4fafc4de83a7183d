"""What failed checks take away from claims: directions that rest on what the table contradicts stay open."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.orientation import PartlyDirected
from icid_rs.graph.sem import Csr, LinearSem
from icid_rs.trust.check.audit import Spoiled
from icid_rs.trust.claims import Claimed, with_evidence


def lowered(claimed: Claimed, spoiled: Spoiled) -> Claimed:
    """Leave those directions open that rest on what checks have found to be spoiled.

    These are directions of edges that one row carries, between columns that wander, from the shape of columns that tell
    none or that follow a curve, and from colliders whose ends are not independent. What background knowledge gives
    stays.

    Examples
    --------
    Two columns that wander without returning:

    >>> import numpy as np
    >>> from icid_rs import ICID
    >>> steps = np.random.default_rng(0).exponential(size=(500, 2))
    >>> ICID(noise="unequal").fit(np.cumsum(steps - 1.0, axis=0)).info_["claims"]["directions"]
    {'open': 1}
    """
    sem, direction = claimed.learned.sem, claimed.evidence.direction
    if not isinstance(sem, LinearSem):
        return claimed
    causes, effects = edge_ends(sem.B)
    ends = list(zip(causes.tolist(), effects.tolist(), strict=True))
    lost = np.array([spoiled.spoils(*edge) for edge in ends], dtype=bool)
    lost |= (direction == "shape") & np.array([not spoiled.has_shape(*edge) for edge in ends], dtype=bool)
    lost |= contradicted(sem.B, direction, spoiled.curved)
    lost &= ~np.isin(direction, ("knowledge", "open"))
    if not lost.any():
        return claimed
    evidence = replace(claimed.evidence, direction=np.where(lost, "open", direction))
    return with_evidence(claimed.learned, evidence, claimed.record)


def contradicted(B: Csr, direction: NDArray[np.str_], dependent: Collection[tuple[int, int]]) -> NDArray[np.bool_]:
    """Tell which compelled directions follow only from colliders whose ends are dependent after all.

    A collider i → k ← j is read from correlations: i and j have none, but for k. If a curve relates i and j, they are
    not independent, and nothing follows for k.

    Parameters
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
    direction : array of str
        What the directions rest on, in the order of the entries of B.
    dependent : collection of (int, int)
        Pairs that a curve relates.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.trust.lowering import contradicted
    >>> B = sp.csr_array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 0]])    # 0 → 2 ← 1
    >>> contradicted(B, np.array(["compelled"] * 2), [(1, 0)])
    array([ True,  True])
    """
    lost = np.zeros(B.nnz, dtype=bool)
    related = {frozenset(pair) for pair in dependent}
    if not related:
        return lost
    causes, effects = (ends.tolist() for ends in edge_ends(B))
    skeleton = PartlyDirected(B.astype(bool).astype(float) + B.T.astype(bool).astype(float))
    claimed_causes: dict[int, list[int]] = {}
    for i, k, rests_on in zip(causes, effects, direction.tolist(), strict=True):
        if rests_on != "open":
            claimed_causes.setdefault(k, []).append(i)
    colliders = [
        (i, j, k)
        for k, found in claimed_causes.items()
        for i, j in combinations(found, 2)
        if j not in skeleton.adjacent[i]
    ]
    sound = [(i, j, k) for i, j, k in colliders if frozenset((i, j)) not in related]
    if len(sound) == len(colliders):
        return lost
    others = [(i, k) for i, k, rests_on in zip(causes, effects, direction.tolist(), strict=True) if rests_on in _OTHER]
    every, kept = (_following(skeleton, [*others, *_arms(some)]) for some in (colliders, sound))
    is_lost = [edge in every - kept for edge in zip(causes, effects, strict=True)]
    return np.asarray((direction == "compelled") & np.array(is_lost))


#: What directions rest on that do not depend on colliders.
_OTHER = ("shape", "variance", "knowledge")


def _arms(colliders: Iterable[tuple[int, int, int]]) -> list[tuple[int, int]]:
    return [(end, k) for i, j, k in colliders for end in (i, j)]


def _following(skeleton: PartlyDirected, directions: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return some directions and those that follow from them."""
    graph = skeleton.copy()
    for i, k in directions:
        graph.orient(i, k)
    graph.close()
    return {(i, k) for k, found in enumerate(graph.parents) for i in found}

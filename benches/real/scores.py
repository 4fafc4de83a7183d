"""How right a graph is where the truth, or part of it, is known."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from benches.real.data import RealSet
from numpy.typing import NDArray


@dataclass(frozen=True)
class Score:
    """Counts of one graph, or sums over several.

    Attributes
    ----------
    true_edges, found, false : float
        Adjacencies of the truth, those found, and adjacencies that the truth lacks.
    right, wrong, unjoined : float
        Claimed directions that are true, whose reverse is true, and between variables that no true edge joins. Where
        only tiers are known: that agree with them, that contradict them, and (not counted) none.
    """

    true_edges: float = 0
    found: float = 0
    false: float = 0
    right: float = 0
    wrong: float = 0
    unjoined: float = 0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Score)))


def score(case: RealSet, marks: NDArray[np.bool_]) -> Score:
    """Score a graph, in which [i, j] alone is a claimed direction i → j, and [i, j] with [j, i] an open edge."""
    claimed, joined = marks & ~marks.T, marks | marks.T
    w = case.weight
    if case.truth is None:
        possible = case.possible
        assert possible is not None, "every table has some truth"
        return Score(right=w * (claimed & possible).sum(), wrong=w * (claimed & possible.T).sum())
    truth = case.truth
    adjacent = truth | truth.T
    return Score(
        true_edges=w * np.triu(adjacent).sum(),
        found=w * np.triu(adjacent & joined).sum(),
        false=w * np.triu(joined & ~adjacent).sum(),
        right=w * (claimed & truth).sum(),
        wrong=w * (claimed & truth.T & ~truth).sum(),
        unjoined=w * (claimed & ~adjacent).sum(),
    )

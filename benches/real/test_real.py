"""The bench's reading of knowledge, its scores and its page."""

from __future__ import annotations

import numpy as np
from benches.real.data import RealSet, possible_directions
from benches.real.page import page
from benches.real.scores import Score, score

KNOWLEDGE = """/knowledge
addtemporal

1  a b
2* c

forbiddirect
b a

requiredirect
a c
"""


def test_tiers_and_pairs():
    possible = possible_directions(KNOWLEDGE, ["a", "b", "c"])
    # a and b before c; b cannot cause a, so that a may cause b.
    assert possible.tolist() == [[False, True, True], [False, False, True], [False, False, False]]


def test_scores():
    truth = np.zeros((4, 4), dtype=bool)
    truth[0, 1] = truth[1, 2] = True
    marks = np.zeros((4, 4), dtype=bool)
    marks[0, 1] = marks[2, 1] = marks[2, 3] = marks[0, 3] = marks[3, 0] = True
    case = RealSet("x", "g", np.zeros((9, 4)), truth)
    assert score(case, marks) == Score(true_edges=2, found=2, false=2, right=1, wrong=1, unjoined=1)
    tiers = RealSet("t", "tiers", np.zeros((9, 4)), possible=truth)
    assert score(tiers, marks) == Score(right=1, wrong=1)


def test_page_shows_failures():
    case = RealSet("x", "tiers", np.zeros((9, 2)), possible=np.eye(2, dtype=bool))
    text = page([case], {"A": {"x": None}, "B": {"x": Score(right=2, wrong=1)}}, {"B": "defaults"})
    assert "| x (9 × 2) | failed | 2 : 1 |" in text
    assert "- B: defaults" in text

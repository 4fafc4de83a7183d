"""The rules by which directions are claimed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs.trust.rules import Proposal, consistent, following, stable, undisputed
from icid_rs.trust.votes import Votes


def matrix(entries: dict[tuple[int, int], float], d: int = 4) -> sp.csr_array:
    dense = np.zeros((d, d))
    for place, value in entries.items():
        dense[place] = value
    return sp.csr_array(dense)


def test_nine_in_ten_resamples_make_a_proposal():
    directed = matrix({(0, 1): 18, (1, 2): 17, (2, 3): 20})
    proposal = stable("compelled", Votes(20, directed + directed.T, directed))
    assert proposal.shares.toarray()[[0, 1, 2], [1, 2, 3]].tolist() == [0.9, 0.0, 1.0]


def test_rules_that_disagree_claim_nothing():
    one = Proposal("compelled", matrix({(0, 1): 0.95, (2, 3): 1.0}))
    other = Proposal("shape", matrix({(1, 0): 1.0, (1, 2): 0.9}))
    assert one.opposes(other) == 1
    kept = undisputed([one, other])
    assert [proposal.shares.nnz for proposal in kept] == [1, 1]
    assert kept[0].shares[2, 3] == 1.0
    assert kept[1].shares[1, 2] == 0.9


def test_the_least_stable_direction_of_a_cycle_stays_out():
    one = Proposal("compelled", matrix({(0, 1): 1.0, (1, 2): 0.92}))
    other = Proposal("shape", matrix({(2, 0): 0.95, (0, 1): 0.9}))
    rules = consistent([one, other], sp.csr_array((4, 4)))
    # The first rule counts where both agree.
    assert rules.toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]]


def test_nothing_contradicts_what_is_known():
    proposal = Proposal("compelled", matrix({(0, 1): 1.0, (1, 2): 1.0, (2, 3): 1.0}))
    rules = consistent([proposal], matrix({(1, 0): 1.0, (3, 1): 1.0}))
    # 1 → 2 → 3 → 1 would be a cycle: one of the two directions stays out.
    assert rules[0, 1] == 0
    assert rules.nnz == 1


@pytest.mark.parametrize(
    ("first", "second", "ends", "follows"),
    [
        (1.0, 1.0, 0.0, True),
        (0.9, 0.9, 0.1, True),
        # Had the first edge, or the second, or one between the ends, been in doubt, the second could be reversed.
        (0.8, 1.0, 0.0, False),
        (1.0, 0.8, 0.0, False),
        (1.0, 1.0, 0.3, False),
    ],
)
def test_directions_follow_from_known_ones_where_resamples_agree_on_what_is_joined(first, second, ends, follows):
    chain = sp.csr_array([[0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]])
    shares = sp.csr_array([[0, first, ends], [first, 0, second], [ends, second, 0]])
    assert following(chain, np.array([True, False]), shares).tolist() == [False, follows]

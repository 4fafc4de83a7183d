"""The rules by which a direction is claimed, and what happens where they disagree.

- **class**: nine of ten resampled equivalence classes compel it.
- **shape**: nine of ten resampled graphs that use the shape of residuals have it, both residuals have a shape, and
  residuals are independent of their causes in size, in that equation and in the table as a whole.
- **variance**: noise variances are known, or are equal with nine in ten probability, and nine of ten resampled graphs
  have it.

Two rules that point in opposite directions claim nothing. Background knowledge claims the directions that it says, and
those that follow from claimed ones where resamples agree on which variables are joined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import csr_parts
from icid_rs.graph.edges import entries_at
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.orientation import PartlyDirected, with_directions
from icid_rs.trust.votes import Votes

#: A scipy.sparse.csr_array.
Csr = Any

#: Share of resamples that must have a claimed direction.
NINE_IN_TEN = 0.9
#: Rounding of shares.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Proposal:
    """Directions that one rule proposes.

    Attributes
    ----------
    rule : str
        What they rest on, one of `icid_rs.graph.evidence.DIRECTIONS`.
    shares : scipy.sparse.csr_array
        ``shares[i, j]``: share of resamples that have i → j; only proposed directions have an entry.
    """

    rule: str
    shares: Csr

    def opposes(self, other: Proposal) -> int:
        """Count the directions that two rules see the other way round."""
        return int((self.shares > 0).multiply(other.shares.T > 0).nnz)

    def only(self, kept: Csr) -> Proposal:
        """Return the directions that have an entry in a pattern."""
        return Proposal(self.rule, sp.csr_array(self.shares.multiply(kept > 0)))

    def without(self, dropped: Csr) -> Proposal:
        """Return the directions that have no entry in a pattern."""
        shares = sp.csr_array(self.shares - self.shares.multiply(dropped > 0))
        shares.eliminate_zeros()
        return Proposal(self.rule, shares)


def stable(rule: str, votes: Votes) -> Proposal:
    """Propose the directions of nine in ten resamples."""
    shares = sp.csr_array(votes.directed / max(votes.resamples, 1))
    shares.data[shares.data < NINE_IN_TEN - _ROUNDING] = 0.0
    shares.eliminate_zeros()
    return Proposal(rule, shares)


def undisputed(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Drop the directions that another rule sees the other way round."""
    given = list(proposals)
    return [
        proposal.without(sum((other.shares.T for other in given if other is not proposal), 0 * proposal.shares))
        for proposal in given
    ]


def consistent(proposals: Iterable[Proposal], known: Csr) -> Csr:
    """Join the proposals of all rules, without cycles.

    The most stable directions go in first; one that would close a cycle stays out. `known` holds directions that are
    known for certain. Returns a matrix with the number of the rule, from 1 on, for each direction that is claimed;
    the first rule counts where several agree.
    """
    given = list(proposals)
    d = known.shape[0]
    strength = sp.csr_array((d, d))
    for proposal in given:
        strength = strength.maximum(proposal.shares)
    # Known directions are stronger than any share.
    against_known = sp.csr_array(strength.multiply(known.T > 0))
    strength = sp.csr_array((strength - against_known).maximum(2.0 * (known > 0)))
    (indptr, indices, data), _ = _core.heaviest_acyclic(csr_parts(strength))
    kept = sp.csr_array((np.ones_like(data), indices, indptr), shape=(d, d))
    rules = sp.lil_array((d, d))
    for number, proposal in reversed(list(enumerate(given, 1))):
        claimed = sp.coo_array(proposal.shares.multiply(kept))
        rules[claimed.row, claimed.col] = number
    return sp.csr_array(rules)


def following(B: Csr, is_claimed: NDArray[np.bool_], joined: Csr) -> NDArray[np.bool_]:
    """Tell which directions of a graph follow from claimed ones: their reverse makes a cycle or a new collider.

    Parameters
    ----------
    B : scipy.sparse.csr_array of shape (d, d)
    is_claimed : array of bool
        For each edge of B.
    joined : scipy.sparse.csr_array of shape (d, d)
        Share of resamples that join two variables. Only edges that nine in ten have orient others, and variables count
        as not joined if at most one in ten joins them.

    Returns
    -------
    array of bool
        For each edge of B; not of those that are claimed already.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.trust.rules import following
    >>> chain = sp.csr_array([[0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]])
    >>> following(chain, np.array([True, False]), joined=chain + chain.T)
    array([False,  True])
    """
    causes, effects = edge_ends(B)
    is_stable = entries_at(joined, causes, effects) >= NINE_IN_TEN - _ROUNDING
    stable_part = sp.csr_array((np.ones(is_stable.sum()), (causes[is_stable], effects[is_stable])), shape=B.shape)
    directed = is_stable & is_claimed
    graph = PartlyDirected(with_directions(stable_part, causes[directed], effects[directed]))
    perhaps = sp.coo_array(joined > 1.0 - NINE_IN_TEN + _ROUNDING)
    for i, j in [*zip(perhaps.row.tolist(), perhaps.col.tolist(), strict=True), *zip(causes, effects, strict=True)]:
        graph.adjacent[i].add(j)
        graph.adjacent[j].add(i)
    graph.close()
    found = [cause in graph.parents[effect] for cause, effect in zip(causes.tolist(), effects.tolist(), strict=True)]
    return np.array(found, dtype=bool) & ~is_claimed

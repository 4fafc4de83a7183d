"""Votes of resamples: how many of their graphs join two variables, and how many have a direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import FloatArray, csr_from_parts
from icid_rs.graph.sem import Csr
from icid_rs.trust.draws import Draws, RowDraws

#: Trials in each resample: a search that starts from the graph of the whole table has little left to improve.
_TRIALS = 40


@dataclass(frozen=True)
class Voting:
    """How the graph of each resample is found.

    Attributes
    ----------
    order : array of shape (d,)
        Causal order of the whole table's graph, from which searches start.
    penalty : float
        The least gain in twice the log-likelihood that is worth an edge.
    noise_variances : array of shape (d,), optional
        Noise variances that are known or taken to be equal; unequal and unknown by default.
    shape : str, optional
        The shape of residuals that counts, by its name in the core; Gaussian by default.
    removed : array of shape (d, d), optional
        Subtracted from the correlations of each resample: what something else than edges explains.
    """

    order: NDArray[np.intp]
    penalty: float
    noise_variances: FloatArray | None = None
    shape: str | None = None
    removed: FloatArray | None = None


@dataclass(frozen=True)
class Votes:
    """How often the graphs of resamples agree.

    Attributes
    ----------
    resamples : int
        Number of resamples.
    joined : scipy.sparse.csr_array
        ``joined[i, j]``: how many graphs join the two; symmetric.
    directed : scipy.sparse.csr_array
        ``directed[i, j]``: how many have i → j. If residuals are Gaussian with unequal variances: how many equivalence
        classes compel it.
    """

    resamples: int
    joined: Csr
    directed: Csr

    def __add__(self, other: Votes) -> Votes:
        return Votes(self.resamples + other.resamples, self.joined + other.joined, self.directed + other.directed)


def poll(
    searcher: _core.Searcher | _core.BlockSearcher, draws: Draws, voting: Voting, last: int, first: int = 0
) -> Votes:
    """Find the graph of each resample, and count its edges.

    Searches start from the order of the whole table's graph, so that many take the time of a few from the beginning
    (``benches/resamples.py``).

    Parameters
    ----------
    searcher : _core.Searcher or _core.BlockSearcher
        Of the whole table. Among blocks residuals are Gaussian with unequal variances.
    draws : RowDraws or MomentDraws
    voting : Voting
        Shapes need rows.
    last, first : int
        The draws are those from `first` to before `last`.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, fdr_precision
    >>> from icid_rs.trust.draws import RowDraws
    >>> from icid_rs.trust.resampling import Resampling
    >>> from icid_rs.trust.votes import Voting, poll
    >>> X = datasets.sample_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], 500, random_state=0)    # 0 → 2 ← 1
    >>> draws = RowDraws(X, Resampling(500, seed=0))
    >>> voting = Voting(ICID(stability=None).fit(X).causal_order_, penalty=10.0)
    >>> votes = poll(fdr_precision(X).searcher(None, None), draws, voting, 40)
    >>> bool(votes.directed[0, 2] >= 36)
    True
    """
    d = len(voting.order)
    budget: Any = {"trials": _TRIALS, "patience": None, "seconds": None, "seed": 0}
    common: Any = {"penalty": voting.penalty, "budget": budget}
    # What searches among numbers alone can take into account.
    shape: Any = {}
    if isinstance(searcher, _core.Searcher):
        common |= {"noise_variances": voting.noise_variances, "removed": voting.removed}
        shape = {"shape": voting.shape}
    order = voting.order.astype(np.int64)
    parts = []
    if isinstance(draws, RowDraws):
        rows = np.ascontiguousarray(draws.rows, dtype=np.float64)
        counts = draws.counts(first, last, one_by_one=voting.shape is not None)
        parts.append(searcher.search_resamples(rows, counts, order, **shape, **common))
    elif voting.shape is not None:
        raise ValueError("the shape of residuals needs rows")
    else:
        parts.extend(searcher.search_covariances(some, order, **common) for some in draws.covariances(first, last))
    joined, directed = sp.csr_array((d, d)), sp.csr_array((d, d))
    for one, other in parts:
        joined, directed = joined + csr_from_parts(one, d), directed + csr_from_parts(other, d)
    return Votes(last - first, joined, directed)

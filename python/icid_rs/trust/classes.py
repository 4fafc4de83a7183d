"""The equivalence classes of resamples: how many join two variables, and how many compel a direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import Rows, csr_from_parts
from icid_rs.graph.sem import Csr
from icid_rs.trust.resampling import Resampling

#: Trials in each resample: a search that starts from the graph of the whole table has little left to improve.
_TRIALS = 40


@dataclass(frozen=True)
class ClassCounts:
    """How often the classes of resamples agree.

    Attributes
    ----------
    resamples : int
        Number of resamples.
    joined : scipy.sparse.csr_array
        ``joined[i, j]``: how many classes join the two; symmetric.
    compelled : scipy.sparse.csr_array
        ``compelled[i, j]``: how many compel i → j.
    """

    resamples: int
    joined: Csr
    compelled: Csr


def count_classes(
    searcher: _core.Searcher, rows: Rows, resampling: Resampling, n: int, order: NDArray[np.intp], penalty: float
) -> ClassCounts:
    """Find the equivalence class of each resample, and count its edges.

    Residuals count as Gaussian, and noise variances as unequal. Searches start from the order of the whole table's
    graph, so that many take the time of a few from the beginning (``benches/resamples.py``).

    Parameters
    ----------
    searcher : _core.Searcher
        Of the whole table.
    rows : array of shape (n, d)
        Without missing values.
    resampling : Resampling
        How rows are drawn.
    n : int
        Number of resamples.
    order : array of shape (d,)
        Causal order of the whole table's graph.
    penalty : float
        The least gain in twice the log-likelihood that is worth an edge.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, fdr_precision
    >>> from icid_rs.trust.classes import count_classes
    >>> from icid_rs.trust.resampling import Resampling
    >>> X = datasets.sample_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], 500, random_state=0)    # 0 → 2 ← 1
    >>> searcher = fdr_precision(X).searcher(None, None)
    >>> counts = count_classes(searcher, X, Resampling(500, seed=0), 40, ICID().fit(X).causal_order_, 10.0)
    >>> bool(counts.compelled[0, 2] >= 36)
    True
    """
    draws = (np.bincount(resampling.draw(k)[0], minlength=len(rows)) for k in range(n))
    counts = np.empty((n, len(rows)), dtype=np.uint16)
    for row, draw in zip(counts, draws, strict=True):
        row[:] = np.minimum(draw, np.iinfo(np.uint16).max)
    budget: Any = {"trials": _TRIALS, "patience": None, "seconds": None, "seed": 0}
    values = np.ascontiguousarray(rows, dtype=np.float64)
    parts = searcher.search_resamples(values, counts, order.astype(np.int64), penalty=penalty, budget=budget)
    joined, compelled = (csr_from_parts(part, len(order)) for part in parts)
    return ClassCounts(n, joined, compelled)

"""The exact decomposition of a given Θ, along the better of two orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray
from icid_rs.decomposition.elimination import Elimination, eliminate, eliminate_along, eliminate_respecting
from icid_rs.graph.knowledge import Knowledge
from icid_rs.report import Refinement

#: Relative difference of noise variances that rounding explains.
_SAME = 1e-6


@dataclass(frozen=True)
class ExactDecomposition:
    """An exact decomposition of Θ.

    Attributes
    ----------
    sem : Elimination
    confirmed : bool
        Whether its noise variances are those supposed, up to a common factor, and all edges lie in the support of Θ:
        then Θ is that of a model, not an estimate. One that contradicts background knowledge is not confirmed.
    respectful : bool
        Whether its edges agree with background knowledge.
    report : Refinement
    """

    sem: Elimination
    confirmed: bool
    respectful: bool
    report: Refinement


def decompose_exactly(
    theta: Any,
    proposed: NDArray[np.intp],
    noise_variances: FloatArray | None,
    n_threads: int | None = None,
    *,
    knowledge: Knowledge | None = None,
) -> ExactDecomposition:
    """Decompose Θ along the order of elimination and along a proposed one, and keep the better.

    Both are exact. The product of the noise variances is the determinant of Θ⁻¹ whatever the order, so the order whose
    variances are closest to those supposed, or to each other, has the smallest sum of Ω_j D_j.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import datasets
    >>> from icid_rs.learning.exact import decompose_exactly
    >>> B = datasets.random_dag(10, 1, random_state=0)
    >>> exact = decompose_exactly(datasets.sem_precision(B), np.arange(10), None)
    >>> bool(abs(exact.sem.B - B).max() < 1e-12), exact.confirmed
    (True, True)
    """
    supposed = 1.0 if noise_variances is None else noise_variances
    if knowledge is None:
        eliminated = eliminate(theta, noise_variances, n_threads=n_threads)
    else:
        eliminated = eliminate_respecting(theta, noise_variances, knowledge, n_threads)
        proposed = knowledge.arrange(proposed)
    fits = {"elimination": eliminated, "decomposition": eliminate_along(theta, proposed, n_threads=n_threads)}
    scores = {name: float(np.sum(fit.noise_variances / supposed)) for name, fit in fits.items()}
    # A difference that rounding explains is a draw, which the sparser graph wins.
    best = min(scores.values())
    chosen = min((name for name in fits if scores[name] <= best * (1 + 1e-9)), key=lambda name: fits[name].B.nnz)
    sem = fits[chosen]
    ratio = sem.noise_variances / supposed
    inside = (abs(sem.B) > 0).multiply(theta != 0).nnz == sem.B.nnz
    respectful = knowledge is None or knowledge.is_respected_by(sem.B)
    confirmed = bool(respectful and inside and ratio.max() <= ratio.min() * (1 + _SAME))
    details = {"confirmed": confirmed, "respectful": respectful}
    return ExactDecomposition(sem, confirmed, respectful, Refinement(chosen, scores, scores[chosen], 0.0, details))

"""Whether the shape of residuals may orient edges: only where the linear model with independent noise fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.validation import FloatArray, Rows, csr_parts
from icid_rs.graph.sem import Csr

#: Dependence of a residual on its causes from which shapes tell no directions: of one variable, and in the median of a
#: table. Both were chosen after looking at tables with known graphs.
_DEPENDENT, TABLE_DEPENDENT = 0.1, 0.02


@dataclass(frozen=True)
class ShapeEvidence:
    """How well the residuals of a graph agree with a linear model whose noise is independent and not Gaussian.

    Attributes
    ----------
    is_shaped : array of bool
        Variables whose residuals have a shape; never those with few values.
    dependence : array
        For each variable with causes, how far its residual is from being independent of them: the largest over its
        causes of Σ corr(f(residual), g(cause))² over 15 pairs of the functions u, exp(−u²/2), u exp(−u²/2) and |u| of
        standardised variables, less what independent ones have on average. NaN without causes.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from icid_rs import datasets
    >>> from icid_rs.trust.shapes import ShapeEvidence
    >>> B = sp.csr_array([[0, 0.8], [0, 0]])
    >>> X = datasets.sample_sem(B, 1000, noise="uniform", random_state=0)
    >>> evidence = ShapeEvidence.of(X, X.mean(axis=0), B, None)
    >>> evidence.is_shaped, evidence.fits
    (array([ True,  True]), True)
    """

    is_shaped: NDArray[np.bool_]
    dependence: FloatArray

    @classmethod
    def of(cls, rows: Rows, location: FloatArray, B: Csr, n_threads: int | None) -> ShapeEvidence:
        """Measure the residuals of a graph."""
        parts = csr_parts(B)
        is_shaped = _core.shape_statistics(rows, location, parts, n_threads=n_threads) > 0
        by_edge = _core.dependence_statistics(rows, location, parts, n_threads=n_threads)
        dependence = np.full(B.shape[0], np.nan)
        np.fmax.at(dependence, B.indices, by_edge)
        return cls(is_shaped, dependence)

    @property
    def median(self) -> float:
        """Median of the dependence over the variables that have causes; 0 if none has."""
        known = self.dependence[~np.isnan(self.dependence)]
        return float(np.median(known)) if known.size else 0.0

    @property
    def fits(self) -> bool:
        """Whether the table as a whole agrees with the model."""
        return self.median < TABLE_DEPENDENT

    def may_orient(self, causes: NDArray[np.intp], effects: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which edges shapes may orient: both ends have one, and the effect's residual is nearly independent."""
        both = self.is_shaped[causes] & self.is_shaped[effects]
        return np.asarray(both & (self.dependence[effects] < _DEPENDENT) & self.fits)

"""The sample behind a graph: covariances, sample size and residuals, from which effects are estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from icid_rs._util.validation import FloatArray
from icid_rs.graph.layer import Layer
from icid_rs.graph.sem import Csr

#: Rows of residuals that are kept, for their shapes. A sample of so many shows a quantile of 1 % within its half.
KEPT_ROWS = 2000


@dataclass(frozen=True, repr=False)
class StoredCovariances:
    """A covariance matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.covariances import StoredCovariances
    >>> StoredCovariances(np.diag([1.0, 2.0, 3.0])).among(np.array([2, 0]))
    array([[3., 0.],
           [0., 1.]])
    """

    matrix: FloatArray

    def among(self, variables: Any) -> FloatArray:
        """Return the covariance of some variables."""
        return np.asarray(self.matrix[np.ix_(variables, variables)])


@dataclass(frozen=True, repr=False)
class ComputedCovariances:
    """Covariances that are computed when they are asked for, where there are too many to be stored.

    Attributes
    ----------
    values : numpy.ndarray of shape (d, n)
        Standardised variables in rows, divided by √n.
    deviations : numpy.ndarray of shape (d,)
        Standard deviations.
    """

    values: FloatArray
    deviations: FloatArray

    def among(self, variables: Any) -> FloatArray:
        """Return the covariance of some variables."""
        rows = self.values[variables] * self.deviations[variables][:, None]
        return np.asarray(rows @ rows.T)


@dataclass(frozen=True, repr=False)
class ImpliedCovariances:
    """Covariances that a graph implies: those of X = X B + E.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.covariances import ImpliedCovariances
    >>> B = sp.csr_array([[0, 2.0], [0, 0]])
    >>> ImpliedCovariances(B, np.ones(2)).among([0, 1])
    array([[1., 2.],
           [2., 5.]])
    """

    B: Csr
    noise_variances: FloatArray

    def among(self, variables: Any) -> FloatArray:
        """Return the covariance of some variables."""
        d = self.B.shape[0]
        chosen = np.zeros((d, len(variables)))
        chosen[variables, np.arange(len(variables))] = 1.0
        # Column k holds the effects of the noise of all variables on variable k.
        effects = splu(sp.csc_array(sp.eye_array(d) - self.B)).solve(chosen)
        return np.asarray(effects.T @ (self.noise_variances[:, None] * effects))


Covariances: TypeAlias = StoredCovariances | ComputedCovariances | ImpliedCovariances


@dataclass(frozen=True, repr=False)
class SampleMoments:
    """The sample behind a graph.

    Attributes
    ----------
    covariances : StoredCovariances, ComputedCovariances or ImpliedCovariances
        With denominator n.
    samples : int or None
        Effective sample size; None where the covariance was given without one.
    residuals : numpy.ndarray of shape (k, d) or None
        Residuals of some rows, of mean zero; None if no rows were at hand.
    layer : Layer or None
        Hidden causes and errors of measurement that were taken out of the covariances, in the units of the columns.
    """

    covariances: Covariances
    samples: int | None = None
    residuals: FloatArray | None = None
    layer: Layer | None = None

    @property
    def errors(self) -> FloatArray | None:
        """Variances of errors of measurement, which the covariances are without; None if there are none."""
        return None if self.layer is None or not self.layer.errors.any() else self.layer.errors

    @classmethod
    def of_rows(cls, X: FloatArray, layer: Layer | None = None) -> SampleMoments:
        """Summarise rows, without a layer.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs.graph.covariances import SampleMoments
        >>> SampleMoments.of_rows(np.array([[1.0], [3.0]])).covariances.among([0])
        array([[1.]])
        """
        centred = X - X.mean(axis=0)
        covariance = centred.T @ centred / len(X)
        if layer is not None:
            covariance = covariance - layer.covariance
        return cls(StoredCovariances(covariance), len(X), layer=layer)


def residual_rows(rows: NDArray[Any], B: Any) -> FloatArray:
    """Return residuals of at most `KEPT_ROWS` of the rows, of mean zero.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.covariances import residual_rows
    >>> residual_rows(np.array([[0.0, 1.0], [2.0, 1.0]]), sp.csr_array([[0, 0.5], [0, 0]]))
    array([[-1. ,  0.5],
           [ 1. , -0.5]])
    """
    if len(rows) > KEPT_ROWS:
        # At random, since a fixed step could follow a period of the rows.
        rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), KEPT_ROWS, replace=False))]
    values = np.asarray(rows, dtype=np.float64)
    residuals = values - values @ B
    return np.asarray(residuals - residuals.mean(axis=0))

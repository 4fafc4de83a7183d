"""What measurement adds to the variables of a causal model: hidden common causes, and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from icid_rs._util.validation import FloatArray


@dataclass(frozen=True)
class Layer:
    """The measurement layer x = z + Λ h + ε of variables z.

    Attributes
    ----------
    loadings : numpy.ndarray of shape (d, k)
        Λ: the effects of k hidden causes of variance 1.
    errors : numpy.ndarray of shape (d,)
        Variances of the errors ε.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.layer import Layer
    >>> Layer(np.array([[0.5], [0.5]]), np.array([0.1, 0.0])).covariance
    array([[0.35, 0.25],
           [0.25, 0.25]])
    """

    loadings: FloatArray
    errors: FloatArray

    @classmethod
    def none(cls, d: int) -> Self:
        """Return the layer that adds nothing to d variables."""
        return cls(np.zeros((d, 0)), np.zeros(d))

    @property
    def hidden(self) -> int:
        """The number of hidden causes."""
        return int(self.loadings.shape[1])

    @property
    def is_empty(self) -> bool:
        """Whether it adds nothing."""
        return not self.hidden and not self.errors.any()

    @property
    def covariance(self) -> FloatArray:
        """What the layer adds to the covariance: Λ Λᵀ and the error variances."""
        return np.asarray(self.loadings @ self.loadings.T + np.diag(self.errors))

    def scaled(self, scale: FloatArray) -> Layer:
        """Return the layer for variables that are multiplied by `scale`."""
        return Layer(scale[:, None] * self.loadings, scale**2 * self.errors)

    def log_likelihood(self, centred: FloatArray, B: Any, noise_variances: FloatArray) -> float:
        """Compute the mean Gaussian log-likelihood of measured rows, less their means, under an acyclic model."""
        # Σ = A⁻ᵀ K A⁻¹, and det A = 1.
        noise = _MeasuredNoise(self, B, noise_variances)
        residual = noise.residuals(centred)
        distances = np.sum(residual * noise.solve(residual), axis=0)
        d = len(noise_variances)
        return float(-0.5 * (d * np.log(2 * np.pi) + noise.log_determinant + np.mean(distances)))

    def scores(self, centred: FloatArray, B: Any, noise_variances: FloatArray) -> FloatArray:
        """Compute the expectation of the hidden causes, row by row, given the measured rows less their means."""
        # Λᵀ Σ⁻¹ x with Σ⁻¹ = A K⁻¹ Aᵀ.
        noise = _MeasuredNoise(self, B, noise_variances)
        return np.asarray(noise.residuals(centred).T @ noise.solve(noise.shocks))

    def hidden_part(self, centred: FloatArray, B: Any, noise_variances: FloatArray) -> FloatArray:
        """Compute what the hidden causes contribute to each measured row, as far as the row tells."""
        return np.asarray(self.scores(centred, B, noise_variances) @ self.loadings.T)


class _MeasuredNoise:
    """The covariance K = N + S Sᵀ of Aᵀ x, with N = Ω + Aᵀ T A and S = Aᵀ Λ.

    It is solved by way of N (Woodbury 1950). Without errors N is diagonal, and nothing of size d × d is made.
    """

    def __init__(self, layer: Layer, B: Any, noise_variances: FloatArray) -> None:
        self.A = sp.csc_array(sp.eye_array(len(noise_variances)) - B)
        self.shocks = np.asarray(self.A.T @ layer.loadings)
        self._variances, self._factor = noise_variances, None
        log_determinant = float(np.sum(np.log(noise_variances)))
        if layer.errors.any():
            N = np.diag(noise_variances) + (self.A.T @ sp.diags_array(layer.errors) @ self.A).toarray()
            self._factor = cho_factor(N, lower=True)
            log_determinant = 2.0 * float(np.sum(np.log(np.diagonal(self._factor[0]))))
        self._shocks_solved = self._solve_without_causes(self.shocks)
        self._among = np.eye(layer.hidden) + self.shocks.T @ self._shocks_solved
        self.log_determinant = log_determinant + float(np.linalg.slogdet(self._among)[1])

    def residuals(self, centred: FloatArray) -> FloatArray:
        """Return Aᵀ x of rows, in columns."""
        return np.asarray(self.A.T @ centred.T)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return K⁻¹ times columns."""
        weights = np.linalg.solve(self._among, self._shocks_solved.T @ right)
        return np.asarray(self._solve_without_causes(right) - self._shocks_solved @ weights)

    def _solve_without_causes(self, right: FloatArray) -> FloatArray:
        if self._factor is None:
            return np.asarray(right / self._variances[:, None])
        return np.asarray(cho_solve(self._factor, right))

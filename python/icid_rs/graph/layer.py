"""What measurement adds to the variables of a causal model: hidden common causes, and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
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
        d = len(noise_variances)
        A = np.eye(d) - B.toarray()
        # Σ = A⁻ᵀ K A⁻¹, and det A = 1.
        K = np.diag(noise_variances) + A.T @ self.covariance @ A
        factor = cho_factor(K, lower=True)
        residual = centred @ A
        distances = np.sum(residual.T * cho_solve(factor, residual.T), axis=0)
        log_determinant = 2.0 * np.sum(np.log(np.diagonal(factor[0])))
        return float(-0.5 * (d * np.log(2 * np.pi) + log_determinant + np.mean(distances)))

    def scores(self, centred: FloatArray, B: Any, noise_variances: FloatArray) -> FloatArray:
        """Compute the expectation of the hidden causes, row by row, given the measured rows less their means."""
        A = np.eye(len(noise_variances)) - B.toarray()
        K = np.diag(noise_variances) + A.T @ self.covariance @ A
        # Λᵀ Σ⁻¹ x with Σ⁻¹ = A K⁻¹ Aᵀ.
        solved = cho_solve(cho_factor(K, lower=True), A.T @ self.loadings)
        return np.asarray(centred @ (A @ solved))

    def hidden_part(self, centred: FloatArray, B: Any, noise_variances: FloatArray) -> FloatArray:
        """Compute what the hidden causes contribute to each measured row, as far as the row tells."""
        return np.asarray(self.scores(centred, B, noise_variances) @ self.loadings.T)

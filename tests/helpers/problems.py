"""Random problems shared by the tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from icid_rs import datasets
from tests.helpers import reference


@dataclass
class Problem:
    theta: np.ndarray
    noise_variances: np.ndarray | None
    skewness_matrix: np.ndarray | None
    rng: np.random.Generator

    @property
    def noise_precision(self) -> np.ndarray:
        if self.noise_variances is None:
            return np.full(len(self.theta), self.theta.diagonal().min())
        return 1.0 / self.noise_variances

    def lagrangian(
        self, rho: float, skewness: float, multiplier_at: np.ndarray | None
    ) -> reference.AugmentedLagrangian:
        d = len(self.theta)
        M = np.zeros((d, d)) if self.skewness_matrix is None else skewness * self.skewness_matrix
        F = reference.AugmentedLagrangian(self.theta, self.noise_precision, M, np.zeros((d, d)), rho)
        if multiplier_at is not None:
            F.Lambda = rho * F.residual(multiplier_at)
        return F

    def point(self) -> np.ndarray:
        """A matrix on the support, a third of it zero."""
        d = len(self.theta)
        B = self.rng.uniform(-1, 1, (d, d)) * (self.rng.uniform(size=(d, d)) < 0.7) * (self.theta != 0)
        np.fill_diagonal(B, 0.0)
        return B


def make_problem(d: int, degree: int, equal: bool, skewed: bool, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    degree = min(degree, (d - 1) // 2)
    B = datasets.random_dag(d, degree, random_state=rng)
    noise_variances = None if equal else rng.uniform(0.5, 2.0, d)
    theta = datasets.sem_precision(B, 1.0 if noise_variances is None else noise_variances).toarray()
    theta = (theta + theta.T) / 2
    M = rng.uniform(-1, 1, (d, d))
    return Problem(theta, noise_variances, M - M.T if skewed else None, rng)


@st.composite
def problems(draw: st.DrawFn, largest: int = 20) -> Problem:
    d = draw(st.integers(1, largest))
    return make_problem(
        d, draw(st.integers(0, 4)), draw(st.booleans()), draw(st.booleans()), draw(st.integers(0, 2**32 - 1))
    )


def random_theta(d: int, degree: int = 1, seed: int = 0) -> sp.csr_array:
    return datasets.sem_precision(datasets.random_dag(d, degree, random_state=seed))


def model(d: int, n: int, seed: int, degree: int = 1):
    """A random model in an order of columns that is no causal one, and data with equal noise variances."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, random_state=rng)
    columns = rng.permutation(d)
    return B[columns][:, columns], X[:, columns]


def table(d: int, degree: int, n: int, seed: int, noise: str = "gaussian", *, equal: bool = False):
    """A random model, and standardised data with unequal noise variances unless they are to be equal."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    variances = 1.0 if equal else rng.uniform(0.5, 2.0, d)
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=variances, random_state=rng)
    return B, X if equal else (X - X.mean(axis=0)) / X.std(axis=0)

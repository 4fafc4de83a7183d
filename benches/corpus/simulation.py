"""Simulated linear models, independent of `icid_rs.datasets`: the tables stay the same if that changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

#: Euler's constant, the mean of a standard Gumbel variable.
_EULER = 0.5772156649015329


@dataclass(frozen=True)
class Simulation:
    """A random acyclic graph on d variables and n samples of its linear model.

    Attributes
    ----------
    d, n : int
        Variables and rows.
    noise : str
        Distribution of the noise: gaussian, exponential, gumbel, uniform or laplace.
    degree : float
        Expected number of edges for each variable.
    unequal : bool
        Draw the noise variances from [0.25, 4] instead of 1 for all.
    standardised : bool
        Divide each column by its standard deviation.
    seed : int
    """

    d: int = 12
    n: int = 400
    noise: str = "gaussian"
    degree: float = 1.0
    unequal: bool = False
    standardised: bool = False
    seed: int = 0

    @property
    def weights(self) -> np.ndarray:
        """Weights of the graph; [i, j] != 0 means i → j."""
        return _draw(self)[0].copy()

    @property
    def noise_variances(self) -> np.ndarray:
        """Noise variances, of standardised columns if these were asked for."""
        return _draw(self)[1].copy()

    @property
    def rows(self) -> np.ndarray:
        """The table: a copy, which a case may change."""
        return _draw(self)[2].copy()

    @property
    def theta(self) -> np.ndarray:
        """The exact inverse covariance."""
        A = np.eye(self.d) - self.weights
        return (A / self.noise_variances) @ A.T

    @property
    def names(self) -> list[str]:
        """Names for the columns."""
        return [f"x{i}" for i in range(self.d)]

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The true edges, causes first."""
        return [(int(i), int(j)) for i, j in zip(*np.nonzero(self.weights), strict=True)]

    @property
    def order(self) -> list[int]:
        """A true causal order."""
        return _draw(self)[3].tolist()


@lru_cache(maxsize=64)
def _draw(model: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(model.seed)
    d, n = model.d, model.n
    order = rng.permutation(d)
    pairs = np.triu(rng.random((d, d)) < min(1.0, 2 * model.degree / max(d - 1, 1)), 1)
    weights = rng.choice([-1.0, 1.0], size=(d, d)) * rng.uniform(0.5, 1.5, size=(d, d)) * pairs
    B = np.zeros((d, d))
    B[np.ix_(order, order)] = weights
    variances = rng.uniform(0.25, 4.0, size=d) if model.unequal else np.ones(d)
    E = _noise(model.noise, (n, d), rng) * np.sqrt(variances)
    X = np.zeros((n, d))
    for j in order:
        X[:, j] = X @ B[:, j] + E[:, j]
    if model.standardised:
        scale = X.std(axis=0)
        X, B, variances = X / scale, B * scale[:, None] / scale, variances / scale**2
    return B, variances, X, order


def _noise(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Draw noise of mean zero and unit variance."""
    if kind == "gaussian":
        return rng.standard_normal(shape)
    if kind == "exponential":
        return rng.standard_exponential(shape) - 1.0
    if kind == "gumbel":
        return (rng.gumbel(size=shape) - _EULER) * np.sqrt(6.0) / np.pi
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=shape)
    return rng.laplace(scale=np.sqrt(0.5), size=shape)


def wide_table(d: int, n: int, seed: int = 0) -> np.ndarray:
    """Draw n rows of a chain-like graph on very many variables, without any matrix of d × d.

    Every variable but the first has one cause, at most 100 places before it.
    """
    rng = np.random.default_rng(seed)
    causes = np.maximum(0, np.arange(d) - rng.integers(1, 100, size=d))
    weights = rng.choice([-1.0, 1.0], size=d) * rng.uniform(0.5, 1.0, size=d)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] += weights[j] * X[:, causes[j]]
    return X[:, rng.permutation(d)]

"""The method in plain NumPy: dense, slow and obviously right. For tests and benches only.

The same algorithm as the compiled core, step by step, so that the two can be compared number by number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from icid_rs._util.validation import FloatArray


def phi(B: FloatArray, D: FloatArray) -> FloatArray:
    """Compute φ_D(B) = (I − B) D (I − B)ᵀ."""
    A = np.eye(len(B)) - B
    return (A * D) @ A.T


def soft_threshold(V: FloatArray, threshold: FloatArray) -> FloatArray:
    """Compute the proximal map of the ℓ1 norm."""
    return np.sign(V) * np.maximum(np.abs(V) - threshold, 0.0)


def optimality_distance(B: FloatArray, gradient: FloatArray, support: FloatArray) -> float:
    """Compute the paper's Δ(B): the distance from −∇F to the subdifferential of the ℓ1 norm, on the support."""
    U = -gradient
    distance = np.where(B == 0, np.maximum(np.abs(U) - 1.0, 0.0), U - np.sign(B))
    return float(np.linalg.norm(distance[support != 0]))


@dataclass
class AugmentedLagrangian:
    """The smooth part ⟨Λ, R⟩ + ρ/2 ‖R‖² + ⟨M, B ⊙ B⟩ with R = Θ − φ_D(B) and M = λ₂M̃."""

    theta: FloatArray
    D: FloatArray
    M: FloatArray
    Lambda: FloatArray
    rho: float

    @property
    def support(self) -> FloatArray:
        """Where B may be nonzero, as ones and zeros."""
        support: FloatArray = ((self.theta != 0) & ~np.eye(len(self.theta), dtype=bool)).astype(float)
        return support

    def residual(self, B: FloatArray) -> FloatArray:
        """R = Θ − φ_D(B)."""
        return self.theta - phi(B, self.D)

    def value_and_gradient(self, B: FloatArray) -> tuple[float, FloatArray]:
        """F(B), and ∇F(B) on the support."""
        R = self.residual(B)
        value = np.sum(self.Lambda * R) + self.rho / 2 * np.sum(R * R) + np.sum(self.M * B * B)
        W = self.Lambda + self.rho * R
        gradient = 2 * (W @ (np.eye(len(B)) - B)) * self.D + 2 * self.M * B
        return float(value), self.support * gradient

    def value(self, B: FloatArray) -> float:
        """F(B)."""
        return self.value_and_gradient(B)[0]

    def gradient(self, B: FloatArray) -> FloatArray:
        """∇F(B), on the support."""
        return self.value_and_gradient(B)[1]

    def curvature(self, B: FloatArray, Z: FloatArray) -> float:
        """⟨Z, ∇²F(B)[Z]⟩."""
        A = np.eye(len(B)) - B
        W = self.Lambda + self.rho * self.residual(B)
        sym = ((Z * self.D) @ A.T + (A * self.D) @ Z.T) / 2
        return float(
            4 * self.rho * np.sum(sym * sym) - 2 * np.sum(W * ((Z * self.D) @ Z.T)) + 2 * np.sum(self.M * Z * Z)
        )

    def metric(self, B: FloatArray) -> FloatArray:
        """Estimate the diagonal of ∇²F(B), leaving out what may be negative."""
        column_norms = 1 + np.sum(B * B, axis=0)
        metric: FloatArray = 2 * self.rho * self.D**2 * (column_norms + B * B)
        return metric + 2 * np.maximum(self.M, 0.0) * self.support


def fista(
    F: AugmentedLagrangian, B: FloatArray, schedule: str, tol: float, max_iter: int, warm: bool = False
) -> tuple[FloatArray, int, float]:
    """Minimise F(B) + ‖B‖₁ from B on (Algorithm 2); return B, the iterations and Δ(B)."""
    step: float | None = None
    good = 0
    age = 0
    scale = 0.0
    Y = B
    delta = np.inf
    euclidean = schedule == "paper" or not warm
    m = np.ones_like(B) if euclidean else F.metric(B)
    for iteration in range(1, max_iter + 1):
        value, G = F.value_and_gradient(Y)
        scale = max(scale, abs(value))
        first = _first_step(F, Y, G, m, schedule, iteration, step, good >= 3)
        eta = first
        for attempt in range(41):
            B_next = soft_threshold(Y - eta / m * G, eta / m)
            Z = B_next - Y
            bound = np.sum(m * Z * Z) / (2 * eta)
            if F.value(B_next) - value - np.sum(G * Z) <= bound + 1e-13 * scale:
                break
            eta = eta / 2 if attempt != 19 else min(eta / 2, _safe_step(F, m))
        good = good % 3 + 1 if attempt == 0 and bound > 1e-13 * scale else 0
        step = first if schedule == "paper" else eta
        age += 1
        uphill = np.sum(m * (Y - B_next) * (B_next - B)) > 0
        if schedule == "restart" and age > 1 and uphill:
            age = 0
        momentum = (age - 1) / (age + (2 if euclidean else 0.5)) if age else 0.0
        Y, B = B_next + momentum * (B_next - B), B_next
        if age == 0 and (not euclidean or iteration > 100):
            step = None if euclidean else step
            euclidean = False
            m = F.metric(B)
        delta = optimality_distance(B, F.gradient(B), F.support)
        if delta <= tol:
            break
    return B, iteration, delta


def _first_step(
    F: AugmentedLagrangian,
    Y: FloatArray,
    G: FloatArray,
    m: FloatArray,
    schedule: str,
    iteration: int,
    last: float | None,
    grow: bool,
) -> float:
    """Where the line search starts."""
    if last is not None and (schedule == "restart" or iteration > 10):
        return last * (1.25 if grow and schedule == "restart" else 1.0)
    curvature = F.curvature(Y, G / m)
    slope = float(np.sum(G * G / m))
    # A curvature of rounding size would send the step anywhere.
    if slope > 0 and slope <= 1e3 * _safe_step(F, m) * curvature:
        return slope / curvature * (0.5 if schedule == "paper" else 1.0)
    return _safe_step(F, m) if last is None else last


def _safe_step(F: AugmentedLagrangian, m: FloatArray) -> float:
    """Bound the step by the largest the Hessian can be at B = 0."""
    largest = np.abs(F.D).max() * (np.abs(F.D).max() + np.abs(F.theta).max())
    return float(m.min() / (4 * F.rho * largest + 2 * np.abs(F.M * F.support).max()))


def decompose(
    theta: FloatArray,
    noise_variances: FloatArray | None = None,
    *,
    skewness_matrix: FloatArray | None = None,
    skewness: float = 0.0,
    l1_weight: float = 1.0,
    max_alm_iter: int = 3,
    max_fista_iter: int = 3000,
    tol: float = 5e-3,
    fista_tol: float = 1e-4,
    schedule: str = "restart",
) -> tuple[FloatArray, float]:
    """Decompose Θ by the augmented Lagrangian method (Algorithm 1); return B and the residual norm."""
    d = len(theta)
    D = np.full(d, theta.diagonal().min()) if noise_variances is None else 1.0 / noise_variances
    M = np.zeros((d, d)) if skewness_matrix is None else skewness * skewness_matrix
    F = AugmentedLagrangian(theta, D, M, np.zeros((d, d)), 1.0 / l1_weight)
    B = np.zeros((d, d))
    previous = np.inf
    for _ in range(max_alm_iter):
        for _ in range(10):
            B, *_ = fista(F, B, schedule, fista_tol, max_fista_iter, warm=bool(B.any()))
            residual = float(np.linalg.norm(F.residual(B)))
            if residual <= max(tol, 0.95 * previous):
                break
            F.rho *= 1.2
        if residual <= tol or residual > 0.95 * previous:
            break
        previous = residual
        F.Lambda = F.Lambda + F.rho * F.residual(B)
    return B, residual


def heaviest_acyclic(B: FloatArray) -> FloatArray:
    """Take the heaviest edges first, and leave out any that closes a cycle."""
    d = len(B)
    kept = np.zeros_like(B)
    reaches = np.eye(d, dtype=bool)
    edges = [(i, j) for i in range(d) for j in range(d) if i != j and B[i, j] != 0]
    for i, j in sorted(edges, key=lambda edge: (-abs(B[edge]), edge)):
        if not reaches[j, i]:
            kept[i, j] = B[i, j]
            reaches |= np.outer(reaches[:, i], reaches[j])
    return kept


def empirical_precision(X: FloatArray, grid: FloatArray) -> tuple[FloatArray, float]:
    """Algorithm 3 with the selection rule C(λ₁); return Θ and λ₁."""
    centred = X - X.mean(axis=0)
    C = centred.T @ centred / len(X)
    theta = np.linalg.pinv(C, hermitian=True)
    diagonal = np.diag(np.diag(theta))
    largest = np.abs(theta - diagonal).max()
    candidates = [diagonal + (theta - diagonal) * (np.abs(theta - diagonal) >= cut * largest) for cut in grid]
    criterion = [np.trace(C @ T) - np.linalg.slogdet(T + 0.9 * diagonal)[1] for T in candidates]
    best = int(np.argmin(criterion))
    return candidates[best], float(grid[best])


def skewness_matrix(X: FloatArray) -> FloatArray:
    """M̃ = −C ⊙ E[X_i² X_j − X_i X_j²] on standardised columns, sample by sample."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    M: FloatArray = np.zeros((Z.shape[1], Z.shape[1]))
    for z in Z:
        M += np.outer(z * z, z) - np.outer(z, z * z)
    return np.asarray(-np.corrcoef(Z.T) * M / len(Z))


def fit(X: FloatArray, grid: FloatArray, skewness: float, **solver: Any) -> FloatArray:
    """Find a causal graph as the paper does, but for the projection, which is the simple one."""
    theta, _ = empirical_precision(X, grid)
    B, _ = decompose(theta, skewness_matrix=skewness_matrix(X), skewness=skewness, **solver)
    return heaviest_acyclic(B)


def shape_gain(u: np.ndarray) -> float:
    """The gain of the shape of standardised residuals in the score, from its definition."""
    bell = np.exp(-(u**2) / 2)
    odd, even = np.mean(u * bell), np.mean(bell) - np.sqrt(0.5)
    negentropy = 36 / (8 * np.sqrt(3) - 9) * odd**2 + 24 / (16 * np.sqrt(3) - 27) * even**2
    return max(0.0, 2 * len(u) * negentropy - 2 * np.log(len(u)))

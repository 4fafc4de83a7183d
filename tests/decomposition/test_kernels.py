"""The compiled kernels against their NumPy twin, and the twin against differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import _core
from icid_rs._util.validation import csr_parts
from tests.helpers.problems import Problem, make_problem, problems, random_theta

RHO, SKEWNESS = 1.7, 0.6


def parts(matrix: np.ndarray) -> tuple:
    return csr_parts(sp.csr_array(matrix))


def everywhere(matrix: np.ndarray) -> tuple:
    """All entries, zeros too, so that the gradient comes back for each."""
    d = len(matrix)
    columns = np.arange(d * d) % d
    return csr_parts(sp.csr_array((matrix.ravel() + 0.0, columns, np.arange(0, d * d + 1, d)), shape=(d, d)))


def evaluate(problem: Problem, B: np.ndarray, Z: np.ndarray, at: np.ndarray | None, kernel: str) -> tuple:
    skewness = None if problem.skewness_matrix is None else (parts(problem.skewness_matrix), SKEWNESS)
    found = _core.evaluate(
        {"theta": parts(problem.theta), "noise_variances": problem.noise_variances, "skewness": skewness},
        everywhere(B),
        parts(Z),
        multiplier_at=None if at is None else parts(at),
        rho=RHO,
        kernel=kernel,
    )
    return found.value, found.gradient.reshape(B.shape), found.curvature, found.residual


@settings(max_examples=100, deadline=None)
@given(problems(), st.booleans(), st.sampled_from(["clique", "dense"]))
def test_core_agrees_with_reference(problem, with_multiplier, kernel):
    B, Z, at = problem.point(), problem.point(), problem.point()
    at = at if with_multiplier else None
    F = problem.lagrangian(RHO, SKEWNESS, at)
    value, gradient, curvature, residual = evaluate(problem, B, Z, at, kernel)
    scale = max(1.0, abs(value), np.abs(gradient).max())
    assert value == pytest.approx(F.value(B), abs=1e-10 * scale)
    assert curvature == pytest.approx(F.curvature(B, Z), abs=1e-10 * scale)
    assert residual == pytest.approx(np.linalg.norm(F.residual(B)), abs=1e-10)
    np.testing.assert_allclose(gradient, F.gradient(B), atol=1e-10 * scale)


@settings(max_examples=50, deadline=None)
@given(problems(12), st.booleans(), st.sampled_from(["clique", "dense"]))
def test_derivatives_match_central_differences(problem, with_multiplier, kernel):
    B, Z, at = problem.point(), problem.point(), problem.point()
    at = at if with_multiplier else None
    h = 1e-3

    def value(step: float) -> float:
        return evaluate(problem, B + step * Z, Z, at, kernel)[0]

    _, gradient, curvature, _ = evaluate(problem, B, Z, at, kernel)
    # Richardson's combination of two central differences is exact for the quartic that F is along a line.
    slope = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)
    scale = max(1.0, abs(value(0.0)))
    assert np.sum(gradient * Z) == pytest.approx(slope, rel=1e-6, abs=1e-9 * scale)
    h = 0.1
    second = (16 * (value(h) + value(-h)) - (value(2 * h) + value(-2 * h)) - 30 * value(0)) / (12 * h * h)
    assert curvature == pytest.approx(second, rel=1e-6, abs=1e-9 * scale)


def test_hessian_of_the_proposition_has_the_factor_we_use():
    """The paper prints 4ρ in the Hessian operator; its own quadratic form, and differences, have 2ρ."""
    problem = make_problem(8, 2, equal=False, skewed=False, seed=1)
    B, Z = problem.point(), problem.point()
    F = problem.lagrangian(RHO, 0.0, problem.point())
    A, D = np.eye(8) - B, problem.noise_precision
    sym = ((Z * D) @ A.T + (A * D) @ Z.T) / 2
    W = F.Lambda + F.rho * F.residual(B)
    operator = 2 * (2 * F.rho * (sym @ A) * D - (W @ Z) * D)
    h = 1e-6
    difference = (F.gradient(B + h * Z) - F.gradient(B - h * Z)) / (2 * h)
    np.testing.assert_allclose(operator * F.support, difference, atol=1e-5)
    assert F.curvature(B, Z) == pytest.approx(np.sum(operator * Z))


def test_bits_do_not_depend_on_threads():
    theta = random_theta(20_000, seed=1)
    B = theta.copy()
    B.setdiag(0.0)
    results = [
        _core.evaluate({"theta": csr_parts(theta)}, csr_parts(B), csr_parts(B), multiplier_at=csr_parts(B), n_threads=n)
        for n in (1, 2, 4)
    ]
    first, *others = results
    for other in others:
        assert (other.value, other.curvature, other.residual) == (first.value, first.curvature, first.residual)
        assert np.array_equal(other.gradient, first.gradient)

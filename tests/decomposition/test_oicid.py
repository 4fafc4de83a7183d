"""Laws that every decomposition obeys."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import icid_rs
from icid_rs import datasets, decompose
from tests.helpers import reference
from tests.helpers.problems import make_problem, problems, random_theta

TIGHT = {"max_alm_iter": 1, "fista_tol": 1e-8, "max_fista_iter": 100_000}


def optimality(theta: np.ndarray, B: np.ndarray, D: np.ndarray, rho: float = 1.0) -> float:
    """Δ(B) with Λ = 0, from the paper's formulas and nothing else."""
    A = np.eye(len(theta)) - B
    U = -2 * rho * (theta - A @ np.diag(D) @ A.T) @ A @ np.diag(D)
    off_support = (theta == 0) | np.eye(len(theta), dtype=bool)
    distance = np.where(B > 0, U - 1, np.where(B < 0, U + 1, np.sign(U) * np.maximum(np.abs(U) - 1, 0)))
    return float(np.linalg.norm(distance[~off_support]))


@pytest.mark.parametrize("schedule", ["restart", "paper"])
@pytest.mark.parametrize("seed", range(20))
def test_optimality_holds_in_plain_numpy(seed, schedule):
    d = int(np.geomspace(2, 300, 20)[seed])
    problem = make_problem(d, 1, equal=seed % 2 == 0, skewed=False, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = decompose(problem.theta, problem.noise_variances, max_alm_iter=1, fista_tol=1e-6, schedule=schedule)
    if result.status == "max_fista_iter":
        assert schedule == "paper", "the default schedule has to converge"
        return
    assert optimality(problem.theta, result.B.toarray(), problem.noise_precision) <= 2e-6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=25, deadline=None)
@given(problems(12))
def test_core_and_reference_take_the_same_path(problem):
    skewness = 0.0 if problem.skewness_matrix is None else 0.1
    arguments = {"skewness_matrix": problem.skewness_matrix, "skewness": skewness, "max_alm_iter": 1, "fista_tol": 1e-7}
    # The paper's schedule takes theta whole, as the reference does.
    ours = decompose(problem.theta, problem.noise_variances, schedule="paper", max_fista_iter=60, **arguments)
    B, residual = reference.decompose(
        problem.theta, problem.noise_variances, schedule="paper", max_fista_iter=60, **arguments
    )
    assert ours.residual == pytest.approx(residual, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(ours.B.toarray(), B, atol=1e-6)


def test_rounds_agree_with_the_reference():
    """A connected problem, so that the default schedule takes it whole as the reference does."""
    B = np.zeros((8, 8))
    B[np.arange(7), np.arange(1, 8)] = [0.9, -0.7, 1.2, 0.6, -1.5, 0.8, 1.1]
    theta = datasets.sem_precision(B).toarray()
    ours = decompose(theta, fista_tol=1e-9)
    theirs, residual = reference.decompose(theta, fista_tol=1e-9)
    np.testing.assert_allclose(ours.B.toarray(), theirs, atol=1e-7)
    assert ours.residual == pytest.approx(residual)
    assert [record["round"] for record in ours.history] == [1, 2, 3]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 25))
def test_permuting_variables_permutes_the_result(seed, d):
    theta = random_theta(d, min(1, (d - 1) // 2), seed).toarray()
    order = np.random.default_rng(seed).permutation(d)
    B = decompose(theta, **TIGHT).B.toarray()
    permuted = decompose(theta[np.ix_(order, order)], **TIGHT).B.toarray()
    np.testing.assert_allclose(permuted, B[np.ix_(order, order)], atol=1e-5)


@pytest.mark.parametrize("c", [0.25, 3.0, 100.0])
def test_scaling_theta_and_d_scales_rho(c):
    """With cΘ and cD the residual is cR, so that ρ/c² poses the same problem."""
    theta = random_theta(20, seed=5)
    B = decompose(theta, **TIGHT).B.toarray()
    scaled = decompose(theta * c, l1_weight=c**2, **TIGHT).B.toarray()
    np.testing.assert_allclose(scaled, B, atol=1e-6)


def test_a_diagonal_theta_has_no_edges():
    result = decompose(np.diag([2.0, 2.0, 2.0]))
    assert (result.B.nnz, result.status, result.residual) == (0, "converged", 0.0)


def test_one_variable():
    result = decompose([[4.0]])
    assert result.B.shape == (1, 1)
    assert result.B.nnz == 0
    assert result.status == "converged"


@settings(max_examples=25, deadline=None)
@given(problems(25))
def test_nonzeros_stay_on_the_support(problem):
    B = decompose(problem.theta, problem.noise_variances).B.toarray()
    assert not B[problem.theta == 0].any()
    assert not B.diagonal().any()


def test_blocks_decompose_on_their_own():
    blocks = [random_theta(12, 1, 1), random_theta(9, 2, 2), random_theta(15, 1, 3)]
    order = np.random.default_rng(0).permutation(36)
    together = decompose(sp.block_diag(blocks).tocsr()[order][:, order], **TIGHT).B.toarray()
    apart = sp.block_diag([decompose(block, **TIGHT).B for block in blocks]).toarray()
    np.testing.assert_allclose(together, apart[np.ix_(order, order)], atol=1e-6)


def test_the_truth_is_found_where_it_is_easy():
    B = np.zeros((6, 6))
    B[[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]] = [0.8, -0.9, 0.7, 1.1, -0.6]
    result = decompose(datasets.sem_precision(B), l1_weight=0.1, max_alm_iter=50, tol=1e-6, fista_tol=1e-8)
    assert result.status == "converged"
    assert result.residual <= 1e-6
    np.testing.assert_allclose(result.B.toarray(), B, atol=1e-6)


def test_known_noise_variances_matter():
    B = np.zeros((6, 6))
    B[[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]] = [0.8, -0.9, 0.7, 1.1, -0.6]
    variances = np.array([1.0, 0.5, 2.0, 0.7, 1.5, 0.6])
    theta = datasets.sem_precision(B, variances)
    settings = {"l1_weight": 0.1, "max_alm_iter": 50, "tol": 1e-5, "fista_tol": 1e-7}
    informed = decompose(theta, variances, **settings)
    assert informed.status == "converged"
    np.testing.assert_allclose(informed.B.toarray(), B, atol=1e-4)
    assert np.abs(decompose(theta, **settings).B.toarray() - B).max() > 0.1


def test_a_residual_that_cannot_fall_is_a_stall():
    """The largest D allowed by Θ is its smallest diagonal entry; with more, no B fits."""
    result = decompose(np.array([[2.0, 0.5], [0.5, 2.0]]), 0.1, max_alm_iter=50, tol=1e-8)
    assert result.status == "stalled"
    assert result.info["rho"] < 100


def test_skewness_turns_edges():
    """Where nothing else tells the two directions apart, M̃ decides."""
    theta = np.array([[1.25, -0.5], [-0.5, 1.25]])
    M = np.array([[0.0, -1.0], [1.0, 0.0]])
    settings = {"skewness": 0.5, "l1_weight": 1.0, "max_alm_iter": 1}
    undecided = decompose(theta, **{**settings, "skewness": 0.0}).B.toarray()
    forward = decompose(theta, skewness_matrix=M, **settings).B.toarray()
    backward = decompose(theta, skewness_matrix=-M, **settings).B.toarray()
    np.testing.assert_allclose(undecided, undecided.T)
    assert forward[0, 1] > 10 * forward[1, 0]
    np.testing.assert_allclose(backward, forward.T, atol=1e-6)
    sparse = decompose(theta, skewness_matrix=sp.coo_array(M), **settings).B.toarray()
    np.testing.assert_array_equal(sparse, forward)


def test_any_format_gives_the_same_result():
    theta = random_theta(20, seed=2)
    expected = decompose(theta).B.toarray()
    read_only = theta.toarray()
    read_only.flags.writeable = False
    formats = [theta.asformat(name) for name in ("coo", "csc", "bsr", "dia", "dok", "lil")]
    formats += [sp.csr_matrix(theta), read_only, np.asfortranarray(theta.toarray()), theta.toarray().tolist()]
    formats += [np.repeat(np.repeat(theta.toarray(), 2, axis=0), 2, axis=1)[::2, ::2]]
    for other in formats:
        np.testing.assert_array_equal(decompose(other).B.toarray(), expected)
    single = decompose(theta.astype(np.float32)).B.toarray()
    np.testing.assert_allclose(single, expected, atol=1e-3)
    integers = decompose(np.array([[5, -2], [-2, 1]])).B.toarray()
    np.testing.assert_array_equal(integers, decompose(np.array([[5.0, -2.0], [-2.0, 1.0]])).B.toarray())


def test_single_precision_rounding_is_no_asymmetry():
    X = datasets.sample_sem(datasets.random_dag(30, 1, random_state=1), 500, random_state=1)
    theta = np.linalg.inv(np.cov(X.T).astype(np.float32))
    assert decompose(theta, max_alm_iter=1).B.shape == (30, 30)


def test_single_precision_hides_no_asymmetry():
    theta = np.diag([1e6, 1.0, 1.0]).astype(np.float32)
    theta[1, 2] = 0.9
    with pytest.raises(ValueError, match="symmetric"):
        decompose(theta)


def test_scale_does_not_matter_to_the_checks():
    theta = np.array([[1.0, 0.1], [0.1, 1.0]])
    for scale in (1e-150, 1e150):
        with pytest.raises((ValueError, icid_rs.NumericalError)):
            decompose(scale * np.array([[1.0, 0.6], [0.1, 1.0]]))
    assert decompose(1e-150 * theta).B.nnz == 0


def test_input_is_left_alone():
    theta = random_theta(10, seed=1).tocoo()
    before = theta.copy()
    decompose(theta)
    np.testing.assert_array_equal(theta.data, before.data)


def test_info_tells_what_happened():
    result = decompose(random_theta(50, seed=4), n_threads=2)
    assert {"iterations", "evaluations", "rho", "optimality", "kernel", "support", "pairs", "timings"} <= set(
        result.info
    )
    assert result.info["n_threads"] == 2
    assert result.info["rho"] >= 1.0
    assert result.info["optimality"] <= 1e-4
    assert result.history[-1]["residual"] == result.residual
    assert all(value >= 0 for value in result.info["timings"].values())
    assert "50 variables" in repr(result)


def test_running_out_of_iterations_warns():
    with pytest.warns(ConvergenceWarning, match="max_fista_iter"):
        result = decompose(random_theta(50, 2), max_fista_iter=5)
    assert result.status == "max_fista_iter"


def test_an_indefinite_theta_warns_and_names_the_pair():
    theta = np.diag([1.0, 1.0, 4.0, 4.0])
    theta[1, 3] = theta[3, 1] = 2.5
    with pytest.warns(RuntimeWarning, match=r"theta\[1, 3\]² ≥ theta\[1, 1\]"):
        decompose(theta)


BAD_THETA = [
    (np.array([[1.0, np.nan], [np.nan, 1.0]]), ValueError, r"theta\[0, 1\] is NaN"),
    (np.array([[1.0, 0.0], [0.0, np.inf]]), ValueError, r"theta\[1, 1\] is inf"),
    (np.ones((2, 3)), ValueError, "2 x 3"),
    (np.ones(4), ValueError, "1 dimension"),
    (np.ones((2, 2, 2)), ValueError, "3 dimension"),
    (np.array([[1.0, 0.5], [0.2, 1.0]]), ValueError, r"theta\[0, 1\] = 0.5 and theta\[1, 0\] = 0.2"),
    (np.array([[1.0, 0.5], [0.0, 1.0]]), ValueError, "symmetric"),
    (np.empty((0, 0)), ValueError, "empty"),
    (np.diag([1.0, 0.0]), ValueError, r"theta\[1, 1\] = 0"),
    (np.diag([-1.0, 1.0]), ValueError, r"theta\[0, 0\] = -1"),
    (np.eye(2) * 1j, TypeError, "complex"),
    (np.array([["a", "b"], ["c", "d"]]), TypeError, "theta must hold real numbers"),
    (np.array([[object()] * 2] * 2), TypeError, "object"),
    (None, TypeError, "theta must hold real numbers"),
    ([[1.0], [1.0, 2.0]], ValueError, "theta is not an array"),
]


@pytest.mark.parametrize(("theta", "error", "message"), BAD_THETA)
def test_bad_theta_is_refused_with_its_place(theta, error, message):
    with pytest.raises(error, match=message):
        decompose(theta)
    if isinstance(theta, np.ndarray) and theta.ndim == 2 and theta.dtype.kind == "f":
        with pytest.raises(error, match=message):
            decompose(sp.csr_array(theta))


BAD_ARGUMENTS = [
    ({"noise_variances": [1.0]}, ValueError, "noise_variances has length 1"),
    ({"noise_variances": [[1.0, 1.0]]}, ValueError, "2 dimensions"),
    ({"noise_variances": [1.0, -1.0]}, ValueError, r"noise_variances\[1\] = -1"),
    ({"noise_variances": [0.0, 1.0]}, ValueError, r"noise_variances\[0\] = 0"),
    ({"noise_variances": [1.0, np.nan]}, ValueError, r"noise_variances\[1\] = NaN"),
    ({"noise_variances": ["a", "b"]}, TypeError, "noise_variances must hold real numbers"),
    ({"l1_weight": 0.0}, ValueError, "l1_weight = 0"),
    ({"l1_weight": np.inf}, ValueError, "l1_weight = inf"),
    ({"l1_weight": "much"}, TypeError, "l1_weight must be a number"),
    ({"tol": -1.0}, ValueError, "tol = -1"),
    ({"fista_tol": np.nan}, ValueError, "fista_tol = NaN"),
    ({"max_alm_iter": 0}, ValueError, "max_alm_iter = 0"),
    ({"max_alm_iter": 1.5}, TypeError, "max_alm_iter must be an integer"),
    ({"max_fista_iter": -3}, ValueError, "max_fista_iter = -3"),
    ({"max_fista_iter": 10**30}, ValueError, "max_fista_iter = 1000"),
    ({"tol": 10**400}, ValueError, "tol is too large"),
    ({"l1_weight": 5e-324}, ValueError, "l1_weight = .*inverse"),
    ({"n_threads": 0}, ValueError, "n_threads = 0"),
    ({"n_threads": 10**6}, ValueError, "n_threads = 1000000: it must be at most"),
    ({"schedule": "fast"}, ValueError, 'schedule = "fast"'),
    ({"schedule": 3}, TypeError, "schedule must be a string"),
    ({"callback": 3}, TypeError, "callback must be callable"),
    ({"skewness": 1.0}, ValueError, "no skewness_matrix"),
    ({"skewness": -1.0, "skewness_matrix": np.zeros((2, 2))}, ValueError, "skewness = -1"),
    ({"skewness": 1.0, "skewness_matrix": np.zeros((3, 3))}, ValueError, "skewness_matrix has length 3"),
    ({"skewness": 1.0, "skewness_matrix": np.array([[0, np.nan], [0, 0]])}, ValueError, r"skewness_matrix\[0, 1\]"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD_ARGUMENTS)
def test_bad_arguments_are_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=message):
        decompose(np.array([[2.0, 0.5], [0.5, 2.0]]), **arguments)


def test_a_first_step_without_curvature_is_survived():
    """With Θ_ii = 3 D_i the quadratic model is flat along the first gradient, but for rounding."""
    for off in range(1, 8):
        theta = np.array([[10.0, 0, 0], [0, 30, off], [0, off, 30]])
        result = decompose(theta)
        assert result.info["optimality"] <= 1e-4
        assert np.abs(result.B.toarray()).max() < 10


def test_overflow_is_a_numerical_error():
    with pytest.raises(icid_rs.NumericalError, match="rescale theta"):
        decompose(np.array([[1e160, 1e160], [1e160, 2e160]]))

"""Laws of order elimination."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import NumericalError, _core, datasets, eliminate, eliminate_along, metrics
from icid_rs._util.validation import csr_parts
from icid_rs.decomposition.elimination import Elimination
from tests.helpers.problems import make_problem, random_theta

KERNELS = ("sparse", "dense")


def run(kernel: str, theta, noise_variances=None, order=None, n_threads: int = 2):
    theta = sp.csr_array(theta)
    options = {"order": order, "noise_variances": noise_variances, "drop": 0.0, "n_threads": n_threads}
    return Elimination.from_core(
        _core.eliminate(csr_parts(theta) if kernel == "sparse" else theta.toarray(), **options)
    )


def in_ten_lines(theta: np.ndarray, noise_variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    theta, B, alive = theta.copy(), np.zeros_like(theta), np.ones(len(theta), dtype=bool)
    while alive.any():
        left = np.flatnonzero(alive)
        i = left[np.argmin((theta.diagonal() * noise_variances)[left])]
        alive[i] = False
        u = np.where(alive, theta[:, i], 0.0)
        B[:, i] = -u / theta[i, i]
        noise_variances[i] = 1.0 / theta[i, i]
        theta -= np.outer(u, u) / theta[i, i]
    return B, noise_variances


def rebuild(result) -> np.ndarray:
    A = np.eye(result.B.shape[0]) - result.B.toarray()
    return A @ np.diag(1.0 / result.noise_variances) @ A.T


def perturbed(d: int, seed: int) -> np.ndarray:
    """A positive definite matrix that is no model's with equal variances, mostly zeros."""
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(d, d)) * (rng.uniform(size=(d, d)) < min(0.3, 2 / d))
    return L @ L.T + np.diag(rng.uniform(1, 2, d))


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_true_models_are_recovered_exactly(kernel, d, degree, equal, seed):
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, min(degree, (d - 1) // 2), random_state=rng)
    variances = None if equal else rng.uniform(0.2, 5.0, d)
    theta = datasets.sem_precision(B, 1.0 if equal else variances)
    result = run(kernel, theta, variances)
    assert abs(result.B - B).max() <= 1e-8
    # The rounding errors of ill-conditioned models are too large to be told from small weights.
    if np.linalg.cond(theta.toarray()) < 1e8:
        assert result.B.nnz == B.nnz, "what cancels is deleted"
    np.testing.assert_allclose(result.noise_variances, 1.0 if equal else variances, rtol=1e-8)
    rank = np.argsort(result.order)
    rows, columns = result.B.nonzero()
    assert (rank[rows] < rank[columns]).all()


@pytest.mark.parametrize("exponent", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("kind", "degree"), [("ER", 1), ("ER", 3), ("SF", 4)])
def test_rescaled_models_are_recovered_with_known_variances(kind, degree, exponent):
    B, variances = datasets.rescale_sem(datasets.random_dag(50, degree, kind, random_state=3), 1.0, exponent)
    result = eliminate(datasets.sem_precision(B, variances), variances)
    assert metrics.count_accuracy(B, result.B)["shd"] == 0
    assert abs(result.B - B).max() <= 1e-8


@pytest.mark.parametrize("kind", ["ER", "SF"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_thousand_variables_with_four_causes_each(kernel, kind):
    B = datasets.random_dag(1000, 4, kind, random_state=0)
    result = run(kernel, datasets.sem_precision(B))
    assert abs(result.B - B).max() <= 1e-8


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.booleans(), st.integers(0, 2**32 - 1))
def test_agrees_with_ten_lines_of_numpy(kernel, d, equal, seed):
    theta = perturbed(d, seed)
    variances = None if equal else np.random.default_rng(seed).uniform(0.5, 2.0, d)
    result = run(kernel, theta, variances)
    B, omega = in_ten_lines(theta, np.ones(d) if equal else variances.copy())
    np.testing.assert_allclose(result.B.toarray(), B, atol=1e-7)
    np.testing.assert_allclose(result.noise_variances, omega, rtol=1e-7)
    np.testing.assert_allclose(rebuild(result), theta, atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=30, deadline=None)
@given(st.integers(2, 150), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_columns_does_not_matter(kernel, d, oracle, seed):
    theta = random_theta(d, min(2, (d - 1) // 2), seed).toarray() if oracle else perturbed(d, seed)
    theta = (theta + theta.T) / 2
    P = np.random.default_rng(seed).permutation(d)
    plain, permuted = run(kernel, theta), run(kernel, theta[np.ix_(P, P)])
    np.testing.assert_array_equal(plain.B.toarray()[np.ix_(P, P)], permuted.B.toarray())
    np.testing.assert_array_equal(plain.noise_variances[P], permuted.noise_variances)
    if not oracle:
        np.testing.assert_array_equal(plain.order, P[permuted.order])


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_any_order_decomposes_exactly(kernel, d, seed):
    theta = perturbed(d, seed)
    order = np.random.default_rng(seed).permutation(d)
    result = run(kernel, theta, order=order)
    np.testing.assert_array_equal(result.order, order)
    np.testing.assert_allclose(rebuild(result), theta, atol=1e-8 * theta.max())
    rank = np.argsort(order)
    rows, columns = result.B.nonzero()
    assert (rank[rows] < rank[columns]).all()


def test_where_it_fills_in_sparse_becomes_dense_with_the_same_result():
    """Few entries, but eliminating the hubs first fills everything in."""
    rng = np.random.default_rng(0)
    theta = np.eye(600) * 100
    theta[:8] += rng.normal(size=(8, 600))
    theta = (theta + theta.T) / 2
    order = np.r_[8:600, 0:8]
    for options in ({"order": order}, {}, {"noise_variances": np.r_[np.full(8, 1e-3), np.ones(592)]}):
        sparse, dense = run("sparse", theta, **options), run("dense", theta, **options)
        np.testing.assert_array_equal(sparse.order, dense.order)
        np.testing.assert_allclose(sparse.B.toarray(), dense.B.toarray(), atol=1e-8)
        np.testing.assert_allclose(rebuild(sparse), theta, atol=1e-6)


def test_dense_results_are_the_same_bits_for_any_number_of_threads():
    theta = perturbed(400, 0)
    one, many = run("dense", theta, n_threads=1), run("dense", theta, n_threads=5)
    np.testing.assert_array_equal(one.B.toarray(), many.B.toarray())


def test_what_is_given_may_be_dense_sparse_or_single_precision():
    B = datasets.random_dag(300, 1, random_state=0)
    theta = datasets.sem_precision(B)
    expected = eliminate(theta)
    for given_theta in (theta.toarray(), sp.csc_array(theta), sp.coo_matrix(theta), theta.toarray().tolist()):
        assert abs(eliminate(given_theta).B - expected.B).max() < 1e-12
    for small in (theta.astype(np.float32), theta.toarray().astype(np.float32)):
        assert metrics.count_accuracy(B, eliminate(small, drop=1e-3).B)["shd"] == 0
    before = theta.copy()
    eliminate(theta, drop=0.7)
    assert (before != theta).nnz == 0


def test_single_precision_is_forgiven_in_any_container():
    import pandas as pd

    theta = datasets.sem_precision(datasets.random_dag(300, 1, random_state=0)).toarray().astype(np.float32)
    theta *= 1 + 1e-7 * np.random.default_rng(0).normal(size=theta.shape).astype(np.float32)
    expected = eliminate(theta, drop=1e-3).B
    assert abs(eliminate(pd.DataFrame(theta), drop=1e-3).B - expected).max() < 1e-3
    assert abs(eliminate(sp.csr_array(theta), drop=1e-3).B - expected).max() < 1e-3


def test_small_weights_are_dropped_from_the_result_alone():
    theta = perturbed(30, 1)
    whole, most = eliminate(theta).B, eliminate(theta, drop=0.1).B
    kept = np.where(np.abs(whole.toarray()) > 0.1, whole.toarray(), 0.0)
    np.testing.assert_array_equal(most.toarray(), kept)
    assert most.nnz < whole.nnz


@pytest.mark.parametrize("kernel", KERNELS)
def test_ties_that_only_far_neighbours_break_do_not_depend_on_the_columns(kernel):
    """A ring whose variables differ only in how far they are from two odd edges."""
    d = 30
    theta = np.diag(np.full(d, 2.0)) - 0.6 * (np.eye(d, k=1) + np.eye(d, k=d - 1))
    theta[0, 1], theta[3, 4] = -0.5, -0.55
    theta = np.triu(theta) + np.triu(theta, 1).T
    expected = run(kernel, theta).B.toarray()
    for seed in range(5):
        P = np.random.default_rng(seed).permutation(d)
        np.testing.assert_array_equal(run(kernel, theta[np.ix_(P, P)]).B.toarray(), expected[np.ix_(P, P)])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("unit", "noise"), [(1.0, 1e-200), (1.0, 1e200), (1e-160, 1e-160), (1e200, 1e100), (1e-200, 1.0)]
)
def test_a_common_factor_of_theta_or_the_variances_does_not_matter(kernel, unit, noise):
    B = datasets.random_dag(150, 1, random_state=0)
    result = run(kernel, datasets.sem_precision(B) * unit, np.full(150, noise))
    assert abs(result.B - B).max() < 1e-12
    np.testing.assert_allclose(result.noise_variances * unit, 1.0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_partial_correlations_of_rounding_size_are_none(kernel):
    theta = np.eye(5)
    theta[0, 1] = theta[1, 0] = 5e-10
    assert run(kernel, theta).B.nnz == 0
    theta[0, 1] = theta[1, 0] = 5e-9
    assert run(kernel, theta).B.nnz == 1


@pytest.mark.parametrize("kernel", KERNELS)
class TestFaults:
    def test_out_of_range(self, kernel):
        with pytest.raises(ValueError, match="out of range"):
            run(kernel, np.diag([1e-200, 1e200, 1.0]))
        with pytest.raises(ValueError, match=r"theta\[0, 0\] is inf"):
            run(kernel, np.diag([np.inf, 1.0]))
        with pytest.raises(ValueError, match="symmetric"):
            run(kernel, 1e200 * np.array([[1.0, 0.5], [0.1, 1.0]]))
        theta = sp.csr_array(np.diag([5e-324, 1.0, 1.0]) + np.eye(3, k=1))
        theta.data[theta.data == 1.0] = [0.0, 1.0, 0.0, 1.0]
        with pytest.raises(ValueError, match="out of range"):
            run(kernel, theta)

    def test_duplicates(self, kernel):
        theta = perturbed(20, 2)
        theta = np.block([[theta, theta[:, :1]], [theta[:1], theta[:1, :1]]])
        with pytest.raises(NumericalError, match=r"singular or indefinite.*variable \d+.*copies"):
            run(kernel, theta)

    def test_nearly_singular(self, kernel):
        theta = np.eye(4) + 1e-13
        theta[:2, :2] = 1.0
        theta[0, 0] += 1e-13
        with pytest.raises(NumericalError, match="singular"):
            run(kernel, theta)

    def test_indefinite(self, kernel):
        with pytest.raises(NumericalError, match="indefinite"):
            run(kernel, np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]))

    def test_values(self, kernel):
        for fault, value in {r"\[1, 2\] is nan": np.nan, r"symmetric": 0.7}.items():
            theta = np.eye(3)
            theta[1, 2] = value
            with pytest.raises(ValueError, match=f"(?i){fault}"):
                run(kernel, theta)
        with pytest.raises(ValueError, match=r"theta\[1, 1\] = -1"):
            run(kernel, np.diag([1.0, -1.0]))
        with pytest.raises(ValueError, match=r"noise_variances\[1\] = 0"):
            run(kernel, np.eye(2), np.array([1.0, 0.0]))
        with pytest.raises(ValueError, match="length 3"):
            run(kernel, np.eye(2), np.ones(3))


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="2 x 3"):
        eliminate(np.ones((2, 3)))
    with pytest.raises(ValueError, match="empty"):
        eliminate(np.ones((0, 0)))
    with pytest.raises(ValueError, match="dimension"):
        eliminate(np.ones(3))
    with pytest.raises(ValueError, match="drop = -1"):
        eliminate(np.eye(2), drop=-1.0)
    with pytest.raises(TypeError, match="drop"):
        eliminate(np.eye(2), drop="much")
    for order in ([0], [0, 0], [0, 2], [0, -1]):
        with pytest.raises(ValueError, match="order"):
            eliminate_along(np.eye(2), order)
    with pytest.raises(TypeError, match="order"):
        eliminate_along(np.eye(2), [0.5, 1.0])


def test_equal_variances_mean_the_smallest_diagonal_entry():
    problem = make_problem(30, 2, equal=False, skewed=False, seed=0)
    ones = np.ones(30)
    np.testing.assert_allclose(
        eliminate(problem.theta).B.toarray(), eliminate(problem.theta, 3.0 * ones).B.toarray(), atol=1e-12
    )


def test_nothing_is_printed_or_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(eliminate(random_theta(40))) == "Elimination(40 variables, 40 edges)"

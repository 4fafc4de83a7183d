from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import datasets
from icid_rs.graph.equivalence import causal_order


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(0, 5), st.sampled_from(["ER", "SF"]), st.integers(0, 2**32 - 1))
def test_random_dags_are_acyclic_with_the_edges_asked_for(d, degree, kind, seed):
    degree = min(degree, (d - 1) // 2)
    B = datasets.random_dag(d, degree, kind, random_state=seed)
    expected = degree * d if kind == "ER" else sum(min(i, degree) for i in range(d))
    assert B.nnz == expected
    order = causal_order(B)
    rank = np.argsort(order)
    rows, columns = B.nonzero()
    assert (rank[rows] < rank[columns]).all()
    assert ((np.abs(B.data) >= 0.5) & (np.abs(B.data) <= 2.0)).all()


def test_er_edges_are_uniform_over_pairs():
    counts = sum(datasets.random_dag(6, 1, random_state=s).toarray() != 0 for s in range(3000))
    off = counts[~np.eye(6, dtype=bool)]
    # Each ordered pair is an edge with probability 6 / 30.
    assert np.abs(off / 3000 - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 3000)


def test_sf_has_hubs_and_new_points_to_old():
    B = datasets.random_dag(2000, 2, "SF", random_state=0)
    received = np.bincount(B.indices, minlength=2000)
    assert received.max() > 10 * received.mean()
    assert np.diff(B.indptr).max() == 2


def test_seeds_repeat_and_generators_move_on():
    one, same = (datasets.random_dag(50, 2, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one.toarray(), same.toarray())
    rng = np.random.default_rng(7)
    assert (datasets.random_dag(50, 2, random_state=rng) != datasets.random_dag(50, 2, random_state=rng)).nnz > 0


@pytest.mark.parametrize("noise", ["gaussian", "exponential", "gumbel", "uniform", "laplace"])
def test_samples_have_the_covariance_of_the_model(noise):
    rng = np.random.default_rng(1)
    B = datasets.random_dag(5, 1, random_state=rng)
    variances = rng.uniform(0.5, 2.0, 5)
    X = datasets.sample_sem(B, 200_000, noise=noise, noise_variances=variances, random_state=rng)
    A = np.eye(5) - B.toarray()
    expected = np.linalg.inv(A).T @ np.diag(variances) @ np.linalg.inv(A)
    np.testing.assert_allclose(np.cov(X.T), expected, atol=0.05 * np.abs(expected).max())
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.05 * np.sqrt(expected.max()))
    residual = X @ A
    np.testing.assert_allclose(residual.var(axis=0), variances, rtol=0.05)
    np.testing.assert_allclose(np.linalg.inv(datasets.sem_precision(B, variances).toarray()), expected)


@pytest.mark.parametrize("exponent", [0.0, 0.4, 1.0])
def test_rescaled_models_describe_rescaled_variables(exponent):
    rng = np.random.default_rng(2)
    B = datasets.random_dag(8, 2, random_state=rng)
    omega = rng.uniform(0.5, 2.0, 8)
    covariance = np.linalg.inv(datasets.sem_precision(B, omega).toarray())
    scale = covariance.diagonal() ** (exponent / 2)
    rescaled, variances = datasets.rescale_sem(B, omega, exponent)
    expected = covariance / np.outer(scale, scale)
    inverse = np.linalg.inv(datasets.sem_precision(rescaled, variances).toarray())
    np.testing.assert_allclose(inverse, expected, atol=1e-9)
    assert ((rescaled != 0) != (B != 0)).nnz == 0


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="at most 3 edges, not 6"):
        datasets.random_dag(3, 2)
    with pytest.raises(ValueError, match="kind = 'BA'"):
        datasets.random_dag(3, 1, "BA")
    with pytest.raises(ValueError, match="d = 0"):
        datasets.random_dag(0, 1)
    with pytest.raises(ValueError, match="directed cycle"):
        datasets.sample_sem([[0, 1], [1, 0]], 10)
    with pytest.raises(ValueError, match="noise = 'cauchy'"):
        datasets.sample_sem([[0, 1], [0, 0]], 10, noise="cauchy")
    with pytest.raises(ValueError, match=r"noise_variances\[1\] = -1"):
        datasets.sample_sem([[0, 1], [0, 0]], 10, noise_variances=[1, -1])
    with pytest.raises(ValueError, match="length 3"):
        datasets.sem_precision([[0, 1], [0, 0]], [1, 1, 1])
    with pytest.raises(ValueError, match="square"):
        causal_order(np.ones((2, 3)))


def test_a_file_that_is_no_netsim(tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "other.mat", {"x": 1.0})
    with pytest.raises(ValueError, match="no NetSim file"):
        datasets.load_netsim(tmp_path / "other.mat")


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_models_with_stated_r2_have_unit_variances(d, seed):
    B, noise_variances = datasets.random_sem(d, min(2, (d - 1) // 2), r2=(0.2, 0.6), random_state=seed)
    inner = np.linalg.inv(np.eye(d) - B.toarray())
    np.testing.assert_allclose(np.diagonal(inner.T * noise_variances @ inner), 1.0)
    has_causes = np.diff(B.tocsc().indptr) > 0
    assert ((noise_variances >= 0.4 - 1e-12) & (noise_variances <= 0.8 + 1e-12))[has_causes].all()
    assert (noise_variances[~has_causes] == 1.0).all()


def test_hidden_causes_and_errors_add_their_variances():
    B, noise_variances = datasets.random_sem(10, 1, random_state=0)
    loadings = np.linspace(-1.0, 1.0, 10)
    shares = np.linspace(0.0, 0.5, 10)
    measured = {"hidden": loadings, "measurement_error": shares}
    X = datasets.sample_sem(B, 50_000, noise_variances=noise_variances, random_state=0, **measured)
    np.testing.assert_allclose(X.var(axis=0), (1.0 + loadings**2) / (1.0 - shares), rtol=0.05)
    clean = datasets.sample_sem(B, 50_000, noise_variances=noise_variances, random_state=0)
    np.testing.assert_allclose(clean.var(axis=0), 1.0, rtol=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hidden": np.ones(3)}, "a row for each of the 2"),
        ({"hidden": -1}, "hidden"),
        ({"measurement_error": 1.0}, "less than 1"),
        ({"measurement_error": [0.1, 0.2, 0.3]}, "length 3"),
    ],
)
def test_bad_measurement_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        datasets.sample_sem([[0, 1.0], [0, 0]], 10, **arguments)


@pytest.mark.parametrize("r2", [(0.5, 0.2), (0.0, 0.5), (0.5, 1.0)])
def test_r2_must_be_an_interval_of_shares(r2):
    with pytest.raises(ValueError, match="r2"):
        datasets.random_sem(5, 1, r2=r2)

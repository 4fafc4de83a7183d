"""A fit from moments is that of the table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from icid_rs import ICID, Moments, datasets, metrics, skewness_matrix
from icid_rs.precision.skewness import from_moments


@pytest.mark.parametrize("noise", ["gaussian", "exponential"])
@pytest.mark.parametrize("standardised", [False, True])
def test_fit_gives_the_same_as_for_the_table(noise, standardised):
    B = datasets.random_dag(15, 1, random_state=0)
    X = datasets.sample_sem(B, 1_500, noise=noise, random_state=0) + 100
    if standardised:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    table_fit = ICID().fit(X)
    fit = ICID().fit(Moments.from_chunks(np.array_split(X, 7)))
    if table_fit.info_["identified"] == "equivalence class":
        # Which of the graphs of a class is returned, rounding may decide.
        assert (fit.cpdag_ != table_fit.cpdag_).nnz == 0
    else:
        assert abs(fit.adjacency_matrix_ - table_fit.adjacency_matrix_).max() < 1e-9
        np.testing.assert_allclose(fit.noise_variances_, table_fit.noise_variances_, rtol=1e-9)
    np.testing.assert_allclose(fit.location_, table_fit.location_, atol=1e-9)
    assert fit.info_["noise"] == table_fit.info_["noise"]
    assert fit.info_["identified"] == table_fit.info_["identified"]
    assert fit.info_["sample"]["note"] is None
    assert fit.score(X) == pytest.approx(table_fit.score(X))


def test_fit_with_skewness():
    X = datasets.sample_sem(datasets.random_dag(8, 1, random_state=0), 2_000, noise="exponential", random_state=0)
    expected = ICID(skewness=5.0, refine=None).fit(X).adjacency_matrix_
    for moments in (Moments(third=True, reservoir=0).update(X), Moments().update(X)):
        assert abs(ICID(skewness=5.0, refine=None).fit(moments).adjacency_matrix_ - expected).max() < 1e-6
    with pytest.raises(ValueError, match="third=True"):
        ICID(skewness=5.0).fit(Moments(reservoir=0).update(X))
    moments = Moments(third=True).update(X)
    np.testing.assert_allclose(from_moments(moments.covariance, moments.third), skewness_matrix(X), atol=1e-10)


def test_a_sample_of_rows_shows_the_shape():
    B = datasets.random_dag(20, 1, random_state=3)
    X = datasets.sample_sem(B, 40_000, noise="exponential", noise_variances=[0.5, 2.0] * 10, random_state=3)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = ICID().fit(Moments(reservoir=2_000).update(X))
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] == 0
    assert model.info_["sample"]["kept"] == 2_000
    assert "sample of 2000 rows" in model.info_["sample"]["note"]
    assert model.info_["identified"] == "graph"


def test_a_sample_of_gaussian_rows_shows_no_shape():
    B = datasets.random_dag(20, 1, random_state=4)
    X = datasets.sample_sem(B, 50_000, noise_variances=[0.5, 2.0] * 10, random_state=4)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = ICID().fit(Moments(reservoir=500).update(X))
    assert model.info_["identified"] == "equivalence class"


def test_a_covariance_alone_is_taken_to_be_gaussian():
    B = datasets.random_dag(15, 1, random_state=0)
    X = datasets.sample_sem(B, 2_000, noise="exponential", noise_variances=[0.5, 2.0, 1.0] * 5, random_state=0)
    names = [f"x{k}" for k in range(15)]
    moments = Moments.from_covariance(np.cov(X.T, bias=True), 2_000, X.mean(axis=0), names)
    model = ICID(noise="unequal").fit(moments)
    assert model.info_["choices"]["residuals"]["gaussian"]
    assert "Gaussian" in model.info_["sample"]["note"]
    assert list(model.feature_names_in_) == names
    assert ICID().fit(Moments.from_covariance(np.cov(X.T, bias=True), 2_000)).n_features_in_ == 15


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        ([[1.0, 2.0]], "square"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"covariance\[0, 1\] is nan"),
        ([[1.0, 0.5], [0.2, 1.0]], "symmetric"),
    ],
)
def test_bad_covariances(covariance, message):
    with pytest.raises(ValueError, match=message):
        Moments.from_covariance(covariance, 10)


def test_what_needs_rows_says_so():
    X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=0), 500, random_state=0)
    with pytest.raises(ValueError, match="needs all rows"):
        ICID(precision=LedoitWolf()).fit(Moments(reservoir=10).update(X))
    with pytest.raises(ValueError, match="groups needs the rows"):
        ICID().fit(Moments().update(X), groups=np.zeros(500))
    with pytest.raises(ValueError, match="no rows"):
        ICID().fit(Moments())
    with pytest.raises(ValueError, match="1 row"):
        ICID().fit(Moments().update(X[:1]))

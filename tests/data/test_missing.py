"""Missing values: refused, dropped with their rows, or left out pair by pair."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import LedoitWolf

from icid_rs import ICID, datasets, metrics, skewness_matrix
from icid_rs.data.missing import pairwise_covariance
from icid_rs.precision.skewness import pairwise_skewness


def simulate(d: int = 8, n: int = 2000, share: float = 0.02, seed: int = 0, **noise):
    """A model, data from it, and the same with holes."""
    rng = np.random.default_rng(seed)
    B = 0.6 * datasets.random_dag(d, 1, random_state=rng)
    X = datasets.sample_sem(B, n, random_state=rng, **noise)
    return B, X, np.where(rng.uniform(size=X.shape) < share, np.nan, X)


def same(one: ICID, other: ICID) -> None:
    np.testing.assert_array_equal(one.adjacency_matrix_.toarray(), other.adjacency_matrix_.toarray())
    np.testing.assert_array_equal(one.covariance_, other.covariance_)
    np.testing.assert_array_equal(one.noise_variances_, other.noise_variances_)


def test_refused_by_default():
    _, _, X = simulate()
    with pytest.raises(ValueError, match=r"NaN.*missing='drop'"):
        ICID().fit(X)


def test_policies_are_checked():
    with pytest.raises(ValueError, match="missing = 'ignore'"):
        ICID(missing="ignore").fit(simulate()[1])


@pytest.mark.parametrize("policy", ["drop", "pairwise"])
def test_infinite_is_not_missing(policy):
    _, X, _ = simulate()
    X[5, 2] = np.inf
    with pytest.raises(ValueError, match="inf: row 5, column 2"):
        ICID(missing=policy).fit(X)


@pytest.mark.parametrize("policy", ["drop", "pairwise"])
@pytest.mark.parametrize("noise", ["gaussian", "exponential"])
def test_where_nothing_is_missing_nothing_changes(policy, noise):
    _, X, _ = simulate(noise=noise)
    model = ICID(missing=policy).fit(X)
    same(model, ICID().fit(X))
    assert model.info_["missing"] == {"policy": policy, "rows": 2000, "incomplete": 0, "entries": 0, "columns": {}}


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.001, 0.05))
def test_dropping_is_dropping_by_hand(seed, share):
    _, _, X = simulate(n=300, share=share, seed=seed)
    complete = ~np.isnan(X).any(axis=1)
    options = {"noise": "equal", "hidden": None, "measurement_error": None}
    model = ICID(missing="drop", **options).fit(X)
    same(model, ICID(**options).fit(X[complete]))
    said = model.info_["missing"]
    assert said["incomplete"] == len(X) - complete.sum()
    assert sum(said["columns"].values()) == said["entries"] == np.isnan(X).sum()
    assert model.score(X) == model.score(X[complete])


def test_groups_lose_their_rows_too():
    _, _, X = simulate()
    groups = np.arange(len(X)) % 7
    X += groups[:, None]
    complete = ~np.isnan(X).any(axis=1)
    model = ICID(missing="drop").fit(X, groups=groups)
    same(model, ICID().fit(X[complete], groups=groups[complete]))
    assert model.info_["groups"] == 7
    with pytest.raises(ValueError, match="groups must have one entry"):
        ICID(missing="drop").fit(X, groups=groups[1:])


def test_too_few_complete_rows_name_the_costly_columns():
    _, X, _ = simulate(n=100)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame.loc[:80, "c"] = np.nan
    frame.loc[70:95, "f"] = np.nan
    frame.loc[0, "a"] = np.nan
    with pytest.raises(ValueError, match=r"4 have no missing values.*'c' \(81\), 'f' \(26\), 'a' \(1\).*pairwise"):
        ICID(missing="drop").fit(frame)
    with pytest.raises(ValueError, match=r"0 have no missing values.*1 are needed"):
        ICID(missing="drop").fit(frame.drop(columns="c")).score(frame.drop(columns="c").loc[75:80])


def test_pairwise_matches_pandas():
    _, _, X = simulate(share=0.1)
    found = pairwise_covariance(X, range(8))
    assert found.shrinkage == 0
    scale = np.sqrt(found.covariance.diagonal())
    np.testing.assert_allclose(found.covariance / np.outer(scale, scale), pd.DataFrame(X).corr().to_numpy(), atol=1e-12)
    np.testing.assert_allclose(scale, np.nanstd(X, axis=0))
    np.testing.assert_allclose(found.location, np.nanmean(X, axis=0))
    there = ~np.isnan(X)
    assert found.samples == (there.T.astype(int) @ there).min()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.0, 0.6), n=st.integers(40, 80))
def test_the_repair_is_positive_definite_and_no_larger_than_needed(seed, share, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 12)) + 0.05 * rng.normal(size=(n, 12))
    X[rng.uniform(size=X.shape) < share] = np.nan
    there = (~np.isnan(X)).astype(int)
    if (there.T @ there).min() < 15:
        return
    found = pairwise_covariance(X, range(12))
    scale = np.sqrt(found.covariance.diagonal())
    smallest = np.linalg.eigvalsh(found.covariance / np.outer(scale, scale))[0]
    before = np.linalg.eigvalsh(pd.DataFrame(X).corr().to_numpy())[0]
    floor = 1 / found.samples
    assert smallest == pytest.approx(max(floor, before), abs=1e-9)
    assert (found.shrinkage > 0) == (before < floor - 1e-12)


@pytest.mark.parametrize("equal", [True, False])
def test_pairwise_finds_the_graph(equal):
    """With one value in fifty missing, where complete rows are few."""
    B, _, X = simulate(d=30, n=1500, noise_variances=1.0 if equal else np.tile([0.5, 1.5, 1.0], 10))
    model = ICID(missing="pairwise").fit(X)
    skeleton = metrics.count_accuracy(abs(B) + abs(B.T), abs(model.adjacency_matrix_) + abs(model.adjacency_matrix_.T))
    assert skeleton["shd"] <= 4
    said = model.info_["missing"]
    assert said["policy"] == "pairwise"
    assert 0.9 * 1500 < said["samples"] < 1500
    assert 0 <= said["shrinkage"] < 0.05


def test_residuals_are_gaussian_without_rows():
    _, X, holes = simulate(d=20, n=1000, noise="exponential", noise_variances=np.tile([0.3, 3.0], 10))
    assert ICID().fit(X / X.std(axis=0)).info_["identified"] == "graph"
    model = ICID(missing="pairwise", stability=None).fit(holes / X.std(axis=0))
    assert model.info_["identified"] == "equivalence class"
    assert model.info_["missing"]["residuals"] == "taken to be Gaussian"


def test_skewness_is_pairwise_too():
    _, X, holes = simulate(noise="exponential")
    np.testing.assert_allclose(pairwise_skewness(X), skewness_matrix(X), atol=1e-12)
    np.testing.assert_allclose(pairwise_skewness(holes), skewness_matrix(X), atol=0.5)
    model = ICID(missing="pairwise", skewness=5.0, refine=None).fit(holes)
    assert model.adjacency_matrix_.nnz > 0


def test_what_needs_rows_is_refused():
    _, _, X = simulate()
    with pytest.raises(ValueError, match="needs complete rows"):
        ICID(missing="pairwise", precision=LedoitWolf()).fit(X)


def test_groups_have_means_of_what_they_have():
    _, X, holes = simulate(share=0.05)
    groups = np.arange(len(X)) % 5
    shifted = holes + 100.0 * groups[:, None]
    model = ICID(missing="pairwise").fit(shifted, groups=groups)
    plain = ICID(missing="pairwise").fit(holes)
    np.testing.assert_allclose(model.covariance_, plain.covariance_, atol=0.05)
    assert model.info_["missing"]["samples"] == plain.info_["missing"]["samples"]


def test_faults_are_named():
    _, X, _ = simulate(n=200)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    apart, copied, still, scarce = (frame.copy() for _ in range(4))
    apart.loc[:101, "b"] = np.nan
    apart.loc[101:, "e"] = np.nan
    copied.loc[3, "a"] = np.nan
    copied["h"] = -2.0 * copied["a"]
    still.loc[45:, "c"] = np.nan
    still.loc[:50, "g"] = 1.0
    scarce.loc[9:, "f"] = np.nan
    for case, words in {
        r"column 'f' has values in 9 row\(s\), n_samples = 9, but with 8 columns 11 are needed; drop it": scarce,
        "columns 'b' and 'e' have values in common in 0 row": apart,
        "'a' and 'h' are the same up to scale": copied,
        "column 'g' does not vary in the rows where 'c' has values": still,
    }.items():
        with pytest.raises(ValueError, match=case):
            ICID(missing="pairwise").fit(words)


def test_columns_without_values_are_left_out():
    _, X, _ = simulate(n=200)
    X[:, 3] = np.nan
    with pytest.warns(UserWarning, match=r"left out: 3 \(no values\)$"):
        model = ICID(missing="pairwise").fit(X)
    assert model.variables_ == [0, 1, 2, 4, 5, 6, 7]

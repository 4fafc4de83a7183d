"""Covariates and batches, whose effects are taken out of all variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from icid_rs import ICID, Moments, datasets, penalty_path
from icid_rs.data.faults import TableError

BATCHES = np.array(["north", "south", "west"])


def table(seed: int, n: int = 600, d: int = 6) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return variables of a graph, moved by age and by batch, beside these; and the design matrix of the two."""
    rng = np.random.default_rng(seed)
    X = datasets.sample_sem(datasets.random_dag(d, 1, random_state=rng), n, random_state=rng)
    age, batch = rng.normal(40.0, 2.0, n), rng.integers(0, 3, n)
    design = np.column_stack([age, batch == 1, batch == 2]).astype(np.float64)
    X += design @ rng.normal(size=(3, d))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    frame.insert(2, "age", age)
    frame["batch"] = BATCHES[batch]
    return frame, design


def residuals(X: Any, design: NDArray[Any]) -> NDArray[Any]:
    """Regress columns on the design and an intercept, by NumPy."""
    full = np.column_stack([np.ones(len(design)), design])
    return np.asarray(X - full @ np.linalg.lstsq(full, X, rcond=None)[0])


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_a_fit_is_that_of_residuals_with_the_degrees_of_freedom_counted(seed):
    frame, design = table(seed)
    names = [f"x{j}" for j in range(6)]
    options: dict[str, Any] = {"noise": "unequal", "hidden": None, "measurement_error": None}
    model = ICID(adjust=["age", "batch"], orient=("class",), **options).fit(frame)
    left = residuals(frame[names].to_numpy(), design)
    known = Moments.from_covariance(left.T @ left / len(left), len(left) - 3, names=names)
    twin = ICID(stability=None, **options).fit(known)
    assert model.names_ == names
    assert model.dropped_ == {"age": "adjusted for", "batch": "adjusted for"}
    assert np.allclose(model.covariance_, twin.covariance_, rtol=0, atol=1e-8 * twin.covariance_.max())
    assert model.fit_report_.rows == len(left) - 3
    again = ICID(adjust=["age", "batch"], stability=None, **options).fit(frame)
    by_rows = ICID(stability=None, **options).fit(left)
    assert again.info_["adjusted"] == {"columns": ["age", "batch"], "degrees of freedom": 3}
    for other in (twin, by_rows):
        if (other.adjacency_matrix_ != 0).nnz == (again.adjacency_matrix_ != 0).nnz:
            assert np.allclose(other.noise_variances_, again.noise_variances_, rtol=1e-8)


def test_a_fit_is_exactly_that_of_residuals_where_shapes_count():
    rng = np.random.default_rng(1)
    X = datasets.sample_sem(datasets.random_dag(6, 1, random_state=rng), 1000, noise="exponential", random_state=rng)
    age = rng.normal(size=1000)
    both = np.column_stack([age, X + np.outer(age, rng.normal(size=6))])
    model = ICID(adjust=[0], noise="unequal").fit(both)
    twin = ICID(noise="unequal").fit(residuals(both[:, 1:], age[:, None]))
    assert model.variables_ == [1, 2, 3, 4, 5, 6]
    assert abs(model.adjacency_matrix_ - twin.adjacency_matrix_).max() < 1e-8
    assert model.info_["choices"]["residuals"]["shape"] > 0


def test_moments_rows_and_dask_agree():
    da = pytest.importorskip("dask.array")
    frame, design = table(3)
    X = np.column_stack([frame.drop(columns=["batch", "age"]).to_numpy(), design])
    options: dict[str, Any] = {"adjust": [6, 7, 8], "noise": "unequal", "stability": None, "orient": ("class",)}
    models = [ICID(**options).fit(data) for data in (X, Moments().update(X), da.from_array(X, chunks=(200, 4)))]
    covariance = Moments.from_covariance(np.cov(X.T, bias=True), len(X), mean=X.mean(axis=0))
    models.append(ICID(**options).fit(covariance))
    for model in models[1:]:
        assert abs(model.adjacency_matrix_ - models[0].adjacency_matrix_).max() < 1e-8
        assert model.fit_report_.rows == len(X) - 3
        assert model.dropped_ == dict.fromkeys([6, 7, 8], "adjusted for")
        assert np.allclose(model.location_, models[0].location_)


def test_a_given_theta_is_conditioned():
    frame, design = table(4)
    X = np.column_stack([frame.drop(columns=["batch", "age"]).to_numpy(), design])
    theta = np.linalg.inv(np.cov(X.T, bias=True))
    model = ICID(precision="precomputed", adjust=[6, 7, 8], refine=None).fit(theta)
    left = residuals(X[:, :6], design)
    assert np.allclose(model.precision_.toarray(), np.linalg.inv(np.cov(left.T, bias=True)))


def test_the_order_and_the_names_of_columns_do_not_matter():
    frame, _ = table(5)
    model = ICID(adjust=["batch", "age"]).fit(frame)
    by_place = ICID(adjust=[2, 7]).fit(frame)
    assert (model.adjacency_matrix_ != by_place.adjacency_matrix_).nnz == 0
    last = frame[[*frame.columns.drop("age"), "age"]]
    assert abs(ICID(adjust=["age", "batch"]).fit(last).adjacency_matrix_ - model.adjacency_matrix_).max() < 1e-9


def test_numbers_that_are_called_categories_are_taken_out_level_by_level():
    frame, _ = table(6)
    coded = frame.assign(batch=frame["batch"].map({"north": 5, "south": 2, "west": 9}))
    by_name = ICID(adjust=["age", "batch"], stability=None).fit(frame)
    by_code = ICID(adjust=["age", "batch"], categorical=["batch"], stability=None).fit(coded)
    assert abs(by_name.adjacency_matrix_ - by_code.adjacency_matrix_).max() < 1e-8
    plain = ICID(adjust=["age", "batch"], stability=None, hidden=None, measurement_error=None)
    assert plain.fit(coded).info_["adjusted"]["degrees of freedom"] == 2


def test_a_batch_is_the_groups_of_the_table():
    frame, _ = table(7)
    rest = frame.drop(columns=["batch", "age"])
    by_groups = ICID(stability=None, noise="unequal").fit(rest, groups=frame["batch"])
    by_column = ICID(stability=None, noise="unequal", adjust=["batch"]).fit(frame.drop(columns="age"))
    assert np.allclose(by_groups.covariance_, by_column.covariance_)
    assert by_groups.fit_report_.rows == by_column.fit_report_.rows
    # Together, the batch costs nothing once more.
    both = ICID(stability=None, noise="unequal", adjust=["batch", "age"]).fit(frame, groups=frame["batch"])
    alone = ICID(stability=None, noise="unequal", adjust=["batch", "age"]).fit(frame)
    assert np.allclose(both.covariance_, alone.covariance_)
    assert both.fit_report_.rows == alone.fit_report_.rows


def test_columns_that_are_otherwise_left_out_can_be_adjusted_for():
    frame, _ = table(8)
    frame = frame.drop(columns=["batch"]).assign(
        row=np.arange(len(frame)), site=[f"s{k % 40}" for k in range(len(frame))]
    )
    model = ICID(columns=["x0", "x1", "x3"], adjust=["row", "site", "age"]).fit(frame)
    assert model.names_ == ["x0", "x1", "x3"]
    assert model.info_["adjusted"]["degrees of freedom"] == 1 + 39 + 1


def test_missing_values_leave_the_same_choice():
    frame, _ = table(9, n=2000)
    complete = ICID(adjust=["age", "batch"], noise="unequal", stability=None, orient=("class",)).fit(frame)
    rng = np.random.default_rng(0)
    holes = frame.mask(rng.random(frame.shape) < 0.02)
    for policy in ("drop", "em", "pairwise"):
        model = ICID(adjust=["age", "batch"], noise="unequal", stability=None, missing=policy).fit(holes)
        assert model.dropped_ == complete.dropped_
        assert np.allclose(model.covariance_, complete.covariance_, rtol=0.2, atol=0.2 * complete.covariance_.max())


def test_other_tables_are_adjusted_by_the_effects_of_the_fit():
    frame, design = table(10)
    model = ICID(adjust=["age", "batch"]).fit(frame)
    names = model.names_
    left = residuals(frame[names].to_numpy(), design)
    location, covariance = left.mean(axis=0), left.T @ left / len(left)
    # The likelihood of the table is that of its residuals around their means.
    twin = ICID(noise="unequal", stability=None).fit(pd.DataFrame(left, columns=names))
    if abs((twin.adjacency_matrix_ != 0).astype(int) - (model.adjacency_matrix_ != 0).astype(int)).nnz == 0:
        assert model.score(frame) == pytest.approx(twin.score(pd.DataFrame(left, columns=names)), rel=1e-6)
    assert np.allclose(location, 0, atol=1e-9)
    assert np.allclose(model.covariance_, covariance)
    # Predictions follow covariates, with and without names; interventions are in units of the table.
    predicted = model.predict(frame)
    errors = predicted - frame[names].to_numpy()
    assert (errors.std(axis=0) <= frame[names].to_numpy().std(axis=0)).all()
    assert np.allclose(model.predict(frame, "x3"), predicted[:, names.index("x3")])
    assert np.allclose(model.predict(frame.drop(columns="x5"), "x5"), model.predict(frame, "x5"))
    assert np.allclose(model.predict(frame, "x1", do={"x1": 7.0}), 7.0)
    with pytest.raises(ValueError, match="no 'age'"):
        model.predict(frame.drop(columns="age"), "x1")
    assert model.check(frame)
    assert model.bootstrap(frame, n=3).edge_probabilities.shape == (6, 6)
    assert "'age', 'batch'" in str(model.report(frame))


def test_few_levels_have_no_shape_after_an_adjustment_either():
    rng = np.random.default_rng(0)
    n = 2000
    age, cause = rng.normal(size=(2, n))
    X = np.column_stack([age, cause, (cause + 0.5 * rng.normal(size=n) > 0).astype(float)])
    model = ICID(adjust=[0]).fit(X)
    assert model.edges()["direction"].tolist() == ["open"]


def test_paths_of_penalties_are_adjusted():
    frame, _ = table(11)
    assert penalty_path(frame, [1, 4], model=ICID(adjust=["age", "batch"])).names == [f"x{j}" for j in range(6)]


@pytest.mark.parametrize(
    ("change", "adjust", "message"),
    [
        ({}, ["agee"], "adjust: there is no column 'agee'; the columns are 'x0'"),
        ({}, [12], "adjust: there is no column 12"),
        ({}, "age", "adjust must be a list of columns"),
        ({}, [f"x{j}" for j in range(6)] + ["age", "batch"], "no column is left to fit: 'x0' \\(adjusted for\\)"),
        ({"years": lambda X: X["age"] * 2}, ["age", "years"], "adjust: column 'years' is the same as 'age'"),
        ({"sum": lambda X: X["age"] + X["x0"]}, ["age", "x0", "sum"], "'sum' is a linear combination of 'x0', 'age'"),
        ({"x1": lambda X: 3 - X["age"]}, ["age"], "column 'x1' is determined by what is adjusted for: 'age'"),
    ],
)
def test_what_cannot_be_adjusted_for_is_named(change, adjust, message):
    frame, _ = table(12)
    with pytest.raises((ValueError, TypeError), match=message):
        ICID(adjust=adjust).fit(frame.assign(**change))


def test_adjustment_that_leaves_too_few_samples_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="8 columns of numbers, which leave 2 of 10 samples"):
        ICID(adjust=list(range(8)), precision="lasso").fit(rng.normal(size=(10, 10)))


def test_collinear_columns_can_be_dropped_with_covariates():
    frame, _ = table(13)
    frame = frame.assign(years=2 * frame["age"], copy=frame["age"] - 1, sum=frame["x0"] + frame["x1"] + frame["age"])
    with pytest.raises(TableError):
        ICID(adjust=["age", "years", "batch"]).fit(frame)
    with pytest.warns(UserWarning, match="left out: 'copy' \\(determined by what is adjusted for"):
        model = ICID(adjust=["age", "years", "batch"], collinear="drop").fit(frame)
    assert model.names_ == [f"x{j}" for j in range(6)]
    assert model.info_["adjusted"]["degrees of freedom"] == 3

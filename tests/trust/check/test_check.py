"""All checks of a table, and indices of fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, AssumptionWarning, datasets
from icid_rs.graph.equivalence import causal_order
from icid_rs.trust.check.curves import curvature
from icid_rs.trust.check.edges import dependence, influence, unequal_spread
from icid_rs.trust.check.fit_indices import fit_indices
from icid_rs.trust.check.table import FittedTable


@pytest.fixture(scope="module")
def fitted():
    B = datasets.random_dag(8, 1, random_state=2)
    X = datasets.sample_sem(B, 1500, random_state=2)
    return ICID().fit(X), X


def test_a_clean_table_passes(fitted):
    model, X = fitted
    check = model.check(X)
    assert check.verdict == "pass"
    assert len(check) == len(check.table())
    assert all(a.remedy == "" and a.where == () for a in check)
    assert check.fit.rmsea < 0.05
    assert check.fit.cfi > 0.99
    assert "RMSEA" in str(check)
    assert str(check).splitlines()[0] in check._repr_html_()
    with pytest.raises(KeyError, match="rows are independent"):
        check["nonsense"]


def test_every_departure_has_a_place_and_a_remedy(fitted):
    model, X = fitted
    X = X.copy()
    X[:, 0] = np.round(X[:, 0] * 0.7)
    X[0] = 1e4
    X[5:20, 3] = -999
    X[:, 5] += np.linspace(0, 10, len(X))
    check = model.check(X)
    assert check.verdict == "fail"
    for assumption in check:
        assert (assumption.verdict == "pass") == (assumption.remedy == "")
        assert assumption.finding
    assert check["columns do not drift"].where[0].startswith("5 ")


def test_missing_values_and_groups(fitted):
    model, X = fitted
    groups = np.repeat([0, 1, 2], 500)
    shifted = X + 5.0 * groups[:, None]
    assert model.check(shifted)["rows are independent"].verdict == "fail"
    assert model.check(shifted, groups)["rows are independent"].verdict == "pass"
    with_holes = X.copy()
    with_holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.check(with_holes)
    allowed = ICID(missing="drop").fit(with_holes)
    assert allowed.check(with_holes, groups).verdict == "pass"


def test_single_values_of_incomplete_rows_are_looked_at(fitted):
    """A gross value in a row that lacks another value is seen, and rows are numbered as in the table."""
    _, X = fitted
    X = X.copy()
    X[700, 1], X[700, 4], X[3, 2] = np.nan, 1e5, np.nan
    with pytest.warns(AssumptionWarning, match="row 700"):
        model = ICID(missing="em").fit(X)
    assert model.check(X)["no single row stands apart"].where[0].startswith("row 700 (4: ")
    X[700, 1] = 0.0
    with pytest.warns(AssumptionWarning, match="row 700"):
        model = ICID(missing="drop").fit(X)
    assert model.check(X)["no single row stands apart"].where[0].startswith("row 700 (4: ")


def test_hidden_causes_of_the_model_are_taken_out():
    """What the model explains by a hidden cause is not held against the graph, on the page or by a check."""
    B, variances = datasets.random_sem(20, 1, random_state=3)
    X = datasets.sample_sem(B, 3000, noise_variances=variances, hidden=1, random_state=3)
    model = ICID(hidden=1, measurement_error=None).fit(X)
    check = model.check(X)
    assert check["nothing common is left out"].verdict == "pass"
    assert check.fit.rmsea < 0.05
    assert check["no cause of many columns is hidden"].verdict == "fail"
    found = model.falsify(X)
    assert found.violations / found.tests < 0.15


def test_fit_indices_agree_with_the_formulas(fitted):
    _, X = fitted
    n, d = X.shape
    B = datasets.random_dag(d, 1, random_state=3)
    S = np.cov(X, rowvar=False, bias=True)
    weights, omega = np.zeros((d, d)), np.zeros(d)
    for j in range(d):
        P = np.flatnonzero(B.toarray()[:, j])
        weights[P, j] = np.linalg.lstsq(X[:, P] - X[:, P].mean(0), X[:, j] - X[:, j].mean(), rcond=None)[0]
        omega[j] = np.var(X[:, j] - X[:, P] @ weights[P, j])
    inverse = np.linalg.inv(np.eye(d) - weights)
    implied = inverse.T @ np.diag(omega) @ inverse
    discrepancy = np.linalg.slogdet(implied)[1] - np.linalg.slogdet(S)[1] + np.trace(np.linalg.solve(implied, S)) - d
    indices = fit_indices(S, B, causal_order(B), n)
    assert indices.chi2 == pytest.approx(n * discrepancy)
    assert indices.df == d * (d - 1) // 2 - B.nnz
    s = np.sqrt(S.diagonal())
    difference = (S / np.outer(s, s) - implied / np.outer(s, s))[np.tril_indices(d)]
    assert indices.srmr == pytest.approx(np.sqrt(np.mean(difference**2)))
    assert indices.rmsea == pytest.approx(np.sqrt((indices.chi2 / indices.df - 1) / (n - 1)))


def test_equivalent_graphs_fit_alike(fitted):
    _, X = fitted
    S = np.cov(X[:, :3], rowvar=False, bias=True)
    forwards = fit_indices(S, sp.csr_array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), np.arange(3), len(X))
    backwards = fit_indices(S, sp.csr_array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.arange(3)[::-1], len(X))
    assert forwards.chi2 == pytest.approx(backwards.chi2)
    assert forwards.srmr == pytest.approx(backwards.srmr)
    assert fit_indices(np.ones((2, 2)), sp.csr_array((2, 2)), np.arange(2), 100) is None


def chain(rng, spread=False):
    x = rng.standard_normal(2000)
    e = rng.standard_normal(2000) * (np.abs(x) if spread else 1.0)
    B = sp.csr_array([[0, 0.8], [0, 0]])
    return FittedTable(np.column_stack([x, 0.8 * x + e]), ["x", "y"], B, np.arange(2))


def test_unequal_spread_and_dependence():
    rng = np.random.default_rng(0)
    even, uneven = chain(rng), chain(rng, spread=True)
    assert unequal_spread(even).assumption.verdict == "pass"
    assert unequal_spread(uneven).pairs == ((0, 1),)
    assert dependence(even).size[1] < 0.02
    assert dependence(uneven).size[1] > 0.1
    assert np.isnan(dependence(even).size[0])


def test_dependence_has_the_p_value_of_independent_columns():
    """Lopsided columns are where the fifteen squares vary most; p-values must still be those of chance."""
    B = sp.csr_array([[0, 0.8], [0, 0]])
    found = []
    for seed in range(300):
        X = datasets.sample_sem(B, 1000, noise="exponential", random_state=seed)
        found.append(dependence(FittedTable(X, ["x", "y"], B, np.arange(2))).p_value)
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.1


def backwards(cause, effect):
    """A table whose graph has the relation of two columns the wrong way round."""
    weight = np.cov(cause, effect)[0, 1] / effect.var()
    X = np.column_stack([cause, effect])
    return FittedTable(X, ["cause", "effect"], sp.csr_array([[0, 0], [weight, 0]]), np.array([1, 0]))


@pytest.mark.parametrize("seed", range(5))
def test_a_curve_is_seen_from_both_ends(seed):
    rng = np.random.default_rng(seed)
    x, e = rng.standard_normal((2, 1000))
    assert curvature(backwards(x, np.exp(x) + 0.5 * e)).pairs == ((1, 0),)
    assert curvature(backwards(x, x + 0.5 * x**2 + e)).pairs == ((1, 0),)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", ["exponential", "gumbel", "uniform", "laplace"])
def test_a_line_with_lopsided_noise_is_no_curve(noise, seed):
    B = sp.csr_array([[0, 0.8], [0, 0]])
    for n in (200, 1000, 4000):
        X = datasets.sample_sem(B, n, noise=noise, random_state=seed)
        assert curvature(FittedTable(X, ["x", "y"], B, np.arange(2))).pairs == ()


def test_a_gross_row_neither_makes_nor_hides_a_curve():
    rng = np.random.default_rng(0)
    x, e = rng.standard_normal((2, 1000))
    line, curve = np.column_stack([x, x + e]), np.column_stack([x, x**2 + e])
    for X in (line, curve):
        X[3] = [40.0, 40.0]
    assert curvature(FittedTable(line, ["x", "y"], sp.csr_array([[0, 1.0], [0, 0]]), np.arange(2))).pairs == ()
    assert curvature(FittedTable(curve, ["x", "y"], sp.csr_array((2, 2)), np.arange(2))).pairs == ((0, 1),)


def test_influence_is_the_change_without_the_row():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    X[:, 2] += X[:, 0] - X[:, 1]
    X[7] = [8.0, -3.0, 20.0]
    B = sp.csr_array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 0]])
    share, row = influence(FittedTable(X, range(3), B, np.arange(3)))

    def weights(rows):
        C = np.column_stack([np.ones(len(rows)), rows[:, :2]])
        return np.linalg.lstsq(C, rows[:, 2], rcond=None)[0][1:]

    whole = weights(X)
    without = np.array([weights(np.delete(X, k, axis=0)) for k in range(len(X))])
    change = 1 - without / whole
    np.testing.assert_allclose(share, change.max(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(row, change.argmax(axis=0))


def test_hidden_causes_that_the_model_found_are_listed(fitted):
    model, X = fitted
    model.hidden_loadings_ = X.std(axis=0)[:, None] * np.where(np.arange(8) < 4, 0.8, 0.0)[:, None]
    try:
        found = model.check(X)["no cause of many columns is hidden"]
    finally:
        del model.hidden_loadings_
    assert found.verdict == "fail"
    assert len(found.where) == 4

"""Hidden causes of very wide tables, which are taken out of the rows before a graph is looked for."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, datasets, metrics
from icid_rs.precision import estimate as estimation
from icid_rs.precision import neighbourhood as neighbours
from icid_rs.precision.leading import take_out
from icid_rs.precision.standardise import standardise

PENALTY = 40.0


def standardised(X: np.ndarray) -> np.ndarray:
    return standardise(X, X.mean(axis=0), X.std(axis=0))


def drawn(hidden: int, d: int = 1200, n: int = 300, degree: int = 1, seed: int = 0):
    """A graph, a table of standardised columns and hidden causes, and these."""
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    h = rng.standard_normal((n, hidden))
    return B, X + h @ (0.7 * rng.standard_normal((hidden, d))), h


@pytest.mark.parametrize("hidden", [0, 1, 2, 6])
def test_as_many_are_taken_out_as_there_are(hidden):
    _, X, h = drawn(hidden)
    values = standardised(X)
    causes = take_out(values, len(X), "auto", PENALTY, range(X.shape[1]))
    assert causes.loadings.shape == (1200, hidden)
    np.testing.assert_allclose(np.sum(values**2, axis=1), 1.0)
    if hidden:
        assert causes.gain > 0
        # Nothing of the causes is left that chance would not add.
        left = values @ (h / np.linalg.norm(h, axis=0))
        assert np.mean(left**2) < 2.0 / len(X)


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_components_of_dense_graphs_are_no_hidden_causes(degree):
    _, X, _ = drawn(0, degree=degree)
    values = standardised(X)
    before = values.copy()
    assert take_out(values, len(X), "auto", PENALTY, range(X.shape[1])).loadings.shape[1] == 0
    np.testing.assert_array_equal(values, before)


def test_what_is_taken_out_and_what_is_left_add_up():
    _, X, _ = drawn(2)
    before, values = standardised(X), standardised(X)
    causes = take_out(values, len(X), 2, PENALTY, range(X.shape[1]))
    explained = before - np.sqrt(causes.left)[:, None] * values
    np.testing.assert_allclose(np.sum(explained**2, axis=1), np.sum(causes.loadings**2, axis=1), rtol=1e-6)
    np.testing.assert_allclose(causes.left + np.sum(causes.loadings**2, axis=1), 1.0)


def test_a_column_that_is_the_cause_stays():
    _, X, h = drawn(1)
    X[:, 3] = h[:, 0]
    assert take_out(standardised(X), len(X), "auto", PENALTY, range(1200)).loadings.shape[1] == 0
    with pytest.raises(ValueError, match="of the variance of column 3"):
        take_out(standardised(X), len(X), 1, PENALTY, range(1200))


def test_more_than_rows_can_carry_are_refused():
    with pytest.raises(ValueError, match="300 samples can carry at most 295 hidden causes"):
        take_out(standardised(drawn(0)[1]), 300, 296, PENALTY, range(1200))


@pytest.fixture
def wide(monkeypatch):
    for module in (neighbours, estimation):
        monkeypatch.setattr(module, "WIDE", 1000)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_without_any_matrix_of_pairs_finds_the_graph_and_the_causes(wide):
    B, X, h = drawn(2)
    model = ICID().fit(X)
    clean = ICID().fit(drawn(0)[1])
    assert model.hidden_loadings_.shape == (1200, 2)
    assert model.info_["measurement"]["edges without"] is None
    assert "2 hidden causes" in model.report()
    distance, least = (metrics.class_distance(B, fitted.cpdag_) for fitted in (model, clean))
    assert distance < 1.3 * least + 10
    scores = model.hidden_scores(X)
    # Causes may be mixed with each other; together they are the same.
    residual = h - scores @ np.linalg.lstsq(scores, h, rcond=None)[0]
    assert np.all(residual.var(axis=0) < 0.02)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_score_is_the_likelihood_of_what_was_measured(wide):
    _, X, _ = drawn(2)
    model = ICID(hidden=2).fit(X)
    A = np.eye(X.shape[1]) - model.adjacency_matrix_.toarray()
    inner = np.linalg.inv(A)
    covariance = inner.T * model.noise_variances_ @ inner + model.hidden_loadings_ @ model.hidden_loadings_.T
    centred = X - model.location_
    distances = np.sum(centred * np.linalg.solve(covariance, centred.T).T, axis=1)
    expected = -0.5 * (len(A) * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + distances.mean())
    assert model.score(X) == pytest.approx(expected)


def test_errors_are_refused_and_none_means_none(wide):
    _, X, _ = drawn(1)
    with pytest.raises(ValueError, match=r"measurement_error=0.1: errors of measurement need about two rows"):
        ICID(measurement_error=0.1).fit(X)
    off = ICID(hidden=None, measurement_error=None).fit(drawn(0)[1])
    assert off.hidden_loadings_.shape == (1200, 0)
    assert "switched off" in off.info_["measurement"]["note"]

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, Moments, _core, datasets, fdr_precision, metrics
from icid_rs._util.validation import csr_parts
from icid_rs.graph.layer import Layer
from icid_rs.graph.sem import LinearSem
from icid_rs.learning.layer_search import Candidate, LayerSearch
from icid_rs.learning.search import TimeLimit
from icid_rs.learning.shares import most_hidden
from icid_rs.options import Options

OFF = {"hidden": None, "measurement_error": None, "stability": None}


def table(d=30, degree=1, n=2000, seed=0, **measured):
    """A model with R² between 0.3 and 0.8, and its table with permuted columns."""
    rng = np.random.default_rng(seed)
    B, noise_variances = datasets.random_sem(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, noise_variances=noise_variances, random_state=rng, **measured)
    order = rng.permutation(d)
    return B[order][:, order], X[:, order]


@pytest.fixture(scope="module")
def batch():
    return table(hidden=1)


@pytest.fixture(scope="module")
def noisy():
    return table(d=30, degree=2, n=3000, measurement_error=0.2)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hidden_causes_are_found_and_the_graph_without_them(batch):
    B, X = batch
    model = ICID(stability=None).fit(X)
    assert model.hidden_loadings_.shape == (30, 1)
    assert not model.measurement_error_.any()
    assert metrics.class_distance(B, model.cpdag_) <= 2
    assert metrics.class_distance(B, ICID(**OFF).fit(X).cpdag_) > 30
    assert model.info_["measurement"]["hidden"] == 1
    assert model.info_["measurement"]["edges without"] > 2 * B.nnz


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_errors_of_measurement_are_found(noisy):
    B, X = noisy
    model = ICID(stability=None).fit(X)
    assert model.hidden_loadings_.shape == (30, 0)
    np.testing.assert_allclose(model.measurement_error_, 0.2, atol=0.03)
    assert metrics.class_distance(B, model.cpdag_) <= 5
    assert metrics.class_distance(B, ICID(**OFF).fit(X).cpdag_) > 20


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("d", "degree", "n", "most"), [(50, 2, 3000, 10), (20, 3, 3000, 40), (50, 2, 1000, 40)])
def test_heavy_errors_leave_no_dense_graph(d, degree, n, most):
    """What is left of the covariance varies more by chance than n rows of it would; the price of an edge allows it."""
    B, X = table(d=d, degree=degree, n=n, measurement_error=0.3, seed=7)
    model = ICID(stability=None).fit(X)
    assert model.hidden_loadings_.shape == (d, 0)
    assert metrics.class_distance(B, model.adjacency_matrix_) <= most
    assert model.adjacency_matrix_.nnz < 1.3 * B.nnz


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_chance_gains_as_much_more_without_errors_as_the_price_of_an_edge_is_higher(share):
    d, n = 30, 2000
    X = np.random.default_rng(0).standard_normal((n, d))
    search = LayerSearch(fdr_precision(X), None, Options.of(ICID(), {"auto": True}), TimeLimit(None))
    empty = LinearSem(sp.csr_array((d, d)), np.arange(d), np.full(d, 1.0 - share))
    found = Candidate(empty, Layer(np.zeros((d, 0)), np.full(d, share)), 0.0, 1.0)
    correlations = search.correlation[np.triu_indices(d, 1)]
    # Of an edge between two variables with all of their variances left, and without errors.
    before, after = (-n * np.mean(np.log1p(-((correlations / left) ** 2))) for left in (1.0, 1.0 - share))
    assert search.price_without_errors(found) / search.cheap_price == pytest.approx(after / before, rel=0.02)
    given = LayerSearch(search.estimate, None, Options.of(ICID(penalty=2.0), {"auto": True}), TimeLimit(None))
    assert given.price_without_errors(found) is None


def test_a_warning_names_the_columns(batch):
    with pytest.warns(UserWarning, match=r"hidden common causes.*loading most on"):
        ICID(stability=None).fit(batch[1])


@pytest.mark.parametrize("noise", ["gaussian", "exponential"])
def test_nothing_is_found_where_there_is_nothing_and_results_are_the_same(noise):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = datasets.sample_sem(datasets.random_dag(20, 2, random_state=rng), 1000, noise=noise, random_state=rng)
        X = X / X.std(axis=0)
        model, off = ICID(stability=None).fit(X), ICID(**OFF).fit(X)
        assert model.hidden_loadings_.shape[1] == 0
        assert not model.measurement_error_.any()
        np.testing.assert_array_equal(model.adjacency_matrix_.toarray(), off.adjacency_matrix_.toarray())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_units_change_weights_and_loadings_alone(batch):
    _, X = batch
    scale = np.random.default_rng(0).uniform(0.1, 10.0, X.shape[1])
    parameters = {"hidden": 1, "noise": "unequal", "stability": None}
    one, other = ICID(**parameters).fit(X), ICID(**parameters).fit(X * scale)
    np.testing.assert_allclose(other.hidden_loadings_, scale[:, None] * one.hidden_loadings_, rtol=1e-6)
    np.testing.assert_allclose(
        other.adjacency_matrix_.toarray(), one.adjacency_matrix_.toarray() / scale[:, None] * scale, rtol=1e-6
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_score_is_the_likelihood_of_what_was_measured(batch):
    _, X = batch
    model, off = ICID(hidden=1, stability=None).fit(X), ICID(**OFF).fit(X)
    A = np.eye(X.shape[1]) - model.adjacency_matrix_.toarray()
    inner = np.linalg.inv(A)
    covariance = inner.T * model.noise_variances_ @ inner + model.hidden_loadings_ @ model.hidden_loadings_.T
    centred = X - model.location_
    distances = np.sum(centred * np.linalg.solve(covariance, centred.T).T, axis=1)
    expected = -0.5 * (len(A) * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + distances.mean())
    assert model.score(X) == pytest.approx(expected)
    assert model.score(X) > off.score(X)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hidden_scores_follow_the_hidden_cause():
    rng = np.random.default_rng(3)
    B, noise_variances = datasets.random_sem(40, 1, random_state=rng)
    h = rng.standard_normal(1500)
    X = datasets.sample_sem(B, 1500, noise_variances=noise_variances, random_state=rng)
    X += h[:, None] * (0.5 * rng.standard_normal(40))
    scores = ICID(hidden=1, stability=None).fit(X).hidden_scores(X)
    assert abs(np.corrcoef(scores[:, 0], h)[0, 1]) > 0.95


def test_known_reliabilities_undo_attenuation():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20_000, 4))
    x[:, 1] += 0.8 * x[:, 0]
    x[:, 3] += 0.5 * x[:, 1] + 0.5 * x[:, 2]
    shares = np.array([0.3, 0.1, 0.2, 0.0])
    X = x + rng.standard_normal(x.shape) * x.std(axis=0) * np.sqrt(shares / (1 - shares))
    model = ICID(hidden=None, measurement_error=shares, noise="unequal", required=[(0, 1), (1, 3), (2, 3)]).fit(X)
    np.testing.assert_allclose(model.measurement_error_, shares)
    weights = model.adjacency_matrix_.toarray()
    np.testing.assert_allclose([weights[0, 1], weights[1, 3], weights[2, 3]], [0.8, 0.5, 0.5], atol=0.05)
    np.testing.assert_allclose(model.noise_variances_, 1.0, atol=0.1)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_moments_give_the_same_layer(batch):
    _, X = batch
    of_rows, of_moments = (ICID(hidden=1, stability=None).fit(data) for data in (X, Moments().update(X)))
    np.testing.assert_allclose(of_moments.hidden_loadings_, of_rows.hidden_loadings_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": -1}, "hidden"),
        ({"hidden": "two"}, "hidden = 'two'"),
        ({"hidden": 5}, "5 columns can carry at most 2"),
        ({"measurement_error": 1.0}, "at least 0 and less than 1"),
        ({"measurement_error": [0.1, -0.1, 0, 0, 0]}, "column 1 is -0.1"),
        ({"measurement_error": [0.1]}, "length"),
        ({"measurement_error": {9: 0.1}}, "names 9"),
        ({"measurement_error": {0: 0.9}}, "column 0 is 0.9, but the other columns explain all but"),
        ({"measurement_error": "much"}, "measurement_error = 'much'"),
        ({"hidden": 1, "refine": None}, "hidden=1: refine=None"),
        ({"measurement_error": 0.1, "noise_variances": 1.0}, "known noise variances"),
    ],
)
def test_bad_values_say_what_is_possible(settings, message):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    X[:, 1:] += 0.8 * X[:, :1]
    with pytest.raises(ValueError, match=message):
        ICID(**settings).fit(X)


def test_the_paper_alone_has_no_layer(batch):
    model = ICID(refine=None).fit(batch[1])
    assert model.hidden_loadings_.shape == (30, 0)
    assert "refine=None" in model.info_["measurement"]["note"]


def test_few_rows_say_that_nothing_was_looked_for():
    X = datasets.sample_sem(datasets.random_dag(30, 1, random_state=0), 40, random_state=0)
    assert "two rows for each column" in ICID().fit(X).info_["measurement"]["note"]


def test_the_largest_number_of_hidden_causes_leaves_degrees_of_freedom():
    for d in range(2, 60):
        k = most_hidden(d)
        assert (d - k) ** 2 >= d + k
        assert (d - k - 1) ** 2 < d + k + 1


def test_the_core_agrees_with_a_dense_likelihood():
    rng = np.random.default_rng(1)
    B, noise_variances = datasets.random_sem(12, 1, random_state=rng)
    layer = Layer(0.4 * rng.standard_normal((12, 2)), rng.uniform(0.0, 0.2, 12))
    X = rng.standard_normal((50, 12))
    X -= X.mean(axis=0)
    from icid_rs.graph.equivalence import causal_order

    sem = (csr_parts(B), np.asarray(causal_order(B), dtype=np.int64), noise_variances)
    value, _, _ = _core.deviance(X.T @ X / 50, sem, layer.loadings, layer.errors, n_threads=None)
    expected = -2.0 * layer.log_likelihood(X, B, noise_variances) - 12 * np.log(2 * np.pi) - 12
    assert value == pytest.approx(expected)


def test_few_columns_carry_few_hidden_causes():
    """Three factors would explain nine columns nearly whatever these are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3)) @ rng.normal(size=(3, 9)) + 0.5 * rng.normal(size=(1000, 9))
    assert ICID(stability=None).fit(X).hidden_loadings_.shape[1] <= 1
    with pytest.warns(UserWarning, match="explain all that the columns have in common"):
        assert ICID(stability=None, hidden=3).fit(X).hidden_loadings_.shape == (9, 3)


@pytest.mark.parametrize(("seed", "n"), [(0, 400), (2, 200), (3, 200)])
def test_errors_of_corrected_correlations_are_not_taken_for_weak_edges(seed, n):
    """They are larger than those of correlations, by which chance would add fewer edges."""
    B, variances = datasets.random_sem(50, 1, random_state=seed)
    X = datasets.sample_sem(B, n, noise_variances=variances, measurement_error=0.3, random_state=seed)
    model = ICID(stability=None, measurement_error=0.12, hidden=None).fit(X)
    assert model.adjacency_matrix_.nnz < 1.2 * B.nnz


@pytest.mark.filterwarnings("ignore:column 6 is nearly")
def test_variables_with_next_to_no_noise_leave_no_room_for_a_layer():
    """Models with a layer cannot be fitted then; the table is neither refused nor taken for a curved one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 8))
    X[:, 6] = X[:, :6] @ rng.standard_normal(6) + 5e-5 * X[:, 6]
    X[:, 7] += X[:, 6]
    model, off = ICID(stability=None).fit(X), ICID(**OFF).fit(X)
    np.testing.assert_array_equal(model.adjacency_matrix_.toarray(), off.adjacency_matrix_.toarray())
    assert model.info_["choices"]["transform"]["chosen"] is None


def dense(seed):
    """A graph of 20 variables with 80 edges and R² between 0.3 and 0.8, of which many are weak."""
    rng = np.random.default_rng(seed)
    B, noise_variances = datasets.random_sem(20, 4, random_state=rng)
    return datasets.sample_sem(B, 1000, noise_variances=noise_variances, random_state=rng)


@pytest.mark.parametrize("seed", range(6))
def test_weak_edges_are_not_taken_for_a_hidden_cause(seed):
    assert ICID(stability=None).fit(dense(seed)).hidden_loadings_.shape[1] == 0


def test_a_second_hidden_cause_is_found_behind_the_edges_that_stood_in_for_it():
    rng = np.random.default_rng(102)
    B = datasets.random_dag(100, 1, random_state=rng)
    B, variances = datasets.rescale_sem(B, rng.uniform(0.5, 2.0, 100), 1.0)
    X = datasets.sample_sem(B, 1000, noise_variances=variances, random_state=rng)
    X += rng.standard_normal((1000, 2)) @ (0.7 * rng.standard_normal((2, 100)))
    search = LayerSearch(fdr_precision(X), None, Options.of(ICID(), {"auto": True}), TimeLimit(None))
    start = search.descended(search.nothing, None)
    found = search.with_any_hidden(start)
    assert found.layer.hidden == 2
    assert metrics.class_distance(B, found.sem.B) <= 5

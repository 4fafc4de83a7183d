"""The choice of the noise model, which needs no true graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, ScaleWarning, _core, datasets, equivalence_class, metrics
from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import csr_parts
from icid_rs.data.reading import read
from icid_rs.graph.knowledge import Knowledge
from icid_rs.learning import noise_model
from icid_rs.learning.search import TimeLimit
from icid_rs.learning.starts import Proposer
from icid_rs.options import Options
from icid_rs.precision.estimate import choose_estimator, estimate_precision
from icid_rs.precision.kinds import KINDS
from tests.helpers.problems import table
from tests.helpers.reference import shape_gain


@pytest.mark.parametrize("noise", ["exponential", "gumbel", "uniform", "laplace"])
def test_noise_that_is_not_gaussian_gives_the_graph(noise):
    B, X = table(50, 1, 1000, 0, noise)
    model = ICID().fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2
    assert model.info_["identified"] == "graph"
    assert not model.info_["choices"]["residuals"]["gaussian"]


@pytest.mark.parametrize("degree", [1, 2])
def test_gaussian_noise_of_unequal_variance_gives_the_equivalence_class(degree):
    B, X = table(50, degree, 2000, degree)
    model = ICID(stability=None).fit(X)
    assert metrics.count_accuracy(equivalence_class(B), model.cpdag_)["shd"] <= 4
    assert model.info_["identified"] == "equivalence class"
    assert model.info_["noise"] == "unequal"
    P = np.random.default_rng(0).permutation(50)
    permuted = ICID(stability=None).fit(X[:, P]).cpdag_
    assert metrics.count_accuracy(model.cpdag_[P][:, P], permuted)["shd"] <= 4


@pytest.mark.parametrize("seed", range(5))
def test_equal_variances_are_recognised(seed):
    B, X = table(50, 2, 500, seed, equal=True)
    with pytest.warns(ScaleWarning, match="use noise='unequal'"):
        model = ICID().fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2
    noise = model.info_["choices"]["noise"]
    assert noise["chosen"] == model.info_["noise"] == "equal"
    assert noise["equal"] < noise["unequal, same graph"]
    assert model.info_["refine"] == "order"
    # Searching all the same, or being told, does no harm.
    for parameters in ({"refine": "search"}, {"noise": "equal"}, {"noise_variances": 1.0, "refine": "search"}):
        assert metrics.count_accuracy(B, ICID(stability=None, **parameters).fit(X).adjacency_matrix_)["shd"] <= 2


@pytest.mark.parametrize(("degree", "n"), [(1, 100), (2, 200)])
def test_orders_are_mended_where_rows_are_few(degree, n):
    """Elimination alone makes several times as many mistakes, from the errors of an inverse of n − d samples."""
    wrong, mistakes = 0, 0
    for seed in range(5):
        B, X = table(50, degree, n, seed, equal=True)
        model = ICID(precision="fdr", stability=None).fit(X)
        mistakes += metrics.count_accuracy(B, model.adjacency_matrix_)["shd"]
        ordered = ICID(precision="fdr", refine="order", stability=None).fit(X)
        wrong += metrics.count_accuracy(B, ordered.adjacency_matrix_)["shd"]
        assert model.info_["noise"] == "equal"
    assert mistakes <= 12
    assert mistakes < wrong / 2


def test_an_order_of_many_variables_is_mended_if_noise_variances_say_so(monkeypatch):
    _, X = table(100, 1, 1000, 0, equal=True)
    always = [ICID().fit(X), ICID().fit(X[:200])]
    monkeypatch.setattr(noise_model, "_FEW_VARIABLES", 0)
    seldom = [ICID().fit(X), ICID().fit(X[:200])]
    # Few rows leave elimination in doubt.
    assert [model.info_["refine"] for model in seldom] == ["order", "search"]
    for one, other in zip(always, seldom, strict=True):
        assert (one.adjacency_matrix_ != other.adjacency_matrix_).nnz == 0


def test_columns_that_are_not_continuous_still_have_edges():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(3000, 10)) @ rng.normal(size=(10, 10)) > 0).astype(float)
    # A few hidden causes fit the covariances of ten columns as well.
    assert ICID(hidden=None).fit(X).adjacency_matrix_.nnz > 5


def test_shapes_are_the_negentropy_of_hyvarinen():
    X = np.random.default_rng(0).gumbel(size=(2500, 3))
    X[:, 2] = np.random.default_rng(1).normal(size=2500)
    found = _core.shape_statistics(X, X.mean(axis=0), csr_parts(sp.csr_array((3, 3))), n_threads=1)
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(found, [shape_gain(u) for u in standardised.T], atol=1e-8)
    assert found[2] == 0 < found[0]


def test_the_gain_of_a_shape_is_bounded():
    X = np.random.default_rng(0).standard_cauchy(size=(1000, 2))
    found = _core.shape_statistics(X, X.mean(axis=0), csr_parts(sp.csr_array((2, 2))), n_threads=1)
    assert 0 < found.max() < 2 * 1000 * 36 / (8 * np.sqrt(3) - 9)


def test_columns_with_few_values_have_no_shape():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 20, 1000), rng.exponential(size=1000), rng.random(1000) < 0.1]).astype(float)
    found = _core.shape_statistics(X, X.mean(axis=0), csr_parts(sp.csr_array((3, 3))), n_threads=1)
    assert found[0] == found[2] == 0 < found[1]


def test_an_unknown_shape_is_refused():
    X = np.eye(3)
    with pytest.raises(ValueError, match=r"shape = .*it must be one of"):
        _core.shape_statistics(X, X.mean(axis=0), csr_parts(sp.csr_array((3, 3))), n_threads=1, shape="square")


def decide(X: np.ndarray, *, known=None, **parameters) -> noise_model.NoiseModel:
    """Choose the noise model of a table as a fit does."""
    options, watch = Options.of(ICID(trials=20, **parameters), KINDS), Stopwatch()
    sample = read(X, None, options, watch)
    estimate = estimate_precision(sample, choose_estimator(sample, options), options, watch)
    knowledge = None if known is None else Knowledge.make(sample.names, **known)
    proposer = Proposer.of(estimate, sample, options, knowledge)
    proposed = proposer.project(proposer.decompose(order_only=True)).order
    return noise_model.choose_noise_model(estimate, sample.shape_rows, proposer, proposed, options, TimeLimit(None))


# Too many variables for the best graph to be computed, so that there are searches.
EQUAL = table(25, 1, 1000, 0, equal=True)[1]
UNEQUAL = table(25, 1, 1000, 0)[1]
# Standardised columns are not supposed to have equal noise variances; these are not standardised.
RAW = UNEQUAL * np.linspace(1, 2, 25)
ALONG = {"equal", "unequal, same graph"}


@pytest.mark.parametrize(
    ("X", "parameters", "chosen", "refine", "scores"),
    [
        (EQUAL, {}, "equal", "order", ALONG),
        (EQUAL, {"refine": "search"}, "equal", "search", ALONG),
        (EQUAL, {"noise_variances": 1.0}, "known", "order", ALONG),
        (EQUAL, {"noise": "unequal"}, "unequal", "search", {"unequal"}),
        (UNEQUAL, {}, "unequal", "search", {"unequal"}),
        (RAW, {}, "unequal", "search", {"unequal", "equal"}),
        (UNEQUAL, {"noise": "equal"}, "equal", None, ALONG),
        # Elimination respects knowledge of orders, but not of single edges.
        (EQUAL, {"known": {"tiers": [range(25)]}}, "equal", "order", ALONG),
        (EQUAL, {"known": {"required": [(0, 1)]}}, "equal", None, ALONG),
        (EQUAL, {"known": {"forbidden": [(0, 1)]}}, "equal", "search", ALONG),
    ],
)
def test_decisions(X, parameters, chosen, refine, scores):
    found = decide(X, **parameters)
    assert found.choices.noise.chosen == chosen
    assert set(found.choices.noise.scores) == scores
    assert refine in (None, found.refine)
    if scores == ALONG and chosen == "equal" and X is EQUAL:
        assert found.choices.noise.scores["equal"] <= found.choices.noise.scores["unequal, same graph"]
    if chosen == "unequal":
        assert found.choices.noise.scores["unequal"] == min(found.choices.noise.scores.values())


def test_a_search_for_single_edges_starts_from_orders_of_equal_variances():
    found = decide(EQUAL, known={"forbidden": [(0, 1)]})
    assert set(found.refinement.scores) == {"decomposition", "elimination"}
    assert found.refinement.details["kind"] == "search"
    assert found.sem.B[0, 1] == 0


def test_equal_variances_may_win_after_a_search(monkeypatch):
    """With more doubt, the best graph with unequal noise variances is looked for too."""
    monkeypatch.setattr(noise_model, "_BEYOND_DOUBT", np.inf)
    found = decide(EQUAL)
    assert (found.choices.noise.chosen, found.refine) == ("equal", "order")
    assert found.choices.noise.scores["equal"] < found.choices.noise.scores["unequal"]
    knowing = decide(EQUAL, known={"forbidden": [(0, 1)]})
    assert (knowing.choices.noise.chosen, knowing.refine, knowing.sem.B[0, 1]) == ("equal", "search", 0)
    assert decide(RAW).choices.noise.chosen == "unequal"


@pytest.mark.parametrize("n", [300, 1000, 3000])
def test_columns_of_similar_variance_do_not_show_equal_noise_variances(n):
    """Along some order of a few such columns, noise variances are nearly equal by chance."""
    chosen = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        B, variances = datasets.random_sem(5, 1, random_state=rng)
        X = datasets.sample_sem(B, n, noise_variances=variances, random_state=rng) * rng.uniform(0.95, 1.05, 5)
        chosen.append(decide(X).choices.noise.chosen)
    assert chosen.count("unequal") >= 9


@pytest.mark.parametrize(("d", "n"), [(5, 200), (5, 2000), (10, 1000)])
def test_equal_variances_of_a_few_columns_are_recognised(d, n):
    chosen = [decide(table(d, 1, n, seed, equal=True)[1]).choices.noise.chosen for seed in range(20)]
    assert chosen.count("equal") >= 18


@pytest.mark.parametrize("parameters", [{"noise": "unequal"}, {}])
def test_a_search_needs_no_decomposition(parameters):
    X = UNEQUAL / UNEQUAL.std(axis=0)
    records = []
    model, observed = (ICID(callback=callback, **parameters).fit(X) for callback in (None, records.append))
    assert model.status_ == "not needed"
    assert records
    assert observed.status_ != "not needed"
    assert (model.adjacency_matrix_ != observed.adjacency_matrix_).nnz == 0
    with pytest.raises(ValueError, match="without a decomposition"):
        model.plot_convergence()

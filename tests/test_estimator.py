"""ICID, from a table to a graph."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.covariance import GraphicalLasso, LedoitWolf
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from icid_rs import ICID, datasets, metrics
from icid_rs.graph.edges import Edge
from icid_rs.graph.equivalence import causal_order
from tests.helpers import reference
from tests.helpers.problems import table

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    B = datasets.random_dag(30, 1, random_state=1)
    return B.toarray(), datasets.sample_sem(B, 3000, random_state=1)


# Their data are small and often independent; an empty graph is then the right answer, with a warning.
@pytest.mark.filterwarnings("ignore:the graph is empty:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([ICID()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_all_edges_are_found_and_most_by_the_paper_alone(data):
    B, X = data
    paper = ICID(refine=None, threshold=0.3).fit(X)
    score = metrics.count_accuracy(B, paper.adjacency_matrix_)
    assert score["tpr"] >= 0.7
    assert score["shd"] <= 12
    model = ICID().fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] == 0
    rank = np.argsort(model.causal_order_)
    rows, columns = model.adjacency_matrix_.nonzero()
    assert (rank[rows] < rank[columns]).all()
    np.testing.assert_allclose(np.median(model.noise_variances_), 1.0, atol=0.3)
    assert set(model.info_["timings"]) == {
        "audit",
        "checks",
        "covariance",
        "inverse",
        "support",
        "skewness",
        "decompose",
        "dag",
        "refine",
        "measurement",
        "noise",
        "claims",
    }


def test_the_whole_path_agrees_with_the_reference():
    B = datasets.random_dag(8, 1, random_state=3)
    X = datasets.sample_sem(B, 500, noise="exponential", random_state=3)
    grid = np.linspace(0.05, 0.3, 5)
    solver = {"l1_weight": 0.2, "fista_tol": 1e-7, "schedule": "paper", "max_fista_iter": 20_000}
    model = ICID(precision="empirical", lambda1=grid, skewness=0.5, refine=None, **solver).fit(X)
    expected = reference.fit(X, grid, 0.5, max_alm_iter=1, **solver)
    np.testing.assert_allclose(model.adjacency_matrix_.toarray(), expected, atol=1e-5)


def test_the_paper_as_printed_runs(data):
    B, X = data
    paper = ICID(
        precision="empirical",
        lambda1="auto",
        l1_weight=0.1,
        skewness=0,
        noise="equal",
        refine=None,
        dag="exptrace",
        schedule="paper",
    ).fit(X)
    assert metrics.count_accuracy(B, paper.adjacency_matrix_)["tpr"] > 0.7
    causal_order(paper.adjacency_matrix_)


@pytest.mark.filterwarnings("ignore:Objective did not converge")
@pytest.mark.parametrize("precision", ["empirical", "lasso", GraphicalLasso(alpha=0.05), LedoitWolf()])
def test_ways_to_estimate(precision):
    B = 0.5 * datasets.random_dag(20, 1, random_state=1)
    X = datasets.sample_sem(B, 2000, random_state=1)
    model = ICID(precision=precision, threshold=0.1).fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["tpr"] > 0.5


def test_precomputed_takes_theta():
    B = datasets.random_dag(20, 1, random_state=2)
    theta = datasets.sem_precision(B)
    names = [f"x{k}" for k in range(20)]
    model = ICID(precision="precomputed", threshold=0.1).fit(pd.DataFrame(theta.toarray(), columns=names))
    assert (model.precision_ != theta).nnz == 0
    assert list(model.feature_names_in_) == names
    assert ICID(precision="precomputed").fit(theta).n_features_in_ == 20
    with pytest.raises(ValueError, match="square"):
        ICID(precision="precomputed").fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="skewness needs data"):
        ICID(precision="precomputed", skewness=1.0).fit(theta)


def test_names_stay_with_the_columns(data):
    _, X = data
    names = [f"gene {k}" for k in range(30)]
    model = ICID(threshold=0.3).fit(pd.DataFrame(X, columns=names))
    edges = model.edges()
    assert list(edges.columns) == list(Edge._fields[:-1])
    assert set(edges.source) | set(edges.target) <= set(names)
    assert (edges.standardised.abs().diff().dropna() <= 0).all()
    graph = model.to_networkx()
    assert list(graph.nodes) == names
    assert graph.number_of_edges() == len(edges) == model.adjacency_matrix_.nnz
    first = edges.iloc[0]
    assert graph.edges[first.source, first.target]["weight"] == first.weight


def test_scikit_learn_tools(data):
    _, X = data
    model = ICID(l1_weight=0.2).fit(X)
    assert clone(model).get_params()["l1_weight"] == 0.2
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.adjacency_matrix_.toarray(), model.adjacency_matrix_.toarray())
    pipeline = make_pipeline(StandardScaler(), ICID()).fit(X)
    assert pipeline.score(X) < 0
    search = GridSearchCV(
        ICID(refine=None, stability=None), {"l1_weight": [0.05, 0.2, 50.0], "dag": ["greedy", "exptrace"]}, cv=3
    )
    # With the largest penalty some folds find nothing, and say so.
    with pytest.warns(UserWarning, match="the graph is empty"):
        search.fit(X)
    assert search.best_params_["l1_weight"] < 50


def test_score_is_the_log_likelihood(data):
    from scipy.stats import multivariate_normal

    _, X = data
    model = ICID().fit(X)
    A = np.eye(30) - model.adjacency_matrix_.toarray()
    covariance = np.linalg.inv(A @ np.diag(1 / model.noise_variances_) @ A.T)
    expected = multivariate_normal(model.location_, covariance).logpdf(X[:50]).mean()
    assert model.score(X[:50]) == pytest.approx(expected)


def test_score_knows_of_cycles(data):
    from scipy.stats import multivariate_normal

    _, X = data
    model = ICID(dag=None).fit(X)
    A = np.eye(30) - model.adjacency_matrix_.toarray()
    covariance = np.linalg.inv(A @ np.diag(1 / model.noise_variances_) @ A.T)
    expected = multivariate_normal(model.location_, covariance).logpdf(X[:50]).mean()
    assert model.score(X[:50]) == pytest.approx(expected)


def test_known_noise_variances_help():
    B = datasets.random_dag(30, 1, random_state=5)
    B, variances = datasets.rescale_sem(B, 1.0, 1.0)
    X = datasets.sample_sem(B, 10_000, noise_variances=variances, random_state=5)
    shd = [
        metrics.count_accuracy(B, ICID(noise_variances=v, refine="order").fit(X).adjacency_matrix_)["shd"]
        for v in (variances, None)
    ]
    assert shd[0] < shd[1]


@pytest.mark.parametrize("unit", [1e-30, 1e-3, 3.0, 1e6])
@pytest.mark.parametrize("known", [False, True])
def test_units_do_not_matter(data, unit, known):
    _, X = data
    expected = ICID(noise_variances=1.0 if known else None).fit(X).adjacency_matrix_.toarray()
    model = ICID(noise_variances=unit**2 if known else None).fit(X * unit)
    np.testing.assert_allclose(model.adjacency_matrix_.toarray(), expected, atol=1e-3)
    assert model.noise_variances_.min() > 0


def test_sparse_input_is_the_same_as_dense(data):
    _, X = data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, sparse = ICID().fit(X), ICID().fit(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.adjacency_matrix_.toarray(), dense.adjacency_matrix_.toarray())
    assert sparse.score(sp.csc_array(X)) == pytest.approx(dense.score(X))


def test_names_of_any_type_are_kept_and_not_left_over(data):
    _, X = data
    frame = pd.DataFrame(X, columns=range(100, 130))
    model = ICID(threshold=0.3).fit(frame)
    assert min(model.edges().source) >= 100
    model.fit(pd.DataFrame(X, columns=[f"x{k}" for k in range(30)]))
    model.set_params(precision="precomputed").fit(datasets.sem_precision(datasets.random_dag(40, 1, random_state=0)))
    assert not hasattr(model, "feature_names_in_")
    assert set(model.edges().source) <= set(range(40))


def test_dag_none_keeps_the_raw_matrix(data):
    _, X = data
    model = ICID(dag=None).fit(X)
    assert model.causal_order_ is None
    assert model.adjacency_matrix_.nnz >= ICID().fit(X).adjacency_matrix_.nnz


def test_progress_goes_to_standard_error(data, capsys):
    _, X = data
    model = ICID(verbose=True).fit(X)
    captured = capsys.readouterr()
    assert captured.out == ""
    for stage in model.info_["timings"]:
        assert f"ICID: {stage}, " in captured.err
    assert "ICID: round 1, iteration 10" in captured.err


def test_nothing_is_left_of_an_earlier_fit_when_one_fails():
    _, X = table(10, 1, 500, 0)
    model = ICID().fit(X)
    with pytest.raises(ValueError, match="no values"):
        model.fit(np.full((20, 3), np.nan))
    with pytest.raises(NotFittedError):
        model.edges()


def test_the_representation_says_what_was_found():
    X = datasets.sample_sem([[0, 0.8], [0, 0]], 500, noise="exponential", random_state=0)
    model = ICID(penalty=1.0)
    assert repr(model) == "ICID(penalty=1.0)"
    assert repr(model.fit(X)) == "ICID(penalty=1.0): 2 variables, 1 edge, 1 direction claimed"
    assert repr(clone(model)) == "ICID(penalty=1.0)"
    assert "ICID(penalty=1.0)" in repr(make_pipeline(StandardScaler(), model))

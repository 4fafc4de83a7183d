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
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from icid_rs import ICID, datasets, fdr_precision, metrics
from icid_rs.graph.equivalence import causal_order
from tests.helpers import reference

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
        "covariance",
        "inverse",
        "support",
        "skewness",
        "decompose",
        "dag",
        "refine",
        "noise",
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
    assert list(edges.columns) == ["source", "target", "weight"]
    assert set(edges.source) | set(edges.target) <= set(names)
    assert (edges.weight.abs().diff().dropna() <= 0).all()
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
    search = GridSearchCV(ICID(refine=None), {"l1_weight": [0.05, 0.2, 50.0], "dag": ["greedy", "exptrace"]}, cv=3)
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


class TestRefineByOrder:
    @pytest.mark.parametrize(("degree", "n"), [(1, 300), (1, 1000), (2, 1000)])
    def test_equal_variances_give_the_graph(self, degree, n):
        B = datasets.random_dag(100, degree, random_state=degree)
        model = ICID(refine="order").fit(datasets.sample_sem(B, n, random_state=n))
        assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2
        np.testing.assert_allclose(model.noise_variances_, 1.0, atol=4 * np.sqrt(2 / n))
        refinement = model.info_["refinement"]
        assert refinement["order"] == min(refinement["scores"], key=refinement["scores"].get)

    def test_known_variances_give_the_graph(self):
        B, variances = datasets.rescale_sem(datasets.random_dag(60, 2, random_state=0), 1.0, 1.0)
        X = datasets.sample_sem(B, 3000, noise_variances=variances, random_state=0)
        known = ICID(noise_variances=variances).fit(X)
        assert metrics.count_accuracy(B, known.adjacency_matrix_)["shd"] <= 2
        np.testing.assert_allclose(known.noise_variances_, variances, rtol=0.2)

    def test_weights_are_least_squares_along_the_order(self, data):
        _, X = data
        model = ICID(refine="order").fit(X)
        B, centred = model.adjacency_matrix_.tocsc(), X - X.mean(axis=0)
        for j in range(30):
            causes = B.indices[B.indptr[j] : B.indptr[j + 1]]
            weights, *_ = np.linalg.lstsq(centred[:, causes], centred[:, j], rcond=None)
            np.testing.assert_allclose(B.data[B.indptr[j] : B.indptr[j + 1]], weights, atol=1e-9)
            residual = centred[:, j] - centred[:, causes] @ weights
            assert model.noise_variances_[j] == pytest.approx(np.mean(residual**2))
        rank = np.argsort(model.causal_order_)
        rows, columns = model.adjacency_matrix_.nonzero()
        assert (rank[rows] < rank[columns]).all()

    def test_causes_that_cancel_in_theta_are_found(self):
        """1 → 2 is worth 0.6 − 0.5 · 1.2 = 0 in Θ: 1 and 2 also have the common effect 3."""
        B = np.zeros((4, 4))
        B[1, 2], B[1, 3], B[2, 3], B[0, 1] = 0.6, 0.5, 1.2, 1.0
        theta = datasets.sem_precision(sp.csr_array(B)).toarray()
        assert abs(theta[1, 2]) < 1e-12
        X = datasets.sample_sem(B, 5000, random_state=0)
        assert metrics.count_accuracy(B, ICID().fit(X).adjacency_matrix_)["shd"] == 0

    def test_columns_in_another_order_give_the_same_graph(self, data):
        _, X = data
        P = np.random.default_rng(0).permutation(30)
        plain, permuted = ICID().fit(X), ICID().fit(X[:, P])
        np.testing.assert_allclose(
            plain.adjacency_matrix_.toarray()[np.ix_(P, P)], permuted.adjacency_matrix_.toarray(), atol=1e-9
        )

    def test_a_given_theta_is_decomposed_exactly(self):
        B, variances = datasets.rescale_sem(datasets.random_dag(40, 2, random_state=3), 1.0, 0.6)
        theta = datasets.sem_precision(B, variances)
        model = ICID(precision="precomputed", noise_variances=variances).fit(theta)
        assert abs(model.adjacency_matrix_ - B).max() < 1e-9
        np.testing.assert_allclose(model.noise_variances_, variances)

    def test_a_given_estimate_is_not_decomposed_exactly(self):
        """Its errors would become edges."""
        B = 0.4 * datasets.random_dag(30, 1, random_state=1)
        X = datasets.sample_sem(B, 2000, random_state=1)
        theta = np.linalg.inv(np.cov(X, rowvar=False))
        model = ICID(precision="precomputed").fit(theta)
        assert model.info_["refine"] is None
        exact = ICID(precision="precomputed", refine="order").fit(theta)
        A = np.eye(30) - exact.adjacency_matrix_.toarray()
        np.testing.assert_allclose(A @ np.diag(1 / exact.noise_variances_) @ A.T, theta, atol=1e-9)

    def test_a_decomposition_that_is_the_result_is_not_cut_short(self):
        """Where it only proposes an order it stops early."""
        X = datasets.sample_sem(datasets.random_dag(50, 3, random_state=0), 1000, random_state=0)
        theta = np.linalg.inv(np.cov(X, rowvar=False))
        given = {"precision": "precomputed", "l1_weight": 0.1}
        model, alone = ICID(**given).fit(theta), ICID(**given, refine=None).fit(theta)
        assert model.info_["refine"] is None
        assert model.info_["decomposition"]["residual"] == alone.info_["decomposition"]["residual"]
        assert (model.adjacency_matrix_ != alone.adjacency_matrix_).nnz == 0

    def test_an_exact_decomposition_with_no_more_edges_is_preferred(self):
        """With noise variances that are slightly wrong it finds what the decomposition does not."""
        exact, alone = 0, 0
        for seed in range(4):
            B = datasets.random_dag(50, 2, random_state=seed)
            wrong = np.exp(np.random.default_rng(seed).normal(scale=0.1, size=50))
            given = {"precision": "precomputed", "noise_variances": wrong, "threshold": 0.1}
            theta = datasets.sem_precision(B)
            exact += metrics.count_accuracy(B, ICID(**given).fit(theta).adjacency_matrix_)["shd"]
            alone += metrics.count_accuracy(B, ICID(**given, refine=None).fit(theta).adjacency_matrix_)["shd"]
        assert exact <= 8
        assert exact < alone / 4

    def test_an_indefinite_estimate_does_not_matter(self):
        class Cut:
            def get_params(self, deep=True):
                return {}

            def fit(self, X):
                self.precision_ = fdr_precision(X).theta.toarray()
                np.fill_diagonal(self.precision_, 0.2 * self.precision_.diagonal())
                return self

        B = datasets.random_dag(30, 1, random_state=1)
        X = datasets.sample_sem(B, 1000, random_state=1)
        with pytest.warns(RuntimeWarning, match="not positive definite"):
            model = ICID(precision=Cut()).fit(X)
        assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 2

    def test_a_theta_without_zeros(self):
        B = datasets.random_dag(150, 1, random_state=1)
        model = ICID(precision=LedoitWolf()).fit(datasets.sample_sem(B, 1500, random_state=1))
        assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] <= 10

    def test_too_few_rows(self):
        X = np.random.default_rng(0).normal(size=(25, 24)) @ (np.eye(24) + 0.5 * np.eye(24, k=1))
        with pytest.raises(ValueError, match="at least 27 rows; use precision='lasso'"):
            ICID(precision=LedoitWolf(), refine="order").fit(X)
        assert ICID(precision=LedoitWolf()).fit(X).info_["refine"] is None

    def test_a_raw_matrix_is_not_refined(self, data):
        _, X = data
        assert ICID(dag=None).fit(X).info_["refine"] is None
        with pytest.raises(ValueError, match="dag=None"):
            ICID(dag=None, refine="order").fit(X)


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
    ICID(verbose=True).fit(X)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "ICID: round 1, iteration 10" in captured.err


class TestAudit:
    """Each fault is named, with the remedy, before anything is estimated."""

    @pytest.fixture
    def frame(self) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        return pd.DataFrame(rng.normal(size=(100, 4)) @ rng.normal(size=(4, 4)), columns=list("abcd"))

    def refused(self, X, *words: str, **parameters) -> None:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            ICID(**parameters).fit(X)
        for word in words:
            assert word in str(caught.value)

    def test_missing_values(self, frame):
        frame.loc[7, "b"] = np.nan
        frame.loc[9, "c"] = np.nan
        self.refused(frame, "NaN", "row 7", "'b'", "2 such entries", "drop these rows")

    def test_infinities(self, frame):
        frame.loc[3, "d"] = -np.inf
        self.refused(frame, "inf", "row 3", "'d'")

    @pytest.mark.parametrize("value", [0.0, 5.0, 0.1, 1e12])
    def test_constant_columns(self, frame, value):
        frame["b"] = value
        frame["d"] = value
        self.refused(frame, "constant", "'b', 'd'", "drop them")

    @pytest.mark.parametrize("precision", ["fdr", "empirical", "lasso", LedoitWolf()])
    def test_duplicate_columns(self, frame, precision):
        frame["e"] = -3.0 * frame["b"] + 1.0
        self.refused(frame, "'b' and 'e'", "same up to scale", "drop one", precision=precision)

    @pytest.mark.parametrize("precision", ["fdr", "empirical", "lasso", LedoitWolf()])
    def test_collinear_columns(self, frame, precision):
        frame["total"] = frame["a"] + frame["c"]
        with pytest.raises(ValueError, match="linear combination") as caught:
            ICID(precision=precision).fit(frame)
        assert all(f"'{name}'" in str(caught.value) for name in ("a", "c", "total"))
        assert "'b'" not in str(caught.value)

    def test_more_columns_than_rows(self):
        X = np.random.default_rng(0).normal(size=(10, 20))
        self.refused(X, "n_samples = 10 for 20 columns", "precision='lasso'", precision="fdr")

    def test_extreme_scales(self, frame):
        self.refused(frame * 1e160, "variance of column 'a'", "rescale it")
        self.refused(frame * 1e-160, "variance of column 'a'", "rescale it")

    def test_repeated_names(self, frame):
        frame.columns = ["a", "b", "b", "c"]
        self.refused(frame, "'b' occur more than once")

    def test_indefinite_theta(self):
        theta = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
        self.refused(theta, "not positive definite", precision="precomputed")
        self.refused(np.diag([1.0, -1.0]), "theta[1, 1] = -1", precision="precomputed")

    def test_too_few_rows(self, frame):
        self.refused(frame.iloc[:2], "n_samples = 2")

    def test_text_columns(self, frame):
        frame["e"] = "text"
        frame["f"] = pd.Timestamp(0)
        frame["g"] = "1.5"
        self.refused(frame, "'e' (", "'f' (Datetime", "'g' (", "are not numeric; drop them")

    # What is found in such units is another matter.
    @pytest.mark.filterwarnings("ignore:the graph is empty:UserWarning")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_wild_scales_warn(self, frame):
        frame["b"] *= 1e5
        with pytest.warns(UserWarning, match="column 'b'.*use noise='unequal', .* or pass noise_variances"):
            ICID(noise="equal").fit(frame)

    def test_nothing_found_warns(self):
        X = np.random.default_rng(0).normal(size=(500, 5))
        with pytest.warns(UserWarning, match="the graph is empty: no partial correlation"):
            ICID().fit(X)
        with pytest.warns(UserWarning, match="threshold = 100 may have removed every edge; lower it"):
            ICID(threshold=100, refine=None).fit(X @ (np.eye(5) + np.eye(5, k=1)))
        with pytest.warns(UserWarning, match="threshold = 100 may have removed every edge; lower it"):
            ICID(threshold=100).fit(X @ (np.eye(5) + np.eye(5, k=1)))
        with pytest.warns(UserWarning, match="the penalty removed every edge: lower l1_weight"):
            ICID(l1_weight=1e6, refine=None).fit(X @ (np.eye(5) + np.eye(5, k=1)))

    def test_running_out_of_iterations_warns(self, frame):
        with pytest.warns(ConvergenceWarning):
            model = ICID(max_fista_iter=2, refine=None).fit(frame)
        assert model.status_ == "max_fista_iter"

    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            ({"precision": "best"}, ValueError, "precision = 'best'"),
            ({"precision": 3}, TypeError, "precision must be"),
            ({"noise": "loud"}, ValueError, "noise = 'loud'"),
            ({"refine": "twice"}, ValueError, "refine = 'twice'"),
            ({"refine": np.ones(2)}, ValueError, "refine ="),
            ({"refine": "order", "noise": "unequal"}, ValueError, "use refine='search'"),
            ({"trials": -1}, ValueError, "trials = -1"),
            ({"trials": 1.5}, TypeError, "trials must be an integer"),
            ({"time_limit": -1.0}, ValueError, "time_limit = -1"),
            ({"dag": "magic"}, ValueError, "dag = 'magic'"),
            ({"threshold": -1.0}, ValueError, "threshold = -1"),
            ({"threshold": "some"}, TypeError, "threshold must be a number"),
            ({"skewness": np.nan}, ValueError, "skewness = nan"),
            ({"l1_weight": 0.0}, ValueError, "l1_weight = 0"),
            ({"noise_variances": [1.0]}, ValueError, "noise_variances has length 1"),
        ],
    )
    def test_bad_parameters(self, frame, parameters, error, message):
        with pytest.raises(error, match=message):
            ICID(**parameters).fit(frame)


@pytest.mark.skipif(not (DATA / "sim4.mat").exists(), reason="the NetSim files are not distributed with the package")
class TestNetSim:
    """The paper's figures on simulated fMRI data, columns permuted."""

    def shd(self, name: str, seed: int, **parameters) -> int:
        X, adjacency, _ = datasets.load_netsim(DATA / name)
        order = np.random.default_rng(seed).permutation(X.shape[1])
        grid = np.linspace(0.01, 0.1, 10)
        model = ICID(precision="empirical", lambda1=grid, l1_weight=0.05, max_alm_iter=4, refine=None, **parameters)
        found = model.fit(X[:, order]).adjacency_matrix_
        return int(metrics.count_accuracy(adjacency.toarray()[np.ix_(order, order)], found)["shd"])

    def median(self, name: str, **parameters) -> float:
        return float(np.median([self.shd(name, seed, **parameters) for seed in range(5)]))

    def test_sizes(self):
        for name, nodes, edges in (("sim3.mat", 15, 18), ("sim4.mat", 50, 61)):
            X, adjacency, names = datasets.load_netsim(DATA / name)
            assert X.shape == (10_000, nodes)
            assert adjacency.nnz == edges
            assert len(names) == nodes

    def test_sim4(self):
        assert self.median("sim4.mat", skewness=0.0) <= 14
        assert self.median("sim4.mat", skewness=20.0) <= 2

    def test_sim3(self):
        assert self.median("sim3.mat", skewness=20.0) <= 2


def test_a_file_that_is_no_netsim(tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "other.mat", {"x": 1.0})
    with pytest.raises(ValueError, match="no NetSim file"):
        datasets.load_netsim(tmp_path / "other.mat")

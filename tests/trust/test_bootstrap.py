"""Bootstrap: the same probabilities wherever it runs, and what they mean."""

from __future__ import annotations

import pickle
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from icid_rs import ICID, Bootstrap, bootstrap, datasets
from icid_rs.graph.equivalence import causal_order
from tests.helpers.needs import need


@pytest.fixture(scope="module")
def data() -> tuple[sp.csr_array, np.ndarray]:
    B = datasets.random_dag(12, 1, random_state=3)
    return B, datasets.sample_sem(B, 120, random_state=3)


@pytest.fixture(scope="module")
def model(data) -> ICID:
    return ICID().fit(data[1])


@pytest.fixture(scope="module")
def found(data, model) -> Bootstrap:
    return bootstrap(model, data[1], n=24)


def test_resamples_are_fitted_as_tables_are(data, model, found):
    X = data[1]
    for k in (0, 7):
        rows = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(k,))).integers(0, len(X), len(X))
        fitted = ICID(n_threads=1).fit(X[rows])
        np.testing.assert_array_equal(found.graphs[k].toarray(), fitted.adjacency_matrix_.toarray())


def same(one: Bootstrap, other: Bootstrap) -> None:
    assert len(one.graphs) == len(other.graphs)
    for a, b in zip(one.graphs, other.graphs, strict=True):
        np.testing.assert_array_equal(a.toarray(), b.toarray())
    np.testing.assert_array_equal(one.edge_probabilities.toarray(), other.edge_probabilities.toarray())
    np.testing.assert_array_equal(one.weight_means.toarray(), other.weight_means.toarray())


class TestWhereItRuns:
    """Same bits for any number of workers and any backend."""

    @pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
    def test_backends(self, data, model, found, backend):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            same(bootstrap(model, data[1], n=24), found)

    def test_workers(self, data, model, found):
        same(bootstrap(model, data[1], n=24, n_jobs=2), found)

    def test_dask(self, data, model, found):
        distributed = need("distributed")
        options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
        with distributed.Client(**options), joblib.parallel_config(backend="dask"):
            same(bootstrap(model, data[1], n=24), found)

    def test_more_draws_begin_with_the_same(self, data, model, found):
        few = bootstrap(model, data[1], n=5)
        for a, b in zip(few.graphs, found.graphs, strict=False):
            np.testing.assert_array_equal(a.toarray(), b.toarray())

    def test_seeds(self, data, model, found):
        other = bootstrap(model, data[1], n=24, random_state=1)
        assert abs(other.weight_means - found.weight_means).max() > 0
        assert bootstrap(model, data[1], n=2, random_state=None).graphs

    def test_settings_of_the_caller_stay(self, data, model):
        """Neither filters of warnings nor threads of linear algebra are left changed."""
        import warnings

        from threadpoolctl import threadpool_info

        before = list(warnings.filters), threadpool_info()
        with joblib.parallel_config(backend="threading", n_jobs=2):
            bootstrap(model, data[1], n=8)
        assert (list(warnings.filters), threadpool_info()) == before


class TestProbabilities:
    def test_they_are_shares_of_the_resamples(self, found):
        P = found.edge_probabilities.toarray()
        expected = np.mean([direction.toarray() for direction in found.directions], axis=0)
        np.testing.assert_allclose(P, expected, atol=1e-15)
        joined = found.adjacency_probabilities.toarray()
        adjacent = [(graph.toarray() != 0) | (graph.toarray() != 0).T for graph in found.graphs]
        np.testing.assert_allclose(joined, np.mean(adjacent, axis=0), atol=1e-15)
        there = joined > 0
        np.testing.assert_allclose(
            found.direction_probabilities.toarray()[there], (P / np.where(there, joined, 1))[there]
        )

    def test_ancestors_are_paths(self, found):
        expected = []
        for direction in found.directions:
            determined = (direction.toarray() == 1).astype(float)
            expected.append(np.linalg.inv(np.eye(12) - determined) > 0.5)
        expected = np.mean(expected, axis=0) - np.eye(12)
        np.testing.assert_allclose(found.ancestor_probabilities().toarray(), expected, atol=1e-15)

    def test_sources_in_several_parts(self, found, monkeypatch):
        whole = found.ancestor_probabilities().toarray()
        monkeypatch.setattr("icid_rs.trust.confidence._SOURCES", 5)
        np.testing.assert_array_equal(found.ancestor_probabilities().toarray(), whole)

    def test_weights_are_means_where_the_edge_is(self, found):
        weights = np.array([graph.toarray() for graph in found.graphs])
        weights[weights == 0] = np.nan
        rows, columns = found.weight_means.nonzero()
        np.testing.assert_allclose(
            found.weight_means.toarray()[rows, columns], np.nanmean(weights[:, rows, columns], axis=0)
        )
        np.testing.assert_allclose(
            found.weight_deviations.toarray()[rows, columns], np.nanstd(weights[:, rows, columns], axis=0), atol=1e-12
        )

    def test_true_edges_are_likely_and_others_are_not(self):
        B = datasets.random_dag(15, 1, random_state=0)
        X = datasets.sample_sem(B, 1000, random_state=0)
        P = bootstrap(ICID().fit(X), X, n=30).edge_probabilities.toarray()
        truth = B.toarray() != 0
        assert P[truth].min() > 0.9
        assert P[~truth].max() < 0.5

    def test_what_gaussian_data_do_not_determine_counts_half(self):
        """A chain is reversible as a whole, a collider is not."""
        chain = np.diag([0.8, 0.8], k=1)
        collider = np.array([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]])
        variances = [1.0, 4.0, 0.3]
        for B, identified, expected in ((chain, "equivalence class", 0.5), (collider, "graph", 1.0)):
            X = datasets.sample_sem(B, 2000, noise_variances=variances, random_state=0)
            model = ICID(refine="search", noise="unequal").fit(X / X.std(axis=0))
            assert model.info_["identified"] == identified
            P = bootstrap(model, X / X.std(axis=0), n=20).edge_probabilities.toarray()
            np.testing.assert_allclose(P[B != 0], expected, atol=0.05)

    def test_shapes_determine_directions(self):
        """A chain with one Gaussian variable at its end: the other residuals tell both directions."""
        B = np.diag([0.8, 0.8], k=1)
        rng = np.random.default_rng(0)
        noise = np.column_stack([rng.exponential(size=(2000, 2)), rng.normal(size=2000)])
        X = noise @ np.linalg.inv(np.eye(3) - B)
        X /= X.std(axis=0)
        model = ICID(refine="search", noise="unequal").fit(X)
        P = bootstrap(model, X, n=20).edge_probabilities.toarray()
        assert P[B != 0].min() > 0.9

    def test_the_stable_graph(self, found):
        for threshold in (0.51, 0.75, 1.0):
            stable = found.stable_graph(threshold)
            causal_order(stable)
            likely = found.edge_probabilities.toarray() >= threshold - 1e-12
            assert not (stable.toarray() != 0)[~likely].any()
        with pytest.raises(ValueError, match=r"threshold = 0.5"):
            found.stable_graph(0.5)

    def test_a_majority_for_a_cycle(self):
        """Two of three resamples for each of the edges of a cycle; the least likely gives way."""
        order = [(0, 1), (1, 2), (2, 0)]
        graphs = []
        for left_out in (0, 1, 2, 2):
            cells = [edge for k, edge in enumerate(order) if k != left_out]
            graphs.append(sp.csr_array((np.ones(2), tuple(zip(*cells, strict=True))), shape=(3, 3)))
        stable = Bootstrap(["a", "b", "c"], graphs, graphs, {}).stable_graph(0.5 + 1e-9)
        assert stable.nnz == 2
        assert stable[2, 0] == 0

    def test_no_edges_at_all(self):
        X = np.random.default_rng(0).normal(size=(100, 4))
        with pytest.warns(UserWarning, match="graph is empty"):
            model = ICID().fit(X)
        found = bootstrap(model, X, n=4)
        assert found.edge_probabilities.shape == (4, 4)
        assert found.stable_graph().nnz == 0
        assert found.ancestor_probabilities().shape == (4, 4)
        assert len(found.edges()) == found.edge_probabilities.nnz


class TestBlocksAndGroups:
    def test_repeated_rows_are_no_evidence(self):
        """Rows that occur many times over are as uncertain as few, if whole groups are drawn."""
        B = 0.35 * datasets.random_dag(8, 1, random_state=2)
        few = datasets.sample_sem(B, 30, random_state=2)
        X, groups = np.repeat(few, 40, axis=0), np.repeat(np.arange(30), 40)
        model = ICID(noise="equal", hidden=None, measurement_error=None).fit(X)
        rows = bootstrap(model, X, n=30).edge_probabilities.toarray()
        whole = bootstrap(model, X, n=30, groups=groups).edge_probabilities.toarray()
        blocks = bootstrap(model, X, n=30, block=40).edge_probabilities.toarray()
        false = B.toarray() == 0
        assert (rows[false] >= 0.9).sum() >= 3 + (whole[false] >= 0.9).sum()
        assert (rows[false] >= 0.9).sum() >= 3 + (blocks[false] >= 0.9).sum()

    def test_means_are_taken_out_as_in_the_fit(self, data):
        B, _ = data
        X = datasets.sample_sem(B, 600, random_state=5)
        groups = np.arange(600) % 30
        X += np.random.default_rng(0).normal(0, 5, 30)[groups][:, None]
        model = ICID().fit(X, groups=groups)
        P = bootstrap(model, X, n=10, groups=groups).edge_probabilities.toarray()
        assert P[B.toarray() == 0].max() < 0.9
        with pytest.raises(ValueError, match="fitted with groups"):
            bootstrap(model, X, n=2)

    def test_automatic_blocks(self, data, model):
        assert bootstrap(model, data[1], n=2, block="auto").block >= 1
        assert bootstrap(model, data[1], n=2).block is None


class TestTheModel:
    def test_it_is_a_method_too(self, data):
        model = ICID().fit(data[1])
        found = model.bootstrap(data[1], n=4, subsample=0.5, random_state=3)
        assert found is model.bootstrap_
        again = bootstrap(ICID().fit(data[1]), data[1], n=4, subsample=0.5, random_state=3)
        assert (found.edge_probabilities != again.edge_probabilities).nnz == 0
        assert model.edges().columns[-1] == "confidence"

    def test_edges_have_their_confidence(self, data):
        X = pd.DataFrame(data[1], columns=[f"x{k}" for k in range(12)])
        model = ICID().fit(X)
        assert "confidence" not in model.edges()
        result = bootstrap(model, X, n=10)
        assert model.bootstrap_ is result
        table = model.edges()
        assert table.columns[-1] == "confidence"
        likely = result.edges().set_index(["source", "target"]).probability
        for edge in table.itertuples():
            assert edge.confidence == likely.get((edge.source, edge.target), 0.0)
        assert "confidence" not in model.fit(X).edges()

    def test_the_table_of_the_bootstrap(self, found):
        table = found.edges()
        assert (table.probability.diff().dropna() <= 0).all()
        assert (table.joined >= table.probability - 1e-15).all()
        assert len(table) == found.edge_probabilities.nnz

    def test_pickle(self, data, model, found):
        same(pickle.loads(pickle.dumps(found)), found)
        bootstrap(model, data[1], n=3)
        same(pickle.loads(pickle.dumps(model)).bootstrap_, model.bootstrap_)

    def test_missing_values_are_treated_as_in_the_fit(self, data):
        B, _ = data
        X = datasets.sample_sem(B, 800, random_state=1)
        X[np.random.default_rng(0).uniform(size=X.shape) < 0.005] = np.nan
        for policy in ("drop", "pairwise"):
            found = bootstrap(ICID(missing=policy, noise="equal").fit(X), X, n=5)
            assert len(found.graphs) == 5

    def test_failures_are_counted(self):
        """A column that is nearly constant is constant in some resamples."""
        X = datasets.sample_sem(datasets.random_dag(4, 1, random_state=0), 100, random_state=0)
        X = np.column_stack([X, np.zeros(100)])
        X[0, 4] = X[1, 4] = 1.0
        model = ICID(noise="equal").fit(X)
        with pytest.warns(UserWarning, match=r"of 40 resamples could not be fitted, most of them because: constant"):
            result = bootstrap(model, X, n=40)
        assert sum(result.failures.values()) + len(result.graphs) == 40
        with pytest.raises(ValueError, match=r"of 40 resamples could not be fitted.*constant"):
            bootstrap(model, X, n=40, subsample=0.2)

    def test_the_names_are_in_the_messages(self):
        X = pd.DataFrame(
            np.random.default_rng(0).normal(size=(60, 3)) @ (np.eye(3) + np.eye(3, k=1)), columns=list("abc")
        )
        X["rare"] = 0.0
        X.loc[0, "rare"] = 1.0
        model = ICID(noise="equal").fit(X)
        with pytest.warns(UserWarning, match="constant.*'rare'"):
            bootstrap(model, X, n=20)


class TestRefused:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"n": 0}, ValueError, "n = 0"),
            ({"n": 1.5}, TypeError, "n must be an integer"),
            ({"block": 0}, ValueError, "block = 0"),
            ({"block": 100}, ValueError, "block = 100"),
            ({"block": "long"}, ValueError, "block = 'long'"),
            ({"subsample": 1.0}, ValueError, "subsample = 1.0"),
            ({"subsample": 0.001}, ValueError, "subsample = 0.001"),
            ({"groups": np.zeros(120)}, ValueError, "one group"),
            ({"groups": np.zeros(3)}, ValueError, "one entry for each of the 120 rows"),
            ({"groups": np.arange(120), "block": 3}, ValueError, "not both"),
            ({"random_state": -1}, ValueError, "random_state = -1"),
        ],
    )
    def test_options(self, data, model, options, error, message):
        with pytest.raises(error, match=message):
            bootstrap(model, data[1], **{"n": 2, **options})

    def test_models(self, data, model):
        with pytest.raises(NotFittedError):
            bootstrap(ICID(), data[1])
        with pytest.raises(TypeError, match="needs an ICID"):
            bootstrap("model", data[1])
        with pytest.raises(ValueError, match="precomputed"):
            bootstrap(ICID(precision="precomputed").fit(datasets.sem_precision(data[0])), data[1])
        with pytest.raises(ValueError, match="dag=None"):
            bootstrap(ICID(dag=None).fit(data[1]), data[1])
        with pytest.raises(ValueError, match="11 features"):
            bootstrap(model, data[1][:, 1:])


class TestProgress:
    @pytest.mark.parametrize("progress", [None, False])
    def test_only_where_someone_looks(self, data, model, capsys, progress):
        bootstrap(model, data[1], n=3, progress=progress)
        captured = capsys.readouterr()
        assert captured.out == captured.err == ""

    def test_if_asked(self, data, model, capsys):
        need("tqdm")
        bootstrap(model, data[1], n=3, progress=True)
        captured = capsys.readouterr()
        assert "bootstrap" in captured.err
        assert "3/3" in captured.err
        assert captured.out == ""

    def test_without_tqdm(self, data, model, monkeypatch):
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        assert len(bootstrap(model, data[1], n=3).graphs) == 3
        with pytest.raises(ImportError, match=r"pip install 'icid_rs\[progress\]'"):
            bootstrap(model, data[1], n=3, progress=True)

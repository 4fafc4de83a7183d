"""DoWhy and causal-learn are given the same model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icid_rs import CausalGraph, datasets
from tests.helpers.graphs import random_graph
from tests.helpers.needs import need

RAIN = CausalGraph([[0, 0.5, 0], [0, 0, -2.0], [0, 0, 0]], ["cloud", "rain", "wet"], noise_variances=[1.0, 2.0, 3.0])


class TestDoWhy:
    """Samples and interventions of DoWhy follow the weights."""

    @pytest.fixture(autouse=True)
    def _installed(self):
        need("dowhy.gcm")
        np.random.seed(0)  # noqa: NPY002

    def graph(self) -> CausalGraph:
        # Parents in another order than their names.
        B = np.zeros((4, 4))
        B[3, 1], B[2, 1], B[1, 0] = 2.0, -1.0, 0.5
        return CausalGraph(
            B, ["wet", "rain", "wind", "cloud"], noise_variances=[1.0, 4.0, 0.25, 9.0], location=[1.0, 2.0, 3.0, 4.0]
        )

    def test_samples_have_the_moments_of_the_model(self):
        import dowhy.gcm as gcm

        graph = self.graph()
        samples = gcm.draw_samples(graph.to_dowhy(), 200_000)[graph.names_]
        A = np.linalg.inv(np.eye(4) - graph.adjacency_matrix_.toarray())
        np.testing.assert_allclose(samples.mean(), graph.location_, atol=0.1)
        np.testing.assert_allclose(samples.cov(), A.T @ np.diag(graph.noise_variances_) @ A, rtol=0.05, atol=0.1)

    def test_interventions_are_total_effects(self):
        import dowhy.gcm as gcm

        graph = self.graph()
        model, effects = graph.to_dowhy(), graph.total_effects().toarray()
        for i, cause in enumerate(graph.names_):
            low, high = (
                gcm.interventional_samples(model, {cause: lambda _, x=x: x}, num_samples_to_draw=50_000)
                for x in (0.0, 10.0)
            )
            change = (high.mean() - low.mean())[graph.names_].to_numpy() / 10
            change[i] = 0.0
            np.testing.assert_allclose(change, effects[i], atol=0.05)

    def test_counterfactuals_keep_the_noise(self):
        import dowhy.gcm as gcm

        graph = self.graph()
        seen = pd.DataFrame([[1.0, 2.0, 3.0, 4.0]], columns=graph.names_)
        other = gcm.counterfactual_samples(graph.to_dowhy(), {"cloud": lambda x: x + 1}, observed_data=seen)
        np.testing.assert_allclose(other[graph.names_].to_numpy(), [[2.0, 4.0, 3.0, 5.0]])

    def test_residuals_of_data_are_the_noise(self):
        import dowhy.gcm as gcm

        graph = self.graph()
        X = datasets.sample_sem(graph.adjacency_matrix_, 2000, noise="exponential", random_state=0) + graph.location_
        for data in (X, pd.DataFrame(X, columns=graph.names_)[["cloud", "wet", "wind", "rain"]]):
            samples = gcm.draw_samples(graph.to_dowhy(data), 50_000)[graph.names_]
            np.testing.assert_allclose(samples.mean(), X.mean(axis=0), atol=0.15)
            assert samples["cloud"].min() == X[:, 3].min()

    def test_what_it_cannot_be(self):
        with pytest.raises(ValueError, match="cycles"):
            CausalGraph([[0, 1.0], [1.0, 0]]).to_dowhy()
        with pytest.raises(ValueError, match="noise variances are not known"):
            CausalGraph([[0, 1.0], [0, 0]]).to_dowhy()
        with pytest.raises(ValueError, match="no column 'wind'"):
            self.graph().to_dowhy(pd.DataFrame({"wet": [1.0], "rain": [1.0]}))


class TestCausalLearn:
    @pytest.fixture(autouse=True)
    def _installed(self):
        need("causallearn.graph.GeneralGraph")

    def test_endpoints_of_the_graph(self):
        from causallearn.graph.Endpoint import Endpoint

        graph = RAIN.to_causallearn()
        cloud, rain, wet = (graph.get_node(name) for name in RAIN.names_)
        assert graph.is_parent_of(cloud, rain)
        assert not graph.is_parent_of(rain, cloud)
        assert graph.is_ancestor_of(cloud, wet)
        assert graph.get_endpoint(cloud, rain) == Endpoint.ARROW
        assert graph.get_endpoint(rain, cloud) == Endpoint.TAIL

    def test_matrices_of_random_graphs(self):
        for seed in range(5):
            ours = random_graph(12, 2, seed)
            graph = ours.to_causallearn()
            B = ours.adjacency_matrix_.toarray()
            # Their [j, i] = 1 with [i, j] = -1 is i → j.
            np.testing.assert_array_equal((graph.graph == 1).T & (graph.graph == -1), B != 0)
            nodes = graph.get_nodes()
            for i in range(12):
                ancestors = {k for k in range(12) if k != i and graph.is_ancestor_of(nodes[k], nodes[i])}
                assert ancestors == set(ours.ancestors(i))
            cpdag = ours.to_causallearn("cpdag")
            both = ours.cpdag_.toarray() * ours.cpdag_.toarray().T
            np.testing.assert_array_equal((cpdag.graph == -1) & (cpdag.graph.T == -1), both != 0)
            np.testing.assert_array_equal(cpdag.graph.T == 1, (ours.cpdag_.toarray() - both) != 0)

    def test_what_it_cannot_be(self):
        with pytest.raises(ValueError, match="kind = 'pag'"):
            RAIN.to_causallearn("pag")
        with pytest.raises(ValueError, match="cycles"):
            CausalGraph([[0, 1.0], [1.0, 0]]).to_causallearn("cpdag")

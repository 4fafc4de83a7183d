"""What a CausalGraph can be made of."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from icid_rs import CausalGraph


class TestCausalGraph:
    @pytest.mark.parametrize(
        ("arguments", "options", "message"),
        [
            (([[0, np.inf], [0, 0]],), {}, r"adjacency_matrix\[0, 1\] = inf"),
            (([[0, 1]],), {}, "must be square"),
            (([[0, 1], [0, 0]], ["a"]), {}, "1 names, but 2 variables"),
            (([[0, 1], [0, 0]],), {"cpdag": np.eye(2)}, "cpdag does not join"),
            (([[0, 1], [0, 0]],), {"cpdag": [[0, 0], [1, 0]]}, "cpdag does not join"),
            (([[0, 1], [0, 0]],), {"confidence": [[0, 2], [0, 0]]}, "probabilities"),
            (([[0, 1], [0, 0]],), {"location": [0, np.nan]}, r"location\[1\] = nan"),
        ],
    )
    def test_bad_values(self, arguments, options, message):
        with pytest.raises(ValueError, match=message):
            CausalGraph(*arguments, **options)

    def test_networks_that_are_no_causal_graphs(self):
        for network in (nx.Graph(), nx.MultiDiGraph()):
            with pytest.raises(ValueError, match="directed, without parallel edges"):
                CausalGraph.from_networkx(network)

    def test_weights_of_others_default_to_one(self):
        assert CausalGraph.from_networkx(nx.DiGraph([("a", "b")])).edges().iloc[0, :3].tolist() == ["a", "b", 1.0]

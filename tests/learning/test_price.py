"""The price of an edge is lowered only where far more edges come in than by chance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID
from icid_rs.graph.sem import LinearSem
from icid_rs.learning.price import lower_price
from icid_rs.learning.search import Searched
from tests.helpers.problems import table

N, D = 1000, 100
STEPS = {c: float(np.log(N) + c * np.log(D)) for c in (4, 2, 1, 0)}


def graph(edges: int) -> Searched:
    B = sp.csr_array(np.triu(np.ones((D, D)), 1) * (np.arange(D * D).reshape(D, D) < edges + 1))
    return Searched(LinearSem(B, np.arange(D), np.ones(D)), 0.0, {}, 0, "converged")


@pytest.mark.parametrize(
    ("edges", "chosen"),
    [
        # By chance, 0.3 edges come in at the first step, 8 at the second and 36 at the third.
        ({4: 50, 2: 50, 1: 50, 0: 50}, 4),
        ({4: 50, 2: 52, 1: 99, 0: 99}, 4),
        ({4: 50, 2: 55, 1: 60, 0: 99}, 2),
        ({4: 20, 2: 30, 1: 75, 0: 99}, 1),
    ],
)
def test_steps_are_taken_while_most_new_edges_are_real(edges, chosen):
    graphs = {STEPS[c]: graph(count) for c, count in edges.items()}
    found, price = lower_price(graphs[STEPS[4]], STEPS[4], lambda price, _: graphs[price], N, D)
    assert price == STEPS[chosen]
    assert found is graphs[STEPS[chosen]]


def test_a_price_that_is_low_already_stays():
    found, price = lower_price(graph(3), 1.0, lambda *_: pytest.fail("no search is needed"), N, D)
    assert (found.sem.B.nnz, price) == (3, 1.0)


def test_sparse_simulated_tables_keep_the_ordinary_price():
    kept = 0
    for seed in range(10):
        X = table(40, 1, 800, seed)[1]
        edge = ICID(noise="unequal").fit(X).info_["choices"]["penalty"]["edge"]
        kept += edge == pytest.approx(np.log(800) + 4 * np.log(40))
    assert kept >= 9

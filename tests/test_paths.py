"""The price of an edge, set by the caller, and graphs for a range of prices."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, Moments, datasets, penalty_path


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    return datasets.sample_sem(datasets.random_dag(12, 2, random_state=3), 400, random_state=3)


@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_a_given_penalty_is_taken_as_it_is(table, noise):
    model = ICID(penalty=3.0, noise=noise).fit(table)
    assert model.info_["penalty"] == 3.0
    penalty = model.info_["choices"]["penalty"]
    assert (penalty["edge"], penalty["inflation"]) == (pytest.approx(3.0 * np.log(400)), 1.0)
    assert model.info_["refinement"]["penalty"] == pytest.approx(3.0 * np.log(400))


def test_each_edge_earns_its_penalty(table):
    for penalty in (1.0, 4.0, 16.0):
        C = np.cov(table.T, bias=True)
        model = ICID(penalty=penalty, noise="unequal", hidden=None, measurement_error=None).fit(
            Moments.from_covariance(C, 400)
        )
        B = model.adjacency_matrix_.toarray()

        def left(j, parents, C=C):
            weights = np.linalg.solve(C[np.ix_(parents, parents)], C[parents, j]) if len(parents) else np.zeros(0)
            return C[j, j] - weights @ C[parents, j]

        for j in range(12):
            parents = np.flatnonzero(B[:, j])
            for parent in parents:
                without = left(j, parents[parents != parent])
                assert 400 * np.log(without / left(j, parents)) >= penalty * np.log(400) - 1e-9


def test_a_path_is_that_of_single_fits(table):
    path = penalty_path(table, [8, 1, 2], model=ICID(noise="unequal"))
    assert path.penalties.tolist() == [1.0, 2.0, 8.0]
    for penalty, graph in zip(path.penalties, path.graphs, strict=True):
        alone = ICID(noise="unequal", penalty=penalty).fit(table).adjacency_matrix_
        assert (graph != alone).nnz == 0
    assert path.counts == [graph.nnz for graph in path.graphs]


def test_edges_say_how_long_they_last(table):
    path = penalty_path(table, [1, 4, 16])
    edges = path.edges()
    pairs = [frozenset(pair) for pair in zip(edges["source"], edges["target"], strict=True)]
    assert len(set(pairs)) == len(pairs)
    for pair, largest, joined in zip(pairs, edges["largest"], edges["joined"], strict=True):
        i, j = pair
        at = [bool(graph[i, j] or graph[j, i]) for graph in path.graphs]
        assert joined == pytest.approx(np.mean(at))
        assert largest == max(p for p, there in zip(path.penalties, at, strict=True) if there)
    assert list(edges["largest"]) == sorted(edges["largest"], reverse=True)


def test_bad_penalties_are_refused(table):
    for penalty in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"^penalty = .* it must be"):
            ICID(penalty=penalty).fit(table)
    with pytest.raises(TypeError, match="penalty"):
        ICID(penalty="bic").fit(table)
    for penalties in ([], [0.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match=r"^penalties = "):
            penalty_path(table, penalties)
    with pytest.raises(ValueError, match=r"^refine=None learns no graph by the score"):
        penalty_path(table, model=ICID(refine=None))

"""What each edge rests on: the order of claims, the pattern of open edges, and the table of edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from icid_rs import ICID, CausalGraph, datasets, equivalence_class
from icid_rs.graph.edges import Edge, edge_columns, list_edges
from icid_rs.graph.evidence import DIRECTIONS, EdgeEvidence, directions, edge_ends
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.orientation import orient
from tests.helpers.graphs import graphs
from tests.helpers.needs import need

#: Two causes of 2, whose arrows are compelled; and the reversible chain 3 → 4 → 5.
B = sp.csr_array((np.ones(4), ([0, 1, 3, 4], [2, 2, 4, 5])), shape=(6, 6))
CLASS = equivalence_class(B)


class TestDirections:
    def test_the_class_compels_colliders(self):
        assert directions(B, CLASS).tolist() == ["compelled", "compelled", "open", "open"]

    def test_a_shape_at_one_end_orients(self):
        assert directions(B, CLASS, shaped=[3]).tolist() == ["compelled", "compelled", "shape", "open"]
        assert directions(B, CLASS, shaped=[4]).tolist()[2:] == ["shape", "shape"]

    def test_noise_variances_orient_all(self):
        assert set(directions(B, CLASS, by_variance=True, shaped=[3])) == {"variance"}
        assert set(directions(B, None, by_variance=True)) == {"variance"}

    def test_knowledge_comes_first_and_has_consequences(self):
        known = Knowledge.make(range(6), required=[(3, 4)])
        rests = directions(B, orient(CLASS, known), knowledge=known, by_variance=True)
        # 4 → 5 follows: otherwise 4 would be a collider.
        assert rests.tolist() == ["variance", "variance", "knowledge", "knowledge"]

    def test_tiers_are_knowledge(self):
        known = Knowledge.make(range(6), tiers=[[0, 1, 3], [2, 4, 5]])
        rests = directions(B, orient(CLASS, known), knowledge=known)
        assert rests.tolist() == ["knowledge"] * 4
        apart = Knowledge.make(range(6), tiers=[[0], [1]])
        assert directions(B, orient(CLASS, apart), knowledge=apart).tolist() == directions(B, CLASS).tolist()

    def test_graphs_with_cycles_claim_nothing(self):
        assert set(directions(B, None)) == {"open"}


class TestGraphs:
    def test_directions_written_down_are_known(self):
        assert CausalGraph(B).evidence_.direction.tolist() == ["knowledge"] * 4

    def test_reversible_edges_of_a_given_class_are_open(self):
        graph = CausalGraph(B, cpdag=CLASS)
        assert graph.evidence_.direction.tolist() == ["compelled", "compelled", "open", "open"]

    def test_open_edges_are_reversible(self):
        graph = CausalGraph(B, cpdag=CLASS, evidence=EdgeEvidence.unknown(4))
        assert (graph.cpdag_.toarray() == (B + B.T).toarray()).all()

    @settings(deadline=None, max_examples=50)
    @given(graphs())
    def test_evidence_stays_with_its_edge(self, graph):
        whole = {(e.source, e.target): e for e in list_edges(graph.adjacency_matrix_, graph.names_, graph.evidence_)}
        part = graph.subgraph(graph.names_[0])
        for edge in list_edges(part.adjacency_matrix_, part.names_, part.evidence_):
            assert edge == whole[edge.source, edge.target]

    @pytest.mark.parametrize(
        ("column", "value", "message"),
        [
            ("direction", "up", "'a' → 'b' has direction = 'up': it must be one of 'compelled'"),
            ("stability", 1.1, "'a' → 'b' has stability = 1.1: it must be from 0 to 1"),
            ("joined", -0.1, "'a' → 'b' has joined = -0.1"),
            ("p_value", 1.1, "'a' → 'b' has p_value = 1.1"),
            ("std_error", -1.0, "'a' → 'b' has std_error = -1.0: it must be finite and not negative"),
            ("standardised", np.inf, "'a' → 'b' has standardised = inf: it must be finite"),
        ],
    )
    def test_impossible_evidence_is_refused(self, column, value, message):
        evidence = replace(EdgeEvidence.unknown(1), **{column: np.array([value])})
        with pytest.raises(ValueError, match=message):
            CausalGraph([[0, 1.0], [0, 0]], ["a", "b"], evidence=evidence)

    def test_evidence_for_other_edges_is_refused(self):
        with pytest.raises(ValueError, match=r"evidence.standardised has shape \(2,\), but there are 1 edges"):
            CausalGraph([[0, 1.0], [0, 0]], evidence=EdgeEvidence.unknown(2))
        with pytest.raises(TypeError, match="evidence must be EdgeEvidence, not str"):
            CausalGraph([[0, 1.0], [0, 0]], evidence="strong")


class TestTable:
    def test_strongest_first(self):
        weights = sp.csr_array([[0, 5.0, -1.0, 3.0], [0, 0, 2.0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
        evidence = replace(EdgeEvidence.unknown(4), standardised=np.array([0.1, -0.9, np.nan, np.nan]))
        assert edge_columns(weights, range(4), evidence)["weight"].tolist() == [-1.0, 5.0, 3.0, 2.0]
        assert edge_columns(weights, range(4))["weight"].tolist() == [5.0, 3.0, 2.0, -1.0]

    def test_what_is_not_known_is_none_in_lists(self):
        (edge,) = list_edges(sp.csr_array([[0, 0.5], [0, 0]]), "ab")
        assert edge == Edge("a", "b", 0.5, direction="open")

    def test_a_graph_without_edges(self):
        graph = CausalGraph(np.zeros((2, 2)))
        assert graph.edges().columns.tolist() == list(Edge._fields[:-1])
        assert len(graph.edges()) == 0

    def test_polars_in_polars_out(self):
        pl = need("polars")
        X = datasets.sample_sem([[0, 0.9, 0], [0, 0, 0.9], [0, 0, 0]], 500, random_state=0)
        ours, theirs = (ICID().fit(frame(X, columns=list("abc"))) for frame in (pd.DataFrame, _polars_frame))
        edges = theirs.edges()
        assert isinstance(edges, pl.DataFrame)
        assert edges.columns == ours.edges().columns.tolist()
        assert edges["source"].to_list() == ours.edges().source.tolist()
        assert edges["weight"].to_list() == ours.edges().weight.tolist()
        unknown = theirs.subgraph("a")._with_evidence(EdgeEvidence.unknown(theirs.subgraph("a").adjacency_matrix_.nnz))
        assert isinstance(unknown.edges(), pl.DataFrame)
        assert unknown.edges()["std_error"].null_count() == len(unknown.edges())
        assert isinstance(ours.edges(), pd.DataFrame)


def _polars_frame(X, columns):
    return need("polars").DataFrame(X, schema=columns)


def test_repr_says_what_was_found():
    assert repr(CausalGraph(B)) == "CausalGraph(6 variables, 4 edges)"
    assert repr(CausalGraph(B, cpdag=CLASS)) == "CausalGraph(6 variables, 4 edges, 2 directions claimed)"
    assert repr(ICID(noise="equal")) == "ICID(noise='equal')"


class TestFits:
    def test_standardised_weights_do_not_depend_on_units(self):
        weights = datasets.random_dag(10, 1, random_state=0)
        X = datasets.sample_sem(weights, 1000, noise="laplace", random_state=0)
        model = ICID(noise="unequal").fit(X)
        scaled = ICID(noise="unequal").fit(X * np.geomspace(0.01, 100, 10))
        assert (model.adjacency_matrix_ != 0).toarray().tolist() == (scaled.adjacency_matrix_ != 0).toarray().tolist()
        np.testing.assert_allclose(model.graph_.evidence_.standardised, scaled.graph_.evidence_.standardised)
        causes, effects = edge_ends(model.adjacency_matrix_)
        deviations = X.std(axis=0)
        expected = model.adjacency_matrix_.data * deviations[causes] / deviations[effects]
        np.testing.assert_allclose(model.graph_.evidence_.standardised, expected)

    def test_each_kind_of_claim(self):
        weights = [[0, 0.9, 0], [0, 0, 0.9], [0, 0, 0]]
        gaussian = datasets.sample_sem(weights, 2000, noise_variances=[1.0, 0.5, 2.0], random_state=0)
        shaped = datasets.sample_sem(weights, 2000, noise="exponential", random_state=0)
        for options, X, kind in (
            ({"noise": "equal"}, gaussian, "variance"),
            ({"noise_variances": 1.0}, gaussian, "variance"),
            ({"noise": "unequal"}, gaussian, "open"),
            ({"noise": "unequal"}, shaped, "shape"),
            ({"noise": "unequal", "tiers": [[0], [1], [2]]}, gaussian, "knowledge"),
        ):
            model = ICID(**options).fit(X)
            assert set(model.edges().direction) == {kind} <= set(DIRECTIONS)
            reversible = (model.cpdag_ + model.cpdag_.T).toarray() == 2
            causes, effects = edge_ends(model.adjacency_matrix_)
            is_open = model.graph_.evidence_.direction == "open"
            assert reversible[causes[is_open], effects[is_open]].all()

"""Ways out and back: nothing is lost, and arrows point the right way."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import re
import stat
import subprocess
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import ICID, CausalGraph, datasets, load
from icid_rs._util import files
from icid_rs.export.networks import from_graphml
from icid_rs.export.schema import from_json
from icid_rs.export.tables import from_csv
from icid_rs.graph.edges import Edge
from icid_rs.graph.evidence import EdgeEvidence
from tests.helpers.graphs import AWKWARD, assert_same, assert_same_matrix, graphs, text_names
from tests.helpers.needs import needs_graphviz

EDGE = {"source": "cloud", "target": "wet", "weight": 1}
CONVENTIONS = st.sampled_from(["row_to_column", "column_to_row"])
RAIN = CausalGraph([[0, 0.5, 0], [0, 0, -2.0], [0, 0, 0]], ["cloud", "rain", "wet"], noise_variances=[1.0, 2.0, 3.0])


@pytest.fixture(scope="module")
def model() -> ICID:
    B = datasets.random_dag(15, 1, random_state=0)
    X = datasets.sample_sem(B, 500, random_state=0) + np.arange(15)
    return ICID().fit(pd.DataFrame(X, columns=AWKWARD[:15]))


class TestRoundTrips:
    @settings(deadline=None, max_examples=50)
    @given(graphs())
    def test_json(self, graph):
        assert_same(from_json(graph.to_json(), CausalGraph), graph)

    @settings(deadline=None, max_examples=50)
    @given(graphs(st.integers() | text_names()))
    def test_json_of_mixed_names(self, graph):
        assert_same(from_json(graph.to_json(), CausalGraph), graph)

    @settings(deadline=None, max_examples=50)
    @given(graphs(), CONVENTIONS)
    def test_networkx(self, graph, convention):
        assert_same(CausalGraph.from_networkx(graph.to_networkx(convention=convention)), graph, settings=False)

    @settings(deadline=None, max_examples=50)
    @given(graphs(text_names(xml=True)) | graphs(st.integers(-(2**70), 2**70)), CONVENTIONS)
    def test_graphml(self, graph, convention):
        assert_same(from_graphml(graph.to_graphml(convention=convention).encode(), CausalGraph), graph, settings=False)

    @settings(deadline=None, max_examples=50)
    @given(graphs())
    def test_pickle(self, graph):
        assert_same(pickle.loads(pickle.dumps(graph)), graph)

    @settings(deadline=None, max_examples=50)
    @given(graphs(text_names()), CONVENTIONS)
    def test_csv(self, graph, convention):
        again = from_csv(graph.to_csv(convention=convention), CausalGraph)
        columns = ["source", "target"]
        ours, theirs = (g.edges().sort_values(columns, ignore_index=True) for g in (again, graph))
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)

    @pytest.mark.parametrize("suffix", ["json", "graphml"])
    def test_files_of_a_model(self, model, tmp_path, suffix):
        model.save(tmp_path / f"graph.{suffix}")
        again = load(tmp_path / f"graph.{suffix}")
        assert again.names_ == AWKWARD[:15]
        for key in ("adjacency_matrix_", "cpdag_"):
            assert_same_matrix(getattr(again, key), getattr(model, key))
        for key in ("causal_order_", "noise_variances_", "location_"):
            np.testing.assert_array_equal(getattr(again, key), getattr(model, key))
        assert again.edges().equals(model.edges())

    def test_files_of_0_1_open(self):
        old = {
            "format": "icid_rs.graph",
            "version": 1,
            "library": "icid_rs 0.1.0",
            "names": ["a", "b", "c", "d"],
            "noise_variances": None,
            "means": None,
            "causal_order": ["a", "b", "c", "d"],
            "settings": {},
            "info": {"noise": "unequal", "identified": "equivalence class"},
            "edges": [
                {"source": "a", "target": "c", "weight": 2.0, "reversible": False},
                {"source": "b", "target": "c", "weight": 1.0, "reversible": False},
                {"source": "b", "target": "d", "weight": 0.5, "reversible": True},
            ],
        }
        graph = from_json(json.dumps(old), CausalGraph)
        assert graph.edges().direction.tolist() == ["compelled", "compelled", "open"]
        for noise, direction in (("equal", "variance"), ("known", "variance"), ("unequal", "shape")):
            old["info"] = {"noise": noise, "identified": "graph"}
            assert from_json(json.dumps(old), CausalGraph).edges().direction.tolist()[2] == direction

    def test_open_edges_are_marked(self):
        evidence = EdgeEvidence.unknown(2)
        evidence.direction[1] = "shape"
        graph = CausalGraph(RAIN.adjacency_matrix_, RAIN.names_, evidence=evidence)
        assert '"cloud" -> "rain" [label="0.5", dir=none, direction="open"]' in graph.to_dot()
        assert '"rain" -> "wet" [label="-2"];' in graph.to_dot()
        network = graph.to_networkx()
        assert {(a, b): kind for a, b, kind in network.edges(data="direction")} == {
            ("cloud", "rain"): "open",
            ("rain", "wet"): "shape",
        }
        assert network.edges["cloud", "rain"]["reversible"]
        assert graph.to_csv().splitlines()[1:] == ["rain,wet,-2.0,shape", "cloud,rain,0.5,open"]

    def test_a_graph_with_cycles(self):
        graph = CausalGraph([[0, 1.0], [2.0, 0]])
        assert_same(from_json(graph.to_json(), CausalGraph), graph)
        assert_same(from_graphml(graph.to_graphml().encode(), CausalGraph), graph)

    def test_confidence_is_a_column(self):
        graph = CausalGraph(RAIN.adjacency_matrix_, RAIN.names_, confidence=0.5 * (RAIN.adjacency_matrix_ != 0))
        assert list(graph.edges().columns) == [*RAIN.edges().columns, "confidence"]
        for again in (
            from_json(graph.to_json(), CausalGraph),
            from_graphml(graph.to_graphml().encode(), CausalGraph),
            from_csv(graph.to_csv(), CausalGraph),
        ):
            assert set(again.edges().confidence) == {0.5}

    def test_settings_are_those_of_the_estimator(self, model):
        content = json.loads(model.to_json())
        assert content["library"].startswith("icid_rs ")
        assert content["settings"]["precision"] == "auto"
        assert content["info"]["precision"] == "fdr"
        assert model.set_params(lambda1=np.array([0.1, 0.2]), callback=print).to_json()
        model.set_params(lambda1="auto", callback=None)


class TestDirections:
    """In the hands of those who read it, the cause comes first."""

    def test_networkx(self):
        assert set(RAIN.to_networkx().edges) == {("cloud", "rain"), ("rain", "wet")}
        np.testing.assert_array_equal(nx.to_numpy_array(RAIN.to_networkx()), RAIN.adjacency_matrix_.toarray())
        np.testing.assert_array_equal(
            nx.to_numpy_array(RAIN.to_networkx(convention="column_to_row")), RAIN.adjacency_matrix_.toarray().T
        )

    def test_graphml(self):
        network = nx.read_graphml(io.BytesIO(RAIN.to_graphml().encode()))
        assert {(a, b): w for a, b, w in network.edges(data="weight")} == {("cloud", "rain"): 0.5, ("rain", "wet"): -2}
        assert network.nodes["wet"]["noise_variance"] == 3.0

    def test_pandas(self):
        frame = RAIN.to_pandas()
        assert frame.loc["cloud", "rain"] == 0.5
        assert (frame.index.name, frame.columns.name) == ("source", "target")
        other = RAIN.to_pandas(convention="column_to_row")
        assert other.loc["rain", "cloud"] == 0.5
        assert (other.index.name, other.columns.name) == ("target", "source")

    def test_csv(self):
        known = ["source", "target", "weight", "direction"]
        assert pd.read_csv(io.StringIO(RAIN.to_csv())).equals(RAIN.edges()[known])
        first = RAIN.to_csv(convention="column_to_row").splitlines()[:2]
        assert first == ["target,source,weight,direction", "wet,rain,-2.0,knowledge"]

    def test_dot(self):
        assert '"cloud" -> "rain"' in RAIN.to_dot()
        assert '"rain" -> "cloud"' in RAIN.to_dot(convention="column_to_row")

    def test_json(self):
        edges = json.loads(RAIN.to_json())["edges"]
        assert [(e["source"], e["target"], e["weight"]) for e in edges] == [
            ("rain", "wet", -2.0),
            ("cloud", "rain", 0.5),
        ]

    @pytest.mark.parametrize("export", ["to_networkx", "to_pandas", "to_graphml", "to_dot", "to_csv", "total_effects"])
    def test_unknown_conventions_are_refused(self, export):
        with pytest.raises(ValueError, match="convention = 'rows'"):
            getattr(RAIN, export)(convention="rows")

    @needs_graphviz
    @settings(deadline=None, max_examples=20)
    @given(graphs(text_names(xml=True), largest=4))
    def test_dot_is_drawn_with_the_names_as_they_are(self, graph):
        drawn = subprocess.run(["dot", "-Tsvg"], input=graph.to_dot().encode(), capture_output=True, check=True).stdout
        found = {text for text in ElementTree.fromstring(drawn).itertext() if text.strip()}
        # Graphviz draws a line of text for each line of a name, and joins some spaces.
        for line in [" ".join(line.split()) for name in graph.names_ for line in re.split("[\r\n]", name)]:
            assert not line or line in {" ".join(text.split()) for text in found}

    @needs_graphviz
    def test_names_that_look_like_none_to_graphviz(self):
        graph = CausalGraph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["%", "%5", "&#37;"])
        drawn = subprocess.run(["dot", "-Tsvg"], input=graph.to_dot().encode(), capture_output=True, check=True).stdout
        nodes = [node for node in ElementTree.fromstring(drawn).iter() if node.get("class") == "node"]
        assert [[text for text in node.itertext() if text.strip()][-1] for node in nodes] == ["%", "%5", "&#37;"]


class TestNames:
    def test_formulas_are_kept_unless_a_spreadsheet_is_to_open_them(self):
        graph = CausalGraph([[0, -1.0], [0, 0]], ["=cmd|' /C calc'!A0", "@x"])
        plain = list(csv.reader(io.StringIO(graph.to_csv())))
        assert plain[1] == ["=cmd|' /C calc'!A0", "@x", "-1.0", "knowledge"]
        safe = list(csv.reader(io.StringIO(graph.to_csv(spreadsheet=True))))
        assert safe[1] == ["'=cmd|' /C calc'!A0", "'@x", "-1.0", "knowledge"]

    def test_what_xml_cannot_hold(self):
        with pytest.raises(ValueError, match=r"GraphML cannot hold '\\x00'"):
            CausalGraph(np.zeros((1, 1)), ["a\0"]).to_graphml()

    def test_names_that_are_one_in_text(self):
        graph = CausalGraph(np.zeros((2, 2)), [1, "1"])
        for export in ("to_csv", "to_dot", "to_graphml"):
            with pytest.raises(ValueError, match="the names 1 and '1' are the same text"):
                getattr(graph, export)()
        with pytest.raises(ValueError, match="partly strings and partly integers"):
            CausalGraph(np.zeros((2, 2)), [1, "b"]).to_graphml()

    def test_names_of_other_types(self):
        with pytest.raises(TypeError, match=r"strings or integers, not \('a', 1\)"):
            CausalGraph(np.zeros((1, 1)), [("a", 1)]).to_json()

    def test_half_characters(self, tmp_path):
        with pytest.raises(ValueError, match="half of a character"):
            CausalGraph(np.zeros((1, 1)), ["\ud800"]).save(tmp_path / "graph.json")
        assert not list(tmp_path.iterdir())


class TestFiles:
    def test_files_of_others(self, tmp_path):
        (tmp_path / "edges.csv").write_text("\ufeffsource,target,weight\r\ncloud,été,2\r\n", encoding="utf-8")
        assert load(tmp_path / "edges.csv").edges().iloc[0, :3].tolist() == ["cloud", "été", 2.0]
        text = RAIN.to_graphml().replace("cloud", "été").replace("utf-8", "iso-8859-1", 1)
        (tmp_path / "graph.graphml").write_bytes(text.encode("latin-1"))
        assert load(tmp_path / "graph.graphml").names_ == ["été", "rain", "wet"]

    def test_nothing_half_written_is_left(self, tmp_path, monkeypatch):
        path = tmp_path / "graph.json"
        path.write_text("old")

        def fail(descriptor):
            raise KeyboardInterrupt

        monkeypatch.setattr(files.os, "fsync", fail)
        with pytest.raises(KeyboardInterrupt):
            RAIN.save(path)
        assert [p.name for p in tmp_path.iterdir()] == ["graph.json"]
        assert path.read_text() == "old"

    def test_permissions_and_links_are_kept(self, tmp_path):
        path, link = tmp_path / "graph.json", tmp_path / "link.json"
        RAIN.save(path)
        mask = os.umask(0)
        os.umask(mask)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
        path.chmod(0o640)
        link.symlink_to(path)
        CausalGraph([[0.0]]).save(link)
        assert link.is_symlink()
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert load(path).n_features_in_ == 1

    def test_suffixes(self, tmp_path):
        with pytest.raises(ValueError, match=r"one of .json, .graphml, .*, not '.xls'"):
            RAIN.save(tmp_path / "graph.xls")
        with pytest.raises(ValueError, match=r"one of .json, .graphml, .csv, not '.pkl'"):
            load(tmp_path / "graph.pkl")
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none.json")

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"format": "other"}, "not a graph written by icid_rs"),
            ({"version": 3}, "reads versions up to 2; install a newer one"),
            ({"version": "1"}, "version = '1'"),
            ({"names": ["cloud", "rain", "rain"]}, "'wet' is not among the names"),
            ({"names": ["cloud", "rain", "wet", "wet"], "noise_variances": None}, "'wet' occurs more than once"),
            ({"names": ["cloud", "rain", None]}, r"names\[2\] must be a string"),
            ({"names": "cloud"}, "names must be a list"),
            ({"noise_variances": [1.0]}, "noise_variances has length 1"),
            ({"noise_variances": [1.0, -1.0, 1.0]}, r"noise_variances\[1\] = -1.0"),
            ({"noise_variances": [1.0, "x", 1.0]}, r"noise_variances\[1\] must be a number, not 'x'"),
            ({"causal_order": ["wet", "rain", "cloud"]}, "causal_order puts"),
            ({"causal_order": ["cloud", "rain"]}, "causal_order must hold each"),
            ({"edges": [{"source": "cloud", "target": "rain", "weight": "1"}]}, r"edges\[0\].weight must be a number"),
            ({"edges": [{"source": "cloud", "target": "snow", "weight": 1}]}, r"edges\[0\].target: 'snow' is not"),
            ({"edges": [{"source": "rain", "target": "rain", "weight": 1}]}, "its own cause"),
            ({"edges": [{"source": "cloud", "target": "wet", "weight": 1}] * 2}, "more than once"),
            ({"edges": [{"source": "cloud", "target": "wet", "weight": 0}]}, "'cloud' → 'wet' has the weight 0"),
            ({"edges": [3]}, r"edges\[0\] must be an object"),
            ({"edges": None}, "edges must be a list"),
            ({"edges": [{"source": "cloud", "target": "wet", "weight": 10**400}]}, "too large"),
            ({"edges": [{"source": "cloud", "target": "wet", "weight": 1, "reversible": 1}]}, "must be true or false"),
            ({"edges": [{**EDGE, "direction": "up"}]}, "the edge 'cloud' → 'wet' has direction = 'up'"),
            ({"edges": [{**EDGE, "direction": 3}]}, r"edges\[0\].direction must be a string"),
            ({"edges": [{**EDGE, "stability": 1.5}]}, "the edge 'cloud' → 'wet' has stability = 1.5"),
            ({"edges": [{**EDGE, "joined": -0.5}]}, "has joined = -0.5"),
            ({"edges": [{**EDGE, "p_value": 2}]}, "has p_value = 2.0"),
            ({"edges": [{**EDGE, "std_error": -1}]}, "has std_error = -1.0"),
            ({"edges": [{**EDGE, "margin": "3"}]}, r"edges\[0\].margin must be a number"),
            ({"settings": []}, "settings must be an object"),
        ],
    )
    def test_json_is_checked(self, tmp_path, change, message):
        path = tmp_path / "graph.json"
        path.write_text(json.dumps({**json.loads(RAIN.to_json()), **change}))
        with pytest.raises(ValueError, match=message) as caught:
            load(path)
        assert str(path) in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("graph.json", b"{", "not valid JSON.*line 1 column 2"),
            ("graph.json", b"", "not valid JSON"),
            ("graph.json", b"[" * 100_000, "not valid JSON"),
            ("graph.json", b'{"x": NaN}', "holds NaN"),
            ("graph.json", b"\xff\xfe", "no UTF-8"),
            ("graph.graphml", b"<graphml", "not valid GraphML"),
            ("graph.graphml", b"<html/>", "not valid GraphML"),
            ("edges.csv", b"a,b\n", "must name the columns source"),
            ("edges.csv", b"", "must name the columns source"),
            ("edges.csv", b"source,target,weight\na,b\n", "line 2 has 2 cells"),
            ("edges.csv", b"source,target,weight\na,b,x\n", "line 2, column 'weight': 'x' is not a number"),
            ("edges.csv", b"source,target,weight\na,b,1\na,b,1\n", "'a' → 'b' is listed more than once"),
            ("edges.csv", b"source,target,weight\na,b,0\n", "'a' → 'b' has the weight 0"),
            ("edges.csv", b"source,target,weight,margin\na,b,1,x\n", "line 2, column 'margin': 'x' is not a number"),
            ("edges.csv", b"source,target,weight,margin\na,b,1,inf\n", "'a' → 'b' has margin = inf"),
            ("edges.csv", b"source,target,weight,direction\na,b,1,up\n", "'a' → 'b' has direction = 'up'"),
            ("edges.csv", b'source,target,weight\n"a,b,1\n', "line 2: unexpected end of data"),
        ],
    )
    def test_bad_files(self, tmp_path, name, content, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load(tmp_path / name)


def test_missing_libraries_are_named(monkeypatch):
    import sys

    for module, export, extra in (
        ("networkx", "to_networkx", "networkx"),
        ("networkx", "to_graphml", "networkx"),
        ("pandas", "to_pandas", "pandas"),
        ("dowhy", "to_dowhy", "dowhy"),
        ("causallearn", "to_causallearn", "causal-learn"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        for name in [name for name in sys.modules if name.startswith(module + ".")]:
            monkeypatch.delitem(sys.modules, name)
        with pytest.raises(ImportError) as caught:
            getattr(RAIN, export)()
        assert str(caught.value).endswith(f"needs {module}: pip install 'icid_rs[{extra}]'")
    assert RAIN.edges()[0] == Edge("rain", "wet", -2.0, direction="knowledge")

"""The page is whole, harmless and right; notebooks show a summary above scikit-learn's picture."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from icid_rs import ICID, CausalGraph, datasets
from icid_rs.export.web import render_page, summarise
from icid_rs.graph.evidence import EdgeEvidence
from tests.helpers.needs import need

pd = need("pandas")

#: Names that end an element, open a comment, end a line in JavaScript, or are markup.
NASTY = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!-- <script>",
    "a\u2028b\u2029c",
    "\"quoted\" & 'single' \\ ${x}",
    "]]> $title",
]
VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """Elements with their attributes and text; complains about what is not closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            self.open[-1][2] += data

    def find(self, tag, **attributes):
        return [e for e in self.elements if e[0] == tag and all(e[1].get(k) == v for k, v in attributes.items())]

    def payload(self):
        ((_, _, text),) = self.find("script", id="data")
        return json.loads(text)


@pytest.fixture(scope="module")
def model():
    B = datasets.random_dag(12, 1, random_state=3)
    X = datasets.sample_sem(B, 500, random_state=0)
    return ICID().fit(pd.DataFrame(X, columns=[f"<b>{i}</b>" for i in range(12)]))


def test_payload_holds_the_graph():
    B = datasets.random_dag(60, 2, random_state=0)
    confidence = np.random.default_rng(0).uniform(size=(60, 60))
    data = Page(render_page(B, [f"v{i}" for i in range(60)], confidence=confidence)).payload()
    edges = data["edges"]
    back = np.zeros((60, 60))
    back[edges["source"], edges["target"]] = edges["weight"]
    assert np.allclose(back, B.toarray(), rtol=1e-4)
    assert np.allclose(edges["confidence"], confidence[edges["source"], edges["target"]], atol=1e-4)
    assert all(len(route) % 4 == 0 for route in edges["route"])
    assert len(data["names"]) == len(data["x"]) == len(data["y"]) == len(data["width"]) == 60

    effects = np.linalg.inv(np.eye(60) - B.toarray()) - np.eye(60)
    for side, matrix in (("on", effects), ("from", effects.T)):
        for i, listed in enumerate(data["effects"][side]):
            strongest = np.sort(np.abs(matrix[i]))[::-1][: len(listed)]
            assert np.allclose([abs(value) for _, value in listed], strongest, rtol=1e-4)
            assert np.allclose([matrix[i, j] for j, _ in listed], [value for _, value in listed], rtol=1e-4)


def test_effects_are_left_out_where_there_is_a_cycle():
    assert Page(render_page([[0, 2.0], [1.0, 0]])).payload()["effects"] is None


def test_nothing_comes_from_a_network():
    text = render_page(datasets.random_dag(20, 1, random_state=0))
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bsrc=|\bhref=|fetch\(|XMLHttpRequest|eval\(", text)
    page = Page(text)
    ((_, policy, _),) = [e for e in page.find("meta") if e[1].get("http-equiv") == "Content-Security-Policy"]
    assert policy["content"].startswith("default-src 'none'")
    assert not page.find("link")


def test_names_stay_text():
    d = len(NASTY)
    text = render_page(np.diag(np.ones(d - 1), 1), NASTY, title="<script>alert('title')</script>")
    page = Page(text)
    assert page.payload()["names"] == NASTY
    assert [attributes for tag, attributes, _ in page.find("script")] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert not page.find("img")
    assert page.find("title")[0][2] == page.find("h1")[0][2] == "<script>alert('title')</script>"
    data = text[text.index('id="data">') + 10 :].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(data)


def test_every_control_has_a_name():
    page = Page(render_page([[0, 1.0], [0, 0]]))
    labelled = {e[1]["for"] for e in page.find("label")}
    assert all(e[1]["id"] in labelled for e in page.find("input"))
    assert all(e[1].get("aria-label") for e in page.find("button"))
    identifiers = [e[1]["id"] for e in page.elements if "id" in e[1]]
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize("d", [1, 3])
def test_graphs_without_edges_have_a_page(d):
    assert Page(render_page(np.zeros((d, d)))).payload()["edges"]["weight"] == []


def test_files_are_written_as_a_whole(model, tmp_path, monkeypatch):
    path = tmp_path / "graph.html"
    assert model.to_html(path) is None
    assert path.read_text(encoding="utf-8") == model.to_html()
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        model.to_html(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["graph.html"]


def test_what_is_refused(model, tmp_path):
    with pytest.raises(NotFittedError):
        ICID().to_html(tmp_path / "graph.html")
    with pytest.raises(ValueError, match="confidence"):
        model.to_html(tmp_path / "graph.html", confidence=np.ones((2, 2)))
    assert not os.listdir(tmp_path)


def test_summary_tells_what_was_found(model):
    text = model._repr_html_()
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
    page = Page(text[: text.index("<style>")] if "<style>" in text else text)
    edges = model.edges()
    cells = [e[2] for e in page.find("td")]
    assert cells[0::4] == edges.source[:8].tolist()
    assert cells[2::4] == edges.target[:8].tolist()
    assert f"12 variables, {len(edges)} edges" in text
    assert "<b>0</b>" not in text
    assert [e[2] for e in page.find("text")] == model.feature_names_in_.tolist()
    assert len(page.find("polygon")) == (edges.direction != "open").sum()


def test_large_graphs_have_no_small_picture():
    B = datasets.random_dag(100, 1, random_state=0)
    assert "<svg" not in summarise(B, range(100), title="Causal graph")


def test_scikit_learn_keeps_its_own_picture(model):
    plain = ICID()
    for text in (plain._repr_html_(), plain._repr_mimebundle_()["text/html"]):
        assert "sk-" in text
        assert "Causal graph" not in text
    assert "sk-" in model._repr_html_()
    assert "sk-" in model._repr_mimebundle_()["text/html"]
    assert "ICID" in make_pipeline(StandardScaler(), model)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_open_edges_have_no_heads():
    B = [[0, 1.0, 1.0], [0, 0, 0], [0, 0, 0]]
    reversible = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert Page(render_page(B, reversible=reversible)).payload()["edges"]["open"] == [1, 0]
    assert summarise(B, range(3), title="", reversible=reversible).count("<polygon") == 1


def test_evidence_is_in_the_page():
    evidence = replace(
        EdgeEvidence.unknown(3),
        standardised=np.array([0.1, -0.9, 0.2]),
        direction=np.array(["open", "shape", "compelled"], dtype="<U9"),
        stability=np.array([0.1, 1.0, np.nan]),
        joined=np.array([0.5, 1.0, 1.0]),
    )
    graph = CausalGraph([[0, 5.0, 1.0], [0, 0, 2.0], [0, 0, 0]], ["a", "b", "c"], evidence=evidence)
    text = graph.to_html(report="Rows: <5>")
    data = Page(text).payload()
    edges = data["edges"]
    by_ends = {(i, j): k for k, (i, j) in enumerate(zip(edges["source"], edges["target"], strict=True))}
    order = [by_ends[ends] for ends in ((0, 1), (0, 2), (1, 2))]
    assert [edges["size"][k] for k in order] == [0.1, -0.9, 0.2]
    assert [edges["open"][k] for k in order] == [1, 0, 0]
    assert [edges["sure"][k] for k in order] == [0.5, 1.0, 1.0]
    assert [edges["evidence"]["stability"][k] for k in order] == [0.1, 1.0, None]
    assert "margin" not in edges["evidence"]
    assert data["scale"]["name"] == "standardised weight"
    assert Page(text).find("pre")[0][2] == "Rows: <5>"
    assert not Page(graph.to_html()).find("details")


def test_colours_can_be_read():
    """Text has at least the contrast of 4.5 that WCAG 2 asks for, in both themes."""

    def luminance(colour):
        channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    text = render_page([[0.0]])
    themes = re.findall(r":root[^{]*\{([^}]*)\}", text)
    assert len(themes) == 2
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#\w{6})", theme))
        for front, back in [("ink", "page"), ("ink", "panel"), ("muted", "panel"), ("muted", "page"), ("ink", "fill")]:
            light, dark = sorted([luminance(colours[front]), luminance(colours[back])], reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, back)

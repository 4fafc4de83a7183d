"""The page about a fit."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, datasets

TITLES = ["IN SHORT", "THE TABLE", "DOES THE TABLE", "HOW THE GRAPH", "WHAT WAS FOUND", "HOW WELL", "WHAT TO DO"]


@pytest.fixture(scope="module")
def table():
    return datasets.sample_sem(datasets.random_dag(12, 2, random_state=0), 800, random_state=0)


def test_the_page_has_its_parts_and_is_short(table):
    model = ICID(noise="unequal").fit(table)
    for page in (model.report(), model.report(table)):
        lines = page.splitlines()
        assert [line for line in lines if line and not line.startswith(" ")] == [
            next(line for line in lines if line.startswith(title)) for title in TITLES
        ]
        assert len(lines) <= 70
        assert max(map(len, lines)) <= 110
        assert "800 rows and 12 columns" in page
        assert "Nothing in the table speaks against" in page
    html = model.report()._repr_html_()
    assert html.count("<h4>") == len(TITLES)
    assert repr(model.report()) == str(model.report())


def test_every_edge_is_in_one_group(table):
    model = ICID(noise="unequal").fit(table)
    summary = model.report().splitlines()[1]
    counts = [int(word) for word in summary.replace(".", " ").split() if word.isdigit()]
    assert sum(counts) == model.adjacency_matrix_.nnz


def test_faults_of_the_table_are_told_with_remedies(table):
    spoiled = table.copy()
    spoiled[:9, 3] = -999
    page = ICID().fit(spoiled).report()
    assert "FAIL  every number is a measurement" in page
    assert "3 (-999 in 9 rows)" in page
    assert "replace it by NaN" in page


def test_names_are_escaped_in_notebooks():
    pd = pytest.importorskip("pandas")
    X = datasets.sample_sem([[0, 0.8], [0, 0]], 300, random_state=0)
    page = ICID().fit(pd.DataFrame(X, columns=["<b>", "&"])).report()
    assert "<b> " in page
    assert "<b>" not in page._repr_html_()


@pytest.mark.parametrize("parameters", [{"dag": None}, {"missing": "drop"}, {"refine": None}, {"missing": "pairwise"}])
def test_other_fits_have_a_page_too(table, parameters):
    X = table.copy()
    if "missing" in parameters:
        X[:5, 2] = np.nan
    page = ICID(**parameters).fit(X).report()
    assert ("missing values" in page) == ("missing" in parameters)


def test_a_given_precision_has_a_page():
    page = ICID(precision="precomputed").fit([[1.25, -0.5], [-0.5, 1.0]]).report()
    assert "no rows" in page
    assert "not measured" in page

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
    assert "Nothing that a fit looks at speaks against the method" in model.report()
    assert "Nothing in the table speaks against" in model.report(table)
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
    page = " ".join(ICID().fit(spoiled).report().split())
    assert "FAIL every number is a measurement" in page
    assert "3 (-999 in 9 rows)" in page
    assert "replace it by NaN" in page


def test_steps_say_what_was_found_and_what_to_do(table):
    spoiled = table.copy()
    spoiled[:9, 3] = -999
    steps = ICID().fit(spoiled).report().split("WHAT TO DO NEXT")[1]
    assert "1 of 12 columns has a repeated value far from all others: if it stands for a missing value" in " ".join(
        steps.split()
    )


def test_the_page_says_what_the_shape_of_scatter_was_good_for():
    """A page without a claim by shape must not say that shapes told directions."""
    B = datasets.random_dag(8, 1, random_state=0)
    lopsided = datasets.sample_sem(B, 800, noise="exponential", random_state=0)
    page = " ".join(ICID().fit(lopsided / lopsided.std(axis=0)).report().split())
    assert "Directions that rest on it are marked." in page
    rng = np.random.default_rng(0)
    causes = rng.exponential(size=(2000, 4))
    uneven = np.column_stack([causes, causes + causes * (rng.exponential(size=(2000, 4)) - 1)])
    page = " ".join(ICID(hidden=None, measurement_error=None, transform=None).fit(uneven).report(uneven).split())
    assert "FAIL what is left does not depend on causes" in page
    assert "No direction is claimed by it, since what is left of columns depends on their causes." in page


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
    assert "Not measured" in page

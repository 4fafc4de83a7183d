"""The page of the paper's tables follows from the stored results, and runs go on where they ended."""

from __future__ import annotations

import csv
import importlib
import itertools
import subprocess
import sys

import pytest

from tests.helpers import ROOT


def paper(name):
    return importlib.import_module(f"benches.paper.{name}" if name else "benches.paper")


def test_committed_page_is_made_of_the_committed_results():
    page, places = paper("report.page"), paper("__main__").FULL
    assert page.compose(page.load(places.results), places.figures, places.page) == places.page.read_text("utf-8")


def test_rows_of_a_table_have_as_many_fields_as_its_head():
    lines = paper("__main__").FULL.page.read_text("utf-8").splitlines()
    bars = [line.replace("\\|", "").count("|") if line.startswith("|") else 0 for line in lines]
    assert all(here == before for before, here in itertools.pairwise(bars) if before and here)


def test_page_links_to_figures_that_exist():
    places = paper("__main__").FULL
    links = [part.split(")")[0] for part in places.page.read_text("utf-8").split("](")[1:]]
    assert links
    assert all((places.page.parent / link).exists() for link in links)


def test_page_needs_nothing_but_python():
    code = "import sys; from benches.paper.report import page; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "matplotlib", "icid_rs"} & set(loaded.split())


def test_page_without_results_says_so(tmp_path):
    page = paper("report.page")
    text = page.compose(page.load(tmp_path), tmp_path / "figures", tmp_path / "paper.md")
    assert "there were no NetSim data" in text
    assert "Not measured." in text


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_page_of_a_run_that_was_ended(share, tmp_path):
    page, places = paper("report.page"), paper("__main__").FULL
    results = page.load(places.results)
    begun = {name: rows[: max(1, int(share * len(rows)))] for name, rows in results.items() if name != "criterion"}
    begun["criterion"] = [row for row in results["criterion"] if row["seed"] == "0"]
    text = page.compose(begun, tmp_path / "figures", tmp_path / "paper.md")
    assert "nan |" not in text


def test_page_shows_every_experiment():
    assert tuple(paper("experiments").ALL) == paper("report.page").EXPERIMENTS


def test_stored_results_are_all_cells_of_a_full_run():
    experiments, runner, store = paper("experiments").ALL, paper("__main__"), paper("store")
    for name, experiment in experiments.items():
        table = store.Table(runner.FULL.results / f"{name}.csv", experiment.KEYS)
        wanted = {table.identify(cell) for cell in experiment.cells(quick=False)}
        assert wanted <= table.finished(), name


def test_quick_run_writes_elsewhere():
    runner = paper("__main__")
    assert not set(runner.QUICK) & set(runner.FULL)
    assert all(path.is_relative_to(ROOT / "results") for path in runner.QUICK)


def test_finished_cells_are_not_run_again(tmp_path):
    runner, signs = paper("__main__"), paper("experiments.signs")
    jobs = list(runner.unfinished({"signs": signs}, tmp_path, quick=True))
    runner.measure(jobs[:3])
    left = list(runner.unfinished({"signs": signs}, tmp_path, quick=True))
    assert [job[3] for job in left] == [job[3] for job in jobs[3:]]
    table = left[0][2]
    assert len(table.rows()) == 3
    table.clear()
    assert len(list(runner.unfinished({"signs": signs}, tmp_path, quick=True))) == len(jobs)


@pytest.mark.parametrize("name", ["scalability", "oracle", "misspecified", "criterion"])
def test_an_experiment_fills_its_keys_and_finds_what_the_page_shows(name, tmp_path):
    runner, experiment = paper("__main__"), paper("experiments").ALL[name]
    first = next(runner.unfinished({name: experiment}, tmp_path, quick=True))
    runner.measure([first])
    rows = first[2].rows()
    assert rows
    assert first[2].finished() == {first[2].identify(first[3])}
    with (runner.FULL.results / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        assert list(rows[0]) == next(csv.reader(file))


def test_other_columns_than_stored_are_refused(tmp_path):
    table = paper("store").Table(tmp_path / "x.csv", ("a",))
    table.append([{"a": 1, "b": 2.5}])
    with pytest.raises(SystemExit, match="--force"):
        table.append([{"a": 2, "c": 1.0}])


def test_printed_numbers_are_those_of_the_paper():
    printed = paper("printed")
    assert printed.oracle("ER2", "0.4", "O-ICID", "shd")[:2] == (12.4, 23.081)
    assert printed.oracle("SF4", "1", "GH18", "tpr")[:2] == (0.08, 0.04)
    assert printed.oracle("SF4", "1", "GES", "seconds") is None
    graphs, exponents = ("ER1", "ER2", "ER3", "SF2", "SF4"), ("0", "0.1", "0.2", "0.4", "0.8", "1")
    cells = [(graph, exponent) for graph in graphs for exponent in exponents]
    assert all(printed.oracle(*cell, "O-ICID", "shd").deviation is not None for cell in cells)
    assert printed.numbers()["Table 1", "Sim4", "", "ICID (skew)", "shd"].value == 6

"""The page is what the stored runs say, and the measures are what their definitions say."""

import numpy as np
import pytest
import scipy.sparse as sp
from benches.peers import figures, report, store
from benches.peers.scores import score
from matplotlib.testing.compare import compare_images

COLLIDER = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]])
CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
UNDIRECTED = CHAIN + CHAIN.T


def test_the_page_is_regenerated_exactly(tmp_path):
    report.write(store.stored(), tmp_path / "results.md")
    assert (tmp_path / "results.md").read_text() == report.PAGE.read_text()


def test_the_figures_are_regenerated(tmp_path):
    figures.draw(store.stored(), tmp_path)
    for path in figures.FOLDER.glob("peers-*.png"):
        assert compare_images(path, tmp_path / path.name, tol=5) is None


@pytest.mark.parametrize(("graph", "kind"), [(COLLIDER, "dag"), (COLLIDER, "cpdag"), (UNDIRECTED, "cpdag")])
def test_the_truth_has_distance_zero(graph, kind):
    true = COLLIDER if graph is COLLIDER else CHAIN
    found = score(sp.csr_array(true), graph, kind)
    assert (found["shd"], found["class_distance"], found["sid"]) == (0, 0, 0)
    assert (found["tpr"], found["fdr"]) == (1, 0)


def test_graphs_of_one_class_differ_as_graphs_only():
    found = score(sp.csr_array(CHAIN), CHAIN.T, "dag")
    assert (found["shd"], found["class_distance"], found["sid"]) == (2, 0, 0)


def test_a_collider_is_not_a_chain():
    found = score(sp.csr_array(CHAIN), COLLIDER, "dag")
    assert (found["shd"], found["class_distance"]) == (1, 2)
    assert found["sid"] > 0


def test_a_result_with_cycles_is_told():
    cyclic = CHAIN.astype(float)
    cyclic[2, 0] = 0.1
    found = score(sp.csr_array(CHAIN), cyclic, "dag")
    assert not found["acyclic"]
    assert found["class_distance"] == 0

"""Layouts have their properties, and figures show what they should without leaving anything behind."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, datasets
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.plotting import plot_bootstrap, plot_convergence, plot_graph, plot_matrix, style
from icid_rs.plotting.layers import Layered, _longest_paths, assign_layers
from icid_rs.plotting.layout import layered_layout, spread
from icid_rs.plotting.part import HEIGHT
from tests.helpers.needs import need

need("matplotlib")

GRAPHS = [(2, 0), (10, 1), (30, 2), (60, 1), (60, 4), (200, 1)]


def graph(d, degree, kind="ER", seed=0):
    return datasets.random_dag(d, degree, kind, random_state=seed)


def layout_of(B, **options):
    widths = 2.0 + np.arange(B.shape[0]) % 5
    return layered_layout(B, widths, **options)


def boxes(layout):
    half = layout.widths / 2
    return layout.x - half, layout.y - HEIGHT / 2, layout.x + half, layout.y + HEIGHT / 2


def points_along(route, steps=24):
    """Points of the drawn edge: level pieces, and Bézier curves between them."""
    points = []
    t = np.linspace(0, 1, steps)[:, None]
    for k in range(1, len(route)):
        start, end = route[k - 1], route[k]
        if k % 2:
            points.append(start + t * (end - start))
        else:
            middle = (start[0] + end[0]) / 2
            a, b = np.array([middle, start[1]]), np.array([middle, end[1]])
            points.append((1 - t) ** 3 * start + 3 * (1 - t) ** 2 * t * a + 3 * (1 - t) * t**2 * b + t**3 * end)
    return np.concatenate(points)


@pytest.mark.parametrize(("d", "degree"), GRAPHS)
@pytest.mark.parametrize("kind", ["ER", "SF"])
def test_edges_lead_to_later_layers_on_the_right(d, degree, kind):
    B = graph(d, degree, kind)
    layout = layout_of(B)
    assert layout.source.size == B.nnz
    assert (layout.layer[layout.source] < layout.layer[layout.target]).all()
    assert (layout.x[layout.source] < layout.x[layout.target]).all()
    assert ((layout.layer < 0) == (np.diff(B.indptr) + np.bincount(B.indices, minlength=d) == 0)).all()


@pytest.mark.parametrize(("d", "degree"), GRAPHS)
def test_variables_do_not_overlap_and_lie_inside(d, degree):
    layout = layout_of(graph(d, degree))
    left, top, right, bottom = boxes(layout)
    assert left.min() > -1e-9
    assert top.min() > -1e-9
    assert right.max() < layout.size[0] + 1e-9
    assert bottom.max() < layout.size[1] + 1e-9
    for i, j in combinations(range(d), 2):
        apart = left[i] >= right[j] or left[j] >= right[i] or top[i] >= bottom[j] - 1e-9 or top[j] >= bottom[i] - 1e-9
        assert apart, (i, j)


@pytest.mark.parametrize(("d", "degree"), GRAPHS)
def test_edges_do_not_hide_behind_variables(d, degree):
    layout = layout_of(graph(d, degree))
    left, top, right, bottom = boxes(layout)
    for e, route in enumerate(layout.routes):
        i, j = layout.source[e], layout.target[e]
        assert np.allclose(route[0], [right[i], layout.y[i]])
        assert np.isclose(route[-1, 0], left[j])
        assert top[j] < route[-1, 1] < bottom[j]
        x, y = points_along(route).T[:, :, None]
        inside = (x > left + 1e-6) & (x < right - 1e-6) & (y > top + 1e-6) & (y < bottom - 1e-6)
        assert not inside.any()


def test_the_same_graph_is_always_drawn_the_same_way():
    B = graph(120, 2)
    first, second = layout_of(B), layout_of(B)
    assert (first.x == second.x).all()
    assert (first.y == second.y).all()
    assert all((a == b).all() for a, b in zip(first.routes, second.routes, strict=True))


def test_layers_make_edges_no_longer_than_longest_paths_do():
    B = graph(80, 2)
    source, target = (part.astype(np.intp) for part in B.nonzero())
    order = np.argsort(layout_of(B).layer, kind="stable")
    short, long = assign_layers(source, target, order), _longest_paths(source, target, order)
    assert (short[source] < short[target]).all()
    assert (long[source] < long[target]).all()
    assert (short[target] - short[source]).sum() <= (long[target] - long[source]).sum()


def test_arranging_removes_crossings_and_trees_have_none():
    def crossings(graph, layers):
        place = {node: k for nodes in layers for k, node in enumerate(nodes.tolist())}
        segments = list(zip(graph.lower.tolist(), graph.upper.tolist(), strict=True))
        return sum(
            (place[a] - place[c]) * (place[b] - place[d]) < 0
            for (a, b), (c, d) in combinations(segments, 2)
            if graph.layer[a] == graph.layer[c]
        )

    B = graph(40, 2)
    source, target = (part.astype(np.intp) for part in B.nonzero())
    cut = Layered.cut(source, target, assign_layers(source, target, np.arange(40)))
    plain = np.split(np.argsort(cut.layer, kind="stable"), np.cumsum(np.bincount(cut.layer))[:-1])
    assert cut.crossings(plain) == crossings(cut, plain)
    assert cut.crossings(cut.arrange()) == crossings(cut, cut.arrange()) < crossings(cut, plain) / 2

    source, target = np.arange(1, 31) // 2, np.arange(1, 31)
    source, target = source[target > 1], target[target > 1]
    tree = Layered.cut(source - 1, target - 1, assign_layers(source - 1, target - 1, np.arange(30)))
    assert tree.crossings(tree.arrange()) == 0


def test_cycles_are_drawn_backwards_along_the_order():
    B = sp.csr_array([[0, 2.0, 0], [0, 0, 3.0], [1.0, 0, 0]])
    layout = layout_of(B)
    assert (layout.x[layout.source] < layout.x[layout.target]).tolist() == [True, True, False]
    assert layout.routes[2][0, 0] > layout.routes[2][-1, 0]


def test_isolated_variables_may_be_left_out():
    B = sp.csr_array(([1.0], ([0], [2])), shape=(4, 4))
    assert np.isnan(layout_of(B, isolated=False).x).tolist() == [False, True, False, True]
    below = layout_of(B)
    assert below.y[[1, 3]].min() > below.y[[0, 2]].max()
    assert "2 without edges left out" in plot_graph(B, isolated=False).texts[-1].get_text()


@pytest.mark.parametrize("d", [1, 10, 50, 200])
def test_every_variable_is_labelled_readably(d):
    names = [f"gene {i}" for i in range(d)]
    ax = plot_graph(graph(d, min(1, d - 1)), names)
    labels = [text for text in ax.texts if text.get_text() in set(names)]
    assert len(labels) == d
    assert min(text.get_fontsize() for text in labels) >= 5
    ax.figure.draw_without_rendering()
    renderer = ax.figure.canvas.get_renderer()
    extents = [text.get_window_extent(renderer) for text in labels]
    assert not any(a.overlaps(b) for a, b in combinations(extents, 2))


def test_large_graphs_label_the_best_connected_and_say_so():
    B = graph(1000, 1)
    ax = plot_graph(B)
    *labels, caption = [text.get_text() for text in ax.texts]
    assert 10 <= len(labels) <= 30
    assert f"labels: {len(labels)} of the best connected" in caption
    degree = np.diff(B.indptr) + np.bincount(B.indices, minlength=1000)
    assert degree[[int(label) for label in labels]].min() > np.median(degree)


def test_colours_and_widths_follow_the_weights():
    ax = plot_graph([[0, 2.0, -1.0, 0.1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    lines = ax.collections[0]
    widths, colours = lines.get_linewidths(), lines.get_edgecolors()
    assert (np.diff(widths) > 0).all()
    assert colours[2][0] > colours[2][2]
    assert colours[1][2] > colours[1][0]
    pale = plot_graph([[0, 1.0], [0, 0]], confidence=[[0, 0.2], [0, 0]]).collections[0].get_edgecolors()
    assert pale[0, 3] < 0.5


@pytest.mark.parametrize(("d", "degree"), GRAPHS)
def test_flat_drawings_are_spread(d, degree):
    flat = layout_of(graph(d, degree))
    tall = spread(flat, 0.5, 2.0)
    factor = tall.size[1] / flat.size[1]
    assert 1 <= factor <= 2
    np.testing.assert_allclose(tall.y, factor * flat.y)
    np.testing.assert_array_equal(tall.x, flat.x)
    for before, after, i, j in zip(flat.routes, tall.routes, flat.source, flat.target, strict=True):
        np.testing.assert_allclose(after[0, 1] - tall.y[i], before[0, 1] - flat.y[i], atol=1e-9)
        np.testing.assert_allclose(after[-1, 1] - tall.y[j], before[-1, 1] - flat.y[j], atol=1e-9)
    assert spread(flat, 1e9, 2.0) is flat


def test_open_edges_have_no_heads():
    ax = plot_graph([[0, 1.0, 1.0], [0, 0, 0], [0, 0, 0]], reversible=[[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    lines, heads = ax.collections[:2]
    assert (len(lines.get_paths()), len(heads.get_paths())) == (2, 1)
    assert "no arrowhead: direction open" in ax.texts[-1].get_text()


def test_marks_follow_the_evidence():
    evidence = replace(
        EdgeEvidence.unknown(3),
        standardised=np.array([0.1, -0.5, -0.9]),
        direction=np.array(["open", "compelled", "shape"], dtype="<U9"),
        stability=np.array([0.1, 0.9, np.nan]),
        joined=np.array([0.5, 1.0, 1.0]),
    )
    ax = plot_graph([[0, 5.0, 2.0, 1.0], [0] * 4, [0] * 4, [0] * 4], evidence=evidence)
    lines = ax.collections[0]
    assert (np.diff(lines.get_linewidths()) > 0).all()
    colours = lines.get_edgecolors()
    assert colours[2][2] > colours[2][0]
    # An open edge is as sure as that it is there: its direction is not claimed.
    np.testing.assert_allclose(colours[:, 3], [0.575, 0.915, 1.0])
    assert ax.texts[-1].get_text() == "paler: less sure; no arrowhead: direction open"
    assert ax.child_axes[0].get_title() == "standardised weight"


def test_a_graph_whose_edges_are_all_open():
    ax = plot_graph([[0, 1.0], [0, 0]], reversible=[[0, 1], [1, 0]])
    assert len(ax.collections[1].get_paths()) == 0
    ax.figure.draw_without_rendering()


def test_names_are_not_formulas():
    names = ["$a_1$", "cost_$_per_$", "two\nlines", ""]
    ax = plot_graph(np.zeros((4, 4)), names)
    assert {"$a_1$", "cost_$_per_$", "two lines", "·"} <= {text.get_text() for text in ax.texts}
    ax.figure.draw_without_rendering()
    plot_matrix(np.eye(4), np.zeros((4, 4)), names).draw_without_rendering()
    plot_bootstrap([[0, 1], [0, 0]], names[:2]).draw_without_rendering()


def test_given_axes_are_used():
    from matplotlib.figure import Figure

    axes = Figure(figsize=(8, 3)).subplots(1, 2)
    assert plot_graph(graph(10, 1), ax=axes[1]) is axes[1]
    assert not axes[0].collections
    # pyplot shows its own figures in notebooks, and should not do so twice.
    assert not hasattr(axes[1], "_repr_png_")


def test_matrices_are_in_causal_order_and_keep_single_entries():
    B = graph(600, 1)
    theta = datasets.sem_precision(B)
    axes = plot_matrix(theta, B).axes
    image = axes[1].images[0].get_array()
    assert image.shape == (200, 200)
    assert np.abs(image).max() == np.abs(B.data).max()
    assert (np.tril(image, -1) == 0).all()
    assert "3 × 3" in axes[1].get_title(loc="left")
    with pytest.raises(ValueError, match="shape"):
        plot_matrix(np.eye(3), np.zeros((2, 2)))


def test_convergence_of_rounds_and_of_single_iterations():
    records = [{"iteration": k, "objective": 1 / k, "optimality": 10.0**-k} for k in (10, 20, 30)]
    assert [ax.get_ylabel() for ax in plot_convergence(records).axes] == ["objective", "optimality"]
    rounds = [{"iterations": 5, "objective": 2.0, "optimality": 0.1, "residual": 1.0} for _ in range(3)]
    axes = plot_convergence(rounds).axes
    assert axes[2].lines[0].get_xdata().tolist() == [5, 10, 15]
    assert axes[2].get_yscale() == "log"
    assert axes[0].get_title(loc="left") == ""
    with pytest.raises(ValueError, match="empty"):
        plot_convergence([])


def test_a_single_round_is_explained():
    model = ICID().fit(datasets.sample_sem(graph(10, 1), 400, random_state=0))
    axes = model.plot_convergence().axes
    assert len(axes[0].lines[0].get_xdata()) == 1
    title = axes[0].get_title(loc="left")
    assert "only proposed a causal order" in title
    assert "One record" in title
    alone = ICID(refine=None, max_alm_iter=4).fit(datasets.sample_sem(graph(10, 1), 400, random_state=0))
    assert "proposed" not in alone.plot_convergence().axes[0].get_title(loc="left")


def test_bootstrap_shows_the_surest_edges_and_their_reverse():
    P = np.array([[0, 0.7, 0.2], [0.3, 0, 0], [0, 0.9, 0]])
    result = SimpleNamespace(names=["a", "b", "c"], edge_probabilities=P, n=50)
    heat, bars = plot_bootstrap(result, top=2).axes[:2]
    assert [label.get_text() for label in bars.get_yticklabels()] == ["c → b", "a → b"]
    assert [bar.get_width() for bar in bars.containers[0]] == pytest.approx([0, 0.3])
    assert "50 resamples" in heat.get_title(loc="left")
    with pytest.raises(ValueError, match="between 0 and 1"):
        plot_bootstrap([[0, 2], [0, 0]])
    with pytest.raises(ValueError, match="square"):
        plot_bootstrap([[0, 1]])


@pytest.fixture(scope="module")
def model():
    return ICID().fit(datasets.sample_sem(graph(15, 1), 400, random_state=0))


def test_a_model_draws_itself(model):
    size = f"15 variables, {model.adjacency_matrix_.nnz} edges"
    assert any(size in text.get_text() for text in model.plot().texts)
    assert len(model.plot_matrix().axes) == 4
    assert len(model.plot_convergence().axes) == 3


def test_what_is_refused(model):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ICID().plot()
    with pytest.raises(ValueError, match=r"shape \(15, 15\)"):
        model.plot(confidence=np.ones((3, 3)))
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.plot(confidence=np.full((15, 15), 7))
    with pytest.raises(ValueError, match="2 names for 3 variables"):
        plot_graph(np.zeros((3, 3)), ["a", "b"])


@pytest.mark.parametrize("draw", ["plot", "plot_matrix", "plot_convergence"])
def test_missing_matplotlib_is_named(model, draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"needs matplotlib: pip install 'icid_rs\[plot\]'$"):
        getattr(model, draw)()


def test_pyplot_is_left_alone():
    code = (
        "import sys, icid_rs; assert 'matplotlib' not in sys.modules\n"
        "from icid_rs.plotting import plot_graph; plot_graph([[0, 1.0], [0, 0]])\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pictures_show_themselves_in_notebooks(model):
    for picture in (model.plot(), model.plot_convergence()):
        assert picture._repr_png_().startswith(b"\x89PNG")
        assert pickle.loads(pickle.dumps(picture))._repr_png_().startswith(b"\x89PNG")


def test_weights_of_many_magnitudes_stay_visible():
    values, limit, linear = style.strengths([1e-3, -1e-3, 2e-3, 1e-3, 5.0])
    assert (limit, linear) == (5.0, 1e-3)
    assert np.abs(values).min() > 0.05
    assert (np.sign(values) == [1, -1, 1, 1, 1]).all()
    assert values.max() == 1


def test_labels_are_short():
    assert len(style.shorten("x" * 500)) <= 20
    assert style.shorten("a\u2028b\tc") == "a b c"
    assert style.label_widths(["変数"])[0] > style.label_widths(["ab"])[0]

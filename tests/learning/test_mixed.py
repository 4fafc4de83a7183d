"""Fits of tables in which some variables are categories of more than two levels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, CausalGraph, Moments, load
from icid_rs.graph.equivalence import equivalence_class

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
EDGES = [("a", "c"), ("b", "c"), ("c", "y"), ("y", "z"), ("k", "z")]
COLOURS = ("red", "green", "blue", "black")


def mixed_table(n: int = 2000, seed: int = 0) -> pd.DataFrame:
    """a → colour ← b, colour → y → kind ← k, and a number w that has nothing to do with them."""
    rng = np.random.default_rng(seed)
    a, b, k, w = rng.normal(size=(4, n))
    colour = np.array([0, 2, 3, 1])[np.searchsorted([-1.2, 0.0, 1.2], a + b + 0.7 * rng.normal(size=n))]
    y = np.array([1.0, -1.0, 0.5, 0.0])[colour] + 0.7 * rng.normal(size=n)
    kind = np.searchsorted([-1.0, 1.0], y + k + 0.5 * rng.normal(size=n))
    names = np.array(["low", "mid", "high"])[kind]
    return pd.DataFrame({"a": a, "b": b, "c": np.array(COLOURS)[colour], "y": y, "k": k, "z": names, "w": w})


def joined(model: Any) -> set[frozenset[str]]:
    names = model.variables_
    rows, columns = model.adjacency_matrix_.nonzero()
    return {frozenset((names[i], names[j])) for i, j in zip(rows, columns, strict=True)}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return mixed_table()


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> ICID:
    return ICID().fit(table)


def test_adjacencies_and_colliders_are_found(model: ICID) -> None:
    assert joined(model) == {frozenset(edge) for edge in EDGES}
    edges = {(edge.source, edge.target): edge for edge in model.edges().itertuples()}
    for edge in (("a", "c"), ("b", "c"), ("y", "z"), ("k", "z")):
        assert edges[edge].direction == "compelled"
        assert edges[edge].stability >= 0.9
        assert edges[edge].p_value < 1e-6
        assert 0 < edges[edge].weight < 1
        assert edges[edge].margin > 0


def test_shapes_of_results(model: ICID, table: pd.DataFrame) -> None:
    d = len(table.columns)
    for matrix in (model.adjacency_matrix_, model.precision_, model.covariance_, model.cpdag_):
        assert matrix.shape == (d, d)
    is_category = np.isin(model.variables_, ["c", "z"])
    for vector in (model.noise_variances_, model.location_, model.measurement_error_):
        assert vector.shape == (d,)
    np.testing.assert_array_equal(np.isnan(model.location_), is_category)
    assert np.isnan(model.covariance_[is_category]).all()
    assert ((model.noise_variances_ > 0) & ((model.noise_variances_ <= 1) | ~is_category)).all()
    assert model.info_["categories"] == {"c": 4, "z": 3}
    assert "categories" in model.info_["measurement"]["note"]
    assert "c (4 levels), z (3 levels)" in model.report()


def test_levels_references_and_columns_may_come_in_any_order(model: ICID, table: pd.DataFrame) -> None:
    other = table.assign(
        c=table.c.map(dict(zip(COLOURS, "zyxw", strict=True))), z=table.z.map({"low": "2", "mid": "1", "high": "3"})
    )
    again = ICID(categorical=["z"]).fit(other)
    np.testing.assert_allclose(again.adjacency_matrix_.toarray(), model.adjacency_matrix_.toarray(), atol=1e-9)
    shuffled = list(np.random.default_rng(0).permutation(table.columns))
    permuted = ICID().fit(table[shuffled])
    at = [shuffled.index(name) for name in table.columns]
    np.testing.assert_allclose(
        permuted.adjacency_matrix_.toarray()[np.ix_(at, at)], model.adjacency_matrix_.toarray(), atol=1e-9
    )
    np.testing.assert_array_equal(permuted.cpdag_.toarray()[np.ix_(at, at)], model.cpdag_.toarray())


def test_numbers_alone_are_fitted_as_before(table: pd.DataFrame) -> None:
    """Labels of two levels are a 0/1 column, and nothing of what is for wider categories is used."""
    numbers = table[["a", "b", "y", "k", "w"]].assign(male=np.where(table.a + table.b > 0, "yes", "no"))
    coded = numbers.assign(male=(numbers.male == "yes").astype(float))
    one, two = ICID().fit(numbers), ICID().fit(coded.to_numpy())
    np.testing.assert_array_equal(one.adjacency_matrix_.toarray(), two.adjacency_matrix_.toarray())
    assert one.graph_.column_model_ is None
    assert one.info_["categories"] == {}


def test_coefficients_are_those_of_least_squares(model: ICID, table: pd.DataFrame) -> None:
    levels = sorted(COLOURS)
    found, means = model.coefficients("c", "y"), table.groupby("c").y.mean()
    np.testing.assert_allclose(found["y"], means[levels[1:]] - means[levels[0]], rtol=0.01)
    assert levels[0] in found.index.name
    towards = model.coefficients("a", "c")
    assert towards.columns.tolist() == levels
    np.testing.assert_allclose(towards.sum(axis=1), 0, atol=1e-12)
    assert towards.loc["a", "green"] > 0 > towards.loc["a", "red"]
    assert not model.coefficients("w", "c").to_numpy().any()
    assert ICID().fit(table[["a", "b"]]).coefficients("a", "b").shape == (1, 1)


def test_knowledge_is_about_variables(table: pd.DataFrame) -> None:
    tiers = [["a", "b", "c", "w"], ["y", "k", "z"]]
    known = ICID(required=[("w", "c")], forbidden=[("y", "c")], tiers=tiers).fit(table)
    B = pd.DataFrame(known.adjacency_matrix_.toarray(), known.variables_, known.variables_)
    assert B.loc["w", "c"] != 0
    assert B.loc["c", "y"] != 0
    assert known.edges().query("source == 'w'").direction.item() == "knowledge"


def test_answers_that_need_no_weights_are_given_and_others_refused(model: ICID, table: pd.DataFrame) -> None:
    assert model.d_separated("a", "y", "c")
    assert model.graph_.adjustment_sets("a", "z")
    refusals = {
        "effect": lambda: model.effect("a", "y"),
        "total_effects": model.total_effects,
        "joint_effects": lambda: model.joint_effects(["a"], "y"),
        "falsify": lambda: model.falsify(table),
    }
    for ask in refusals.values():
        with pytest.raises(ValueError, match=r"'c', 'z' are categories of more than two levels"):
            ask()


def test_predictions_and_samples_know_levels(model: ICID, table: pd.DataFrame) -> None:
    assert (model.predict(table, "c") == table.c).mean() > 0.5
    assert np.corrcoef(model.predict(table, "y"), table.y)[0, 1] > 0.7
    everything = model.predict(table)
    assert everything.shape == table.shape
    np.testing.assert_array_equal(everything[:, 2], model.predict(table, "c"))
    drawn = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(
        drawn.c.value_counts(normalize=True)[list(COLOURS)],
        table.c.value_counts(normalize=True)[list(COLOURS)],
        atol=0.03,
    )
    np.testing.assert_allclose(drawn.y.std(), table.y.std(), rtol=0.05)
    fixed = model.sample(5000, do={"z": "low", "k": 1.0}, random_state=0)
    assert (fixed.z == "low").all()
    assert (fixed.k == 1.0).all()
    assert abs(fixed.y.mean() - table.y.mean()) < 0.1
    with pytest.raises(ValueError, match="none of its levels"):
        model.sample(10, do={"c": "pink"})
    forced = ICID(tiers=[["c"], ["y"]]).fit(table)
    means = table.groupby("c").y.mean()
    np.testing.assert_allclose(forced.predict(table[:1], "y", do={"c": "red"}), means["red"], atol=0.05)


def test_the_likelihood_of_held_out_rows_prefers_the_graph(model: ICID) -> None:
    new = mixed_table(seed=1)
    shuffled = new.assign(c=np.random.default_rng(0).permutation(new.c))
    assert model.score(new) > model.score(shuffled) + 0.1


def test_files_keep_the_equations(model: ICID, tmp_path: Any) -> None:
    path = tmp_path / "graph.json"
    model.save(path)
    graph = load(path)
    assert isinstance(graph, CausalGraph)
    np.testing.assert_array_equal(graph.adjacency_matrix_.toarray(), model.adjacency_matrix_.toarray())
    np.testing.assert_array_equal(graph.coefficients("a", "c"), model.coefficients("a", "c"))
    np.testing.assert_array_equal(
        graph.predict(pd.DataFrame({"y": [1.0]}), "c"), model.predict(pd.DataFrame({"y": [1.0]}), "c")
    )
    for suffix in ("graphml", "dot", "csv", "html"):
        model.save(tmp_path / f"graph.{suffix}")
    with pytest.raises(ValueError, match="only JSON"):
        load(tmp_path / "graph.graphml")
    part = graph.subgraph(["c"])
    assert part.column_model_ is not None
    np.testing.assert_array_equal(part.coefficients("a", "c"), model.coefficients("a", "c"))


def test_damaged_equations_are_refused(model: ICID, tmp_path: Any) -> None:
    text = model.to_json()
    damages = {
        "levels": ('"levels": [null', '"levels": [[1]'),
        "means": ('"means": [[', '"means": [[1, '),
        "weights": ('"rows": [[', '"rows": [[7, '),
    }
    for member, (old, new) in damages.items():
        head, place, tail = text.partition('"columns"')
        path = tmp_path / "bad.json"
        path.write_text(head + place + tail.replace(old, new, 1))
        with pytest.raises(ValueError, match=f"columns.{member}"):
            load(path)


def test_bootstrap_checks_and_pictures(model: ICID, table: pd.DataFrame) -> None:
    clone = ICID(stability=None).fit(table)
    found = clone.bootstrap(table, 10)
    assert not found.failures
    c, y = (clone.variables_.index(name) for name in "cy")
    assert found.edge_probabilities[c, y] + found.edge_probabilities[y, c] == pytest.approx(1)
    check = model.check(table)
    assert check.verdict in ("pass", "doubt")
    assert check.fit is None
    model.plot()
    model.plot_matrix()


def test_a_rare_level_may_be_missing_in_resamples(table: pd.DataFrame) -> None:
    rare = table[:300].copy()
    rare.loc[:1, "c"] = "white"
    fitted = ICID(categorical=["c"], stability=None).fit(rare)
    assert not fitted.bootstrap(rare, 10).failures
    unused = rare.assign(c=pd.Categorical(rare.c, [*COLOURS, "white", "pink"]))
    assert ICID(stability=None).fit(unused).coefficients("c", "w").shape[0] == 4


@pytest.mark.parametrize("missing", ["em", "pairwise", "drop"])
def test_missing_values_of_categories(table: pd.DataFrame, missing: str) -> None:
    holes = table.copy()
    rng = np.random.default_rng(0)
    for name in ("c", "y", "z"):
        holes.loc[rng.random(len(holes)) < 0.05, name] = None
    with pytest.raises(ValueError, match="X contains NaN") as caught:
        ICID().fit(holes)
    # A category counts once, by its own name.
    assert f"{int(holes.isna().to_numpy().sum())} such entries" in str(caught.value)
    assert "=" not in str(caught.value).partition(";")[0]
    fitted = ICID(missing=missing).fit(holes)
    assert joined(fitted) == {frozenset(edge) for edge in EDGES}
    assert fitted.info_["missing"]["entries"] > 0


def test_few_rows_are_searched_without_an_inverse() -> None:
    rng = np.random.default_rng(0)
    n = 60
    data: dict[str, Any] = {f"x{k}": rng.normal(size=n) for k in range(50)}
    data |= {f"c{k}": np.array(list("abcd"))[rng.integers(0, 4, n)] for k in range(10)}
    data["y"] = data["x0"] + 3.0 * (data["c0"] == "a") + 0.1 * rng.normal(size=n)
    fitted = ICID().fit(pd.DataFrame(data))
    assert frozenset(("c0", "y")) in joined(fitted)
    assert fitted.precision_.shape == (61, 61)


def test_categories_that_determine_each_other(table: pd.DataFrame) -> None:
    group = table.c.map({"red": "warm", "green": "cold", "blue": "cold", "black": "none"})
    fitted = ICID().fit(table.assign(group=group))
    assert frozenset(("c", "group")) in joined(fitted)
    assert np.isfinite(fitted.adjacency_matrix_.data).all()


def test_groups_of_rows(table: pd.DataFrame) -> None:
    group = np.arange(len(table)) % 40
    shifted = table.assign(a=table.a + 5.0 * (group % 2), b=table.b + 5.0 * (group % 2))
    assert frozenset(("a", "b")) not in joined(ICID().fit(shifted, groups=group))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "empirical"}, "precision='empirical'"),
        ({"precision": "lasso"}, "precision='lasso'"),
        ({"noise": "equal"}, "noise='equal'"),
        ({"noise_variances": 1.0}, "noise_variances"),
        ({"refine": "order"}, "refine='order'"),
        ({"refine": None}, "refine=None"),
        ({"threshold": 0.1}, "threshold=0.1"),
        ({"ridge": 0.1}, "ridge=0.1"),
        ({"skewness": 1.0}, "skewness"),
        ({"hidden": 1}, "hidden=1"),
        ({"measurement_error": 0.1}, "measurement_error=0.1"),
    ],
)
def test_options_for_numbers_are_refused(table: pd.DataFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"{message}.*'c', 'z' are categories.*ordinal="):
        ICID(**options).fit(table)


def test_moments_say_that_they_are_of_numbers(table: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"'c' .*not numeric.*0/1 columns"):
        Moments().update(table)


def test_claims_are_few_where_nothing_is_compelled() -> None:
    """A chain through a category leaves all directions open."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    kind = np.searchsorted([-0.5, 0.5], x + 0.5 * rng.normal(size=2000))
    y = np.array([0.0, 2.0, 1.0])[kind] + rng.normal(size=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICID(categorical=["kind"]).fit(pd.DataFrame({"x": x, "kind": kind, "y": y}))
    assert joined(model) == {frozenset(("x", "kind")), frozenset(("kind", "y"))}
    assert (model.edges().direction == "open").all()
    np.testing.assert_array_equal(model.cpdag_.toarray(), equivalence_class(model.adjacency_matrix_).toarray())

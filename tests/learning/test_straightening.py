"""Distorted columns are straightened, clean ones left alone, and results are in the units of the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from icid_rs import ICID, AssumptionWarning, CausalGraph, Moments, datasets, equivalence_class, load, penalty_path

DISTORTIONS = {
    "exp": lambda x: np.exp(x / 2),
    "softplus": lambda x: np.logaddexp(0, x),
    "cube": lambda x: x**3,
    "20 ranks": lambda x: np.floor(20 * (np.apply_along_axis(rankdata, 0, x) - 0.5) / len(x)),
}


def table(seed: int, d: int = 15, n: int = 1000, noise: str = "gaussian"):
    B, variances = datasets.random_sem(d, 1, random_state=seed)
    return B, datasets.sample_sem(B, n, noise=noise, noise_variances=variances, random_state=seed)


def wrong(truth, model: ICID) -> int:
    """Count edges that are false, or claimed the wrong way round."""
    joined = (truth + truth.T) != 0
    false = (model.adjacency_matrix_.astype(bool) > joined).nnz
    claimed = model.cpdag_.astype(bool) > model.cpdag_.T.astype(bool)
    return false + (claimed.multiply(truth.T != 0) > (truth != 0)).nnz


@pytest.mark.parametrize("name", DISTORTIONS)
@pytest.mark.parametrize("seed", [0, 1])
def test_distortions_are_undone(name, seed):
    B, Z = table(seed)
    model = ICID().fit(DISTORTIONS[name](Z))
    assert set(model.info_["transform"].values()) == {"normal-scores"}
    assert wrong(B, model) <= 1
    assert "normal scores of" in model.report()


@pytest.mark.parametrize("noise", ["gaussian", "exponential", "uniform", "laplace", "gumbel"])
def test_clean_tables_are_left_alone_to_the_bit(noise):
    for seed in range(3):
        _, X = table(seed, d=10, noise=noise)
        models = [ICID(transform=transform).fit(X) for transform in ("auto", None)]
        assert models[0].info_["transform"] == {}
        for name in ("adjacency_matrix_", "cpdag_"):
            one, other = (getattr(model, name) for model in models)
            assert (one != other).nnz == 0


def test_rows_that_other_models_made_are_left_alone():
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 1000))
    uneven = np.column_stack([x, x + np.exp(0.7 * x) * e])
    curved = np.column_stack([x, x**2 + 0.3 * e])
    for X in (uneven, curved):
        assert ICID().fit(X).info_["transform"] == {}


def test_scores_do_not_depend_on_monotone_changes():
    _, Z = table(3)
    models = [ICID(transform="normal-scores").fit(X) for X in (Z, np.exp(Z), Z**3)]
    standardised = [np.sort(model.graph_.evidence_.standardised) for model in models]
    assert np.allclose(standardised[0], standardised[1], atol=1e-6)
    assert np.allclose(standardised[0], standardised[2], atol=1e-6)
    assert all(model.info_["noise"] == "unequal" for model in models)


def test_weights_are_in_the_units_of_the_table():
    B = np.array([[0, 0.8], [0, 0]])
    Z = datasets.sample_sem(B, 20_000, noise_variances=[1.0, 0.36], random_state=0)
    X = np.column_stack([100 * np.exp(Z[:, 0] / 2), np.exp(Z[:, 1] / 2)])
    model = ICID(required=[(0, 1)]).fit(X)
    slopes = np.exp(Z / 2).mean(axis=0) / 2 * [100, 1]
    expected = 0.8 * slopes[1] / slopes[0]
    assert model.adjacency_matrix_[0, 1] == pytest.approx(expected, rel=0.03)
    assert model.effect(0, 1).total == pytest.approx(expected, rel=0.03)
    assert model.effect(0, 1, data=X).total == pytest.approx(expected, rel=0.03)
    assert model.noise_variances_[0] == pytest.approx(slopes[0] ** 2, rel=0.05)


def test_samples_and_predictions_are_values_of_the_table(tmp_path):
    B, Z = table(0)
    names = [f"v{k}" for k in range(15)]
    X = pd.DataFrame(np.exp(Z), columns=names)
    model = ICID().fit(X)
    drawn = model.sample(5000, random_state=0)
    quantiles = [0.1, 0.5, 0.9]
    assert np.allclose(np.log(drawn.quantile(quantiles)), np.log(X.quantile(quantiles)), atol=0.15)
    cause, effect = next(zip(*B.nonzero(), strict=True))
    above = X[names[cause]].quantile(0.95)
    moved = model.sample(2000, do={names[cause]: above}, random_state=0)
    assert np.allclose(moved[names[cause]], above)
    predicted = model.predict(X, names[effect])
    assert np.corrcoef(np.log(predicted), Z[:, effect])[0, 1] > 0.5
    everything = model.predict(X)
    assert np.allclose(everything[:, effect], predicted)
    path = tmp_path / "graph.json"
    model.save(path)
    loaded = load(path)
    assert np.allclose(loaded.predict(X, names[effect]), predicted)
    assert loaded.subgraph(names[effect]).curves_
    assert np.isfinite(model.score(X))
    assert isinstance(model.graph_.subgraph(names[cause]), CausalGraph)


def test_categories_beside_distorted_numbers():
    rng = np.random.default_rng(0)
    _, Z = table(0, d=10)
    kind = np.array(["a", "b", "c"])[np.digitize(Z[:, 0] + 0.3 * rng.normal(size=len(Z)), [-0.5, 0.5])]
    X = pd.DataFrame(np.exp(Z), columns=[f"v{k}" for k in range(10)]).assign(kind=kind)
    model = ICID().fit(X)
    assert len(model.info_["transform"]) == 10
    assert "kind" not in model.info_["transform"]
    drawn = model.sample(300, random_state=0)
    assert (drawn["v3"] > 0).all()
    assert set(drawn["kind"]) <= {"a", "b", "c"}
    assert np.allclose(model.predict(X)[:, 3].astype(float), model.predict(X, "v3"))


def test_missing_values():
    B, Z = table(1)
    X = np.exp(Z)
    X[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    model = ICID(missing="em").fit(X)
    assert model.info_["transform"]
    assert wrong(B, model) <= 1


def test_other_entrances():
    B, Z = table(2)
    X = np.exp(Z)
    model = ICID().fit(X)
    found = model.bootstrap(X, n=3)
    assert (found.edge_probabilities.toarray()[model.adjacency_matrix_.nonzero()] > 0).mean() > 0.9
    assert penalty_path(X, [2.0]).counts[0] == pytest.approx(B.nnz, abs=2)
    true_class = equivalence_class(B)
    assert ((model.cpdag_ != 0) > ((true_class + true_class.T) != 0)).nnz == 0


def test_where_nothing_can_be_transformed():
    _, X = table(0, d=5)
    with pytest.raises(ValueError, match="transform needs the rows themselves"):
        ICID(transform="log").fit(Moments().update(np.exp(X)))
    with pytest.raises(ValueError, match="transform needs data"):
        ICID(transform="log", precision="precomputed").fit(np.eye(3))
    assert "noise variances" in ICID(noise="equal").fit(X).info_["choices"]["transform"]["reason"]
    assert "groups" in ICID().fit(X, groups=np.arange(len(X)) % 5).info_["choices"]["transform"]["reason"]


def test_copies_by_a_curve_are_kept_apart():
    _, Z = table(0)
    X = np.exp(Z)
    X = np.column_stack([X, X[:, 0] ** 2])
    assert "copies" in ICID(hidden=None, measurement_error=None).fit(X).info_["choices"]["transform"]["reason"]


def test_codes_for_missing_values_are_still_named():
    _, Z = table(0)
    X = np.exp(Z)
    X[:20, 2] = -999
    with pytest.warns(UserWarning, match="-999"):
        ICID().fit(X)


def test_the_parameter_is_no_method():
    assert not hasattr(ICID(), "transform")
    assert ICID(transform="log").get_params()["transform"] == "log"
    assert ICID().set_params(transform=None).get_params()["transform"] is None


@pytest.mark.parametrize(
    ("value", "error"), [("root", ValueError), (3, TypeError), ({"a": "root"}, ValueError), ({"a": 1}, ValueError)]
)
def test_bad_values(value, error):
    with pytest.raises(error, match="transform"):
        ICID(transform=value).fit(np.eye(3))


@pytest.mark.parametrize("seed", [7, 9])
def test_a_gross_row_does_not_look_like_curves(seed):
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(8, 1, random_state=rng)
    X = datasets.sample_sem(B, 10_000, noise_variances=rng.uniform(0.5, 2, 8), random_state=rng)
    row = int(rng.integers(10_000))
    X[row] = 30.0 * X.std(axis=0)
    with pytest.warns(AssumptionWarning, match=f"row {row}"):
        model = ICID(hidden=None, measurement_error=None).fit(X)
    assert model.info_["choices"]["transform"]["chosen"] is None


def test_shares_of_a_whole_are_still_combinations_of_each_other():
    """Normal scores of shares do not add up to one any more, but the shares do."""
    amounts = np.exp(table(0, d=8)[1] / 2)
    with pytest.raises(ValueError, match="linear combination"):
        ICID().fit(amounts / amounts.sum(axis=1, keepdims=True))

"""Claims of a fit: what each direction rests on."""

from __future__ import annotations

import numpy as np
import pytest

from icid_rs import ICID, Moments, datasets, equivalence_class, metrics
from tests.helpers.problems import table

COLLIDER = np.array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 0]])


def sample(B, n, seed=0, noise="gaussian", variances=1.0):
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=variances, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def directions(model: ICID) -> list[str]:
    return model.graph_.evidence_.direction.tolist()


def claimed(model: ICID) -> np.ndarray:
    pattern = model.cpdag_.toarray() != 0
    return pattern & ~pattern.T


def test_a_collider_is_compelled_and_a_chain_is_open():
    model = ICID().fit(sample(COLLIDER, 1000))
    assert directions(model) == ["compelled", "compelled"]
    assert model.info_["identified"] == "graph"
    model = ICID().fit(sample(np.diag([0.8, 0.8], k=1), 1000, variances=[1.0, 2.0, 0.7]))
    assert directions(model) == ["open", "open"]
    assert model.info_["identified"] == "equivalence class"
    assert not claimed(model).any()


def test_shapes_claim_what_the_class_leaves_open():
    B = np.diag([0.8, 0.8], k=1)
    model = ICID().fit(sample(B, 1000, noise="exponential"))
    assert directions(model) == ["shape", "shape"]
    assert model.info_["identified"] == "graph"
    assert (claimed(model) == (B != 0)).all()


@pytest.mark.parametrize("seed", range(2))
def test_shapes_of_what_was_measured_claim_beside_a_measurement_layer(seed):
    B, variances = datasets.random_sem(15, 1, random_state=seed)
    X = sample(B, 2000, seed, "exponential", variances)
    counts = []
    for parameters in ({"hidden": None, "measurement_error": None}, {"measurement_error": 0.01}):
        evidence = ICID(**parameters).fit(X).edges()
        shaped = evidence[evidence["direction"] == "shape"]
        assert all(B[cause, effect] != 0 for cause, effect in zip(shaped["source"], shaped["target"], strict=True))
        counts.append(len(shaped))
    assert counts[1] >= 0.7 * counts[0] > 0


def test_directions_that_shapes_get_wrong_are_not_claimed():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=1000)
    spread = np.column_stack([x, x + np.exp(x) * rng.normal(size=1000)])
    curved = np.column_stack([x, np.exp(x) + 0.3 * rng.normal(size=1000)])
    binary = np.column_stack([x, (x + rng.normal(size=1000) > 0).astype(float)])
    for X in (spread, curved, binary):
        assert directions(ICID().fit((X - X.mean(axis=0)) / X.std(axis=0))) == ["open"]


def test_an_unstable_collider_is_not_claimed():
    """With few rows chance decides whether the two causes look dependent given nothing."""
    rng = np.random.default_rng(3)
    cause = rng.normal(size=(150, 2)) @ np.linalg.cholesky(np.array([[1.0, 0.27], [0.27, 1.0]])).T
    X = np.column_stack([cause, cause.sum(axis=1) + rng.normal(size=150)])
    model = ICID(noise="unequal").fit((X - X.mean(axis=0)) / X.std(axis=0))
    everything = ICID(noise="unequal", stability=None).fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert claimed(model).sum() <= claimed(everything).sum()
    stability = model.graph_.evidence_.stability
    rests_on = np.array(directions(model))
    assert (stability[rests_on == "compelled"] >= 0.9).all()


def test_noise_variances_that_are_equal_by_chance_claim_nothing():
    """Two columns of about the same variance: noise variances look equal both ways."""
    doubtful = 0
    for seed in range(40):
        x, e = np.random.default_rng(seed).normal(size=(2, 400))
        model = ICID().fit(np.column_stack([x, 0.3 * x + 0.93 * e]))
        noise = model.info_["choices"]["noise"]
        if noise["chosen"] == "equal" and noise["unequal"] - noise["equal"] < 2 * np.log(9):
            doubtful += 1
            assert directions(model) == ["open"]
    assert doubtful
    X = datasets.sample_sem(np.diag([0.8, 0.8], k=1), 1000, random_state=0)
    assert directions(ICID().fit(X)) == directions(ICID(noise="equal").fit(X)) == ["variance"] * 2


@pytest.mark.parametrize("seed", range(3))
def test_claims_are_part_of_the_class_and_of_the_graph(seed):
    X = table(12, 2, 500, seed)[1]
    model = ICID(noise="unequal").fit(X)
    B = model.adjacency_matrix_.toarray() != 0
    cpdag = equivalence_class(model.adjacency_matrix_).toarray() != 0
    assert (claimed(model) <= B).all()
    assert (claimed(model) <= (cpdag & ~cpdag.T)).all()
    open_edges = np.array(directions(model)) == "open"
    assert open_edges.sum() == (B & ~claimed(model)).sum()


def test_nothing_stable_is_lost_on_clean_tables():
    lost = known = wrong = 0
    for seed in range(3):
        B = datasets.random_dag(15, 1, random_state=seed)
        X = sample(B, 2000, seed, variances=np.random.default_rng(seed).uniform(0.5, 2.0, 15))
        truth = equivalence_class(B).toarray() != 0
        compelled = truth & ~truth.T
        found = claimed(ICID(noise="unequal").fit(X))
        known += compelled.sum()
        lost += (compelled & ~found).sum()
        wrong += (found & ~(B.toarray() != 0)).sum()
    assert lost <= 0.05 * known
    assert wrong == 0


def test_more_evidence_only_where_it_is_asked_for():
    X = sample(np.diag([0.8, 0.8], k=1), 1000, noise="exponential")
    assert directions(ICID(orient=("class", "variance")).fit(X)) == ["open", "open"]
    assert directions(ICID(orient=()).fit(sample(COLLIDER, 1000))) == ["open", "open"]
    with pytest.raises(ValueError, match="kind of evidence"):
        ICID(orient=("scale",)).fit(X)
    with pytest.raises(TypeError, match="tuple"):
        ICID(orient="class").fit(X)
    with pytest.raises(ValueError, match="stability"):
        ICID(stability=1).fit(X)


def test_knowledge_is_claimed_as_such():
    X = sample(np.diag([0.8, 0.8], k=1), 1000)
    model = ICID(noise="unequal", required=[(0, 1)]).fit(X)
    # The second direction follows: the class has no collider.
    assert directions(model) == ["knowledge", "knowledge"]
    model = ICID(noise="unequal", tiers=[[2], [0, 1]]).fit(X)
    assert set(directions(model)) == {"knowledge"}


def test_equal_variances_orient_what_the_class_leaves_open():
    B = np.diag([0.8, 0.8], k=1)
    X = datasets.sample_sem(B, 1000, random_state=0)
    model = ICID().fit(X)
    assert model.info_["noise"] == "equal"
    assert directions(model) == ["variance", "variance"]
    assert model.info_["identified"] == "graph"
    # The paper alone supposes equal variances, and is not judged.
    paper = ICID(refine=None).fit(X)
    assert set(directions(paper)) == {"variance"}
    assert "claims" not in paper.info_["timings"]


def test_moments_are_resampled_too():
    X = sample(COLLIDER, 1000)
    model = ICID(noise="unequal").fit(Moments.from_covariance(np.cov(X.T, bias=True), 1000))
    assert model.info_["claims"]["how"] == "second moments"
    assert directions(model) == ["compelled", "compelled"]


def test_autocorrelated_rows_are_drawn_in_blocks_and_groups_as_a_whole():
    rng = np.random.default_rng(0)
    e = rng.normal(size=(500, 3))
    X = np.zeros((500, 3))
    for t in range(1, 500):
        X[t] = 0.9 * X[t - 1] + e[t]
    X[:, 2] += X[:, 0] + X[:, 1]
    assert "blocks" in ICID(noise="unequal").fit(X).info_["claims"]["how"]
    for count, how in ((50, "groups"), (5, "rows")):
        groups = np.repeat(np.arange(count), 500 // count)
        assert ICID(noise="unequal").fit(e + e[:, [0]], groups=groups).info_["claims"]["how"] == how


def test_without_resamples_all_that_the_score_tells_is_claimed():
    B = np.diag([0.8, 0.8], k=1)
    model = ICID(stability=None).fit(sample(B, 1000, noise="exponential"))
    assert directions(model) == ["shape", "shape"]
    assert np.isnan(model.graph_.evidence_.stability).all()
    assert directions(ICID(stability=None).fit(sample(COLLIDER, 1000))) == ["compelled", "compelled"]


def test_the_graph_has_the_claimed_directions():
    """Heteroscedastic noise lets shapes turn colliders round; the class still tells them."""
    rng = np.random.default_rng(1)
    turned = 0
    for _ in range(4):
        causes = rng.normal(size=(2000, 3))
        total = causes.sum(axis=1)
        effect = total + np.exp(0.7 * causes[:, 0]) * rng.normal(size=2000)
        X = np.column_stack([causes, effect])
        model = ICID().fit((X - X.mean(axis=0)) / X.std(axis=0))
        truth = np.zeros((4, 4), dtype=bool)
        truth[:3, 3] = True
        B = model.adjacency_matrix_.toarray() != 0
        assert (claimed(model) <= B).all()
        turned += (claimed(model) & truth.T).sum()
    assert turned == 0


def test_results_do_not_depend_on_the_order_of_columns_or_threads():
    B, X = table(10, 2, 400, 1)
    order = np.random.default_rng(0).permutation(10)
    one, two = ICID(noise="unequal").fit(X), ICID(noise="unequal", n_threads=1).fit(X[:, order])
    np.testing.assert_array_equal(claimed(one)[np.ix_(order, order)], claimed(two))
    assert metrics.count_accuracy(B, one.adjacency_matrix_)["shd"] < 30


def test_margins_are_known_where_the_optimum_is_computed():
    model = ICID(noise="unequal").fit(sample(COLLIDER, 1000))
    assert (model.graph_.evidence_.margin > 5).all()

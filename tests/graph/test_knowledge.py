"""What is known beforehand is respected by every way of fitting, and contradictions are named."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import ICID, datasets, equivalence_class, metrics
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.orientation import orient
from tests.helpers.needs import need

D = 8
WAYS = [
    {"refine": refine, "dag": dag}
    for refine, dag in [
        ("auto", "greedy"),
        ("order", "greedy"),
        ("search", "greedy"),
        (None, "greedy"),
        ("auto", "exptrace"),
        (None, "exptrace"),
        (None, None),
    ]
]


@st.composite
def random_knowledge(draw):
    """Knowledge that agrees with some order, which need not be the true one."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    order = rng.permutation(D)
    ahead = [(int(order[a]), int(order[b])) for a in range(D) for b in range(a + 1, D)]
    backwards = [(j, i) for i, j in ahead]
    required = [ahead[k] for k in rng.choice(len(ahead), rng.integers(0, 5), replace=False)]
    free = [edge for edge in ahead if edge not in required] + backwards
    forbidden = [free[k] for k in rng.choice(len(free), rng.integers(0, 25), replace=False)]
    tiers = None
    if rng.integers(2):
        members = [int(i) for i in order if rng.integers(3)]
        cuts = np.sort(rng.integers(0, len(members) + 1, 2))
        tiers = [part.tolist() for part in np.split(np.array(members, dtype=int), cuts)]
    return required, forbidden, tiers


def data(seed: int, *, noise: str = "gaussian", standardised: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(D, 2, random_state=rng)
    X = datasets.sample_sem(B, 300, noise=noise, noise_variances=rng.uniform(0.5, 2, D), random_state=rng)
    return (X - X.mean(axis=0)) / X.std(axis=0) if standardised else X


def check(model: ICID, required, forbidden, tiers) -> None:
    B = model.adjacency_matrix_.toarray()
    assert all(B[i, j] != 0 for i, j in required)
    assert all(B[i, j] == 0 for i, j in forbidden)
    for earlier in range(len(tiers or [])):
        for later in range(earlier + 1, len(tiers)):
            assert not B[np.ix_(tiers[later], tiers[earlier])].any()
    if model.causal_order_ is not None:
        place = np.argsort(model.causal_order_)
        rows, columns = np.nonzero(B)
        assert (place[rows] < place[columns]).all()


@pytest.mark.parametrize("way", WAYS, ids=str)
@settings(max_examples=12, deadline=None)
@given(known=random_knowledge(), seed=st.integers(0, 1000), shape=st.sampled_from(["gaussian", "exponential"]))
def test_knowledge_is_respected(way, known, seed, shape):
    required, forbidden, tiers = known
    X = data(seed, noise=shape, standardised=bool(seed % 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICID(required=required, forbidden=forbidden, tiers=tiers, threshold=0.05, trials=30, **way).fit(X)
    check(model, required, forbidden, tiers)


def test_true_knowledge_orients_what_gaussian_data_cannot():
    rng = np.random.default_rng(0)
    B = np.zeros((3, 3))
    B[0, 1], B[1, 2] = 0.9, 0.9
    X = datasets.sample_sem(B, 2000, noise_variances=[1.0, 0.3, 2.0], random_state=rng)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    forwards = ICID(noise="unequal", refine="search", tiers=[[0], [1], [2]]).fit(X)
    backwards = ICID(noise="unequal", refine="search", tiers=[[2], [1], [0]]).fit(X)
    assert metrics.count_accuracy(B, forwards.adjacency_matrix_)["shd"] == 0
    assert metrics.count_accuracy(B.T, backwards.adjacency_matrix_)["shd"] == 0


def test_true_knowledge_changes_nothing_that_was_right():
    B = datasets.random_dag(30, 1, random_state=3)
    X = datasets.sample_sem(B, 1000, random_state=3)
    edges = list(zip(*B.nonzero(), strict=True))
    plain = ICID().fit(X)
    assert metrics.count_accuracy(B, plain.adjacency_matrix_)["shd"] == 0
    for known in ({"required": edges}, {"forbidden": [(j, i) for i, j in edges]}):
        model = ICID(**known).fit(X)
        assert abs(model.adjacency_matrix_ - plain.adjacency_matrix_).max() < 1e-12


@pytest.mark.parametrize(
    "way", [{}, {"noise": "equal"}, {"noise": "equal", "refine": "search"}, {"refine": None}], ids=str
)
def test_columns_without_a_tier_may_lie_between(way):
    rng = np.random.default_rng(0)
    B = np.zeros((3, 3))
    B[2, 1] = B[1, 0] = 1.0
    X = datasets.sample_sem(B, 2000, random_state=rng)
    model = ICID(tiers=[[0], [2]], **way).fit(X)
    assert metrics.count_accuracy(B, model.adjacency_matrix_)["shd"] == 0


@pytest.mark.parametrize("refine", ["auto", "order", "search", None])
def test_required_edges_that_fit_nothing(refine):
    balanced = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]] * 5, dtype=float)
    model = ICID(required=[(0, 1)], refine=refine).fit(balanced)
    assert model.adjacency_matrix_[0, 1] != 0
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    collinear = np.c_[a, a + 3e-5 * rng.normal(size=300), a + rng.normal(size=300)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICID(required=[(0, 2), (1, 2)], refine=refine).fit(collinear)
    assert (model.adjacency_matrix_.toarray()[:2, 2] != 0).all()


def test_forbidden_edges_change_the_order():
    """What elimination would put before its causes, the search puts where it belongs."""
    B = datasets.random_dag(4, 1, random_state=27)
    X = datasets.sample_sem(B, 500, random_state=27)
    model = ICID(forbidden=[(2, 3)], noise="equal").fit(X)
    assert model.adjacency_matrix_[2, 3] == 0
    assert model.adjacency_matrix_.nnz < 6


def test_a_given_theta():
    B = datasets.random_dag(10, 1, random_state=1)
    theta = datasets.sem_precision(B)
    i, j = (int(k[0]) for k in B.nonzero())
    model = ICID(precision="precomputed", required=[(i, j)]).fit(theta)
    assert abs(model.adjacency_matrix_ - B).max() < 1e-8
    against = ICID(precision="precomputed", required=[(j, i)]).fit(theta)
    check(against, [(j, i)], [(i, j)], None)
    with pytest.raises(ValueError, match="no exact decomposition that respects"):
        ICID(precision="precomputed", forbidden=[(i, j), (j, i)], refine="order").fit(theta)


def test_names_and_numbers_mean_the_same():
    pd = need("pandas")
    X = data(0)
    names = [f"gene {k}" for k in range(D)]
    frame = pd.DataFrame(X, columns=names)
    known = ICID(required=[("gene 0", "gene 1")], tiers=[["gene 0", "gene 1"], ["gene 5"]]).fit(frame)
    numbers = ICID(required=[(0, 1)], tiers=[[0, 1], [5]]).fit(frame)
    assert abs(known.adjacency_matrix_ - numbers.adjacency_matrix_).max() == 0


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"required": [("a", "b"), ("b", "a")]}, r"circle: 'a' -> 'b' -> 'a'|circle: 'b' -> 'a' -> 'b'"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "'a' -> 'b' is both required and forbidden"),
        ({"required": [("a", "b")], "tiers": [["b"], ["a"]]}, "'a' is in a later tier than 'b'"),
        ({"required": [("a", "c"), ("c", "b"), ("b", "a")]}, "circle: .*'c'"),
        ({"required": [("a", "chaneg")]}, "no variable is named 'chaneg'; did you mean 'change'"),
        ({"forbidden": [("a", "a")]}, "cannot be its own cause"),
        ({"tiers": [["a"], ["a", "b"]]}, "'a' is there more than once"),
        ({"required": [("a", 9)]}, "there is no variable 9"),
    ],
)
def test_contradictions_are_named(known, message):
    with pytest.raises(ValueError, match=message):
        Knowledge.make(["a", "b", "c", "change"], **known)


@pytest.mark.parametrize(
    "known",
    [
        {"required": "ab"},
        {"required": [{"a", "b"}]},
        {"required": iter([("a", "b")])},
        {"required": [iter(("a", "b"))]},
        {"forbidden": [("a",)]},
        {"tiers": ["a", "b"]},
        {"tiers": [None, ["a"]]},
        {"tiers": 3},
    ],
)
def test_wrong_types_are_named(known):
    with pytest.raises(TypeError):
        Knowledge.make(["a", "b"], **known)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_directions_follow_from_others(seed):
    """Against all acyclic orientations with the same colliders."""
    rng = np.random.default_rng(seed)
    d = 5
    B = np.triu(rng.integers(0, 2, (d, d)), 1)
    B = B[np.ix_(P := rng.permutation(d), P)]
    cpdag = equivalence_class(B)
    edges = np.argwhere(B)
    known = edges[rng.random(len(edges)) < 0.3]
    forbidden = [(int(j), int(i)) for i, j in known]

    def key(A: np.ndarray) -> tuple:
        return equivalence_class(A).toarray().tobytes()

    union = np.zeros((d, d))
    for flips in range(2 ** len(edges)):
        A = np.zeros((d, d))
        for k, (i, j) in enumerate(edges):
            A[(i, j) if flips >> k & 1 else (j, i)] = 1
        if any(A[i, j] for i, j in forbidden) or np.trace(np.linalg.matrix_power(A + np.eye(d), d)) > d:
            continue
        if key(A) == cpdag.toarray().tobytes():
            union = np.maximum(union, A)
    found = orient(cpdag, Knowledge.make(range(d), forbidden=forbidden) or Knowledge.make(range(d), tiers=[[0]]))
    np.testing.assert_array_equal(found.toarray(), union)


def test_required_causes_stay_even_if_they_are_nearly_the_same():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=300)
    twin = cause + 5e-5 * rng.normal(size=300)
    X = np.column_stack([cause, twin, cause + 0.1 * rng.normal(size=300)])
    with pytest.warns(UserWarning, match="nearly a linear combination"):
        model = ICID(noise="unequal", required=[(0, 2), (1, 2)]).fit(X)
    assert {(0, 2), (1, 2)} <= set(zip(*model.adjacency_matrix_.nonzero(), strict=True))


def test_numbers_are_those_of_all_columns_where_some_are_left_out():
    X = np.random.default_rng(0).standard_normal((200, 4))
    X[:, 0] = 1.0
    X[:, 3] += X[:, 2]
    frame = pd.DataFrame(X, columns=["constant", "age", "dose", "pain"])
    with pytest.warns(UserWarning, match="constant"):
        model = ICID(required=[(3, 2)], tiers=[["constant", "age"], ["dose", "pain"]]).fit(frame)
    assert model.children("pain") == ["dose"]
    with pytest.warns(UserWarning, match="constant"), pytest.raises(ValueError, match="'constant' was left out"):
        ICID(required=[(0, 2)]).fit(frame)

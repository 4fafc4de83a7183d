"""Random graphs with awkward names, shared by the tests."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from icid_rs import CausalGraph, datasets
from icid_rs.graph.evidence import DIRECTIONS, EdgeEvidence

AWKWARD = [
    "plain",
    'say "hello"',
    "two\nlines",
    "carriage\rreturn",
    "tab\tbed",
    "<script>alert(1)</script>",
    "R&D &lt; &amp;",
    "=1+1",
    "+x",
    "-x",
    "@x",
    "back\\slash\\",
    "\\N",
    "3",
    "03",
    "été 温度 🌡",
    "comma, semi; colon:",
    "",
    " space ",
    "source",
    "NaN",
    "null",
    "'quoted'",
    "a->b",
]


def text_names(xml: bool = False) -> st.SearchStrategy[str]:
    """Any text that a file can hold; with `xml`, that XML can hold."""
    alphabet = st.characters(exclude_categories=("Cs", "Cc", "Cn") if xml else ("Cs",))
    return st.sampled_from(AWKWARD) | st.text(alphabet, max_size=8)


@st.composite
def graphs(draw: st.DrawFn, names: st.SearchStrategy[object] | None = None, largest: int = 8) -> CausalGraph:
    """Acyclic graphs with any finite weights; without strategy for names, these are integers or text."""
    d = draw(st.integers(1, largest))
    if names is None:
        names = draw(st.sampled_from([st.integers(-(2**70), 2**70), text_names()]))
    chosen = draw(st.lists(names, min_size=d, max_size=d, unique=True))
    finite = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0)
    dense = np.zeros((d, d))
    label = draw(st.permutations(range(d)))
    for i in range(d):
        for j in range(i + 1, d):
            if draw(st.booleans()):
                dense[label[i], label[j]] = draw(finite)
    positive = st.floats(1e-300, 1e300)
    known = draw(st.booleans())
    confident = draw(st.booleans())
    evidence = draw(evidences(int(np.count_nonzero(dense)))) if draw(st.booleans()) else None
    return CausalGraph(
        dense,
        chosen,
        causal_order=label,
        noise_variances=draw(st.lists(positive, min_size=d, max_size=d)) if known else None,
        location=draw(st.lists(finite, min_size=d, max_size=d)) if known else None,
        confidence=np.where(dense != 0, draw(st.floats(0.01, 1)), 0.0) if confident and dense.any() else None,
        evidence=evidence,
        settings={"refine": None, "lambda1": [0.1, 0.2]},
        info={"status": "solved"},
    )


@st.composite
def evidences(draw: st.DrawFn, edges: int) -> EdgeEvidence:
    """Any possible evidence for so many edges, with numbers that are not known."""

    def some(known: st.SearchStrategy[float]) -> np.ndarray:
        return np.array(draw(st.lists(known | st.just(np.nan), min_size=edges, max_size=edges)), dtype=float)

    direction = draw(st.lists(st.sampled_from(DIRECTIONS), min_size=edges, max_size=edges))
    share, finite = st.floats(0, 1), st.floats(allow_nan=False, allow_infinity=False)
    return EdgeEvidence(
        standardised=some(finite),
        std_error=some(st.floats(0, 1e300)),
        p_value=some(share),
        direction=np.array(direction, dtype="<U9"),
        stability=some(share),
        joined=some(share),
        margin=some(finite),
    )


def random_graph(d: int, degree: int, seed: int) -> CausalGraph:
    return CausalGraph(datasets.random_dag(d, degree, random_state=seed), noise_variances=1.0)


def assert_same_matrix(a: object, b: object) -> None:
    if a is None or b is None:
        assert a is b
        return
    a, b = sp.csr_array(a), sp.csr_array(b)
    a.sort_indices()
    b.sort_indices()
    np.testing.assert_array_equal(a.toarray(), b.toarray())
    assert a.data.tobytes() == b.data.tobytes()


def assert_same(a: CausalGraph, b: CausalGraph, *, settings: bool = True) -> None:
    """All bits, and the types of the names."""
    assert a.names_ == b.names_
    assert [type(name) for name in a.names_] == [type(name) for name in b.names_]
    for key in ("adjacency_matrix_", "cpdag_", "confidence_"):
        assert_same_matrix(getattr(a, key), getattr(b, key))
    for key in ("causal_order_", "noise_variances_", "location_"):
        left, right = getattr(a, key), getattr(b, key)
        assert (left is None) == (right is None)
        assert left is None or left.tolist() == right.tolist()
    for key in EdgeEvidence.columns():
        np.testing.assert_array_equal(getattr(a.evidence_, key), getattr(b.evidence_, key))
    if settings:
        assert (a.settings_, a.info_) == (b.settings_, b.info_)

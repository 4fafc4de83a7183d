"""Which strategy learns a model, for each estimate of Θ and each request."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID
from icid_rs.graph.knowledge import Knowledge
from icid_rs.learning.learn import (
    along_an_order,
    choose_strategy,
    decomposition_alone,
    exact_decomposition,
    noise_model,
)
from icid_rs.options import Options
from icid_rs.precision.kinds import KINDS
from icid_rs.precision.variants import FewRows, Full, Given, Indefinite, Wide

D = 4
PARTS = {"theta": sp.eye_array(D, format="csr"), "covariance": np.eye(D), "location": np.zeros(D)}
ESTIMATES = {
    "full": Full(**PARTS, samples=D + 3, inverse=np.eye(D)),
    "full, too few rows": Full(**PARTS, samples=D + 2, inverse=np.eye(D)),
    "few rows": FewRows(**PARTS, samples=3),
    "wide": Wide(**PARTS, samples=9, values=np.zeros((D, 9)), order=np.arange(D)),
    "indefinite": Indefinite(**PARTS, samples=100),
    "given": Given(**PARTS),
}
UNEQUAL = {"noise": "unequal"}
KNOWN = {"noise": "unequal", "noise_variances": 1.0}


def choose(estimate: str, parameters: dict):
    options = Options.of(ICID(**parameters), KINDS)
    knowledge = Knowledge.make(range(D), required=options.required, forbidden=options.forbidden, tiers=options.tiers)
    return choose_strategy(ESTIMATES[estimate], options, options.known_variances(D), knowledge)


@pytest.mark.parametrize(
    ("estimate", "parameters", "strategy"),
    [
        *((estimate, {"refine": None}, decomposition_alone) for estimate in ESTIMATES),
        *((estimate, {"dag": None}, decomposition_alone) for estimate in ESTIMATES),
        ("given", {}, exact_decomposition),
        ("given", {"refine": "order"}, exact_decomposition),
        ("given", KNOWN, exact_decomposition),
        ("wide", {"forbidden": [(0, 1)]}, noise_model),
        ("full", {"forbidden": [(0, 1)]}, noise_model),
        ("given", {"forbidden": [(0, 1)]}, exact_decomposition),
        ("indefinite", {}, decomposition_alone),
        ("indefinite", KNOWN, decomposition_alone),
        ("full, too few rows", {}, decomposition_alone),
        *((estimate, {"refine": "order"}, along_an_order) for estimate in ("full", "few rows", "wide")),
        *(
            (estimate, parameters, noise_model)
            for estimate in ("full", "few rows", "wide")
            for parameters in ({}, {"refine": "search"}, {"noise": "equal"}, UNEQUAL, KNOWN)
        ),
    ],
)
def test_strategies(estimate, parameters, strategy):
    assert choose(estimate, parameters) is strategy


@pytest.mark.parametrize(
    ("estimate", "parameters", "message"),
    [
        ("given", {"refine": "search"}, "refine='search' needs data"),
        ("indefinite", {"refine": "order"}, "n_samples = 100 for 4 columns: refine='order' .* at least 7 rows"),
        ("full, too few rows", {"refine": "order"}, "n_samples = 6 for 4 columns: refine='order' .* at least 7 rows"),
        ("full, too few rows", {"refine": "search"}, "n_samples = 6 .* refine='search'"),
        ("full, too few rows", UNEQUAL, "n_samples = 6 .* refine='auto'"),
    ],
)
def test_what_an_estimate_cannot_do_is_refused(estimate, parameters, message):
    with pytest.raises(ValueError, match=message):
        choose(estimate, parameters)

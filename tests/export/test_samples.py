"""Effects of a graph that was read from a file are those of the fit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, CausalGraph, datasets, load
from icid_rs.export.samples import MOST_COLUMNS
from icid_rs.export.schema import from_json
from icid_rs.graph.covariances import SampleMoments, StoredCovariances

PAIR = {
    "format": "icid_rs.graph",
    "version": 2,
    "names": ["rain", "wet"],
    "noise_variances": None,
    "means": None,
    "causal_order": ["rain", "wet"],
    "edges": [{"source": "rain", "target": "wet", "weight": 0.5}],
}


def a_table(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    if kind == "measurement":
        B, variances = datasets.random_sem(20, 1, random_state=0)
        X = datasets.sample_sem(B, 2000, noise_variances=variances, hidden=2, measurement_error=0.2, random_state=0)
        return pd.DataFrame(X).rename(columns=str)
    X = pd.DataFrame(datasets.sample_sem(datasets.random_dag(6, 1, random_state=1), 400, random_state=1))
    X = X.rename(columns=str)
    if kind == "curves":
        return np.exp(X / 2)
    if kind == "categories":
        codes = np.digitize(X["0"] + rng.normal(size=400), [-1.0, 1.0])
        return X.assign(**{"0": np.array(["low", "middle", "high"])[codes]})
    return X


@pytest.mark.filterwarnings("ignore:hidden common causes")
@pytest.mark.parametrize("kind", ["plain", "measurement", "curves", "categories"])
def test_effects_are_those_of_the_fit(kind, tmp_path):
    model = ICID().fit(a_table(kind))
    assert kind != "measurement" or model.graph_.sample_.layer is not None
    model.save(tmp_path / "graph.json")
    graph = load(tmp_path / "graph.json")
    edges = model.edges()
    asked = 0
    for cause, target in zip(edges["source"], edges["target"], strict=True):
        try:
            ours = model.effect(cause, target)
        except ValueError:
            continue
        theirs = graph.effect(cause, target)
        assert (str(theirs), theirs.interval, theirs.union) == (str(ours), ours.interval, ours.union)
        assert np.isfinite(theirs.std_error)
        asked += 1
    assert asked > 1
    assert graph.to_json() == model.to_json()


def test_wide_graphs_are_written_without():
    d = MOST_COLUMNS + 1
    graph = CausalGraph(np.zeros((d, d)))
    graph.sample_ = SampleMoments(StoredCovariances(np.eye(d)), 10)
    assert from_json(graph.to_json(), CausalGraph).sample_ is None


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ([], "sample must be an object"),
        ({"samples": 10}, "sample.covariances must be a list of 2 rows"),
        ({"samples": 0, "covariances": [[1], [0, 1]]}, "sample.samples = 0: it must be a positive integer"),
        ({"samples": True, "covariances": [[1], [0, 1]]}, "sample.samples = True"),
        ({"covariances": [[1], [0]]}, r"sample.covariances\[1\] must hold finite numbers in the shape \(2,\)"),
        ({"covariances": [[1], [2, 1]]}, "must be the lower triangle of a covariance matrix"),
        ({"covariances": [[0], [0, 1]]}, "must be the lower triangle of a covariance matrix"),
        ({"covariances": [[1], [0, 1]], "loadings": [[1], [2]]}, "sample.errors must hold"),
        ({"covariances": [[1], [0, 1]], "loadings": [[1]], "errors": [0, 0]}, "sample.loadings must hold"),
        ({"covariances": [[1], [0, 1]], "loadings": [[], []], "errors": [0, -1]}, "must not be negative"),
    ],
)
def test_samples_that_are_none_are_refused(sample, message):
    with pytest.raises(ValueError, match=message):
        from_json(json.dumps({**PAIR, "sample": sample}), CausalGraph)

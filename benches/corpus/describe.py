"""Results as trees of what JSON can hold: every number exactly, and nothing that depends on the time or the machine."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

import icid_rs
from icid_rs import ICID, Bootstrap, CausalGraph, Moments, Precision

#: Keys of `info_` and of other dictionaries whose values are seconds.
_TIMES = {"timings", "seconds", "elapsed"}
#: Arrays with more entries are stored as a digest and the weighted sums of about so many blocks.
_FULL, _BLOCKS = 100_000, 2_000
_FITTED = (
    *("adjacency_matrix_", "causal_order_", "cpdag_", "noise_variances_", "precision_", "covariance_", "location_"),
    *("status_", "info_", "n_features_in_", "feature_names_in_", "names_", "confidence_"),
)
_GRAPH = (
    *("adjacency_matrix_", "causal_order_", "cpdag_", "noise_variances_", "location_", "confidence_", "names_"),
    *("settings_", "info_"),
)
_MOMENTS = ("n", "n_effective", "dropped", "mean", "covariance", "third", "rows", "complete", "names")
_BOOTSTRAP = (
    *("names", "graphs", "directions", "failures", "block", "edge_probabilities", "adjacency_probabilities"),
    *("direction_probabilities", "weight_means", "weight_deviations"),
)


def describe(value: Any) -> Any:
    """Turn a result into a tree of lists, plain values, and dictionaries with one tag that says what they stand for.

    ``{"dict": ...}``, ``{"items": ...}`` (a dictionary whose keys are no strings), ``{"array": dtype, ...}`` and
    ``{"sparse": class, ...}``; arrays hold their bytes in base 64.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return _array(value)
    if sp.issparse(value):
        return _sparse(value)
    if isinstance(value, ICID):
        return _attributes(value, _FITTED)
    if isinstance(value, CausalGraph):
        return _attributes(value, _GRAPH)
    if isinstance(value, Moments):
        return _attributes(value, _MOMENTS)
    if isinstance(value, Bootstrap):
        members = {name: getattr(value, name) for name in _BOOTSTRAP}
        return describe({**members, "ancestors": value.ancestor_probabilities(), "stable": value.stable_graph()})
    if isinstance(value, dict):
        kept = {key: describe(item) for key, item in value.items() if key not in _TIMES}
        if all(isinstance(key, str) for key in kept):
            return {"dict": kept}
        return {"items": [[describe(key), item] for key, item in kept.items()]}
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        return describe({str(name): value[name].tolist() for name in value.columns})
    if is_dataclass(value) and not isinstance(value, type):
        # A subclass counts as the public class that it stands for.
        public = next((kind.__name__ for kind in type(value).__mro__ if kind.__name__ in icid_rs.__all__), "none")
        names = [field.name for field in fields(value)]
        names += ["inverse", "values"] if isinstance(value, Precision) else []
        return describe({"class": public, **{name: getattr(value, name) for name in names}})
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, BaseEstimator):
        return type(value).__name__
    # Addresses in memory differ from run to run.
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _attributes(value: Any, names: tuple[str, ...]) -> Any:
    return describe({name: getattr(value, name) for name in names if hasattr(value, name)})


def _array(array: np.ndarray) -> Any:
    if array.dtype.kind not in "biuf":
        return [describe(item) for item in array.tolist()]
    array = np.ascontiguousarray(array)
    node = {"array": array.dtype.name, "shape": list(array.shape)}
    if array.size > _FULL:
        node["digest"] = hashlib.sha256(array.tobytes()).hexdigest()
        array = _block_sums(array)
    node["bytes"] = base64.b64encode(array.tobytes()).decode("ascii")
    return node


def _block_sums(array: np.ndarray) -> np.ndarray:
    """Sum up consecutive entries with random weights, so that any entry that changes, or changes its place, shows."""
    weights = np.random.default_rng(0).uniform(0.5, 1.5, size=array.size)
    return np.add.reduceat(weights * array.ravel(), np.arange(0, array.size, -(-array.size // _BLOCKS)))


def _sparse(matrix: Any) -> Any:
    """Describe entries sorted by row and column: how they are ordered in memory is no part of the result."""
    entries = sp.coo_array(matrix)
    order = np.lexsort((entries.col, entries.row))
    rows, columns = (index[order].astype(np.int64) for index in (entries.row, entries.col))
    return {
        "sparse": type(matrix).__name__,
        "shape": list(matrix.shape),
        "rows": _array(rows),
        "columns": _array(columns),
        "values": _array(entries.data[order]),
    }


def values_of(node: dict[str, Any]) -> np.ndarray:
    """Return the entries of an array, or the block sums that are stored in their place."""
    return np.frombuffer(base64.b64decode(node["bytes"]), dtype="float64" if "digest" in node else node["array"])

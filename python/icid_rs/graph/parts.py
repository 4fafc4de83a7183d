"""The parts of a graph that a user hands over: converted, and checked against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icid_rs._util.validation import FloatArray, as_csr, as_order, as_vector
from icid_rs.graph.curves import Curves
from icid_rs.graph.evidence import EdgeEvidence, directions
from icid_rs.graph.mixed import ColumnModel
from icid_rs.graph.sem import Csr


def check_weights(matrix: Any) -> Csr:
    """Return the adjacency matrix; raise unless it is square and finite, with an empty diagonal."""
    B = as_csr(matrix, "adjacency_matrix")
    if B.shape[0] != B.shape[1]:
        raise ValueError(f"adjacency_matrix must be square, but its shape is {B.shape}")
    B.eliminate_zeros()
    rows, columns = B.nonzero()
    for bad, fault in ((~np.isfinite(B.data), "is not finite"), (rows == columns, "would be its own cause")):
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(f"adjacency_matrix[{rows[k]}, {columns[k]}] = {B.data[k]}: it {fault}")
    return B


def check_names(names: Sequence[Any] | None, d: int) -> list[Any]:
    """Return one name for each variable, all different; numbers if there are no names."""
    if isinstance(names, str):
        raise TypeError(f"names must be a sequence with one name for each variable, not {names!r}")
    listed: list[Any] = list(range(d)) if names is None else list(names)
    if len(listed) != d:
        raise ValueError(f"there are {len(listed)} names, but {d} variables")
    if len(set(listed)) < d:
        repeated = next(name for k, name in enumerate(listed) if name in listed[:k])
        raise ValueError(f"the name {repeated!r} occurs more than once; rename one of the variables")
    return listed


def check_causal_order(values: ArrayLike, B: Csr) -> NDArray[np.intp]:
    """Return a causal order; raise unless every edge follows it."""
    d = B.shape[0]
    order = as_order(values, d, "causal_order").astype(np.intp)
    if order.size != d or np.unique(order).size != d:
        raise ValueError(f"causal_order must hold each of 0 to {d - 1} once")
    rank = np.argsort(order)
    rows, columns = B.nonzero()
    late = np.flatnonzero(rank[rows] >= rank[columns])
    if late.size:
        i, j = rows[late[0]], columns[late[0]]
        raise ValueError(f"causal_order puts {j} before {i}, but the edge {i} → {j} says otherwise")
    return order


def check_class(matrix: Any, B: Csr) -> Csr:
    """Return an equivalence class; raise unless it joins the variables that the graph joins."""
    cpdag = as_csr(matrix, "cpdag")
    cpdag.eliminate_zeros()
    if cpdag.shape != B.shape:
        raise ValueError(f"cpdag has shape {cpdag.shape}, but adjacency_matrix has {B.shape}")
    ours, theirs = B.astype(bool), cpdag.astype(bool)
    if (ours > theirs).nnz or ((ours + ours.T) != (theirs + theirs.T)).nnz:
        raise ValueError("cpdag does not join the same variables as adjacency_matrix")
    return cpdag


def assumed_evidence(B: Csr, cpdag: Any, info: Mapping[str, Any]) -> EdgeEvidence:
    """Return the evidence for a graph of which none was recorded.

    The directions of a graph alone are those that the caller knows. If an equivalence class was given too, its
    reversible edges are open, unless the fit reported in `info` that noise variances or shapes determined the graph.
    """
    if cpdag is None:
        direction = np.full(B.nnz, "knowledge", dtype="<U9")
    else:
        whole = info.get("identified") == "graph"
        by_variance = whole and info.get("noise") in ("equal", "known")
        direction = directions(B, cpdag, by_variance=by_variance, shaped=range(B.shape[0]) if whole else ())
    return replace(EdgeEvidence.unknown(B.nnz), direction=direction)


def check_evidence(evidence: Any, B: Csr, names: Sequence[Any]) -> EdgeEvidence:
    """Return the evidence; raise unless it is possible, and for the edges of B."""
    if not isinstance(evidence, EdgeEvidence):
        raise TypeError(f"evidence must be EdgeEvidence, not {type(evidence).__name__}")
    rows, columns = B.nonzero()
    evidence.check([f"{names[i]!r} → {names[j]!r}" for i, j in zip(rows.tolist(), columns.tolist(), strict=True)])
    # One type of string, so that later assignments are not cut short.
    return replace(evidence, direction=evidence.direction.astype("<U9"))


def check_vector(values: ArrayLike | None, d: int, name: str, *, positive: bool = False) -> FloatArray | None:
    """Return one finite number for each variable; None if nothing is known of them."""
    if values is None:
        return None
    vector = as_vector(values, d, name)
    if vector.size != d:
        raise ValueError(f"{name} has length {vector.size}, but there are {d} variables")
    for bad, demand in ((~np.isfinite(vector), "finite"), (positive & (vector <= 0), "positive")):
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(f"{name}[{k}] = {vector[k]}: it must be {demand}")
    return vector


def check_column_model(model: ColumnModel | None, d: int) -> ColumnModel | None:
    """Return the equations of a graph with categories; None if all variables are single columns."""
    if model is None:
        return None
    if not isinstance(model, ColumnModel):
        raise TypeError(f"column_model must be a ColumnModel, not {type(model).__name__}")
    if model.blocks.variables != d:
        raise ValueError(f"column_model has {model.blocks.variables} variables, but the graph has {d}")
    return None if model.blocks.is_single else model


def check_curves(curves: Curves | None, d: int) -> Curves:
    """Return curves by the number of the variable; none for None."""
    for k in curves or {}:
        if not 0 <= k < d:
            raise ValueError(f"curves has an entry for variable {k}, but there are {d} variables")
    return dict(curves or {})


def check_probabilities(matrix: Any, d: int) -> Csr:
    """Return one probability for each pair of variables."""
    confidence = as_csr(matrix, "confidence")
    if confidence.shape != (d, d):
        raise ValueError(f"confidence has shape {confidence.shape}, but there are {d} variables")
    if not ((confidence.data >= 0) & (confidence.data <= 1)).all():
        raise ValueError("confidence must hold probabilities, from 0 to 1")
    return confidence


def check_mapping(value: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """Return a copy of a mapping; an empty one for None."""
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping, not {value!r}")
    return dict(value or {})

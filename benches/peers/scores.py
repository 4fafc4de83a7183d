"""How far a graph, or a class of graphs, is from the true one."""

from __future__ import annotations

import gadjid
import numpy as np
import scipy.sparse as sp

from icid_rs import equivalence_class, metrics, project_to_dag


def score(true: sp.csr_array, found: np.ndarray, kind: str) -> dict[str, float | bool]:
    """Compare a result with the true graph and with its class.

    ``shd``, ``tpr``, ``fdr``, ``edges`` compare with the graph itself; an undirected edge of a class counts as pointing
    the right way where there is one. ``class_distance`` is the number of pairs that are joined differently in the two
    classes, and ``sid`` the structural intervention distance between these (`gadjid.parent_aid`). Where a result that
    should be acyclic has cycles, both are of its acyclic part.
    """
    true = sp.csr_array(true != 0)
    pattern = sp.csr_array(found != 0)
    acyclic = True
    if kind == "dag":
        directed = pattern
        class_ = _class(sp.csr_array(found, dtype=float))
        acyclic = class_ is not None
        if class_ is None:
            class_ = _class(project_to_dag(sp.csr_array(found, dtype=float)))
    else:
        # Some results without an undirected edge have directed cycles, and are no class of any graph.
        directed = _at_best(pattern, true)
        class_ = pattern if pattern.multiply(pattern.T).nnz else project_to_dag(pattern.astype(float))
    accuracy = metrics.count_accuracy(true, directed)
    true_class = equivalence_class(true.astype(float))
    return {
        "acyclic": acyclic,
        "shd": accuracy["shd"],
        "tpr": accuracy["tpr"],
        "fdr": accuracy["fdr"],
        "edges": accuracy["nnz"],
        "class_distance": metrics.class_distance(true_class, class_),
        "sid": sid(true_class, class_),
    }


def sid(true: sp.csr_array, found: sp.csr_array) -> int | None:
    """Count the pairs whose effect is got wrong; None for what is no class of graphs."""
    try:
        return int(gadjid.parent_aid(_coded(true), _coded(found), edge_direction="from row to column")[1])
    except BaseException as error:  # it panics, which is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


def _class(dag: sp.csr_array) -> sp.csr_array | None:
    try:
        return equivalence_class(dag)
    except ValueError:
        return None


def _at_best(pattern: sp.csr_array, true: sp.csr_array) -> sp.csr_array:
    """Direct undirected edges: as the true graph does, or anyhow."""
    both = pattern.multiply(pattern.T)
    joined = true + true.T
    upper = sp.triu(both - both.multiply(joined), format="csr")
    return sp.csr_array(((pattern - both) + both.multiply(true) + upper) != 0)


def _coded(class_: sp.csr_array) -> np.ndarray:
    """Write as gadjid reads: 1 for i → j, 2 for an undirected edge."""
    ones = (class_ != 0).toarray().astype(np.int8)
    return ones + np.triu(ones * ones.T) - np.tril(ones * ones.T)

"""``icid score``: how far an estimated graph is from the true one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import icid_rs
from icid_rs.cli.output import write

_DESCRIPTION = """\
Compare two graphs edge by edge; variables are matched by name.

Graphs are files of icid fit or icid simulate (.json, .graphml, .csv with source, target and weight),
or adjacency matrices (.npy, .npz) whose entry [i, j] is the edge from i to j. Variables of matrices
have no names and are matched by place.
"""
_EXAMPLES = """\
examples:
  icid score truth.json graph.json
  icid score truth.npy graph.csv --json
"""
_MEANING = {
    "shd": "edges missing, extra or reversed",
    "tpr": "of the true edges were found with their direction",
    "fdr": "of the edges found are false or reversed",
    "fpr": "false or reversed edges, of the pairs without a true edge",
    "nnz": "edges found",
}


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "score",
        help="compare an estimated graph with the true one",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("truth", metavar="TRUTH", help="the true graph")
    parser.add_argument("estimate", metavar="ESTIMATE", help="the graph to be judged")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read both, compare, print."""
    truth, estimate = _read(options.truth), _read(options.estimate)
    score = icid_rs.metrics.count_accuracy(*_matched(truth, estimate, options))
    if options.json:
        write("-", json.dumps(score) + "\n")
        return
    lines = [
        f"{key}  {value:<6} {_MEANING[key]}" if isinstance(value, int) else f"{key}  {value:<6.3f} {_MEANING[key]}"
        for key, value in score.items()
    ]
    write("-", "\n".join(lines) + "\n")


def _read(path: str) -> icid_rs.CausalGraph:
    if Path(path).suffix.lower() not in (".npy", ".npz"):
        return icid_rs.load(path)
    from icid_rs.data.archive import read_arrays

    arrays = read_arrays(path)
    # The arrays of a sparse matrix that SciPy saved.
    if {"data", "indices", "indptr", "shape", "format"} <= set(arrays):
        return icid_rs.CausalGraph(_sparse(path, arrays))
    if len(arrays) != 1:
        raise ValueError(f"{path} holds {len(arrays)} arrays; it must be one adjacency matrix")
    try:
        return icid_rs.CausalGraph(next(iter(arrays.values())))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _sparse(path: str, arrays: dict[str, Any]) -> Any:
    """Build the sparse matrix that SciPy saved; raise if an index lies outside of it."""
    import scipy.sparse as sp

    kinds = {"csr": sp.csr_array, "csc": sp.csc_array}
    kind = arrays["format"].item() if arrays["format"].ndim == 0 else None
    kind = kind.decode("latin-1") if isinstance(kind, bytes) else kind
    if kind not in kinds:
        raise ValueError(f"{path}: sparse matrices must be stored by rows or columns, csr or csc, not {kind!r}")
    try:
        shape = tuple(map(int, arrays["shape"]))
        matrix = kinds[kind]((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"{path}: no valid sparse matrix: {error}") from None
    return matrix


def _matched(truth: icid_rs.CausalGraph, estimate: icid_rs.CausalGraph, options: argparse.Namespace) -> list[Any]:
    """Return both adjacency matrices over the same variables."""
    paths, graphs = (options.truth, options.estimate), (truth, estimate)
    if any(path.lower().endswith((".npy", ".npz")) for path in paths):
        if truth.n_features_in_ != estimate.n_features_in_:
            sizes = f"{truth.n_features_in_} and {estimate.n_features_in_}"
            raise ValueError(f"{paths[0]} and {paths[1]} have {sizes} variables, so their places cannot be matched")
        return [truth.adjacency_matrix_, estimate.adjacency_matrix_]
    named = [[str(name) for name in graph.names_] for graph in graphs]
    everybody = dict.fromkeys([*named[0], *named[1]])
    for path, other, names in zip(paths, reversed(paths), named, strict=True):
        missing = [name for name in everybody if name not in set(names)]
        # A list of edges does not mention variables without any.
        if missing and not path.lower().endswith(".csv"):
            raise ValueError(f"{path} has no variable {missing[0]!r}, but {other} has")
    if all(named) and not set(named[0]) & set(named[1]):
        raise ValueError(f"{paths[0]} and {paths[1]} have no variable in common")
    place = {name: k for k, name in enumerate(everybody)}
    places = ([place[name] for name in names] for names in named)
    return [_spread(graph, own, len(place)) for graph, own in zip(graphs, places, strict=True)]


def _spread(graph: icid_rs.CausalGraph, places: list[int], d: int) -> Any:
    """Return the adjacency matrix over d variables, of which those of the graph have the given places."""
    import numpy as np
    import scipy.sparse as sp

    rows, columns = graph.adjacency_matrix_.nonzero()
    at = np.asarray(places, dtype=np.intp)
    return sp.csr_array((graph.adjacency_matrix_.data, (at[rows], at[columns])), shape=(d, d))

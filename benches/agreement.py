"""Indices of fit, standard errors and falsification beside `semopy`, `statsmodels` and `dowhy`.

    python -m benches.agreement fit          semopy: χ², RMSEA and CFI of ten graphs
    python -m benches.agreement errors       statsmodels: standard errors of ten graphs
    python -m benches.agreement falsify      dowhy: verdicts on 20 graphs, and seconds at d = 50

Each part needs the library that it names, in an environment of its own: `semopy` and `dowhy` hold others back to older
versions. `tests/trust/test_agreement.py` asserts what is printed here.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from icid_rs import ICID, datasets
from icid_rs.graph.equivalence import causal_order
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.layer import Layer
from icid_rs.trust.check.fit_indices import fit_indices
from icid_rs.trust.check.table import FittedTable
from icid_rs.trust.falsification import falsify_table

GRAPHS = range(10)
#: Permuted graphs: as many as dowhy takes by default, and enough that verdicts hardly depend on chance.
FEW, MANY = 20, 100


def fitted(d: int, degree: int, n: int, seed: int) -> tuple[NDArray[np.float64], ICID]:
    """Simulate a table and fit it."""
    B = datasets.random_dag(d, degree, random_state=seed)
    X = datasets.sample_sem(B, n, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return X, ICID(n_threads=1, measurement_error=None, hidden=None).fit(X)


def frame(X: NDArray[np.float64]) -> Any:
    """Return a data frame whose columns are called x0, x1, and so on."""
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def indices_beside_semopy(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return χ², RMSEA and CFI of a graph, ours and those of semopy.

    The weakest edge of the graph is left out, so that it does not fit. By itself semopy would let variables without
    causes be correlated, and what is left of those without effects: it is told that they are not.
    """
    import semopy

    X, model = fitted(8, 2, 500, seed)
    B = model.adjacency_matrix_.toarray()
    B[np.unravel_index(np.where(B, np.abs(B), np.inf).argmin(), B.shape)] = 0.0
    joined = (B != 0).any(axis=0) | (B != 0).any(axis=1)
    # Its optimiser may stop early where columns have other scales.
    X, graph = (
        (X[:, joined] - X[:, joined].mean(axis=0)) / X[:, joined].std(axis=0),
        sp.csr_array(B[np.ix_(joined, joined)]),
    )
    found = fit_indices(np.cov(X, rowvar=False, bias=True), graph, causal_order(graph), len(X))
    assert found is not None, "a simulated table is not collinear"
    parents = [np.flatnonzero(column) for column in graph.toarray().T]
    lines = [f"x{j} ~ " + " + ".join(f"x{i}" for i in P) for j, P in enumerate(parents) if len(P)]
    lines += [f"x{j} ~~ x{j}" for j, P in enumerate(parents) if not len(P)]
    lines += [f"x{i} ~~ 0*x{j}" for i in range(len(parents)) for j in range(i)]
    theirs = semopy.Model("\n".join(lines))
    theirs.fit(frame(X))
    table = semopy.calc_stats(theirs)
    assert int(table["DoF"].iloc[0]) == found.df, "both count the variances of variables without causes"
    return np.array([found.chi2, found.rmsea, found.cfi]), table[["chi2", "RMSEA", "CFI"]].to_numpy(float)[0]


def errors_beside_statsmodels(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the standard errors of all weights of a graph, ours and those of statsmodels."""
    import statsmodels.api as sm

    X, model = fitted(10, 2, 500, seed)
    graph = model.adjacency_matrix_
    theirs = np.zeros(graph.shape)
    for j in range(graph.shape[0]):
        P = np.flatnonzero(graph[:, [j]].toarray())
        theirs[P, j] = sm.OLS(X[:, j], sm.add_constant(X[:, P])).fit().bse[1:]
    return model.graph_.evidence_.std_error, theirs[edge_ends(graph)]


def falsified_beside_dowhy(
    d: int, seed: int, *, is_right: bool, permutations: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return whether a graph is falsifiable and falsified, and the seconds: ours first, then dowhy's.

    The graph is that from which the table was drawn, or the same with permuted names. dowhy is given our test, of
    partial correlations (Fisher's z).
    """
    import networkx as nx
    from dowhy.gcm.falsify import falsify_graph

    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, 1, random_state=rng)
    X = datasets.sample_sem(B, 300, random_state=rng)
    if not is_right:
        place = rng.permutation(d)
        B = sp.csr_array(B.toarray()[np.ix_(place, place)])
    begin = time.perf_counter()
    table, layer = FittedTable(X, range(d), B, causal_order(B)), Layer.none(d)
    ours = falsify_table(table, layer, significance=0.05, permutations=permutations, random_state=seed)
    middle = time.perf_counter()
    # dowhy draws permutations from the global generator.
    np.random.seed(seed)  # noqa: NPY002
    graph = nx.DiGraph()
    graph.add_nodes_from(f"x{j}" for j in range(d))
    graph.add_edges_from((f"x{i}", f"x{j}") for i, j in zip(*edge_ends(B), strict=True))
    theirs = falsify_graph(
        graph,
        frame(X),
        independence_test=fisher_z,
        conditional_independence_test=fisher_z,
        n_permutations=permutations,
        show_progress_bar=False,
        n_jobs=1,
    )
    verdicts = [[ours.falsifiable, ours.falsified], [theirs.falsifiable, theirs.falsified]]
    return np.array(verdicts, dtype=bool), np.array([middle - begin, time.perf_counter() - middle])


def fisher_z(X: NDArray[Any], Y: NDArray[Any], Z: NDArray[Any] | None = None) -> float:
    """Return the p-value of the partial correlation of two columns given others."""
    n = len(X)
    others = np.column_stack([np.ones(n), *([] if Z is None else [np.asarray(Z, dtype=float).reshape(n, -1)])])
    both = np.column_stack([np.asarray(X, dtype=float).reshape(n), np.asarray(Y, dtype=float).reshape(n)])
    left = both - others @ np.linalg.lstsq(others, both, rcond=None)[0]
    r = float(np.corrcoef(left.T)[0, 1])
    return float(2 * stats.norm.sf(abs(np.arctanh(r)) * np.sqrt(n - others.shape[1] - 2)))


def fit() -> None:
    """Indices of fit, relative differences."""
    for seed in GRAPHS:
        ours, theirs = indices_beside_semopy(seed)
        largest = np.abs(ours / theirs - 1).max()
        print(
            f"graph {seed}: χ² {ours[0]:.3f}, RMSEA {ours[1]:.5f}, CFI {ours[2]:.5f}; differ by at most {largest:.1e}"
        )


def errors() -> None:
    """Standard errors, relative differences."""
    for seed in GRAPHS:
        ours, theirs = errors_beside_statsmodels(seed)
        print(f"graph {seed}: {len(ours)} standard errors differ by {np.abs(ours / theirs - 1).max():.1e}")


def falsify() -> None:
    """Verdicts, and time."""
    same = 0
    for seed in range(20):
        verdicts, _ = falsified_beside_dowhy(10, seed, is_right=seed % 2 == 0, permutations=MANY)
        same += bool((verdicts[0] == verdicts[1]).all())
        print(f"graph {seed}: falsifiable, falsified: {verdicts[0].tolist()}, dowhy {verdicts[1].tolist()}", flush=True)
    print(f"{same} of 20 verdicts agree")
    _, seconds = falsified_beside_dowhy(50, 0, is_right=True, permutations=FEW)
    print(f"d = 50: {seconds[0]:.3f} s, dowhy {seconds[1]:.1f} s, {seconds[1] / seconds[0]:.0f} times")


def main() -> None:
    parts = {f.__name__: f for f in (fit, errors, falsify)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(parts))
    for part in parser.parse_args().parts:
        try:
            parts[part]()
        except ModuleNotFoundError as missing:
            print(f"{part}: needs {missing.name}")


if __name__ == "__main__":
    main()

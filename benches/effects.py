"""Effects: against DoWhy and pgmpy where they are installed, coverage of intervals, given the graph
and after fits, and the time of a range.

python -m benches.effects
"""

from __future__ import annotations

import logging
import time
import warnings
from importlib.util import find_spec

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp

from icid_rs import ICID, CausalGraph, datasets, equivalence_class

GRAPHS = 10
RUNS = 500


def exact_rows(B: sp.csr_array, n: int, seed: int) -> np.ndarray:
    """Rows whose covariance is that of the model to the last digits, so that all valid estimators agree."""
    d = B.shape[0]
    Z = np.random.default_rng([seed, 1]).standard_normal((n, d))
    Z -= Z.mean(axis=0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / n)).T
    return Z @ np.linalg.inv(np.eye(d) - B.toarray())


def pairs_with_effects(graph: CausalGraph, count: int, seed: int) -> list[tuple[str, str]]:
    T = graph.total_effects().toarray()
    ends = np.argwhere(T)
    chosen = np.random.default_rng(seed).permutation(len(ends))[:count]
    return [(graph.names_[i], graph.names_[j]) for i, j in ends[chosen]]


def by_dowhy(network: nx.DiGraph, table: pd.DataFrame, a: str, b: str) -> float:
    from dowhy import CausalModel

    model = CausalModel(table, a, b, graph=network)
    estimand = model.identify_effect(proceed_when_unidentifiable=True)
    # By default other causes of the outcome enter with interactions, which a linear model does not have.
    method = "backdoor.linear_regression"
    return float(model.estimate_effect(estimand, method_name=method, effect_modifiers=[]).value)


def by_pgmpy(network: nx.DiGraph, table: pd.DataFrame, a: str, b: str) -> float | None:
    """None where it does not apply: it multiplies total effects along each path, and counts an edge that has a detour
    more than once."""
    from pgmpy.base import DAG
    from pgmpy.inference import CausalInference

    steps = {step for path in nx.all_simple_edge_paths(network, a, b) for step in path}
    if any(len(list(nx.all_simple_paths(network, *step))) > 1 for step in steps):
        return None
    dag = DAG()
    dag.add_nodes_from(network.nodes)
    dag.add_edges_from(network.edges)
    return float(CausalInference(dag).estimate_ate(a, b, table))


def against_peers() -> None:
    logging.disable(logging.WARNING)
    peers = {
        name: estimate for name, estimate in (("dowhy", by_dowhy), ("pgmpy", by_pgmpy)) if find_spec(name) is not None
    }
    differences: dict[str, list[float]] = {name: [] for name in peers}
    graphs: dict[str, set[int]] = {name: set() for name in peers}
    for seed in range(GRAPHS):
        B = datasets.random_dag(8, 1 + seed % 2, random_state=seed)
        names = [f"x{k}" for k in range(8)]
        table = pd.DataFrame(exact_rows(B, 500, seed), columns=names)
        graph = CausalGraph(B, names)
        network = nx.DiGraph([(names[i], names[j]) for i, j in np.argwhere(B.toarray())])
        network.add_nodes_from(names)
        for a, b in pairs_with_effects(graph, 4, seed):
            ours = graph.effect(a, b, data=table).total
            for name, estimate in peers.items():
                theirs = estimate(network, table, a, b)
                if theirs is not None:
                    differences[name].append(abs(theirs - ours))
                    graphs[name].add(seed)
    for name in ("dowhy", "pgmpy"):
        if name not in peers:
            print(f"  {name}: not installed")
            continue
        compared = f"{len(differences[name])} effects in {len(graphs[name])} graphs"
        print(f"  {name}: largest difference {max(differences[name]):.1e} ({compared})")


def coverage() -> None:
    """95 % intervals, given the true graph; and their union over the class of another member."""
    inside, within_class, ranges = [], [], 0
    for seed in range(RUNS):
        B = datasets.random_dag(10, 1 + seed % 2, random_state=seed)
        noise = ["gaussian", "exponential", "laplace"][seed % 3]
        X = datasets.sample_sem(B, 300, noise=noise, random_state=[2, seed])
        truth = CausalGraph(B)
        T = truth.total_effects().toarray()
        ends = np.argwhere(T)
        a, b = np.random.default_rng([3, seed]).permutation(ends)[0].tolist()
        low, high = truth.effect(a, b, data=X).interval
        inside.append(low <= T[a, b] <= high)
        a, b = np.random.default_rng([4, seed]).permutation(10)[:2].tolist()
        drawn = another_member(B, seed)
        effect = CausalGraph(drawn, cpdag=equivalence_class(B)).effect(a, b, data=X)
        within_class.append(effect.union[0] <= T[a, b] <= effect.union[1])
        ranges += effect.low < effect.high
    print(f"  given the graph: {100 * np.mean(inside):.1f} % of {RUNS} intervals cover")
    print(f"  union over the class: {100 * np.mean(within_class):.1f} % of {RUNS} cover; {ranges} of them are ranges")


def coverage_after_fits() -> None:
    """Effects that fits of standardised columns estimate, on the rows that the graph was found in."""
    within_class, given_graph, ranges = [], [], 0
    for seed in range(RUNS):
        B = datasets.random_dag(10, 1 + seed % 2, random_state=seed)
        noise = ["gaussian", "exponential", "laplace"][seed % 3]
        X = datasets.sample_sem(B, 1000, noise=noise, random_state=[2, seed])
        scale = X.std(axis=0)
        T = CausalGraph(B).total_effects().toarray() * scale[:, None] / scale
        a, b = np.random.default_rng([3, seed]).permutation(np.argwhere(T))[0].tolist()
        model = ICID(hidden=None).fit((X - X.mean(axis=0)) / scale)
        effect = model.effect(a, b)
        within_class.append(effect.union[0] <= T[a, b] <= effect.union[1])
        ranges += effect.low < effect.high
        if np.array_equal(model.adjacency_matrix_.toarray() != 0, B.toarray() != 0):
            given_graph.append(effect.interval[0] <= T[a, b] <= effect.interval[1])
    print(f"  union over the class: {100 * np.mean(within_class):.1f} % of {RUNS} cover; {ranges} of them are ranges")
    print(f"  where the true graph was drawn: {100 * np.mean(given_graph):.1f} % of {len(given_graph)} intervals cover")


def another_member(B: sp.csr_array, seed: int) -> np.ndarray:
    """A graph of the class of B: covered edges are turned at random (Chickering 1995)."""
    A = (B.toarray() != 0).astype(float)
    rng = np.random.default_rng([5, seed])
    for _ in range(20):
        edges = np.argwhere(A)
        for i, j in rng.permutation(edges).tolist():
            above_i, above_j = set(np.flatnonzero(A[:, i])), set(np.flatnonzero(A[:, j]))
            if above_j == above_i | {i}:
                A[i, j], A[j, i] = 0.0, 1.0
                break
    return A


def time_of_ranges() -> None:
    """Processor time, which other programs on the machine hardly change."""
    for kind in ("tree", "ER1"):
        d, rng = 200, np.random.default_rng(0)
        if kind == "tree":
            B = np.zeros((d, d))
            B[[rng.integers(j) for j in range(1, d)], np.arange(1, d)] = 1.0
        else:
            B = datasets.random_dag(d, 1, random_state=0).toarray()
        X = datasets.sample_sem(B, 1000, random_state=1)
        model = ICID(noise="unequal").fit(X)
        graph = CausalGraph(B, cpdag=equivalence_class(B))
        graph.sample_ = model.graph_.sample_
        seconds, wide = [], 0
        for _ in range(200):
            a, b = rng.permutation(d)[:2].tolist()
            start = time.process_time()
            effect = graph.effect(a, b)
            seconds.append(time.process_time() - start)
            wide += len(effect.members) > 1
        open_edges = int(graph.cpdag_.multiply(graph.cpdag_.T).nnz / 2)
        print(
            f"  {kind}, {d} variables, {open_edges} open edges: median {1e3 * np.median(seconds):.2f} ms, "
            f"nine in ten below {1e3 * np.quantile(seconds, 0.9):.2f} ms, longest {1e3 * max(seconds):.1f} ms; "
            f"{wide} of 200 are ranges"
        )


def interventions() -> None:
    """Means after interventions, in Monte-Carlo standard errors from the closed form."""
    worst = 0.0
    n = 100_000
    for seed in range(GRAPHS):
        B = datasets.random_dag(10, 2, random_state=seed)
        graph = CausalGraph(B, noise_variances=1.0)
        a, value = seed % 10, 1.5
        X = graph.sample(n, do={a: value}, random_state=seed)
        cut = B.toarray()
        cut[:, a] = 0.0
        A = np.linalg.inv(np.eye(10) - cut)
        noise = np.ones(10)
        noise[a] = 0.0
        errors = np.sqrt(np.diag(A.T @ np.diag(noise) @ A) / n)
        moved = np.abs(X.to_numpy().mean(axis=0) - value * A[a])
        free = np.arange(10) != a
        worst = max(worst, float((moved[free] / errors[free]).max()))
    print(f"  largest of {9 * GRAPHS} deviations: {worst:.1f} standard errors")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for title, section in (
        ("equal to other packages", against_peers),
        ("coverage", coverage),
        ("coverage after fits of standardised columns", coverage_after_fits),
        ("time of an effect with its range", time_of_ranges),
        ("means of sample(do=...)", interventions),
    ):
        print(title)
        section()

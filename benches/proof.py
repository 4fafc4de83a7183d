"""Whether fits of few variables have the best score of all graphs, by an independent dynamic programme in NumPy.

    python benches/proof.py [--tables 300]

Tables in turn: random models with Gaussian, exponential and uniform noise, models like NetSim (autocorrelated rows, a
common shape), and real tables of ../shared/data/tables (or of the folder in ICID_DATA), of which numeric columns and
rows are drawn at random. Every third fit forbids some edges and requires another. The price of an edge is fixed, noise
variances are unequal. Printed: how many scores agree to one part in a million, and the largest relative difference.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from icid_rs import ICID, datasets

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
KINDS = ("gaussian", "exponential", "uniform", "series", "real")
#: Columns with at most so many distinct values, or one for so many rows, have no shape.
FEW_VALUES, ROWS_PER_VALUE = 20, 50


def simulate(kind: str, seed: int) -> np.ndarray:
    """Rows of up to ten variables."""
    rng = np.random.default_rng(seed)
    if kind == "real":
        files = sorted((DATA / "tables").glob("*.tsv"))
        frame = pd.read_csv(files[seed // len(KINDS) % len(files)], sep="\t", na_values="*").select_dtypes("number")
        values = frame.dropna().to_numpy(dtype=float)
        columns = rng.permutation(values.shape[1])[: rng.integers(3, 9)]
        values = values[rng.permutation(len(values))[:1500]][:, columns]
        return values[:, values.std(axis=0) > 0]
    d, n = int(rng.integers(2, 10)), int(rng.integers(100, 1500))
    B = datasets.random_dag(d, min(2, (d - 1) // 2), random_state=rng)
    noise = "exponential" if kind == "series" else kind
    E = datasets.sample_sem(B * 0.0, n, noise=noise, noise_variances=rng.uniform(0.5, 2, d), random_state=rng)
    if kind == "series":
        for t in range(1, n):
            E[t] += 0.6 * E[t - 1]
    return np.linalg.solve((np.eye(d) - B.toarray() * rng.uniform(0.2, 1)).T, E.T).T


def local_score(Z: np.ndarray, C: np.ndarray, j: int, parents: list[int], penalty: float, *, shaped: bool) -> float:
    n = len(Z)
    w = np.linalg.solve(C[np.ix_(parents, parents)], C[parents, j]) if parents else np.zeros(0)
    left = C[j, j] - C[parents, j] @ w
    score = n * np.log(left) + penalty * len(parents)
    if shaped:
        u = (Z[:, j] - Z[:, parents] @ w) / np.sqrt(left)
        bell = np.exp(-(u**2) / 2)
        odd, even = np.mean(u * bell), np.mean(bell) - 1 / np.sqrt(1 + np.mean(u**2))
        root = np.sqrt(3)
        negentropy = 36 / (8 * root - 9) * odd**2 + 24 / (16 * root - 27) * even**2
        score -= max(0.0, 2 * n * negentropy - 2 * np.log(n))
    return float(score)


def best_score(X: np.ndarray, penalty: float, *, shapes: bool, forbidden: set, required: set) -> float:
    """The best score of all graphs, by dynamic programming over sets of variables."""
    n, d = X.shape
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    C = Z.T @ Z / n
    values = [len(np.unique(column)) for column in X.T]
    shaped = [shapes and count > FEW_VALUES and count > n / ROWS_PER_VALUE for count in values]
    best = np.full((1 << d, d), np.inf)
    for parents in range(1 << d):
        members = [i for i in range(d) if parents >> i & 1]
        for j in range(d):
            if parents >> j & 1:
                continue
            allowed = all((i, j) not in forbidden for i in members)
            if allowed and all(i in members for i, effect in required if effect == j):
                best[parents, j] = local_score(Z, C, j, members, penalty, shaped=shaped[j])
            for i in members:
                best[parents, j] = min(best[parents, j], best[parents & ~(1 << i), j])
    total = np.full(1 << d, np.inf)
    total[0] = 0.0
    for subset in range(1, 1 << d):
        total[subset] = min(
            total[subset & ~(1 << j)] + best[subset & ~(1 << j), j] for j in range(d) if subset >> j & 1
        )
    return float(total[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=300)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    differences: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for seed in range(options.tables):
        kind = KINDS[seed % len(KINDS)]
        X = simulate(kind, seed)
        d = X.shape[1]
        rng = np.random.default_rng(seed)
        forbidden, required = set(), set()
        if seed % 3 == 2 and d > 2:
            order = rng.permutation(d)
            forbidden = {(int(order[-1]), int(i)) for i in order[1:-1]}
            required = {(int(order[0]), int(order[-1]))}
        penalty = float(rng.choice([1.0, 2.0, 3.5]))
        model = ICID(noise="unequal", penalty=penalty, forbidden=sorted(forbidden), required=sorted(required)).fit(X)
        shapes = not model.info_["choices"]["residuals"]["gaussian"]
        price = penalty * np.log(len(X))
        best = best_score(X, price, shapes=shapes, forbidden=forbidden, required=required)
        differences[kind].append(abs(model.info_["refinement"]["score"] - best) / max(1.0, abs(best)))
    for kind, values in differences.items():
        same = sum(value <= 1e-6 for value in values)
        print(f"{kind:12} {same} of {len(values)} the best, largest difference {max(values, default=0.0):.1e}")


if __name__ == "__main__":
    main()

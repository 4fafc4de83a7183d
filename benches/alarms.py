"""Warnings of a fit: false alarms on clean tables, and faults that are named.

    python benches/alarms.py [clean faults] [--seeds 20] [--first 0]

Linear tables of random graphs (ER1 and ER2), with weights ±[0.5, 2] and noise variances uniform on [0.5, 2].

clean    share of tables with any warning of a violated assumption, by noise and number of rows, and beside it the share
         with a doubt or failure in `check`
faults   share of tables of 10 variables, 1 000 rows where not stated, in which a warning names the column or row at
         fault; as arrays, and as data frames, of which columns that are no variables are left out with a warning
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

from icid_rs import ICID, AssumptionWarning, datasets

NAMES = [f"column_{k}" for k in range(10)]


def draw(d: int, degree: int, n: int, seed: int, noise: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    if noise == "t5":
        E = rng.standard_t(5, size=(n, d)) * np.sqrt(3 / 5 * rng.uniform(0.5, 2.0, d))
        return np.linalg.solve(np.eye(d) - B.toarray().T, E.T).T, B.toarray()
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    return X, B.toarray()


def clean(seeds: range) -> None:
    kinds: Counter[str] = Counter()
    for noise in ("gaussian", "exponential", "t5"):
        for n in (200, 500, 1000, 3000, 10_000):
            tables = warned = checked = 0
            for d, degree in ((10, 1), (20, 2)):
                for seed in seeds:
                    X, _ = draw(d, degree, n, seed, noise)
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        model = ICID(stability=None).fit(X)
                    alarms = [str(w.message) for w in caught if issubclass(w.category, AssumptionWarning)]
                    failing = [one for one in model.check(X) if one.verdict != "pass"]
                    kinds.update(f"warned: {alarm.split(':')[0]}" for alarm in alarms)
                    kinds.update(f"checked: {one.verdict}, {one.name}" for one in failing)
                    tables, warned, checked = tables + 1, warned + bool(alarms), checked + bool(failing)
            print(f"{noise} n = {n}: {warned} of {tables} warned of, check has doubts in {checked}", flush=True)
    for kind, number in kinds.most_common():
        print(f"    {number:4} {kind}")


def gross_row(X: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> list[str]:
    row = int(rng.integers(len(X)))
    X[row] += 20 * X.std(axis=0) * rng.normal(size=X.shape[1])
    return [f"row {row}"]


def code(X: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> list[str]:
    j = int(rng.integers(X.shape[1]))
    X[rng.random(len(X)) < 0.01, j] = -999
    return [NAMES[j]]


def walks(X: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> list[str]:
    pair = rng.choice(X.shape[1], 2, replace=False)
    X[:, pair] = rng.normal(size=(len(X), 2)).cumsum(axis=0)
    return [NAMES[j] for j in pair]


def few_levels(X: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> list[str]:
    a, b = rng.choice(X.shape[1], 2, replace=False)
    X[:, a] = X[:, a] > X[:, a].mean()
    X[:, b] = np.clip(np.round(X[:, b] / X[:, b].std()), -2, 2)
    return [NAMES[a], NAMES[b]]


def curve(change: Callable[[np.ndarray], np.ndarray]) -> Callable[..., list[str]]:
    def bend(X: np.ndarray, B: np.ndarray, rng: np.random.Generator) -> list[str]:
        """Bend the link to a variable without effects."""
        sinks = [(i, j) for i, j in zip(*np.nonzero(B), strict=True) if not B[j].any()]
        i, j = sinks[int(rng.integers(len(sinks)))]
        z = (X[:, i] - X[:, i].mean()) / X[:, i].std()
        X[:, j] += B[i, j] * X[:, i].std() * (change(z) - z)
        return [NAMES[i], NAMES[j]]

    return bend


def cell(X: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> list[str]:
    row, j = int(rng.integers(len(X))), int(rng.integers(X.shape[1]))
    X[row, j] = X[:, j].mean() + 100 * X[:, j].std()
    return [f"row {row}", NAMES[j]]


def numbered(X: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> list[str]:
    j = int(rng.integers(X.shape[1]))
    X[:, j] = np.arange(len(X))
    return [NAMES[j]]


def dependent_rows(_: np.ndarray, B: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n, d = 1000, len(B)
    E = rng.normal(size=(n, d)) * np.sqrt(rng.uniform(0.5, 2.0, d))
    for t in range(1, n):
        E[t] = 0.95 * E[t - 1] + np.sqrt(1 - 0.95**2) * E[t]
    return np.linalg.solve(np.eye(d) - B.T, E.T).T


FAULTS: dict[str, tuple[int, Callable[..., list[str]] | None]] = {
    "one gross row of 10 000": (10_000, gross_row),
    "-999 in 1 % of a column": (1000, code),
    "AR(.95) rows": (1000, None),
    "two random walks": (1000, walks),
    "a binary and a 5-level column": (1000, few_levels),
    "a link of (x² − 1)": (1000, curve(lambda z: z**2 - 1)),
    "a link of exp(x)": (1000, curve(np.exp)),
    "a link of x + (x² − 1)/2": (1000, curve(lambda z: z + (z**2 - 1) / 2)),
    "a link of tanh(2 x)": (1000, curve(lambda z: np.tanh(2 * z))),
    "one cell at 100 standard deviations": (1000, cell),
    "a row-number column": (1000, numbered),
}


def faults(seeds: range) -> None:
    for name, (n, spoil) in FAULTS.items():
        named: Counter[str] = Counter()
        for seed in seeds:
            rng = np.random.default_rng(10_000 + seed)
            X, B = draw(10, 1, n, seed, "gaussian")
            if spoil is None:
                X, wanted = dependent_rows(X, B, rng), ["neighbouring rows"]
            else:
                wanted = spoil(X, B, rng)
            for kind, table in (("arrays", X), ("frames", pd.DataFrame(X, columns=NAMES))):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    ICID(stability=None).fit(table)
                said = " ".join(str(w.message) for w in caught)
                # Columns of an array are named by their numbers.
                expected = [word if kind == "frames" else re.sub(r"^column_(\d)$", r"\1", word) for word in wanted]
                named[kind] += all(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.]\w)", said) for word in expected)
        shares = ", ".join(f"{kind} {named[kind]} of {len(seeds)}" for kind in ("arrays", "frames"))
        print(f"{name}: named in {shares}", flush=True)


def main() -> None:
    parts = {"clean": clean, "faults": faults}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], default=[])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    for part in options.parts or parts:
        parts[part](range(options.first, options.first + options.seeds))


if __name__ == "__main__":
    main()

"""Claimed directions on tables with a known graph: right, wrong, and between variables that no edge joins.

    python benches/claims.py clean shapes odd pairs netsim tunnel sachs tables cost [--seeds 3] [--first 0]

Where `flopsearch` is installed, FLOP (penalty 2.0, 20 restarts) takes part in `odd` and `sachs`, in turns. Simulated
tables are standardised, with noise variances uniform on [0.5, 2] and weights ±[0.5, 2]. Data are read from the folder
in ICID_DATA. `class` counts what the equivalence class of the graph compels, whether claimed or not; `graph` all arrows
of the graph.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from icid_rs import ICID, datasets, equivalence_class

try:
    from flopsearch import flop
except ImportError:
    flop = None

DATA = Path(os.environ.get("ICID_DATA", "../shared/data"))
Case = tuple[np.ndarray, np.ndarray]


class Tally:
    """Directions that are right, wrong, and between variables that are not joined; and what there was to find."""

    def __init__(self) -> None:
        self.claims, self.compelled, self.graph = (np.zeros(3, dtype=int) for _ in range(3))
        self.edges = self.compelled_edges = self.found = self.distance = self.tables = 0
        self.identified: dict[str, int] = {}

    def add(self, model: ICID, truth: np.ndarray) -> None:
        truth = truth != 0
        B = model.adjacency_matrix_.toarray() != 0
        cpdag = equivalence_class(model.adjacency_matrix_).toarray() != 0
        true_class = equivalence_class(truth.astype(float)).toarray() != 0
        compelled = true_class & ~true_class.T
        own = model.cpdag_.toarray() != 0
        claimed = own & ~own.T
        for counts, found in ((self.claims, claimed), (self.compelled, cpdag & ~cpdag.T), (self.graph, B)):
            counts += [(found & truth).sum(), (found & truth.T & ~truth).sum(), (found & ~truth & ~truth.T).sum()]
        self.edges += truth.sum()
        self.compelled_edges += compelled.sum()
        self.found += (claimed & compelled).sum()
        different = truth != B
        self.distance += int((different | different.T).sum()) // 2
        self.tables += 1
        key = model.info_["identified"]
        self.identified[key] = self.identified.get(key, 0) + 1

    def __str__(self) -> str:
        def show(counts: np.ndarray) -> str:
            return ":".join(map(str, counts))

        return (
            f"claims {show(self.claims)}, class {show(self.compelled)}, graph {show(self.graph)} of {self.edges}; "
            f"{self.found} of {self.compelled_edges} compelled ones claimed; SHD {self.distance}; {self.identified}"
        )


class Flop:
    """The directions of FLOP's class, counted as those of a `Tally`; it is not seeded."""

    def __init__(self) -> None:
        self.directed = np.zeros(3, dtype=int)

    @staticmethod
    def marks(X: np.ndarray) -> np.ndarray:
        """Return its class: undirected edges are at [i, j] and [j, i]."""
        return np.asarray(flop(np.ascontiguousarray(X, dtype=float), 2.0, restarts=20)) != 0

    def add(self, X: np.ndarray, truth: np.ndarray) -> None:
        truth, marks = truth != 0, self.marks(X)
        found = marks & ~marks.T
        self.directed += [(found & truth).sum(), (found & truth.T & ~truth).sum(), (found & ~truth & ~truth.T).sum()]

    def __str__(self) -> str:
        return ":".join(map(str, self.directed))


def fit(X: np.ndarray, **options) -> ICID:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ICID(**options).fit(np.ascontiguousarray(X, dtype=float))


def standardise(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def simulate(d: int, degree: int, n: int, seed: int, noise: str = "gaussian") -> Case:
    rng = np.random.default_rng(seed)
    B = datasets.random_dag(d, degree, random_state=rng)
    X = datasets.sample_sem(B, n, noise=noise, noise_variances=rng.uniform(0.5, 2.0, d), random_state=rng)
    order = rng.permutation(d)
    return standardise(X[:, order]), B.toarray()[np.ix_(order, order)]


def row(name: str, cases: list[Callable[[], Case]], *, beside_flop: bool = False, **options) -> None:
    tally, theirs, seconds = Tally(), Flop(), 0.0
    for case in cases:
        X, truth = case()
        begin = time.perf_counter()
        model = fit(X, **options)
        seconds += time.perf_counter() - begin
        tally.add(model, truth)
        if beside_flop:
            theirs.add(X, truth)
    beside = f"; FLOP {theirs}" if beside_flop else ""
    print(f"{name}: {tally}{beside}; {seconds / len(cases):.2f} s a fit", flush=True)


def clean(seeds: range) -> None:
    """Gaussian tables: at n = 1000, 97 % of the compelled directions and at most .5 % wrong; at 300, 85 % and 2 %."""
    for n, sizes in ((1000, (20, 50, 200)), (300, (20, 50))):
        for d in sizes:
            for degree in (1, 2):
                cases = [lambda s=s, d=d, g=degree, n=n: simulate(d, g, n, s) for s in seeds]
                row(f"Gaussian ER{degree} d = {d} n = {n}", cases)


def shapes(seeds: range) -> None:
    """Noise with a shape: 95 % of all directions, at most 1 % wrong or between unjoined variables."""
    for noise in ("exponential", "gumbel", "laplace", "uniform"):
        for d in (20, 100):
            cases = [lambda s=s, d=d, noise=noise: simulate(d, 1, 1000, s, noise) for s in seeds]
            row(f"{noise} ER1 d = {d} n = 1000", cases)


def odd_table(kind: str, seed: int) -> Case:
    """15 variables and 20 edges, of which the model holds only in part."""
    d, n, edges = 15, 1000, 20
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(d, 1)
    chosen, place = rng.choice(len(first), edges, replace=False), rng.permutation(d)
    B = np.zeros((d, d))
    B[place[first[chosen]], place[second[chosen]]] = rng.uniform(0.5, 2.0, edges) * rng.choice([-1.0, 1.0], edges)
    order = np.argsort(np.linalg.inv(np.eye(d) - (B != 0)).sum(axis=0), kind="stable")
    scale = np.sqrt(rng.uniform(0.5, 2.0, d))
    hidden = rng.normal(size=(n, 2)) @ (rng.normal(size=(2, d)) * (rng.random((2, d)) < 0.5))
    X, e = np.zeros((n, d)), rng.normal(size=(n, d)) * scale
    if kind == "t2":
        e = rng.standard_t(2, size=(n, d)) * scale
    if kind == "latent":
        e = e + hidden
    if kind == "AR(.95)":
        for t in range(1, n):
            e[t] = 0.95 * e[t - 1] + np.sqrt(1 - 0.95**2) * e[t]
    if kind == "mean shift":
        e = e + (np.arange(n) >= n // 2)[:, None] * rng.normal(size=d)
    for j in order:
        causes = np.flatnonzero(B[:, j])
        deviation = X[:, causes].std(axis=0) if len(causes) else 1.0
        z = X[:, causes] / deviation
        size = np.sqrt((B[causes, j] ** 2).sum()) if len(causes) else 1.0
        signal = (z * B[causes, j]).sum(axis=1)
        if kind == "x2":
            signal = (B[causes, j] * (z**2 - 1)).sum(axis=1)
        if kind == "Poisson":
            X[:, j] = rng.poisson(np.exp(np.clip(signal / size, -3, 3)))
            continue
        if kind == "zero-inflated":
            X[:, j] = rng.poisson(np.exp(np.clip(signal / size + 1, -3, 3))) * (rng.random(n) < 0.6)
            continue
        if kind.startswith("heteroscedastic"):
            factor = 1.0 if kind.endswith("strong") else 0.4
            e[:, j] *= np.exp(factor * np.clip(z.sum(axis=1) / max(1.0, np.sqrt(len(causes))), -3, 3))
        X[:, j] = signal + e[:, j]
    if kind == "censored":
        X = np.maximum(X, np.quantile(X, 0.3, axis=0))
    if kind == "rare binary":
        some = rng.random(d) < 1 / 3
        X[:, some] = X[:, some] > np.quantile(X[:, some], 0.95, axis=0)
    if kind == "5 levels":
        X = np.clip(np.round(standardise(X)), -2, 2)
    if kind == "exp":
        X = np.exp(standardise(X) / 2)
    if kind == "softplus":
        X = np.log1p(np.exp(2 * standardise(X)))
    return X, B


ODD = (
    "zero-inflated",
    "Poisson",
    "heteroscedastic mild",
    "heteroscedastic strong",
    "censored",
    "rare binary",
    "5 levels",
)
ODD += ("exp", "softplus", "x2", "t2", "latent", "AR(.95)", "mean shift")


def odd(seeds: range, kinds: tuple[str, ...] = ODD) -> None:
    """Tables that the model does not describe; raw and standardised."""
    for kind in kinds:
        for name, change in (("raw", lambda X: X), ("standardised", standardise)):

            def case(seed: int, kind: str = kind, change=change) -> Case:
                X, B = odd_table(kind, seed)
                kept = X.std(axis=0) > 0
                return change(X[:, kept]), B[np.ix_(kept, kept)]

            cases = [lambda s=s, case=case: case(s) for s in seeds]
            row(f"{kind}, {name}", cases, beside_flop=flop is not None)


def pair(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = 1000
    x = rng.normal(size=n)
    match kind:
        case "Gaussian, binary":
            return np.column_stack([x, (x + rng.normal(size=n) > 0) * 1.0])
        case "3 levels, 4 levels":
            x = rng.integers(0, 3, n).astype(float)
            return np.column_stack([x, np.clip(np.round(x + rng.normal(size=n) * 0.7), 0, 3)])
        case "uniform, exp":
            x = rng.uniform(-2, 2, n)
            return np.column_stack([x, np.exp(x) + 0.3 * rng.normal(size=n)])
        case "x, x2":
            return np.column_stack([x, x**2 + 0.3 * rng.normal(size=n)])
        case "Poisson, Poisson":
            x = rng.poisson(3, n)
            return np.column_stack([x, rng.poisson(1 + x)]).astype(float)
    return np.column_stack([x, x + np.exp(0.7 * x) * rng.normal(size=n)])


def pairs(seeds: range) -> None:
    """Two variables: a wrong direction is claimed in at most 5 %. And measured pairs with odd numbers."""
    truth = np.array([[0.0, 1.0], [0.0, 0.0]])
    kinds = ("Gaussian, binary", "3 levels, 4 levels", "uniform, exp", "x, x2", "Poisson, Poisson", "heteroscedastic")
    for kind in kinds:
        for name, change in (("raw", lambda X: X), ("standardised", standardise)):
            cases = [lambda s=s, kind=kind, change=change: (change(pair(kind, s)), truth) for s in seeds]
            row(f"{kind}, {name}", cases)
    found = np.load(DATA / "pairs_odd.npz")
    names = [name[1:] for name in found.files if name.startswith("x")]
    right = wrong = open_weight = 0.0
    for name in names:
        direction, weight = found[f"m{name}"]
        x = found[f"x{name}"].astype(float)
        x = x[np.isfinite(x).all(axis=1)]
        if min(x.std(axis=0)) == 0:
            continue
        model = fit(x)
        own = model.cpdag_.toarray() != 0
        claims = (own & ~own.T)[::1]
        forward = claims[0, 1] if direction > 0 else claims[1, 0]
        backward = claims[1, 0] if direction > 0 else claims[0, 1]
        right, wrong = right + weight * forward, wrong + weight * backward
        open_weight += weight * (not forward and not backward)
    print(f"measured pairs: weight right {right:.1f}, wrong {wrong:.1f}, open {open_weight:.1f}")


def netsim(seeds: range) -> None:
    """Sim3 and Sim4: the graph is right, and most directions are claimed."""
    from scipy.io import loadmat

    for name in ("sim3", "sim4"):
        found = loadmat(DATA / f"{name}.mat")
        truth = np.array(found["net"][0] != 0)
        np.fill_diagonal(truth, val=False)
        for label, change in (("raw", lambda X: X), ("standardised", standardise)):

            def case(seed: int, X=found["ts"], truth=truth, change=change) -> Case:
                order = np.random.default_rng(seed).permutation(len(truth))
                return change(X[:, order]), truth[np.ix_(order, order)].astype(float)

            row(f"{name}, {label}", [lambda s=s, case=case: case(s) for s in seeds])


def tunnel(seeds: range) -> None:
    """The light tunnel: at least 20 right, at most 1 wrong, at most 2 between variables that are not joined."""
    import pandas as pd

    table = pd.read_csv(DATA / "chamber/light_tunnel.csv")
    truth = pd.read_csv(DATA / "chamber/light_tunnel_truth.csv", index_col=0).loc[table.columns, table.columns]
    for seed in seeds:
        row(
            f"light tunnel, random_state={seed}", [lambda: (table.to_numpy(float), truth.to_numpy())], random_state=seed
        )


def sachs(_: range) -> None:
    """Proteins: at most 2 wrong claims in each table."""
    import pandas as pd

    tables = {}
    small = pd.read_csv(DATA / "sachs_observational.csv")
    large = pd.read_csv(DATA / "sachs/pooled_7466.csv.gz")
    edges = pd.read_csv(DATA / "sachs/consensus_20.csv")
    small.columns = [name.lower() for name in small.columns]
    large.columns = [name.lower() for name in large.columns]
    for name, table in (("853", small), ("7466", large)):
        tables[f"Sachs {name}, raw"] = table
        tables[f"Sachs {name}, logarithms"] = np.log(table.clip(lower=table[table > 0].min().min()))
    known_as = {"praf": "raf", "pmek": "mek", "plcg": "plc", "p44/42": "erk", "pakts473": "akt", "pjnk": "jnk"}

    def short(name: str) -> str:
        return known_as.get(name.lower(), name.lower())

    for name, table in tables.items():
        place = {short(column): k for k, column in enumerate(table.columns)}
        truth = np.zeros((len(place), len(place)))
        missing = []
        for cause, effect in edges.itertuples(index=False):
            if short(cause) in place and short(effect) in place:
                truth[place[short(cause)], place[short(effect)]] = 1
            else:
                missing.append((cause, effect))
        model = fit(table.to_numpy(float))
        own, B = model.cpdag_.toarray() != 0, model.adjacency_matrix_.toarray() != 0
        claimed = own & ~own.T
        joined = truth + truth.T > 0
        print(
            f"{name}: claims {(claimed & (truth > 0)).sum()}:{(claimed & (truth.T > 0) & ~(truth > 0)).sum()}:"
            f"{(claimed & ~joined).sum()}; adjacencies {(B & joined).sum()} right, {(B & ~joined).sum()} wrong; "
            f"names not found: {len(missing)}"
        )
        if flop is not None:
            marks = Flop.marks(table.to_numpy(float))
            pairs_joined = np.triu(marks | marks.T)
            print(
                f"    FLOP: adjacencies {(pairs_joined & joined).sum()} right, {(pairs_joined & ~joined).sum()} wrong"
            )


def tables(_: range) -> None:
    """Real tables with known tiers: claimed directions between tiers, right and wrong."""
    import pandas as pd

    total = np.zeros(4, dtype=int)
    for path in sorted((DATA / "tables").glob("*.knowledge")):
        allowed = read_tiers(path)
        source = next(
            (p for p in (path.with_suffix(".tsv"), *path.parent.glob(path.stem + "*.tsv")) if p.exists()), None
        )
        if source is None:
            continue
        table = pd.read_csv(source, sep="\t", na_values=["*", "?"]).apply(pd.to_numeric, errors="coerce")
        table = table.loc[:, table.notna().mean() > 0.5].dropna()
        table = table.loc[:, table.std() > 0]
        try:
            model = fit(table.to_numpy(float))
        except ValueError as error:
            print(f"{path.stem}: {error}"[:150])
            continue
        own, B = model.cpdag_.toarray() != 0, model.adjacency_matrix_.toarray() != 0
        counts = np.zeros(4, dtype=int)
        for pattern, k in ((own & ~own.T, 0), (B, 2)):
            for i, j in zip(*np.nonzero(pattern), strict=True):
                tiers = [allowed.get(str(table.columns[v])) for v in (i, j)]
                if None not in tiers and tiers[0] != tiers[1]:
                    counts[k + (tiers[0] > tiers[1])] += 1
        total += counts
        print(f"{path.stem} {table.shape}: claims {counts[0]}:{counts[1]}, graph {counts[2]}:{counts[3]}", flush=True)
    print(f"in all: claims {total[0]}:{total[1]}, graph {total[2]}:{total[3]}")


def read_tiers(path: Path) -> dict[str, int]:
    """Return the tier of each variable in a file of Tetrad's format."""
    tiers: dict[str, int] = {}
    section = ""
    for line in path.read_text().splitlines():
        words = line.split()
        if not words or line.startswith("/"):
            section = line.strip() if line.startswith("/") else section
            continue
        if words[0] in ("addtemporal", "forbiddirect", "requiredirect"):
            section = words[0]
        elif section == "addtemporal" and words[0].rstrip("*").isdigit():
            tiers |= {name: int(words[0].rstrip("*")) for name in words[1:]}
    return tiers


def cost(seeds: range) -> None:
    """Processor seconds with claims and without, one thread, in turns."""
    for d, n in ((20, 1000), (100, 1000), (1000, 2000), (1000, 10_000)):
        for noise in ("gaussian", "exponential"):
            seconds: dict[str | None, list[float]] = {None: [], "auto": []}
            for seed in seeds:
                X, _ = simulate(d, 1, n, seed, noise)
                for stability, times in seconds.items():
                    begin = time.process_time()
                    fit(X, stability=stability, n_threads=1)
                    times.append(time.process_time() - begin)
            without, with_claims = (float(np.median(times)) for times in seconds.values())
            ratio = with_claims / without
            print(
                f"{noise} d = {d} n = {n}: {without:.2f} s, with claims {with_claims:.2f} s, {ratio:.1f} times",
                flush=True,
            )


def main() -> None:
    parts = {f.__name__: f for f in (clean, shapes, odd, pairs, netsim, tunnel, sachs, tables, cost)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(parts))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    for part in options.parts:
        parts[part](range(options.first, options.first + options.seeds))


if __name__ == "__main__":
    main()

"""Real tables with what is known of their causes, read from the folder in ICID_DATA; none is kept in the repository.

Sachs et al. (2005), protein signalling; Gamella, Peters and Bühlmann (2025), a light tunnel; Smith et al. (2011),
simulated fMRI (NetSim); tables with tiers in Tetrad's format; pairs of Mooij et al. (2016).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
from benches.peers.environments import ROOT
from benches.peers.sachs import CONSENSUS
from numpy.typing import NDArray

DATA = Path(os.environ.get("ICID_DATA", ROOT.parent / "shared" / "data"))
_MISSING = ["*", "?"]
#: Names of the proteins in the table of 853 cells, for those of the pooled one.
_PROTEINS = {"erk": "p44/42", "akt": "pakts473", "mek": "pmek", "raf": "praf", "plc": "plcg", "jnk": "pjnk"}


@dataclass(frozen=True)
class RealSet:
    """A table, and what is known of it.

    Attributes
    ----------
    name, group : str
    X : array of shape (n, d)
    truth : bool array of shape (d, d), optional
        The whole graph, row causes column.
    possible : bool array of shape (d, d), optional
        Where only tiers and single pairs are known: directions that they allow and whose reverse they exclude.
    weight : float
        Of the table in the totals of its group.
    """

    name: str
    group: str
    X: NDArray[np.float64]
    truth: NDArray[np.bool_] | None = None
    possible: NDArray[np.bool_] | None = None
    weight: float = 1.0


def all_sets() -> Iterator[RealSet]:
    """Yield every set whose files are there."""
    for reader in (_light_tunnel, _sachs, _netsim, _tiers, _pairs):
        try:
            yield from reader()
        except FileNotFoundError as error:
            print(f"not there: {error.filename}", flush=True)


def _light_tunnel() -> Iterator[RealSet]:
    table = pd.read_csv(DATA / "chamber" / "light_tunnel.csv")
    truth = pd.read_csv(DATA / "chamber" / "light_tunnel_truth.csv", index_col=0)
    names = [name for name in truth.columns if name in table.columns]
    yield RealSet("light tunnel", "light tunnel", table[names].to_numpy(float), truth.loc[names, names].to_numpy() != 0)


def _sachs() -> Iterator[RealSet]:
    small = pd.read_csv(DATA / "sachs_observational.csv")
    pooled = pd.read_csv(DATA / "sachs" / "pooled_7466.csv.gz")
    edges = pd.read_csv(DATA / "sachs" / "consensus_20.csv").to_numpy().tolist()
    consensus = [edge.split() for edge in CONSENSUS.split(";")]
    for name, table, known in (("853 cells", small, consensus), ("7466 cells", pooled, edges)):
        truth = _matrix(list(table.columns), known)
        X = table.to_numpy(float)
        yield RealSet(f"Sachs, {name}", "Sachs", X, truth)
        yield RealSet(f"Sachs, {name}, logarithms", "Sachs", np.log(np.maximum(X, X[X > 0].min())), truth)


def _netsim() -> Iterator[RealSet]:
    for number in (3, 4):
        loaded = scipy.io.loadmat(DATA / f"sim{number}.mat")
        X = np.asarray(loaded["ts"], dtype=float)
        truth = (loaded["net"] != 0).any(axis=0)
        np.fill_diagonal(truth, False)
        # The stored order is causal: ties would flatter whoever goes by it.
        p = np.random.default_rng(0).permutation(X.shape[1])
        X, truth = X[:, p], truth[np.ix_(p, p)]
        yield RealSet(f"NetSim Sim{number}", "NetSim", X, truth)
        yield RealSet(f"NetSim Sim{number}, standardised", "NetSim", (X - X.mean(axis=0)) / X.std(axis=0), truth)


def _tiers() -> Iterator[RealSet]:
    for path in sorted((DATA / "tables").glob("*.knowledge")):
        table = pd.read_csv(path.with_suffix(".tsv"), sep="\t", na_values=_MISSING)
        table = table.select_dtypes("number").dropna()
        table = table.loc[:, table.nunique() > 1]
        names = [str(name) for name in table.columns]
        yield RealSet(path.stem, "tiers", table.to_numpy(float), possible=possible_directions(path.read_text(), names))


def _pairs() -> Iterator[RealSet]:
    loaded = np.load(DATA / "pairs_odd.npz")
    for key in sorted((key for key in loaded.files if key.startswith("x")), key=lambda key: int(key[1:])):
        direction, weight = loaded[f"m{key[1:]}"]
        truth = np.zeros((2, 2), dtype=bool)
        truth[(0, 1) if direction > 0 else (1, 0)] = True
        yield RealSet(f"pair {key[1:]}", "pairs", loaded[key], truth, weight=float(weight))


def possible_directions(text: str, names: list[str]) -> NDArray[np.bool_]:
    """Read knowledge in Tetrad's format: tiers, forbidden and required pairs.

    ``[i, j]`` is True if i may cause j and j cannot cause i.
    """
    excluded = np.zeros((len(names), len(names)), dtype=bool)
    place = {name: k for k, name in enumerate(names)}
    tiers: list[list[int]] = []
    section = ""
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("/"):
            continue
        if words[0] in ("addtemporal", "forbiddirect", "requiredirect"):
            section = words[0]
        elif section == "addtemporal":
            tiers.append([place[name] for name in words[1:] if name in place])
        elif words[0] in place and words[1] in place:
            i, j = place[words[0]], place[words[1]]
            excluded[(i, j) if section == "forbiddirect" else (j, i)] = True
    for k, later in enumerate(tiers):
        for earlier in tiers[:k]:
            excluded[np.ix_(later, earlier)] = True
    return np.asarray(excluded.T & ~excluded)


def _matrix(names: list[str], edges: list[list[str]]) -> NDArray[np.bool_]:
    columns = {_PROTEINS.get(name.lower(), name).lower(): k for k, name in enumerate(names)}
    truth = np.zeros((len(names), len(names)), dtype=bool)
    for cause, effect in edges:
        i, j = (columns[_PROTEINS.get(name.lower(), name).lower()] for name in (cause, effect))
        truth[i, j] = True
    return truth

"""The data: what is drawn or read, and which cells the tables have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp
from benches.peers import sachs
from benches.peers.environments import CACHE

from icid_rs import datasets

SIZES = (50, 100, 200, 400, 1000, 2000)
#: Methods for the cells where two or three are of interest, with more seeds.
GAUSSIAN_RIVALS = ("ICID", "FLOP")
SHAPE_RIVALS = ("ICID", "DirectLiNGAM", "ICA-LiNGAM")


@dataclass(frozen=True)
class Case:
    """A graph and data from it, columns permuted.

    ``"raw"``: equal noise variances. ``"standardised"``: noise variances uniform on [0.5, 2], columns standardised.
    Measured data, the graph ``"Sachs"``, have no degree, and say in place of the noise what was measured.
    """

    graph: Literal["ER", "SF", "Sachs"]
    degree: int
    d: int
    n: int
    scaling: Literal["raw", "standardised"]
    noise: str = "gaussian"
    seed: int = 0

    @property
    def table(self) -> Literal["raw", "standardised", "side"]:
        """The part of the page it belongs to."""
        main = self.graph == "ER" and self.n == 10 * self.d and self.noise == "gaussian"
        return self.scaling if main else "side"

    @property
    def seeds(self) -> range:
        """The seeds that the tables plan."""
        return range(1 if self.d > 200 or self.graph == "Sachs" else 3)

    def make(self) -> tuple[sp.csr_array, np.ndarray]:
        """Draw or read the graph and the data."""
        rng = np.random.default_rng(self.seed)
        raw = self.scaling == "raw"
        if self.graph == "Sachs":
            B, X = sachs.load(logarithms=self.noise == "logarithms")
        else:
            B = datasets.random_dag(self.d, self.degree, self.graph, random_state=rng)
            variances = 1.0 if raw else rng.uniform(0.5, 2.0, self.d)
            X = datasets.sample_sem(B, self.n, noise=self.noise, noise_variances=variances, random_state=rng)
        P = rng.permutation(self.d)
        X = X[:, P] if raw else (X[:, P] - X.mean(axis=0)[P]) / X.std(axis=0)[P]
        return B[P][:, P], np.ascontiguousarray(X)

    def files(self) -> tuple[Path, Path]:
        """Return where the graph and the data are kept, and make them if they are not there yet."""
        folder = CACHE / "data"
        name = f"{self.graph}{self.degree}-{self.d}-{self.n}-{self.scaling}-{self.noise}-{self.seed}"
        graph, samples = folder / f"{name}-graph.npz", folder / f"{name}.npz"
        if not (graph.exists() and samples.exists()):
            folder.mkdir(parents=True, exist_ok=True)
            B, X = self.make()
            np.savez(samples, X=X)
            sp.save_npz(graph, B)
        return graph, samples


def main_cases() -> Iterator[Case]:
    """Ten samples a variable: three seeds up to 200 variables, one beyond."""
    for scaling in ("raw", "standardised"):
        for degree in (1, 2):
            for d in SIZES:
                case = Case("ER", degree, d, 10 * d, scaling)
                yield from (replace(case, seed=seed) for seed in case.seeds)


def side_cases() -> Iterator[Case]:
    """Hubs, two samples a variable, fewer samples than variables, noise that is not Gaussian, and measured data."""
    for seed in range(3):
        for scaling in ("raw", "standardised"):
            yield Case("SF", 2, 50, 500, scaling, seed=seed)
            yield Case("ER", 1, 50, 100, scaling, seed=seed)
            yield Case("ER", 1, 50, 40, scaling, seed=seed)
        yield Case("ER", 1, 50, 500, "standardised", "exponential", seed=seed)
        yield Case("ER", 1, 50, 500, "standardised", "laplace", seed=seed)
    if sachs.PATH.exists():
        yield Case("Sachs", 0, 11, 853, "standardised", "concentrations")
        yield Case("Sachs", 0, 11, 853, "standardised", "logarithms")


def rival_cases() -> Iterator[tuple[str, Case]]:
    """More seeds where a few methods come close: Gaussian noise, and noise that is not."""
    for seed in range(5):
        for graph, degree, d, n in (
            ("ER", 1, 100, 1000),
            ("ER", 2, 100, 2000),
            ("SF", 2, 100, 2000),
            ("ER", 1, 400, 4000),
        ):
            for method in GAUSSIAN_RIVALS:
                yield method, Case(graph, degree, d, n, "standardised", seed=seed)
        for noise in ("exponential", "gumbel", "uniform", "laplace"):
            for method in SHAPE_RIVALS:
                yield method, Case("ER", 1, 100, 1000, "standardised", noise, seed=seed)

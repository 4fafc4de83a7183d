"""Protein signalling of Sachs et al. (2005), 853 × 11, beside GES, DirectLiNGAM and NOTEARS; 17 edges are consensus.

Needs `ges` and `lingam`. Concentrations and their logarithms are both tried.

    python benches/peers/sachs.py [--data ../shared/data/sachs_observational.csv]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.linalg import expm
from scipy.optimize import minimize

HERE = Path(__file__).parent
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE.resolve()]
import ges  # noqa: E402
import lingam  # noqa: E402

from icid_rs import ICID, metrics  # noqa: E402

CONSENSUS = """praf pmek; pmek p44/42; plcg PIP2; plcg PIP3; PIP3 PIP2; p44/42 pakts473; PKA praf; PKA pmek; PKA p44/42;
PKA pakts473; PKA P38; PKA pjnk; PKC praf; PKC pmek; PKC PKA; PKC P38; PKC pjnk"""


def directed(cpdag: np.ndarray) -> np.ndarray:
    """Count an undirected edge as found in its better direction: keep both for `best_direction`."""
    return (cpdag != 0).astype(float)


def best_direction(found: np.ndarray, true: np.ndarray) -> np.ndarray:
    both = (found != 0) & (found.T != 0)
    return np.where(both, np.where(true != 0, found, np.where(true.T != 0, 0.0, np.triu(found))), found)


def notears(X: np.ndarray, penalty: float = 0.1) -> np.ndarray:
    """Linear NOTEARS (Zheng et al. 2018): least squares and an ℓ1 norm under tr exp(W ⊙ W) = d."""
    n, d = X.shape
    rho, alpha, last = 1.0, 0.0, np.inf
    w = np.zeros(2 * d * d)
    off = [(0.0, 0.0 if i == j else None) for _ in range(2) for i in range(d) for j in range(d)]

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        W = (w[: d * d] - w[d * d :]).reshape(d, d)
        residual = X - X @ W
        E = expm(W * W)
        h = np.trace(E) - d
        gradient = -X.T @ residual / n + (rho * h + alpha) * E.T * 2 * W
        value = 0.5 * np.sum(residual**2) / n + 0.5 * rho * h * h + alpha * h + penalty * w.sum()
        return value, np.concatenate((gradient.ravel() + penalty, -gradient.ravel() + penalty))

    for _ in range(100):
        w = minimize(objective, w, jac=True, bounds=off, method="L-BFGS-B").x
        W = (w[: d * d] - w[d * d :]).reshape(d, d)
        h = np.trace(expm(W * W)) - d
        if h < 1e-8 or rho > 1e16:
            break
        alpha += rho * h
        rho, last = (rho * 10, h) if h > 0.25 * last else (rho, h)
    return np.where(np.abs(W) > 0.1, W, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HERE.parent.parent.parent / "shared" / "data" / "sachs_observational.csv"
    parser.add_argument("--data", type=Path, default=default)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    frame = pd.read_csv(options.data)
    names = list(frame.columns)
    true = np.zeros((11, 11))
    for edge in CONSENSUS.replace("\n", " ").split(";"):
        cause, effect = edge.split()
        true[names.index(cause), names.index(effect)] = 1.0

    for scale, X in {"as measured": frame.to_numpy(float), "logarithms": np.log(frame.to_numpy(float))}.items():
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = ICID().fit(X)
        weights = lingam.DirectLiNGAM().fit(X).adjacency_matrix_.T
        found = {
            f"ICID ({model.info_['noise']}, inflation {model.info_['choices']['penalty']['inflation']:.1f})": (
                model.adjacency_matrix_.toarray()
            ),
            "ICID refine=None": ICID(refine=None, threshold=0.1).fit(X).adjacency_matrix_.toarray(),
            "GES (undirected edges at their best)": best_direction(directed(ges.fit_bic(X)[0]), true),
            "NOTEARS, |B| > 0.1": notears(X),
            "DirectLiNGAM, |B| > 0.1": np.where(np.abs(weights) > 0.1, weights, 0.0),
        }
        print(f"{scale}:")
        for name, graph in found.items():
            accuracy = metrics.count_accuracy(true, graph)
            right = int(((graph != 0) & (true != 0)).sum())
            print(f"  {name:45} SHD {accuracy['shd']:3}  {accuracy['nnz']:3} edges, {right} right")


if __name__ == "__main__":
    main()

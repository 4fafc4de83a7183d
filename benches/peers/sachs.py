"""Protein signalling of Sachs et al. (2005), 853 × 11, beside GES and DirectLiNGAM, against the consensus of 17 edges.

Needs `ges` and `lingam`. The measurements are logarithms of concentrations only after a transformation: both are tried.

    python benches/peers/sachs.py [--data ../shared/data/sachs_observational.csv]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

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
            "DirectLiNGAM, |B| > 0.1": np.where(np.abs(weights) > 0.1, weights, 0.0),
        }
        print(f"{scale}:")
        for name, graph in found.items():
            accuracy = metrics.count_accuracy(true, graph)
            right = int(((graph != 0) & (true != 0)).sum())
            print(f"  {name:45} SHD {accuracy['shd']:3}  {accuracy['nnz']:3} edges, {right} right")


if __name__ == "__main__":
    main()

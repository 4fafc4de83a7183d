"""Beside DirectLiNGAM and ICA-LiNGAM on noise that is not Gaussian, standardised, unequal variances: SHD and time.

Needs `lingam`. Their weights below 0.1 are dropped (the columns are standardised), which helps them.

    python benches/peers/lingam.py [--seeds 3]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path = [str(HERE.parent), *(entry for entry in sys.path if Path(entry or ".").resolve() != HERE.resolve())]
import lingam  # noqa: E402

from icid_rs import ICID, metrics  # noqa: E402
from search import simulate  # noqa: E402


def peer(model: object):
    def run(X: np.ndarray) -> np.ndarray:
        weights = np.nan_to_num(model.fit(X).adjacency_matrix_.T)
        return np.where(np.abs(weights) > 0.1, weights, 0.0)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = {
        "ICID": lambda X: ICID().fit(X).adjacency_matrix_,
        "DirectLiNGAM": peer(lingam.DirectLiNGAM()),
        "ICA-LiNGAM": peer(lingam.ICALiNGAM(random_state=0, max_iter=1000)),
    }
    for noise in ("exponential", "gumbel", "uniform", "laplace"):
        medians = {}
        for name, method in methods.items():
            runs = []
            for seed in range(options.seeds):
                B, X = simulate(100, 1, 1000, seed, noise=noise)
                begin = time.perf_counter()
                found = method(X)
                runs.append((metrics.count_accuracy(B, found)["shd"], time.perf_counter() - begin))
            medians[name] = np.median(np.array(runs), axis=0)
            print(
                f"ER1 d = 100 n = 1000 {noise:12} {name:13} SHD {[run[0] for run in runs]}  {medians[name][1]:.2f} s",
                flush=True,
            )
        print(f"    DirectLiNGAM takes {medians['DirectLiNGAM'][1] / medians['ICID'][1]:.0f} times as long")


if __name__ == "__main__":
    main()

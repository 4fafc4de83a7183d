"""The paper's Table 1 on NetSim Sim4, with our rows added, and the ROC curves of Sim3 and Sim4.

Reads the files from the folder in ICID_DATA, by default ../shared/data beside the checkout. The columns are permuted;
figures are medians over the permutations.

    python benches/paper/fmri.py [--permutations 5] [--plot roc.png]
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from icid_rs import ICID, datasets, metrics

DATA = Path(os.environ.get("ICID_DATA", Path(__file__).parents[3] / "shared" / "data"))
SCORES = ("shd", "tpr", "fdr", "fpr")

#: SHD, TPR, FDR, FPR and seconds on Sim4, as printed.
PAPER = {
    "DirectLiNGAM": (56, 1.0, 0.479, 0.048, 168.722),
    "ICA-LiNGAM": (158, 0.754, 0.775, 0.136, 10.307),
    "GES": (90, 0.836, 0.641, 0.078, 709.984),
    "fastGES": (89, 1.0, 0.657, 0.101, 1.121),
    "ICID": (14, 0.820, 0.219, 0.012, 0.679),
    "ICID (skew)": (6, 0.984, 0.090, 0.005, 0.517),
}
#: λ₁' = 0.05 and a grid of ten cuts, four rounds, not rescaled; λ₂ on standardised columns.
PAPER_SETTING = {
    "precision": "empirical",
    "lambda1": np.linspace(0.01, 0.1, 10),
    "l1_weight": 0.05,
    "max_alm_iter": 4,
    "refine": None,
}
OURS = {
    "ICID": {**PAPER_SETTING, "skewness": 0.0},
    "ICID (skew 8)": {**PAPER_SETTING, "skewness": 8.0},
    "ICID (skew 20)": {**PAPER_SETTING, "skewness": 20.0},
    "ICID (skew 20), exptrace, paper's schedule": {
        **PAPER_SETTING,
        "skewness": 20.0,
        "dag": "exptrace",
        "schedule": "paper",
    },
}


def fits(name: str, parameters: dict, permutations: int) -> list[tuple]:
    """Truth, estimate and seconds for each permutation."""
    X, adjacency, _ = datasets.load_netsim(DATA / name)
    results = []
    for seed in range(permutations):
        order = np.random.default_rng(seed).permutation(X.shape[1])
        start = time.perf_counter()
        found = ICID(**parameters).fit(X[:, order]).adjacency_matrix_
        seconds = time.perf_counter() - start
        results.append((adjacency.toarray()[np.ix_(order, order)], found, seconds))
    return results


def table(name: str, permutations: int) -> None:
    print(f"{name}, medians over {permutations} permutations of the columns")
    print(f"{'':44}{'SHD':>5}{'TPR':>8}{'FDR':>8}{'FPR':>8}{'seconds':>10}")
    if name == "sim4.mat":
        for method, (shd, *rest, seconds) in PAPER.items():
            print(f"{'paper: ' + method:44}{shd:5}" + "".join(f"{value:8.3f}" for value in rest) + f"{seconds:10.3f}")
    for method, parameters in OURS.items():
        rows = []
        for true, found, seconds in fits(name, parameters, permutations):
            score = metrics.count_accuracy(true, found)
            rows.append([score[key] for key in SCORES] + [seconds])
        shd, *rest, seconds = np.median(rows, axis=0)
        print(f"{'ours: ' + method:44}{shd:5.0f}" + "".join(f"{value:8.3f}" for value in rest) + f"{seconds:10.3f}")


def draw(path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axis, name in zip(axes, ("sim3.mat", "sim4.mat"), strict=True):
        for method in list(OURS)[:3]:
            true, found, _ = fits(name, OURS[method], 1)[0]
            points = []
            for cut in np.linspace(0.0, abs(found).max(), 200):
                score = metrics.count_accuracy(true, found.multiply(abs(found) >= cut) if cut else found)
                points.append((score["fpr"], score["tpr"]))
            axis.plot(*zip(*points, strict=True), marker=".", label=method)
        axis.set(title=f"fMRI {name[:4].capitalize()}", xlabel="FPR", ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("TPR")
    axes[1].legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    print(f"ROC curves written to {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--permutations", type=int, default=5)
    parser.add_argument("--plot", metavar="PNG", help="draw the ROC curves (needs matplotlib)")
    options = parser.parse_args()
    for name in ("sim4.mat", "sim3.mat"):
        table(name, options.permutations)
    if options.plot:
        draw(options.plot)


if __name__ == "__main__":
    main()

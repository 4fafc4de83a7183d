"""The paper's study of misspecified noise variances: D is given with multiplicative errors, D̂_ii = max(½, 1 + ε) D_ii.

Prints mean SHD of O-ICID and of elimination by the standard deviation σ of ε, for ER1 to ER3 at all λ, and draws SHD
and TPR against σ as in the paper's figures. O-ICID keeps |B| > 0.1, as in the paper. In rescaled models that cut
removes true edges too, so elimination keeps weights above 0.1 in units of the supposed noise, |B_ij| (Ω_ii / Ω_jj)^½.

    python benches/paper/misspecified.py [--seeds 10] [--figure misspecified.png]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from icid_rs import datasets, decompose, eliminate, metrics

EXPONENTS = (0.1, 0.2, 0.4, 0.8, 1.0)
DEVIATIONS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4)
METHODS = ("O-ICID", "elimination")


def scores(method: str, degree: int, exponent: float, deviation: float, seed: int) -> tuple[int, float]:
    B = datasets.random_dag(50, degree, random_state=seed)
    B, noise_variances = datasets.rescale_sem(B, 1.0, exponent)
    theta = datasets.sem_precision(B, noise_variances)
    error = np.random.default_rng(seed).normal(scale=deviation, size=50)
    supposed = noise_variances / np.maximum(0.5, 1.0 + error)
    found = decompose(theta, supposed).B if method == "O-ICID" else eliminate(theta, supposed).B
    rows, columns = found.nonzero()
    unit = 1.0 if method == "O-ICID" else np.sqrt(supposed[rows] / supposed[columns])
    found.data[np.abs(found.data) * unit <= 0.1] = 0.0
    accuracy = metrics.count_accuracy(B, found)
    return accuracy["shd"], accuracy["tpr"]


def study(seeds: int) -> dict[tuple[str, int, float], np.ndarray]:
    """Mean and standard deviation of SHD and TPR, by deviation."""
    results = {}
    for degree in (1, 2, 3):
        for exponent in EXPONENTS:
            for method in METHODS:
                cells = [
                    [scores(method, degree, exponent, deviation, seed) for seed in range(seeds)]
                    for deviation in DEVIATIONS
                ]
                results[method, degree, exponent] = np.array(cells, dtype=float)
                means = results[method, degree, exponent][:, :, 0].mean(axis=1)
                row = "".join(f"{mean:8.1f}" for mean in means)
                print(f"ER{degree}  λ = {exponent}  {method:12}{row}", flush=True)
    return results


def draw(results: dict[tuple[str, int, float], np.ndarray], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, len(EXPONENTS), figsize=(15, 11), sharex=True, squeeze=False)
    panels = [(1, 0), (1, 1), (2, 0), (3, 0)]
    for row, (degree, measure) in zip(axes, panels, strict=True):
        for axis, exponent in zip(row, EXPONENTS, strict=True):
            for method, colour in zip(METHODS, ("tab:blue", "tab:orange"), strict=True):
                values = results[method, degree, exponent][:, :, measure]
                mean, spread = values.mean(axis=1), values.std(axis=1)
                axis.plot(DEVIATIONS, mean, "o-", color=colour, label=method)
                axis.fill_between(DEVIATIONS, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
            axis.set_title(f"ER{degree}, λ = {exponent}", fontsize=9)
            axis.set_ylim(bottom=0)
        row[0].set_ylabel(("SHD", "TPR")[measure])
    for axis in axes[-1]:
        axis.set_xlabel("σ")
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"figure written to {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--figure", default="misspecified.png")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"mean SHD of {options.seeds} models with 50 variables")
    print(f"{'':26}" + "".join(f"{'σ = ' + str(deviation):>8}" for deviation in DEVIATIONS))
    draw(study(options.seeds), options.figure)


if __name__ == "__main__":
    main()

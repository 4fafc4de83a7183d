"""Where the time of a fit goes: everything else against covariance and inverse.

python benches/stages.py [-d 1000] [-n 10000]
"""

from __future__ import annotations

import argparse
import os

import numpy as np

from icid_rs import ICID, datasets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", type=int, default=1_000)
    parser.add_argument("-n", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    B = datasets.random_dag(options.d, 1, random_state=0)
    X = datasets.sample_sem(B, options.n, random_state=0)
    model = ICID(precision="fdr", refine=None, dag="greedy")
    runs = [model.fit(X).info_["timings"] for _ in range(options.repeat)]
    median = {stage: float(np.median([run[stage] for run in runs])) for stage in runs[0]}
    print(
        f"ER1, d = {options.d}, n = {options.n}, {os.cpu_count()} cores, median of {options.repeat} fits, milliseconds"
    )
    for stage, seconds in median.items():
        print(f"  {stage:12} {seconds * 1e3:8.1f}")
    floor = median["covariance"] + median["inverse"]
    rest = sum(median.values()) - floor
    print(f"covariance and inverse {floor * 1e3:.0f} ms, everything else {rest * 1e3:.0f} ms, ratio {rest / floor:.2f}")


if __name__ == "__main__":
    main()

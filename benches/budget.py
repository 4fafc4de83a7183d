"""Whether searches keep to a time limit, and whether more of it ever gives a worse score.

    python benches/budget.py [--seeds 3] [--limits 0.25 0.5 1 2] [-d 200]

ER4, Gaussian, n = 20 d, standardised, ``penalty=2``: one search whose descent alone takes about a second. Printed for
each limit: the largest excess of the search's own time over it, in milliseconds, and the scores of all seeds.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from dense import simulate
from icid_rs import ICID


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limits", type=float, nargs="+", default=[0.25, 0.5, 1.0, 2.0])
    parser.add_argument("-d", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = [simulate("ER", options.d, 4, 20 * options.d, seed)[1] for seed in range(options.seeds)]
    last = np.full(options.seeds, np.inf)
    for limit in options.limits:
        fits = [ICID(penalty=2.0, time_limit=limit).fit(X).info_ for X in tables]
        excess = max(fit["timings"]["refine"] - limit for fit in fits)
        scores = np.array([fit["refinement"]["score"] for fit in fits])
        ended = [fit["refinement"]["ended"] for fit in fits]
        print(
            f"limit {limit} s: {1e3 * excess:+.0f} ms, scores {scores.round(1).tolist()}, {ended}; "
            f"{int((scores > last + 1e-6).sum())} worse than with less time",
            flush=True,
        )
        last = scores


if __name__ == "__main__":
    main()

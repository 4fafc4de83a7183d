"""What is left in memory of 10 000 small fits: ``python -m benches.leak``."""

from __future__ import annotations

import gc
import sys
import warnings

from benches.soak import resident

from icid_rs import ICID, datasets

FITS, WARM_UP, STEPS = 10_000, 500, 10
#: Bytes a fit may leave behind on average: less than the smallest object that could leak.
ALLOWED = 64


def main() -> int:
    warnings.simplefilter("ignore")
    X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=0), 100, random_state=0)
    kinds = [{}, {"noise": "unequal", "trials": 5}, {"refine": None}, {"precision": "empirical", "refine": "order"}]

    def fit(times: int) -> int:
        for k in range(times):
            ICID(**kinds[k % len(kinds)]).fit(X)
        gc.collect()
        return resident()

    before = last = fit(WARM_UP)
    for step in range(1, STEPS + 1):
        last = fit(FITS // STEPS)
        print(f"{step * FITS // STEPS} fits: {(last - before) / 2**10:+.0f} KiB", flush=True)
    left = (last - before) / FITS
    print(f"{left:.1f} bytes a fit: {'no leak' if left <= ALLOWED else 'IT LEAKS'}")
    return 0 if left <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())

"""Fit one method to one table, inside the method's own environment, within limits, on one core.

    python -m benches.peers.worker METHOD DATA.npz RESULT.npz --seconds 300 --gib 8 --core 1

What it needs from outside the standard library and the method's package is NumPy.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from benches.peers.adapters import METHODS


def peak_mib() -> float:
    """Return the most memory the process held. `ru_maxrss` would not do: it starts from what the parent held."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("data")
    parser.add_argument("result")
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--gib", type=float, required=True)
    parser.add_argument("--core", type=int, required=True)
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    X = np.load(options.data)["X"]
    method = METHODS[options.method]()
    outcome = {"version": method.version(), "status": "ok", "message": ""}
    resource.setrlimit(resource.RLIMIT_DATA, (int(options.gib * 2**30),) * 2)
    # The kernel ends the process when the fit has had its share of processor time.
    end = math.ceil(time.process_time() + options.seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 5))
    adjacency = np.zeros((0, 0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            adjacency = method.fit(X)
        except MemoryError:
            outcome["status"] = "memory"
        except Exception as error:
            outcome.update(status="error", message=f"{type(error).__name__}: {error}")
        outcome["cpu_seconds"] = time.process_time() - cpu
        outcome["wall_seconds"] = time.perf_counter() - wall
    if outcome["status"] == "ok":
        told = {f"{warning.category.__name__}: {warning.message}" for warning in caught}
        outcome["message"] = "; ".join(sorted(told))
    outcome["peak_mib"] = peak_mib()
    adjacency = adjacency.toarray() if hasattr(adjacency, "toarray") else np.asarray(adjacency)
    np.savez_compressed(options.result, adjacency=adjacency, outcome=json.dumps(outcome))
    # Java and others leave threads behind that need not be waited for.
    os._exit(0)


if __name__ == "__main__":
    main()

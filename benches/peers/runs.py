"""One run: a method on a case, in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from benches.peers.adapters.base import Method
from benches.peers.cases import Case
from benches.peers.environments import ROOT, python_of
from benches.peers.scores import score

#: Seconds of processor time, and GiB of memory, that a fit may take.
SECONDS, GIB = 300, 8.0
#: How a run ends that exceeds them.
LIMITS = ("timeout", "memory")
#: A run may take this many times as long by the clock, which only one that hangs does: others use the machine too.
PATIENCE = 20
#: Everything on one thread.
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA", "VECLIB_MAXIMUM")}


def run(method: type[Method], case: Case, *, seconds: int = SECONDS, core: int = 1) -> dict[str, Any]:
    """Fit, compare with the truth, and return the line to store."""
    graph, samples = case.files()
    adjacency, outcome = fit(method, samples, seconds=seconds, core=core)
    line = {
        "method": method.name,
        **asdict(case),
        **outcome,
        "package": method.package,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": machine(),
    }
    if outcome["status"] == "ok":
        line |= score(sp.load_npz(graph), adjacency, method.kind)
    return line


def fit(
    method: type[Method], samples: Path, *, seconds: int = SECONDS, core: int = 1
) -> tuple[np.ndarray, dict[str, Any]]:
    """Run the worker; return the graph and how the run ended."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.npz"
        command = [python_of(method), "-m", "benches.peers.worker", method.name, samples, result]
        limits = [f"--seconds={seconds}", f"--gib={GIB}", f"--core={core}"]
        inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        log = Path(folder) / "log"
        with (
            log.open("w") as output,
            subprocess.Popen(
                [*command, *limits], cwd=ROOT, env=inherited | THREADS, stdout=output, stderr=output
            ) as process,
        ):
            try:
                code = process.wait(PATIENCE * seconds)
            except subprocess.TimeoutExpired:
                code = -signal.SIGXCPU
            finally:
                process.kill()
        if result.exists():
            content = np.load(result)
            return content["adjacency"], json.loads(str(content["outcome"]))
        last = (log.read_text(errors="replace").strip().splitlines() or [""])[-1]
    # After the limit comes SIGXCPU, and SIGKILL a little later; memory that is refused may abort.
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return np.zeros((0, 0)), {"status": "timeout", "message": "", "cpu_seconds": float(seconds)}
    return np.zeros((0, 0)), {"status": "memory" if _refused(last) else "error", "message": last[:200]}


def stops(line: Mapping[str, Any], case: Case) -> bool:
    """Tell whether a run that exceeded the limits makes one on this case hopeless.

    So it does for other seeds of the same case, and for more variables; there, only runs of the main tables count.
    """
    same = all(line[name] == getattr(case, name) for name in ("graph", "degree", "d", "n", "scaling", "noise"))
    ordinary = line["graph"] == "ER" and line["noise"] == "gaussian" and line["n"] == 10 * line["d"]
    return same or (ordinary and line["d"] < case.d)


def machine() -> str:
    """Name the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return platform.processor()


def _refused(message: str) -> bool:
    return any(word in message.lower() for word in ("memory", "alloc"))

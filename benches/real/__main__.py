"""Fit real tables with this and other packages, and write docs/benchmarks/real.md.

    python -m benches.real                          all methods; under half an hour on two cores
    python -m benches.real --methods ICID FLOP      some of them
    python -m benches.real --groups tiers Sachs     some of the data; prints, and writes nothing

The data are read from the folder in ICID_DATA (see benches/real/data.py). Other packages run in the environment of this
program if they are installed there, or else in one of their own, as `python -m benches.peers` makes them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from queue import Queue

import numpy as np
import scipy.sparse as sp
from benches.peers.adapters import METHODS
from benches.peers.adapters.base import Method
from benches.peers.environments import ROOT, python_of
from benches.real.data import RealSet, all_sets
from benches.real.page import page
from benches.real.scores import Score, score

OURS = "ICID"
PEERS = ("FLOP", "BOSS (Tetrad)", "BOSS (causal-learn)", "PC (causal-learn)", "DirectLiNGAM")
PAGE = ROOT / "docs" / "benchmarks" / "real.md"


def ours(case: RealSet) -> np.ndarray:
    """Fit with defaults; open edges are marked both ways."""
    from icid_rs import ICID

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICID(n_threads=1).fit(case.X)
    return sp.csr_array(model.cpdag_).toarray() != 0


def interpreter(method: type[Method]) -> Path | None:
    """Return the Python that has a package; None if no environment can be made for it."""
    try:
        metadata.version(method.package)
    except metadata.PackageNotFoundError:
        try:
            return python_of(method)
        except subprocess.CalledProcessError:
            return None
    return Path(sys.executable)


def theirs(name: str, python: Path, case: RealSet, core: int, seconds: int) -> np.ndarray | None:
    """Fit with another package in its own process; None if it fails or takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        data, result = Path(folder) / "data.npz", Path(folder) / "result.npz"
        np.savez(data, X=case.X)
        command = [python, "-m", "benches.peers.worker", name, data, result]
        limits = ["--seconds", str(seconds), "--gib", "8", "--core", str(core)]
        done = subprocess.run([*command, *limits], cwd=ROOT, capture_output=True, check=False)
        if done.returncode or not result.exists():
            return None
        with np.load(result) as loaded:
            found = loaded["adjacency"]
    return found != 0 if found.shape == (case.X.shape[1],) * 2 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=(OURS, *PEERS), default=(OURS, *PEERS))
    parser.add_argument("--groups", nargs="+")
    parser.add_argument("--seconds", type=int, default=120, help="of each fit of another package")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    cases = [case for case in all_sets() if options.groups is None or case.group in options.groups]
    pythons = {name: interpreter(METHODS[name]) for name in options.methods if name != OURS}
    methods = [name for name in options.methods if name == OURS or pythons[name] is not None]
    cores: Queue[int] = Queue()
    for core in range(options.processes):
        cores.put(core)

    def run(job: tuple[str, RealSet]) -> Score | None:
        name, case = job
        core = cores.get()
        try:
            found = ours(case) if name == OURS else theirs(name, pythons[name], case, core, options.seconds)
        except Exception as error:
            print(f"{name}, {case.name}: {error}", flush=True)
            found = None
        finally:
            cores.put(core)
        print(f"{name}, {case.name}: {'failed' if found is None else score(case, found)}", flush=True)
        return None if found is None else score(case, found)

    jobs = [(name, case) for case in cases for name in methods]
    with ThreadPoolExecutor(options.processes) as pool:
        scores = dict(zip([(name, case.name) for name, case in jobs], pool.map(run, jobs), strict=True))
    results: dict[str, dict[str, Score | None]] = defaultdict(dict)
    for (name, case), value in scores.items():
        results[name][case] = value
    versions = {name: METHODS[name].settings for name in methods if name != OURS}
    text = page(cases, results, versions)
    if options.groups is None:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()

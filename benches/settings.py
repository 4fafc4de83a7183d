"""The same answers whatever the machine is set to: threads, BLAS, versions of NumPy, SciPy and scikit-learn.

``python -m benches.settings`` fits fixed tables in a process of its own for each setting, compares weights, noise
variances and causal orders with those of the first, and ends with 1 if any differ by more than 1e-8 of the largest.
``--wheel FILE`` adds the oldest versions that ``pyproject.toml`` allows and the newest that pip finds, each in an
environment of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from icid_rs import ICID, datasets

ROOT = Path(__file__).parent.parent
TOLERANCE = 1e-8
#: A setting is a number of threads for the solver and variables for the environment.
SETTINGS: dict[str, tuple[int | None, dict[str, str]]] = {
    "as it comes": (None, {}),
    "1 thread": (1, {}),
    "2 threads": (2, {}),
    "4 threads": (4, {}),
    "OpenBLAS, 1 thread": (None, {"OPENBLAS_NUM_THREADS": "1"}),
    "OpenBLAS, 2 threads": (None, {"OPENBLAS_NUM_THREADS": "2"}),
    "OpenBLAS for an older processor": (None, {"OPENBLAS_CORETYPE": "Nehalem"}),
}
PAPER = {"precision": "empirical", "l1_weight": 0.1, "skewness": 0.0, "noise": "equal", "refine": None}
#: How each table is fitted, by its name.
MODELS: dict[str, list[dict[str, object]]] = {
    "raw, equal noise": [{}, PAPER | {"dag": "exptrace", "schedule": "paper"}],
    "standardised, unequal noise": [{}, {"noise": "unequal"}],
    "exponential noise": [{}, {"skewness": 0.1, "refine": None}],
    "few rows": [{}, {"noise": "equal", "refine": "order"}],
}


def tables() -> dict[str, np.ndarray]:
    """Return the tables. They are drawn once, for a generator may draw otherwise in another version of NumPy."""
    B = datasets.random_dag(30, 2, random_state=1)
    variances = np.random.default_rng(2).uniform(0.5, 4.0, 30)
    unequal = datasets.sample_sem(B, 1000, noise_variances=variances, random_state=3)
    return {
        "raw, equal noise": datasets.sample_sem(B, 1000, random_state=4),
        "standardised, unequal noise": (unequal - unequal.mean(axis=0)) / unequal.std(axis=0),
        "exponential noise": datasets.sample_sem(B, 1000, noise="exponential", random_state=5),
        "few rows": datasets.sample_sem(B, 45, random_state=6),
    }


def answers(data: Mapping[str, np.ndarray], n_threads: int | None) -> dict[str, np.ndarray]:
    """Fit all tables, and return what is compared."""
    found: dict[str, np.ndarray] = {}
    for name, models in MODELS.items():
        for k, parameters in enumerate(models):
            model = ICID(**parameters, n_threads=n_threads, random_state=0, stability=None).fit(data[name])
            place = f"{name}, model {k}"
            found[f"{place}: weights"] = model.adjacency_matrix_.toarray()
            found[f"{place}: noise variances"] = model.noise_variances_
            found[f"{place}: causal order"] = np.asarray(model.causal_order_)
    return found


def ask(python: Path | str, data: Path, n_threads: int | None, variables: dict[str, str]) -> dict[str, np.ndarray]:
    """Let another process fit the tables."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "answers.npz")
        command = [str(python), str(Path(__file__).resolve()), "--fit", str(data), str(out)]
        if n_threads is not None:
            command += ["--threads", str(n_threads)]
        subprocess.run(command, env=os.environ | variables, check=True)
        with np.load(out) as stored:
            return dict(stored)


def differences(first: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> dict[str, float]:
    """Return what differs by more than the tolerance, relative to the largest entry, and the largest under ``""``.

    A graph has many causal orders. Another one is a difference if an edge goes against it.
    """
    found = {}
    for name, values in first.items():
        if name.endswith("order"):
            place = np.argsort(other[name])
            causes, effects = first[name.replace("causal order", "weights")].nonzero()
            found[name] = float((place[causes] > place[effects]).any())
        else:
            found[name] = float(np.abs(other[name] - values).max() / np.abs(values).max())
    return {"": max(found.values())} | {name: value for name, value in found.items() if value > TOLERANCE}


def environments(wheel: Path, folder: Path) -> dict[str, Path]:
    """Make one environment with the oldest and one with the newest versions, and return their interpreters."""
    allowed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    found = {}
    for name, needs in {"oldest": [need.replace(">=", "==") + ".0" for need in allowed], "newest": allowed}.items():
        venv.create(folder / name, with_pip=True)
        found[name] = folder / name / "bin" / "python"
        pip = [str(found[name]), "-m", "pip", "install", "--quiet", "--upgrade", *needs, str(wheel)]
        subprocess.run(pip, check=True)
    return found


def compare(settings: list[str], wheel: Path | None = None) -> list[str]:
    """Print how far each setting is from the first, and return what differs."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "tables.npz")
        np.savez(data, **tables())
        first = ask(sys.executable, data, *SETTINGS[settings[0]])

        def against(name: str, other: dict[str, np.ndarray]) -> None:
            largest, *places = differences(first, other).items()
            print(f"{name}: {largest[1]:.1e}", *(f"  {place}: {value:.1e}" for place, value in places), sep="\n")
            wrong.extend(f"{name}, {place}" for place, _ in places)

        for name in settings[1:]:
            against(name, ask(sys.executable, data, *SETTINGS[name]))
        if wheel is not None:
            for name, python in environments(wheel, Path(folder)).items():
                against(f"{name} versions", ask(python, data, None, {"PYTHONPATH": ""}))
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="a wheel of this package, for other versions of what it needs")
    parser.add_argument("--fit", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.fit:
        with np.load(options.fit[0]) as data:
            np.savez(options.fit[1], **answers(data, options.threads))
        return 0
    wrong = compare(list(SETTINGS), options.wheel)
    print("they agree" if not wrong else f"{len(wrong)} ANSWERS DIFFER")
    return 0 if not wrong else 1


if __name__ == "__main__":
    sys.exit(main())

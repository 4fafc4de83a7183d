"""Make the paper's tables and figures again, with our rows added.

    python -m benches.paper [--quick] [--only NAME ...] [--data FOLDER] [--force] [--page]

Without arguments every cell of the full run that `benches/paper/results` lacks is measured, then the figures in
`docs/figures/paper` and the page `docs/benchmarks/paper.md` are made from what is stored. With `--quick` a few seeds
of the smaller cells are measured, and everything is written to `results/paper-quick`, which Git ignores.

A run may be ended at any time: the next one goes on where it stopped. `--force` forgets what is stored of the
experiments it is to run. NetSim data are read from `--data`, by default the folder in ICID_DATA; without them the parts
that need them are skipped.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import store

ROOT = Path(__file__).parents[2]


class Places(NamedTuple):
    """Where things are written."""

    results: Path
    figures: Path
    page: Path


FULL = Places(
    Path(__file__).parent / "results",
    ROOT / "docs" / "figures" / "paper",
    ROOT / "docs" / "benchmarks" / "paper.md",
)
_QUICK = ROOT / "results" / "paper-quick"
QUICK = Places(_QUICK / "csv", _QUICK / "figures", _QUICK / "paper.md")

Job = tuple[str, Any, store.Table, dict[str, Any]]


def unfinished(experiments: dict[str, Any], results: Path, quick: bool) -> Iterator[Job]:
    """Every cell that is not stored, with what it takes to run it."""
    for name, experiment in experiments.items():
        table = store.Table(results / f"{name}.csv", experiment.KEYS)
        finished = table.finished()
        for cell in experiment.cells(quick):
            if table.identify(cell) not in finished:
                yield name, experiment, table, cell


def measure(jobs: Iterable[Job]) -> None:
    """Run each cell on one thread, and store its rows."""
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    import icid_rs

    with threadpool_limits(1), warnings.catch_warnings():
        # The paper's limits on iterations are part of its method, and equal variances do follow scales.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", icid_rs.ScaleWarning)
        for _, experiment, table, cell in jobs:
            table.append(experiment.run(cell))


def run(names: list[str], places: Places, *, quick: bool, force: bool) -> None:
    """Measure what is missing, showing how far it has come."""
    try:
        from tqdm import tqdm
    except ImportError:
        sys.exit("the benches show their progress with tqdm: pip install 'icid_rs[bench]'")
    from .experiments import ALL

    chosen = {name: ALL[name] for name in names or ALL}
    if force:
        for name, experiment in chosen.items():
            # What cannot be measured again is kept.
            if any(experiment.cells(quick)):
                store.Table(places.results / f"{name}.csv").clear()
    jobs = list(unfinished(chosen, places.results, quick))
    if not jobs:
        return
    bar = tqdm(jobs, unit="cell", smoothing=0.02)

    def shown() -> Iterator[Job]:
        for job in bar:
            bar.set_description(job[0], refresh=False)
            bar.set_postfix_str(", ".join(f"{key} {value}" for key, value in job[3].items()))
            yield job

    done = list(dict.fromkeys(job[0] for job in jobs))
    store.Table(places.results / "runs.csv").append([store.describe_run(done, len(jobs))])
    measure(shown())


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes instead of the full run")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="run these experiments only")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where sim3.mat and sim4.mat are")
    parser.add_argument("--force", action="store_true", help="run finished cells again")
    parser.add_argument(
        "--page", action="store_true", help="measure nothing, make figures and page from what is stored"
    )
    options = parser.parse_args()
    if options.data is not None:
        os.environ["ICID_DATA"] = str(options.data)
    places = QUICK if options.quick else FULL
    if not options.page:
        from .experiments import ALL

        unknown = sorted(set(options.only) - set(ALL))
        if unknown:
            parser.error(f"--only {unknown[0]}: there are {', '.join(ALL)}")
        run(options.only, places, quick=options.quick, force=options.force)
    from .report import figures, page

    results = page.load(places.results)
    figures.draw_all(results, places.figures)
    places.page.parent.mkdir(parents=True, exist_ok=True)
    places.page.write_text(page.compose(results, places.figures, places.page), encoding="utf-8")
    print(f"page: {places.page}; figures: {places.figures}")


if __name__ == "__main__":
    main()

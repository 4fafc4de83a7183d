"""The command line; see the package's docstring."""

from __future__ import annotations

import argparse
import itertools
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace

import pandas as pd
from benches import peers
from benches.peers import store
from benches.peers.adapters import METHODS
from benches.peers.cases import Case, main_cases, rival_cases, side_cases
from benches.peers.environments import python_of
from benches.peers.machines import measure
from benches.peers.runs import LIMITS, SECONDS, run, stops
from benches.peers.smoke import solve

Run = tuple[str, Case]
TABLES = ("raw", "standardised", "side")


def fill(options: argparse.Namespace) -> None:
    """Run what is missing, a run on each core, the shortest first, until nothing is left or the time is up."""
    runs = itertools.chain(itertools.product(METHODS, [*main_cases(), *side_cases()]), rival_cases())
    wanted = [(method, case) for method, case in runs if method in options.methods and case.table in options.tables]
    end = time.monotonic() + 60 * options.minutes
    known = store.load()
    if options.again:
        known = known[~known["method"].isin(options.methods)]
    done = {tuple(key) for key in known[store.KEY].itertuples(index=False)}
    history = known.to_dict("records")
    left = [entry for entry in dict.fromkeys(wanted) if key(entry) not in done]
    free, running = list(options.core), {}
    with ThreadPoolExecutor(len(free)) as pool:
        while left or running:
            left = [entry for entry in left if not hopeless(entry, history)]
            entry = None if time.monotonic() >= end else choose(left, history, [entry for entry, _ in running.values()])
            if entry is not None and free:
                left.remove(entry)
                method, case = METHODS[entry[0]], entry[1]
                # Made here, where nobody else makes the same.
                python_of(method), case.files()
                core = free.pop()
                running[pool.submit(run, method, case, core=core)] = entry, core
                continue
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                (method, case), core = running.pop(future)
                free.append(core)
                line = future.result()
                store.append(line)
                history.append(line)
                print(f"{len(left):5} left  {method:20} {describe(case)}  {result(line)}", flush=True)


def choose(left: list[Run], history: list[dict], running: list[Run]) -> Run | None:
    """Choose what to run next: of each method the smallest size that is left, for its limits spare the larger ones."""
    smallest: dict[str, int] = {}
    for method, case in itertools.chain(running, left):
        smallest[method] = min(case.d, smallest.get(method, case.d))
    # A seed that exceeds the limits spares the others.
    begun = {(method, replace(case, seed=0)) for method, case in running}
    ready = [
        (method, case)
        for method, case in left
        if case.d == smallest[method] and (method, replace(case, seed=0)) not in begun
    ]
    return min(ready, key=lambda entry: urgency(entry, history), default=None)


def key(entry: Run) -> tuple[object, ...]:
    method, case = entry
    return (method, *(getattr(case, name) for name in store.KEY[1:]))


def hopeless(entry: Run, history: list[dict]) -> bool:
    """A method that ran out of time is not tried on more variables, nor with another seed."""
    method, case = entry
    return any(stops(line, case) for line in history if line["method"] == method and line["status"] in LIMITS)


def urgency(entry: Run, history: list[dict]) -> tuple[float, int]:
    """Guess the time by the nearest size, cubed; raw data and the main tables go first."""
    method, case = entry
    seen = [line for line in history if line["method"] == method and line["status"] in ("ok", "timeout")]
    guess = 0.0
    if seen:
        near = max(
            seen,
            key=lambda line: (
                line["degree"] == case.degree,
                line["scaling"] == case.scaling,
                line["d"] <= case.d,
                -abs(line["d"] - case.d),
            ),
        )
        guess = near["cpu_seconds"] * (case.d / near["d"]) ** 3
    weight = {"raw": 1, "standardised": 2, "side": 4}[case.table]
    # Starting a process takes a second or more, whatever the method.
    return weight * (1.0 + min(guess, SECONDS)), case.seed


def describe(case: Case) -> str:
    return f"{case.graph}{case.degree} d={case.d:<5}n={case.n:<6}{case.scaling:13}{case.noise:12}seed {case.seed}"


def result(line: dict) -> str:
    if line["status"] != "ok":
        return f"{line['status']} {line['message'][:60]}"
    return f"{line['cpu_seconds']:8.2f} s  SHD {line['shd']:<5} class {line['class_distance']}"


def smoke(options: argparse.Namespace) -> None:
    for name in options.methods:
        wrong, outcome = solve(METHODS[name], core=options.core[0])
        verdict = "solved" if wrong == 0 else f"NOT SOLVED: {outcome['status']} {outcome['message']}, {wrong} wrong"
        print(
            f"{name:20} {outcome.get('version', ''):24} {outcome.get('cpu_seconds', 0):7.2f} s  {verdict}", flush=True
        )


def machines(options: argparse.Namespace) -> None:
    measure(options.core[0])


def page(options: argparse.Namespace) -> None:
    from benches.peers import figures, report

    store.fold()
    table: pd.DataFrame = store.stored()
    figures.draw(table)
    report.write(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.peers", description=peers.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = {"smoke": smoke, "fill": fill, "machines": machines, "page": page}
    parser.add_argument("command", choices=commands)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, metavar="METHOD")
    parser.add_argument(
        "--core", type=int, nargs="+", default=[1], help="processor cores, each of which has one run bound to it (1)"
    )
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES, help="what to fill; all by default")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no run after this time")
    parser.add_argument("--again", action="store_true", help="run the chosen methods again; new results replace old")
    options = parser.parse_args()
    commands[options.command](options)


if __name__ == "__main__":
    main()

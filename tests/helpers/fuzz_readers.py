"""Fuzzing of every file reader: valid files with something wrong, again and again.

``python -m tests.helpers.fuzz_readers --seconds 60 --seed 0`` prints the executions of each reader; the first that
fails is kept in a file whose name is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from icid_rs import CausalGraph, Moments, datasets, load
from icid_rs.cli import main
from icid_rs.graph.covariances import SampleMoments
from icid_rs.graph.layer import Layer

#: An execution that takes longer hangs.
PATIENCE = 5
#: What a reader may raise; MemoryError where a header claims more than there is.
CLEAR = (ValueError, TypeError, OSError, MemoryError)
#: Bits of files that mean something to one of the readers.
WORDS = [
    *(b"\0", b"\xff", b"\n", b"\r", b'"', b"'", b",", b"{", b"}", b"[", b"]", b"<", b">", b"&", b"NaN", b"Infinity"),
    *(
        b"null",
        b"true",
        b"-1",
        b"1e999",
        b"1e-999",
        b"99999999999999999999",
        b"descr",
        b"shape",
        b"'|O'",
        b"PK\x03\x04",
    ),
    *(
        b"\x93NUMPY",
        b"<!DOCTYPE x [",
        b"<!ENTITY a SYSTEM 'file:///etc/passwd'>",
        b"source",
        b"names",
        b"edges",
        b"version",
    ),
]


def graph() -> CausalGraph:
    """Return something to write."""
    B = datasets.random_dag(5, 1, random_state=0)
    found = CausalGraph(B, ["rain", "wet", "<b>", "a,b", "=1"], noise_variances=1.0, location=np.zeros(5))
    found.sample_ = SampleMoments.of_rows(
        datasets.sample_sem(B, 20, random_state=0), Layer(np.full((5, 1), 0.1), np.full(5, 0.01))
    )
    return found


def seeds(folder: Path) -> dict[str, tuple[bytes, Callable[[str], Any]]]:
    """Return a valid file of each format, and what reads it."""
    X = datasets.sample_sem(datasets.random_dag(4, 1, random_state=0), 20, random_state=0)

    def written(name: str, write: Callable[[Path], Any]) -> bytes:
        path = folder / name
        write(path)
        return path.read_bytes()

    def table(path: Path) -> None:
        np.savetxt(path, X, delimiter=",", header="a,b,c,d", comments="")

    def command(*arguments: str) -> Callable[[str], Any]:
        return lambda path: _run([argument.replace("FILE", path) for argument in arguments])

    net = np.array([[[-1.0, 0.4], [0.0, -1.0]]])
    truth = folder / "truth.json"
    graph().save(truth)
    return {
        "graph.json": (written("g.json", graph().save), load),
        "graph.graphml": (written("g.graphml", graph().save), load),
        "graph.csv": (written("g.csv", graph().save), load),
        "moments.npz": (written("m.npz", Moments(third=True).update(X).save), Moments.load),
        "netsim.mat": (
            written("s.mat", lambda path: scipy.io.savemat(path, {"ts": np.ones((9, 2)), "net": net})),
            datasets.load_netsim,
        ),
        "table.npy": (written("t.npy", lambda path: np.save(path, X)), Moments.read),
        "stream.csv": (written("t.csv", table), Moments.read),
        "fit.csv": (written("t.csv", table), command("fit", "FILE", "-q", "--refine", "none")),
        "fit.npz": (
            written("t.npz", lambda path: np.savez(path, X=X)),
            command("fit", "FILE", "-q", "--refine", "none"),
        ),
        "knowledge.json": (
            b'{"required": [["a", "b"]], "tiers": [["a"], ["b", "c"]]}',
            command("fit", str(folder / "t.csv"), "-q", "--refine", "none", "--knowledge", "FILE"),
        ),
        "score.npz": (
            written("b.npz", lambda path: sp.save_npz(path, sp.csr_array(graph().adjacency_matrix_))),
            command("score", str(truth), "FILE"),
        ),
    }


def _run(arguments: list[str]) -> int:
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        status = main(arguments)
    assert status == 0 or (status == 2 and said.getvalue().strip()), (status, said.getvalue())
    return status


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a few places of a file."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        place = int(rng.integers(len(data) + 1))
        match rng.integers(7):
            case 0 if data:
                data[place % len(data)] ^= 1 << int(rng.integers(8))
            case 1:
                del data[place:]
            case 2:
                data[place:place] = WORDS[int(rng.integers(len(WORDS)))]
            case 3:
                word = WORDS[int(rng.integers(len(WORDS)))]
                data[place : place + len(word)] = word
            case 4:
                other = int(rng.integers(len(data) + 1))
                data[place:place] = data[min(place, other) : max(place, other)]
            case 5:
                del data[place : place + int(rng.integers(1, 40))]
            case _:
                data[place : place + 8] = rng.bytes(8)
    return bytes(data)


@contextlib.contextmanager
def _impatient() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise TimeoutError("it hangs")

    # Time of its own counts: on a busy machine others take most of it.
    clocks = ((signal.ITIMER_PROF, signal.SIGPROF, PATIENCE), (signal.ITIMER_REAL, signal.SIGALRM, 30 * PATIENCE))
    for clock, number, seconds in clocks:
        signal.signal(number, give_up)
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for clock, _, _ in clocks:
            signal.setitimer(clock, 0)


def run(
    seed: int, *, seconds: float = float("inf"), executions: float = float("inf"), only: str | None = None
) -> dict[str, int]:
    """Read mutated files, one reader after another; how many, or AssertionError with the file that failed."""
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        for kind, (content, read) in seeds(folder).items():
            if only not in (None, kind):
                continue
            rng = np.random.default_rng([seed, len(counts)])
            path = folder / f"fuzzed-{kind}"
            end, counts[kind] = time.monotonic() + seconds, 0
            while counts[kind] < executions and time.monotonic() < end:
                data = mutated(content, rng)
                path.write_bytes(data)
                try:
                    with _impatient():
                        read(str(path))
                except TimeoutError:
                    raise _failed(kind, data, "it hangs") from None
                except CLEAR:
                    pass
                except BaseException as error:
                    raise _failed(kind, data, repr(error)) from error
                counts[kind] += 1
    return counts


def _failed(kind: str, data: bytes, why: str) -> AssertionError:
    with tempfile.NamedTemporaryFile(prefix="failed-", suffix=f"-{kind}", delete=False) as file:
        file.write(data)
    return AssertionError(f"{kind}: {why}: {file.name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0, help="for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one reader")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for reader, count in run(options.seed, seconds=options.seconds, only=options.only).items():
        print(f"{reader}: {count} executions, seed {options.seed}")
    sys.exit(0)

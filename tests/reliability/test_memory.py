"""What does not fit into memory says so first, and small fits leave nothing behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import ICID, Moments, datasets, decompose, empirical_precision
from tests.helpers import WATCHDOG
from tests.helpers.problems import random_theta


def _resident() -> int:
    """Return the bytes that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc, from which Linux tells memory")
def test_small_fits_do_not_leak():
    """What is left of a fit would show: a kilobyte each would be eight times the bound."""
    theta = random_theta(8, 1, 0)
    X = datasets.sample_sem(datasets.random_dag(4, 1, random_state=0), 50, random_state=0)

    def work(times: int) -> None:
        for _ in range(times):
            decompose(theta)
            Moments().update(X)
            empirical_precision(X)
            with pytest.raises(ValueError, match="square"):
                decompose(np.ones((2, 3)))
        gc.collect()

    work(300)
    before = _resident()
    work(1000)
    assert _resident() - before < 2**20


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ICID().fit(sp.csr_array((10**8, 10**5))),
        lambda: ICID(precision="precomputed").fit(sp.eye_array(10**6, format="csr")),
        lambda: datasets.sample_sem(sp.csr_array((10**6, 10**6)), 10**7),
        lambda: datasets.rescale_sem(sp.csr_array((10**6, 10**6)), 1.0, 1.0),
        lambda: Moments().update(np.zeros((1, 10**6))),
        lambda: empirical_precision(np.zeros((2, 10**6))),
    ],
)
def test_what_cannot_fit_says_so_before_it_starts(ask):
    with pytest.raises(MemoryError, match=r"needs \d+ bytes, but only \d+ are available"):
        ask()


UNDER_A_LIMIT = """
import resource, sys
from icid_rs import ICID, datasets

X = datasets.sample_sem(datasets.random_dag(700, 1, random_state=0), 1500, random_state=0)
ICID().fit(X[:60, :5])
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[1]) * 2**20,) * 2)
try:
    ICID().fit(X)
except MemoryError as error:
    print("refused:", error)
ICID().fit(X[:60, :5])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc, from which Linux tells memory")
@pytest.mark.parametrize("megabytes", [18, 40, 80])
def test_a_limit_of_the_process_is_an_error_not_its_end(megabytes):
    """Memory that cannot be had ends a process of Rust; so a fit asks before."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", UNDER_A_LIMIT, str(megabytes)],
        capture_output=True,
        text=True,
        timeout=WATCHDOG,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr
    assert "refused: a fit of 1500 rows and 700 columns needs about" in done.stdout

"""The functions beside `ICID`: decompositions, eliminations, estimates of Θ, projections, data sets and metrics."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from benches.corpus.cases.common import EQUAL, GAUSSIAN, SKEWED, Cases
from benches.corpus.simulation import Simulation, wide_table

from icid_rs import (
    datasets,
    decompose,
    eliminate,
    eliminate_along,
    empirical_precision,
    equivalence_class,
    fdr_precision,
    lasso_precision,
    metrics,
    project_to_dag,
    skewness_matrix,
)

_DATA = {"equal": EQUAL, "gaussian": GAUSSIAN, "skewed": SKEWED}
#: Large enough for the sparse kernels.
_LARGE = Simulation(d=200, n=50, seed=13)


def _dense_estimate(data: Simulation) -> np.ndarray:
    return np.linalg.inv(np.cov(data.rows.T))


def stopped(data: Simulation, calls: int, **settings: Any) -> object:
    """Decompose with a callback that stops at one of its calls; return the progress that it saw too."""
    seen: list[dict[str, Any]] = []

    def stop(progress: dict[str, Any]) -> bool:
        seen.append(dict(progress))
        return len(seen) >= calls

    return decompose(data.theta, callback=stop, **settings), seen


def cyclic(d: int, seed: int) -> np.ndarray:
    """A dense matrix of weights, full of cycles, half of them zero."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.5)


def netsim() -> object:
    """Write a file of two subjects in the format of NetSim, and read it."""
    net = np.array([EQUAL.weights, EQUAL.weights]) - np.eye(12)
    size = {"Nsubjects": 2.0, "Nnodes": 12.0, "Ntimepoints": 200.0}
    scipy.io.savemat("sim.mat", {"ts": EQUAL.rows, "net": net, **size})
    return datasets.load_netsim("sim.mat")


def cases() -> Cases:
    """Yield names and functions."""
    yield from decompositions()
    yield from eliminations()
    yield from estimates()
    yield from projections()
    yield from simulations()


def decompositions() -> Cases:
    """`decompose`."""
    for (name, data), settings in product(
        _DATA.items(),
        (
            *({}, {"l1_weight": 0.1, "max_alm_iter": 20}, {"schedule": "paper"}, {"max_fista_iter": 7}),
            *({"tol": 1e-6, "fista_tol": 1e-6, "max_alm_iter": 8}, {"n_threads": 2}),
        ),
    ):
        label = " ".join(f"{key}={value}" for key, value in settings.items()) or "default"
        yield f"decompose/{name}/{label}", partial(decompose, data.theta, **settings)
    for name, data in _DATA.items():
        yield f"decompose/{name}/known", partial(decompose, data.theta, data.noise_variances)
        yield f"decompose/{name}/sparse", partial(decompose, sp.csr_array(data.theta), l1_weight=0.2)
        yield f"decompose/{name}/estimate", partial(decompose, _dense_estimate(data), max_alm_iter=1)
        M = skewness_matrix(data.rows)
        yield f"decompose/{name}/skewness", partial(decompose, data.theta, skewness_matrix=M, skewness=0.3)
        forbidden = sp.csr_array(data.weights.T)
        yield f"decompose/{name}/forbidden", partial(decompose, data.theta, forbidden=forbidden)
    for calls in (1, 4):
        yield f"decompose/stopped after {calls} calls", partial(stopped, EQUAL, calls)
    for threads in (None, 1, 2):
        yield f"decompose/large n_threads={threads}", partial(decompose, sp.csr_array(_LARGE.theta), n_threads=threads)
    for name, theta in _bad_thetas().items():
        yield f"decompose/{name}", partial(decompose, theta)
        yield f"eliminate/{name}", partial(eliminate, theta)
    for settings in ({"l1_weight": -1.0}, {"skewness": 1.0}, {"schedule": "fast"}, {"max_alm_iter": 0}, {"tol": "a"}):
        key = next(iter(settings))
        yield f"decompose/bad {key}", partial(decompose, EQUAL.theta, **settings)


def _bad_thetas() -> dict[str, Any]:
    theta = EQUAL.theta
    broken = theta.copy()
    broken[2, 3] = np.nan
    return {
        "indefinite": theta - 3 * np.eye(12),
        "singular": np.ones((3, 3)),
        "not symmetric": np.triu(theta),
        "not square": theta[:5],
        "NaN": broken,
        "negative diagonal": -theta,
        "empty": np.empty((0, 0)),
        "text": "theta",
    }


def eliminations() -> Cases:
    """`eliminate` and `eliminate_along`."""
    for name, data in {**_DATA, "large": _LARGE}.items():
        yield f"eliminate/{name}/dense", partial(eliminate, data.theta)
        yield f"eliminate/{name}/sparse", partial(eliminate, sp.csr_array(data.theta))
        yield f"eliminate/{name}/known", partial(eliminate, data.theta, data.noise_variances)
        yield f"eliminate/{name}/drop", partial(eliminate, data.theta, drop=0.7)
        yield f"eliminate/{name}/two threads", partial(eliminate, data.theta, n_threads=2)
        yield f"eliminate_along/{name}/true order", partial(eliminate_along, data.theta, data.order)
        yield f"eliminate_along/{name}/reversed", partial(eliminate_along, data.theta, data.order[::-1])
        yield f"eliminate_along/{name}/drop", partial(eliminate_along, data.theta, data.order, drop=0.7)
    for name, data in _DATA.items():
        yield f"eliminate/{name}/estimate", partial(eliminate, _dense_estimate(data))
    for name, order in {"short": [0, 1], "repeated": [0] * 12, "unknown": range(1, 13), "text": "order"}.items():
        yield f"eliminate_along/{name} order", partial(eliminate_along, EQUAL.theta, order)


def estimates() -> Cases:
    """`empirical_precision`, `fdr_precision`, `lasso_precision` and `skewness_matrix`."""
    tables = {name: data.rows for name, data in _DATA.items()}
    tables |= {"few rows": _LARGE.rows, "float32": EQUAL.rows.astype(np.float32), "tied": np.round(EQUAL.rows)}
    tables |= {"constant": np.ones((20, 3)), "duplicate": EQUAL.rows[:, [0, 1, 0]], "NaN": np.full((5, 2), np.nan)}
    for name, X in tables.items():
        for cut in ("auto", 0.1, [0.05, 0.2]):
            yield f"empirical_precision/{name}/lambda1={cut}", partial(empirical_precision, X, cut)
        for alpha in (0.05, 0.2):
            yield f"fdr_precision/{name}/alpha={alpha}", partial(fdr_precision, X, alpha)
        yield f"lasso_precision/{name}", partial(lasso_precision, X)
        yield f"skewness_matrix/{name}", partial(skewness_matrix, X)
    yield "fdr_precision/bad alpha", partial(fdr_precision, EQUAL.rows, 1.5)
    yield "empirical_precision/bad lambda1", partial(empirical_precision, EQUAL.rows, 0.0)
    yield "lasso_precision/two threads", partial(lasso_precision, _LARGE.rows, n_threads=2)
    yield "lasso_precision/d=20001", lambda: lasso_precision(wide_table(20_001, 25, seed=1)).theta


def projections() -> Cases:
    """`project_to_dag` and `equivalence_class`."""
    for d, method in product((3, 8, 20, 60), ("greedy", "exptrace")):
        yield f"project_to_dag/d={d} {method}", partial(project_to_dag, cyclic(d, d), method)
        required = sp.csr_array(np.triu(cyclic(d, d), 1) * (np.arange(d) < 3))
        yield (
            f"project_to_dag/d={d} {method} required",
            partial(project_to_dag, cyclic(d, d), method, required=required),
        )
    for seed in (0, 5):
        large = sp.random_array((500, 500), density=0.006, rng=np.random.default_rng(14), format="csr")
        yield f"project_to_dag/d=500 seed={seed}", partial(project_to_dag, large, "exptrace", random_state=seed)
    for name, B in {"not square": np.ones((2, 3)), "NaN": np.full((2, 2), np.nan), "zeros": np.zeros((3, 3))}.items():
        for method in ("greedy", "exptrace", "notears"):
            yield f"project_to_dag/{name} {method}", partial(project_to_dag, B, method)
        yield f"equivalence_class/{name}", partial(equivalence_class, B)
    for seed, degree in product(range(4), (1, 2, 4)):
        yield (
            f"equivalence_class/{seed} {degree}",
            partial(equivalence_class, Simulation(degree=degree, seed=seed).weights),
        )
    yield "equivalence_class/cyclic", partial(equivalence_class, cyclic(6, 0))


def simulations() -> Cases:
    """`datasets` and `metrics`."""
    for kind, seed in product(("ER", "SF"), (0, 1)):
        yield f"random_dag/{kind} {seed}", partial(datasets.random_dag, 30, 2, kind, random_state=seed)
    yield "random_dag/too many edges", partial(datasets.random_dag, 4, 3, random_state=0)
    yield "random_dag/bad kind", partial(datasets.random_dag, 4, 1, "WS", random_state=0)
    for noise in ("gaussian", "exponential", "gumbel", "uniform", "laplace", "cauchy"):
        sample = partial(datasets.sample_sem, EQUAL.weights, 50, noise=noise, noise_variances=np.arange(1.0, 13.0))
        yield f"sample_sem/{noise}", partial(sample, random_state=3)
    yield "sample_sem/cyclic", partial(datasets.sample_sem, cyclic(5, 0), 10, random_state=0)
    yield "sem_precision", partial(datasets.sem_precision, GAUSSIAN.weights, GAUSSIAN.noise_variances)
    for exponent in (0.0, 0.5, 1.0):
        yield f"rescale_sem/{exponent}", partial(datasets.rescale_sem, EQUAL.weights, 1.0, exponent)
    yield "load_netsim", netsim
    for seed in range(3):
        graphs = Simulation(seed=seed).weights, Simulation(seed=seed + 1, degree=2).weights
        yield f"count_accuracy/{seed}", partial(metrics.count_accuracy, *graphs)
    yield "count_accuracy/other sizes", partial(metrics.count_accuracy, np.eye(2), np.eye(3))

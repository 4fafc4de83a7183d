"""Every parameter of `ICID` away from its default, alone and together with others."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from benches.corpus.cases.common import EQUAL, GAUSSIAN, SKEWED, Cases, fit, fit_theta
from benches.corpus.simulation import Simulation
from sklearn.covariance import EmpiricalCovariance, GraphicalLasso, LedoitWolf, ShrunkCovariance

from icid_rs import ICID

_DATA = {"equal": EQUAL, "gaussian": GAUSSIAN, "skewed": SKEWED}
#: The algorithms of the paper as they are printed.
_PAPER: dict[str, Any] = {
    **{"precision": "empirical", "lambda1": "auto", "l1_weight": 0.1, "skewness": 0, "noise": "equal"},
    **{"refine": None, "dag": "exptrace", "schedule": "paper"},
}
#: Settings that are tried on each of three tables.
_SETTINGS: tuple[dict[str, Any], ...] = (
    *({"precision": "empirical", "lambda1": cut} for cut in (0.05, 0.2, 0.6, [0.05, 0.1, 0.3], (0.2,))),
    *({"precision": "empirical", "lambda1": cut, "refine": None} for cut in ("auto", 0.1, [0.02, 0.2])),
    *({"precision": kind, "ridge": 0.05} for kind in ("auto", "fdr", "empirical")),
    *({"l1_weight": weight, "refine": None} for weight in (0.01, 1.0, 10.0, 100.0)),
    *({"l1_weight": 0.5}, {"threshold": 0.3}, {"threshold": 0.8, "refine": None}, {"threshold": 50.0}),
    *({"skewness": weight} for weight in (0.1, 1.0)),
    *({"skewness": weight, "refine": None, "noise": "equal"} for weight in (0.05, 0.5)),
    *({"schedule": "paper"}, {"schedule": "paper", "refine": None}, {"max_alm_iter": 4, "refine": None}),
    *({"max_fista_iter": 5, "refine": None}, {"max_fista_iter": 5}, {"tol": 0.5, "max_alm_iter": 4, "refine": None}),
    *({"fista_tol": 1e-7, "refine": None}, {"trials": 0}, {"trials": 25, "noise": "unequal"}),
    *({"trials": 300, "refine": "search"}, {"n_threads": 1}, {"n_threads": 2}, {"n_threads": 2, "refine": "search"}),
    *({"random_state": seed, "refine": "search", "trials": 50} for seed in (None, 1, 7)),
)
_ESTIMATORS = {
    "EmpiricalCovariance": EmpiricalCovariance(),
    "ShrunkCovariance": ShrunkCovariance(shrinkage=0.05),
    "LedoitWolf": LedoitWolf(),
    "GraphicalLasso": GraphicalLasso(alpha=0.05),
}


def label(settings: dict[str, Any]) -> str:
    """Name a case after its settings."""
    return " ".join(f"{name}={value}" for name, value in settings.items())


def stopped(data: Simulation, calls: int, **settings: Any) -> object:
    """Fit with a callback that stops the solver at one of its calls; return the progress that it saw too."""
    seen: list[dict[str, Any]] = []

    def stop(progress: dict[str, Any]) -> bool:
        seen.append(dict(progress))
        return len(seen) >= calls

    return ICID(callback=stop, **settings).fit(data.rows), seen


def loud(data: Simulation) -> object:
    """Fit with progress on standard error; return the text too."""
    text = io.StringIO()
    with contextlib.redirect_stderr(text):
        model = ICID(verbose=True, refine=None).fit(data.rows)
    return model, text.getvalue()


def with_groups(data: Simulation, count: int, **settings: Any) -> ICID:
    """Fit rows of several groups, whose means differ by a lot."""
    rng = np.random.default_rng(6)
    groups = rng.integers(count, size=data.n)
    return ICID(**settings).fit(data.rows + 5 * rng.normal(size=(count, data.d))[groups], groups=groups)


def cases() -> Cases:
    """Yield names and functions."""
    for precision, refine, dag in product(
        ("auto", "empirical", "fdr", "lasso"), ("auto", "order", "search", None), ("greedy", "exptrace")
    ):
        settings = {"precision": precision, "refine": refine, "dag": dag}
        yield f"parameters/equal/{label(settings)}", partial(fit, EQUAL, **settings)
    for precision, name in product(("auto", "empirical", "lasso"), _DATA):
        settings = {"precision": precision, "dag": None}
        yield f"parameters/{name}/{label(settings)}", partial(fit, _DATA[name], **settings)
    for (name, data), settings in product(_DATA.items(), _SETTINGS):
        yield f"parameters/{name}/{label(settings)}", partial(fit, data, **settings)
    for (kind, estimator), refine, rows in product(_ESTIMATORS.items(), ("auto", None), (400, 10)):
        data = Simulation(n=rows, seed=7)
        yield f"parameters/{kind} n={rows} refine={refine}", partial(fit, data, precision=estimator, refine=refine)
    for name, data in _DATA.items():
        yield f"parameters/{name}/paper", partial(fit, data, **_PAPER)
        yield f"parameters/{name}/groups", partial(with_groups, data, 4)
        yield f"parameters/{name}/groups lasso", partial(with_groups, data, 20, precision="lasso")
        for refine in ("auto", "order", "search", None):
            settings = {"noise_variances": data.noise_variances, "refine": refine}
            yield f"parameters/{name}/known variances refine={refine}", partial(fit, data, **settings)
        for refine in ("auto", "order", None):
            yield f"theta/{name}/refine={refine}", partial(fit_theta, data, refine=refine)
            known = {"noise_variances": data.noise_variances, "refine": refine}
            yield f"theta/{name}/known variances refine={refine}", partial(fit_theta, data, **known)
        yield f"theta/{name}/dag=None", partial(fit_theta, data, dag=None)
        yield f"theta/{name}/dag=exptrace", partial(fit_theta, data, dag="exptrace", refine=None)
    yield "parameters/one noise variance", partial(fit, EQUAL, noise_variances=2.0)
    yield "parameters/groups that take most rows", partial(with_groups, replace(EQUAL, n=60), 45)
    yield "parameters/verbose", partial(loud, EQUAL)
    for calls, refine in product((1, 3), (None, "auto")):
        yield f"parameters/stopped after {calls} calls refine={refine}", partial(stopped, EQUAL, calls, refine=refine)
    large = Simulation(d=150, n=600, degree=2, unequal=True, standardised=True, seed=8)
    for threads in (1, 2):
        yield f"parameters/d=150 n_threads={threads}", partial(fit, large, n_threads=threads)
    for settings in ({"dag": "exptrace", "refine": None}, {"refine": "order"}, {"refine": "search", "trials": 100}):
        yield f"parameters/d=150 {label(settings)}", partial(fit, large, **settings)

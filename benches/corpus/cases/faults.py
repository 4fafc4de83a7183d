"""Tables, parameters and knowledge that must be refused, or warned of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from benches.corpus.cases.common import EQUAL, Cases, fit, fit_theta
from sklearn.covariance import ShrunkCovariance
from sklearn.preprocessing import StandardScaler

from icid_rs import ICID, Moments, bootstrap


def spoilt(change: Callable[[np.ndarray], Any], **settings: Any) -> ICID:
    """Fit a table after a change, in place or to what is returned."""
    X = EQUAL.rows
    changed = change(X)
    return ICID(**settings).fit(X if changed is None else changed)


def _set(place: Any, value: Any) -> Callable[[np.ndarray], None]:
    def change(X: np.ndarray) -> None:
        X[place] = value(X) if callable(value) else value

    return change


_LAST = (slice(None), 11)
#: Changes of a table.
_TABLES: dict[str, Callable[[np.ndarray], Any]] = {
    "constant": _set(_LAST, 3.0),
    "zeros": _set(_LAST, 0.0),
    "nearly constant": _set(_LAST, lambda X: 1.0 + 1e-14 * X[:, 0]),
    "duplicate": _set(_LAST, lambda X: X[:, 0]),
    "duplicate in other units": _set(_LAST, lambda X: 5 - 3 * X[:, 0]),
    "nearly duplicate": _set(_LAST, lambda X: X[:, 0] + 1e-6 * X[:, 11]),
    "collinear": _set(_LAST, lambda X: X[:, 0] - 2 * X[:, 1] + X[:, 2]),
    "nearly collinear": _set(_LAST, lambda X: X[:, 0] - 2 * X[:, 1] + 1e-4 * X[:, 11]),
    "NaN": _set((3, 2), np.nan),
    "inf": _set((3, 2), np.inf),
    "column of NaN": _set(_LAST, np.nan),
    "huge": _set(_LAST, lambda X: 1e200 * X[:, 11]),
    "tiny": _set(_LAST, lambda X: 1e-200 * X[:, 11]),
    "outlier": _set((3, 2), 1e6),
    "one row": lambda X: X[:1],
    "two rows": lambda X: X[:2],
    "three rows": lambda X: X[:3],
    "five rows": lambda X: X[:5],
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: X[None],
    "text": lambda X: X.astype(str),
    "words": lambda X: [["a", "b"], ["c", "d"], ["e", "f"]],
    "ragged": lambda X: [[1.0, 2.0], [3.0], [4.0, 5.0]],
    "nothing": lambda X: {},
    "a path": lambda X: "table.csv",
    "dates": lambda X: pd.DataFrame({"day": pd.date_range("2020-01-01", periods=9), "x": range(9)}),
}
#: Parameters that are wrong, or do not go together.
_SETTINGS: tuple[dict[str, Any], ...] = (
    *({"precision": value} for value in ("glasso", None, 3, ShrunkCovariance)),
    *({"lambda1": value} for value in (0.0, 1.5, "best", [], [0.1, 2.0])),
    *({"ridge": value} for value in (-0.1, 1.0, "auto")),
    *({"ridge": 0.1, "precision": value} for value in ("lasso", ShrunkCovariance())),
    *({"l1_weight": value} for value in (-1.0, 0.0, "large", np.inf)),
    *({"skewness": value} for value in (-1.0, "none", np.nan)),
    *({"noise": value} for value in ("gaussian", None, 1)),
    *({"noise": "unequal", "refine": value} for value in ("order", None)),
    *({"noise": "unequal", "dag": None}, {"noise": "unequal", "noise_variances": 1.0}),
    *({"noise_variances": value} for value in (-1.0, [1.0, 2.0], np.zeros(12), np.full(12, np.nan), "equal")),
    *({"refine": value} for value in ("best", True)),
    *({"dag": value} for value in ("notears", False)),
    *({"dag": None, "refine": value} for value in ("order", "search")),
    *({"threshold": value} for value in (-0.1, "none")),
    *({"missing": value} for value in ("fill", None)),
    *({"max_alm_iter": value} for value in (0, 1.5)),
    *({"max_fista_iter": 0}, {"tol": -1.0}, {"fista_tol": 0.0}, {"schedule": "fast"}, {"schedule": 3}),
    *({"trials": value} for value in (-1, "many", 2.5)),
    *({"n_threads": value} for value in (0, -1, "two")),
    *({"random_state": value} for value in (-1, "seed", 1.5)),
    *({"time_limit": -1.0}, {"callback": 3}),
)
#: Knowledge that contradicts itself or names what is not there.
_KNOWLEDGE: tuple[dict[str, Any], ...] = (
    {"required": [(0, 1), (1, 2), (2, 0)]},
    {"required": [(0, 1)], "forbidden": [(0, 1)]},
    {"required": [(0, 1)], "tiers": [[1], [0]]},
    {"required": [(0, 0)]},
    {"required": [(0, 12)]},
    {"required": [("x0", "rain")]},
    {"forbidden": [(0, 1, 2)]},
    {"forbidden": "x0"},
    {"forbidden": [3]},
    {"tiers": [[0, 1], [1, 2]]},
    {"tiers": [0, 1]},
    {"tiers": [["rain"]]},
    {"tiers": []},
    {"tiers": "x0"},
)


def _label(settings: dict[str, Any]) -> str:
    return " ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in settings.items())


def cases() -> Cases:
    """Yield names and functions."""
    for name, change in _TABLES.items():
        yield f"fault/{name}", partial(spoilt, change)
    collinear = ("duplicate", "nearly duplicate", "collinear", "constant", "huge")
    for settings in (
        *({"precision": "lasso"}, {"ridge": 0.01}, {"precision": "empirical", "refine": None}),
        *({"precision": ShrunkCovariance(), "refine": None}, {"noise": "unequal"}),
    ):
        for name in collinear:
            yield f"fault/{name} {_label(settings)}", partial(spoilt, _TABLES[name], **settings)
    for name in ("NaN", "inf", "column of NaN"):
        for missing in ("drop", "pairwise"):
            yield f"fault/{name} missing={missing}", partial(spoilt, _TABLES[name], missing=missing)
    for settings in _SETTINGS:
        yield f"fault/{_label(settings)}", partial(fit, EQUAL, **settings)
    for knowledge in _KNOWLEDGE:
        yield f"fault/{_label(knowledge)}", partial(fit, EQUAL, **knowledge)
    for settings in ({"noise": "unequal"}, {"refine": "search"}, {"skewness": 0.1}, {"required": [(0, 0)]}):
        yield f"fault/theta {_label(settings)}", partial(fit_theta, EQUAL, **settings)
    for name, groups in {
        "short groups": [0, 1],
        "a group for each row": np.arange(400),
        "groups of NaN": np.full(400, np.nan),
        "one group": np.zeros(400),
        "named groups": np.repeat(["a", "b"], 200),
    }.items():
        yield f"fault/{name}", lambda groups=groups: ICID().fit(EQUAL.rows, groups=groups)
    for name, call in {
        "groups with theta": lambda: ICID(precision="precomputed").fit(EQUAL.theta, groups=np.zeros(12)),
        "groups with moments": lambda: ICID().fit(Moments().update(EQUAL.rows), groups=np.zeros(400)),
        "no moments": lambda: ICID().fit(Moments()),
        "estimator with moments": lambda: ICID(precision=ShrunkCovariance()).fit(Moments().update(EQUAL.rows)),
        "moments of NaN": lambda: Moments().update(np.full((3, 2), np.nan)),
        "moments of other columns": lambda: Moments().update(EQUAL.rows).update(EQUAL.rows[:, :3]),
        "moments with other names": lambda: Moments(["a", "b"]).update(pd.DataFrame({"a": [1.0], "c": [2.0]})),
        "moments with other seeds": lambda: Moments(random_state=1) + Moments(random_state=2).update(EQUAL.rows),
        "moments with negative weights": lambda: Moments().update(EQUAL.rows, weights=-np.ones(400)),
        "moments of a number": lambda: Moments().merge(3),
        "moments of a missing file": lambda: Moments.read("nowhere.csv"),
        "covariance that is not symmetric": lambda: Moments.from_covariance([[1.0, 0.5], [0.4, 1.0]], 9),
        "covariance that is indefinite": lambda: ICID().fit(Moments.from_covariance([[1.0, 2.0], [2.0, 1.0]], 99)),
        "effects before the fit": lambda: ICID().total_effects(),
        "edges before the fit": lambda: ICID().edges(),
        "bootstrap before the fit": lambda: bootstrap(ICID(), EQUAL.rows),
        "bootstrap of theta": lambda: bootstrap(fit_theta(EQUAL), EQUAL.rows),
        "bootstrap of moments": lambda: bootstrap(fit(EQUAL), Moments().update(EQUAL.rows)),
        "bootstrap of cycles": lambda: bootstrap(fit(EQUAL, dag=None), EQUAL.rows),
        "estimator with some rows": lambda: ICID(precision=ShrunkCovariance()).fit(
            Moments(reservoir=20).update(EQUAL.rows)
        ),
        "estimator with holes": lambda: spoilt(_TABLES["NaN"], precision=ShrunkCovariance(), missing="pairwise"),
        "estimator without precision": lambda: fit(EQUAL, precision=StandardScaler()),
        "search with an estimator of few rows": lambda: ICID(precision=ShrunkCovariance(), refine="search").fit(
            EQUAL.rows[:10]
        ),
        "ridge with few rows": lambda: ICID(ridge=0.1).fit(EQUAL.rows[:10]),
        "moments of two rows": lambda: ICID().fit(Moments().update(EQUAL.rows[:2])),
        "moments of collinear columns": lambda: ICID().fit(Moments().update(EQUAL.rows[:, [0, 1, 0]])),
        "moments with a name for all": lambda: Moments("names"),
        "moments with too few names": lambda: Moments(["a"]).update(EQUAL.rows),
        "moments with short weights": lambda: Moments().update(EQUAL.rows, weights=[1.0]),
        "moments that keep NaN": lambda: Moments(missing="keep"),
        "covariance that is not square": lambda: Moments.from_covariance([[1.0, 0.5]], 9),
        "covariance of NaN": lambda: Moments.from_covariance([[np.nan]], 9),
        "covariance with a negative variance": lambda: Moments.from_covariance([[-1.0]], 9),
        "covariance with a short mean": lambda: Moments.from_covariance(np.eye(2), 9, mean=[0.0]),
        "theta of extreme units": lambda: ICID(precision="precomputed").fit(1e160 * EQUAL.theta),
        "theta that is singular": lambda: ICID(precision="precomputed").fit(np.ones((3, 3))),
        "theta against knowledge": lambda: fit_theta(EQUAL, refine="order", forbidden=EQUAL.edges),
        "few common rows": _few_common_rows,
        "score with holes": lambda: fit(EQUAL, missing="drop").score(np.vstack([EQUAL.rows, np.full((1, 12), np.nan)])),
        "score of NaN": lambda: fit(EQUAL).score(np.full((5, 12), np.nan)),
        "score of other names": lambda: (
            ICID().fit(pd.DataFrame(EQUAL.rows, columns=EQUAL.names)).score(pd.DataFrame(EQUAL.rows))
        ),
        "mixed groups": lambda: ICID().fit(EQUAL.rows, groups=[None, "a"] * 200),
        "score of other columns": lambda: fit(EQUAL).score(EQUAL.rows[:, :3]),
        "a second fit that fails": lambda: sorted(set(vars(_failed_again())) - {"n_features_in_"}),
    }.items():
        yield f"fault/{name}", call


def _few_common_rows() -> ICID:
    """Fit two columns that are hardly ever there together."""
    X = EQUAL.rows
    X[:205, 0] = np.nan
    X[205:, 1] = np.nan
    return ICID(missing="pairwise").fit(X)


def _failed_again() -> ICID:
    """Fit a good table, then one that is refused: nothing of the first fit may be left."""
    model = fit(EQUAL)
    try:
        model.fit(EQUAL.rows[:1])
    except ValueError:
        return model
    raise AssertionError("one row should be refused")

"""The parameters of the estimator: checked, and settled where they are ``"auto"``."""

from __future__ import annotations

from typing import Any

import numpy as np

from icid_rs import missing
from icid_rs._validation import check_int, check_real
from icid_rs.estimation import check_kind
from icid_rs.precision import check_cuts

#: What ``"auto"`` stands for where nothing better is known than the paper's choice.
_AUTO_L1_WEIGHT = 0.1


def settle_parameters(model: Any) -> dict[str, Any]:
    """Check the parameters of `ICID` that are not checked elsewhere, and settle what is ``"auto"``.

    Examples
    --------
    >>> from icid_rs import ICID
    >>> from icid_rs.parameters import settle_parameters
    >>> settle_parameters(ICID())["l1_weight"]
    0.1
    """
    for name, allowed in {
        "noise": ("auto", "equal", "unequal"),
        "refine": ("auto", "order", "search", None),
        "dag": ("greedy", "exptrace", None),
        "missing": missing.POLICIES,
    }.items():
        value = getattr(model, name)
        if not (value is None or isinstance(value, str)) or value not in allowed:
            raise ValueError(f"{name} = {getattr(model, name)!r}: it must be one of {allowed}")
    check_kind(model.precision)
    check_cuts(model.lambda1)
    if model.random_state is not None:
        check_int(model.random_state, "random_state", 0)
    if model.dag is None and model.refine in ("order", "search"):
        raise ValueError(
            f"refine={model.refine!r} fits an acyclic graph, but dag=None asks for B as it is; use refine=None"
        )
    if (
        model.noise == "unequal"
        and model.noise_variances is None
        and (model.refine in ("order", None) or model.dag is None or model.precision == "precomputed")
    ):
        if model.precision == "precomputed":
            raise ValueError(
                "noise='unequal' needs data: theta alone tells no directions then; pass noise_variances, or fit data"
            )
        raise ValueError(
            "the decomposition and elimination suppose that noise variances are equal or known; with "
            "noise='unequal' use refine='search', or pass noise_variances"
        )

    def check_positive(value: Any, name: str) -> float:
        number = check_real(value, name)
        if not number >= 0 or number == np.inf:
            raise ValueError(f"{name} = {number}: it must be at least 0 and finite")
        return number

    def settle(name: str, auto: float) -> float:
        value = getattr(model, name)
        return auto if isinstance(value, str) and value == "auto" else check_positive(value, name)

    ridge = check_positive(model.ridge, "ridge")
    if ridge >= 1:
        raise ValueError(f"ridge = {ridge}: it must be less than 1, a share of each variance")
    if ridge and model.precision not in ("auto", "fdr", "empirical"):
        raise ValueError(
            f"ridge = {ridge} is for precision='fdr' and 'empirical'; other estimators have penalties of their own"
        )
    return {
        # What "auto" stands for depends on the rows.
        "precision": model.precision,
        "ridge": ridge,
        "l1_weight": settle("l1_weight", _AUTO_L1_WEIGHT),
        "skewness": settle("skewness", 0.0),
        "threshold": settle("threshold", 0.0),
        "refine": model.refine if model.refine != "auto" or model.dag is not None else None,
        "trials": model.trials if model.trials == "auto" else check_int(model.trials, "trials", 0),
        "time_limit": None if model.time_limit is None else check_positive(model.time_limit, "time_limit"),
    }

"""The parameters of a fit, checked once and frozen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from icid_rs import _core
from icid_rs._util.progress import report_progress
from icid_rs._util.randomness import seed
from icid_rs._util.validation import FloatArray, as_vector, check_int, check_real

#: The paper's λ₁', which ``"auto"`` stands for once Θ is in units of the noise.
_AUTO_L1_WEIGHT = 0.1
#: Parameters that are taken as they are, after their checks.
_AS_GIVEN = (
    *("precision", "lambda1", "noise", "noise_variances", "dag", "required", "forbidden", "tiers", "missing"),
    *("columns", "categorical", "ordinal", "adjust", "transform", "collinear"),
    *("n_threads", "verbose", "callback"),
)
#: Parameters that `decompose` checks.
_SOLVER = ("max_alm_iter", "max_fista_iter", "tol", "fista_tol", "schedule", "n_threads")
#: Kinds of evidence that may orient edges.
ORIENT = ("class", "shape", "variance")
_ALLOWED: dict[str, tuple[str | None, ...]] = {
    "noise": ("auto", "equal", "unequal"),
    "refine": ("auto", "order", "search", None),
    "dag": ("greedy", "exptrace", None),
    "missing": ("raise", "drop", "em", "pairwise"),
    "collinear": ("raise", "drop", "ridge"),
}
#: Transforms of a column.
TRANSFORMS = ("normal-scores", "log")
#: Parameters of the measurement layer.
_LAYER = ("hidden", "measurement_error")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The parameters of `ICID` after their checks.

    ``"auto"`` is kept where its meaning depends on the data (``precision``, ``noise``, ``refine``) and replaced by its
    value where it does not. The attributes are those of `ICID`, and these:

    Attributes
    ----------
    may_invert : bool
        Whether the estimator of Θ may invert the covariance.
    rescale : bool
        Whether Θ is divided by the size of the noise precision, as ``l1_weight="auto"`` asks.
    is_weighted : bool
        Whether the caller weighted the terms of the decomposition, so that a search should start from its order too.
    solver : dict
        Arguments of `decompose` that steer the solver.
    orient : frozenset of str
        Kinds of evidence that may orient edges.
    penalty, trials : number or None
        None for ``"auto"``.
    stability : "auto", int or None
        Number of resamples that judge a direction; None for no resamples.
    """

    precision: Any
    may_invert: bool
    lambda1: Any
    ridge: float
    l1_weight: float
    rescale: bool
    skewness: float
    is_weighted: bool
    noise: str
    noise_variances: Any
    refine: str | None
    dag: Literal["greedy", "exptrace"] | None
    threshold: float
    required: Any
    forbidden: Any
    tiers: Any
    hidden: int | Literal["auto"] | None
    measurement_error: Any
    missing: str
    collinear: str
    columns: Any
    categorical: Any
    ordinal: Any
    transform: Any
    adjust: Any
    solver: dict[str, Any]
    orient: frozenset[str]
    penalty: float | None
    stability: Literal["auto"] | int | None
    trials: int | None
    time_limit: float | None
    n_threads: int | None
    seed: int
    verbose: bool
    callback: Callable[[dict[str, Any]], object] | None

    @classmethod
    def of(cls, model: Any, precisions: Mapping[str, bool]) -> Options:
        """Check the parameters of an `ICID`.

        `precisions` holds the names of the estimators of Θ, and whether each may invert the covariance.

        Examples
        --------
        >>> from icid_rs import ICID
        >>> from icid_rs.options import Options
        >>> Options.of(ICID(), {"auto": True}).l1_weight
        0.1
        """
        _check_choices(model, precisions)
        ridge = _nonnegative(model.ridge, "ridge")
        if ridge >= 1:
            raise ValueError(f"ridge = {ridge}: it must be less than 1, a share of each variance")
        may_invert = isinstance(model.precision, str) and precisions[model.precision]
        if ridge and not may_invert:
            raise ValueError(
                f"ridge = {ridge} is for precision='fdr' and 'empirical'; other estimators have penalties of their own"
            )
        auto_weight, auto_skewness = _is_auto(model.l1_weight), _is_auto(model.skewness)
        return cls(
            **{name: vars(model)[name] for name in _AS_GIVEN},
            hidden=_hidden(model.hidden),
            measurement_error=_measurement_error(model.measurement_error),
            seed=seed(model.random_state),
            may_invert=may_invert,
            ridge=ridge,
            l1_weight=_AUTO_L1_WEIGHT if auto_weight else _nonnegative(model.l1_weight, "l1_weight"),
            rescale=isinstance(model.l1_weight, str),
            skewness=0.0 if auto_skewness else _nonnegative(model.skewness, "skewness"),
            is_weighted=not (auto_weight and auto_skewness),
            refine=None if model.refine == "auto" and model.dag is None else model.refine,
            threshold=0.0 if _is_auto(model.threshold) else _nonnegative(model.threshold, "threshold"),
            solver={name: getattr(model, name) for name in _SOLVER},
            orient=_check_orient(model.orient),
            penalty=None if _is_auto(model.penalty) else _positive(model.penalty, "penalty"),
            stability=_check_stability(model.stability),
            trials=None if _is_auto(model.trials) else check_int(model.trials, "trials", 0),
            time_limit=None if model.time_limit is None else _nonnegative(model.time_limit, "time_limit"),
        )

    def settled(self, precision: Any) -> dict[str, Any]:
        """Return the settings that `ICID.info_` reports, given the estimator of Θ that was used."""
        return {
            "precision": precision,
            "ridge": self.ridge,
            "l1_weight": self.l1_weight,
            "skewness": self.skewness,
            "threshold": self.threshold,
            "orient": [kind for kind in ORIENT if kind in self.orient],
            "penalty": "auto" if self.penalty is None else self.penalty,
            "stability": self.stability,
            "trials": "auto" if self.trials is None else self.trials,
            "time_limit": self.time_limit,
        }

    def for_scores(self) -> Options:
        """Return the options for columns in place of which normal scores stand: these have no unit of their own."""
        return replace(self, noise="unequal") if self.noise == "auto" and self.noise_variances is None else self

    @property
    def measures(self) -> bool:
        """Whether hidden causes or errors of measurement may become part of the model."""
        return self.hidden is not None or self.measurement_error is not None

    @property
    def demanded(self) -> str | None:
        """The parameter that demands a measurement layer, as it was given; None if there is at most "auto"."""
        for name in _LAYER:
            value = getattr(self, name)
            if value is not None and not _is_auto(value):
                return f"{name}={value!r}"
        return None

    @property
    def unmeasured_because(self) -> str | None:
        """Why no table can get a measurement layer with these parameters; None if some can."""
        if not self.measures:
            return "hidden causes and errors of measurement were switched off"
        if self.refine not in ("auto", "search"):
            return f"refine={self.refine!r} supposes that there are neither hidden causes nor errors of measurement"
        if self.noise_variances is not None:
            return "known noise variances leave nothing to hidden causes and errors of measurement"
        if self.missing == "pairwise":
            return "covariances of pairs of columns differ from those of a table as if by errors of measurement"
        if self.ridge:
            return "a ridge and a measurement layer cannot both change the covariance"
        if isinstance(self.precision, str) and self.precision == "precomputed":
            return "hidden causes and errors of measurement are looked for in tables and their moments, not in Θ"
        return None

    def edge_penalty(self, samples: int, variables: int) -> float:
        """Return what an edge must gain in twice the log-likelihood, before any inflation of the null."""
        if self.penalty is None:
            return _core.edge_penalty(samples, variables)
        return self.penalty * float(np.log(samples))

    def known_variances(self, d: int) -> FloatArray | None:
        """Return the noise variances of d variables, if the caller knows them."""
        return None if self.noise_variances is None else as_vector(self.noise_variances, d, "noise_variances")

    def stage_observer(self) -> Callable[[str, float], object] | None:
        """Return a callback that reports each stage of the fit when it ends, if `verbose`."""
        if not self.verbose:
            return None
        return lambda stage, seconds: report_progress(f"ICID: {stage}, {seconds:.2f} s")

    def observer(self) -> Callable[[dict[str, Any]], object] | None:
        """Return a callback for the solver that reports progress if `verbose`, and calls the caller's own."""
        if not self.verbose:
            return self.callback

        def report(progress: dict[str, Any]) -> object:
            report_progress(
                f"ICID: round {progress['round']}, iteration {progress['iteration']}, "
                f"objective {progress['objective']:.6g}, optimality {progress['optimality']:.2g}"
            )
            return None if self.callback is None else self.callback(progress)

        return report


def check_cuts(lambda1: Any) -> FloatArray | None:
    """Return the given values of λ₁ in ascending order; None for ``"auto"``.

    Examples
    --------
    >>> from icid_rs.options import check_cuts
    >>> check_cuts([0.2, 0.1])
    array([0.1, 0.2])
    """
    if isinstance(lambda1, str):
        if lambda1 != "auto":
            raise ValueError(f"lambda1 = {lambda1!r}: it must be 'auto', a number, or a sequence of numbers")
        return None
    grid = np.asarray(lambda1)
    if grid.dtype.kind not in "iuf" or grid.ndim > 1:
        raise TypeError(f"lambda1 must be 'auto', a number, or a sequence of numbers, not {lambda1!r}")
    if grid.size == 0 or not ((grid > 0) & (grid < 1)).all():
        raise ValueError(f"lambda1 = {lambda1}: there must be a value, and every value must be between 0 and 1")
    return np.unique(grid.astype(np.float64))


def _check_choices(model: Any, precisions: Mapping[str, bool]) -> None:
    """Raise where a parameter has no such value, or two of them contradict each other."""
    for name, allowed in _ALLOWED.items():
        value = getattr(model, name)
        if not (value is None or isinstance(value, str)) or value not in allowed:
            raise ValueError(f"{name} = {value!r}: it must be one of {allowed}")
    _check_precision(model.precision, precisions)
    _check_transform(vars(model)["transform"])
    check_cuts(model.lambda1)
    if model.dag is None and model.refine in ("order", "search"):
        raise ValueError(
            f"refine={model.refine!r} fits an acyclic graph, but dag=None asks for B as it is; use refine=None"
        )
    unknown = model.noise == "unequal" and model.noise_variances is None
    if unknown and isinstance(model.precision, str) and model.precision == "precomputed":
        raise ValueError(
            "noise='unequal' needs data: theta alone tells no directions then; pass noise_variances, or fit data"
        )
    if unknown and (model.refine in ("order", None) or model.dag is None):
        raise ValueError(
            "the decomposition and elimination suppose that noise variances are equal or known; with "
            "noise='unequal' use refine='search', or pass noise_variances"
        )


def _check_precision(kind: Any, known: Mapping[str, bool]) -> None:
    """Raise unless `precision` is a known name or an estimator."""
    if isinstance(kind, str) and kind not in known:
        raise ValueError(f"precision = {kind!r}: it must be one of {tuple(known)}, or an estimator")
    if isinstance(kind, type):
        raise TypeError(f"precision must be an estimator, not the class {kind.__name__}; write {kind.__name__}()")
    if not isinstance(kind, str) and not hasattr(kind, "fit"):
        raise TypeError(f"precision must be a string or an estimator, not {kind!r}")


def _check_transform(value: Any) -> None:
    """Raise unless `transform` is a kind of transform, or a mapping from columns to them."""
    if isinstance(value, Mapping):
        for name, kind in value.items():
            if kind is not None and (not isinstance(kind, str) or kind not in TRANSFORMS):
                raise ValueError(f"transform[{name!r}] = {kind!r}: it must be one of {(*TRANSFORMS, None)}")
    elif value is not None and not isinstance(value, str):
        raise TypeError(f"transform must be 'auto', None, one of {TRANSFORMS}, or a dict of columns, not {value!r}")
    elif value not in ("auto", None, *TRANSFORMS):
        known = ("auto", *TRANSFORMS, None)
        raise ValueError(f"transform = {value!r}: it must be one of {known}, or a dict of columns")


def _check_orient(kinds: Any) -> frozenset[str]:
    """Raise unless `orient` holds known kinds of evidence."""
    if isinstance(kinds, str) or not isinstance(kinds, Collection):
        raise TypeError(f"orient must be a tuple of kinds of evidence, such as ('class', 'shape'), not {kinds!r}")
    unknown = [kind for kind in kinds if kind not in ORIENT]
    if unknown:
        raise ValueError(f"orient: {unknown[0]!r} is no kind of evidence; it may hold {ORIENT}")
    return frozenset(kinds)


def _check_stability(value: Any) -> Literal["auto"] | int | None:
    if value is None:
        return None
    return "auto" if _is_auto(value) else check_int(value, "stability", 2)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _hidden(value: Any) -> int | Literal["auto"] | None:
    if value is None or _is_auto(value):
        return None if value is None else "auto"
    if isinstance(value, str):
        raise ValueError(f"hidden = {value!r}: it must be 'auto', None or a number of hidden causes")
    return check_int(value, "hidden", 0) or None


def _measurement_error(value: Any) -> Any:
    if isinstance(value, str) and not _is_auto(value):
        raise ValueError(
            f"measurement_error = {value!r}: it must be 'auto', None, a share of each variance, one for each "
            "column, or a dict of them"
        )
    return value


def _nonnegative(value: Any, name: str) -> float:
    number = check_real(value, name)
    if not number >= 0 or number == np.inf:
        raise ValueError(f"{name} = {number}: it must be at least 0 and finite")
    return number


def _positive(value: Any, name: str) -> float:
    number = _nonnegative(value, name)
    if not number:
        raise ValueError(f"{name} = {number}: it must be positive")
    return number

"""Records of a fit: its table, the checks of it, the claims, and all steps together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from icid_rs.report.choices import Choices, MeasurementChoice, Refinement, TransformChoice

Verdict = Literal["pass", "doubt", "fail"]


@dataclass(frozen=True)
class MissingValues:
    """Missing values of a table, and how they were treated.

    Attributes
    ----------
    policy : {"raise", "drop", "em", "pairwise"}
    rows, incomplete, entries : int
        Rows in all, rows with missing values, and missing values.
    columns : dict
        Missing values by column, where there are any.
    samples : int, optional
        Effective sample size, if moments were estimated from incomplete rows.
    shrinkage : float, optional
        How far correlations were shrunk to be positive definite.
    steps, converged : int and bool, optional
        Steps of the EM algorithm, and whether it converged.
    """

    policy: str
    rows: int
    incomplete: int
    entries: int
    columns: dict[Any, int]
    samples: int | None = None
    shrinkage: float | None = None
    steps: int | None = None
    converged: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        shown = {key: value for key, value in vars(self).items() if value is not None}
        return shown if self.samples is None else {**shown, "residuals": "taken to be Gaussian"}


@dataclass(frozen=True)
class KeptRows:
    """Rows behind moments, and the sample of them that was kept beside.

    Attributes
    ----------
    n, n_effective : int
        Number of rows, and their effective sample size.
    kept : int
        Rows in the sample.
    dropped : int
        Rows that were left out because of missing values.
    note : str or None
        Consequence of the sample for the shape of residuals.
    """

    n: int
    n_effective: int
    kept: int
    dropped: int
    note: str | None


@dataclass(frozen=True)
class Adjusted:
    """Columns whose linear effects were taken out of all variables, and the degrees of freedom that this cost."""

    columns: tuple[Any, ...]
    degrees: int

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        return {"columns": list(self.columns), "degrees of freedom": self.degrees}


@dataclass(frozen=True)
class SampleFacts:
    """Missing values, the number of groups whose means were taken out, kept rows, and covariates; None without any."""

    missing: MissingValues | None = None
    groups: int | None = None
    kept: KeptRows | None = None
    adjusted: Adjusted | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        return {
            "missing": None if self.missing is None else self.missing.as_dict(),
            "groups": self.groups,
            "adjusted": None if self.adjusted is None else self.adjusted.as_dict(),
            "sample": None if self.kept is None else dict(vars(self.kept)),
        }


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One assumption of the model, and whether a table looks like it.

    Attributes
    ----------
    name : str
        The assumption, in a few words.
    verdict : {"pass", "doubt", "fail"}
        By the size of the effect. With many rows the least departure is significant, and with few a large one may not
        be.
    finding : str
        What was seen, in one sentence with a number.
    statistic, p_value : float
        Of the test beside the effect; NaN where there is none.
    effect : float
        Size of the departure, on a scale that does not grow with the number of rows.
    where : tuple of str
        Columns, edges or rows concerned, worst first.
    remedy : str
        What to do about it; empty if the verdict is "pass".

    Examples
    --------
    >>> from icid_rs.report import Assumption
    >>> Assumption(name="many levels", verdict="pass", finding="every column has more than 20 levels").where
    ()
    """

    name: str
    verdict: Verdict
    finding: str
    statistic: float = float("nan")
    p_value: float = float("nan")
    effect: float = 0.0
    where: tuple[str, ...] = ()
    remedy: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        return {**vars(self), "where": list(self.where)}


@dataclass(frozen=True)
class ClaimRecord:
    """How directions were judged.

    Attributes
    ----------
    resamples : dict
        Number of resamples for each kind of evidence; empty if none were drawn.
    how : str, optional
        What was drawn: rows, blocks of them, groups, or second moments.
    directions : dict
        Number of edges by what their direction rests on.
    dependence : float, optional
        How far residuals are from being independent of their causes, in the median of the variables, if shapes counted.
    disputed : int
        Directions that two kinds of evidence see the other way round.
    unconstrained_score : float, optional
        Score of the best graph before it was made to agree with the claims.
    is_class : bool
        Whether just those directions are claimed that the equivalence class compels and background knowledge gives.
    """

    resamples: dict[str, int]
    how: str | None = None
    directions: dict[str, int] = field(default_factory=dict)
    dependence: float | None = None
    disputed: int = 0
    unconstrained_score: float | None = None
    is_class: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        return {key: value for key, value in vars(self).items() if key != "is_class"}


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """All that a fit did, step by step.

    Attributes
    ----------
    timings : dict
        Seconds of each stage.
    settings : dict
        Parameters with the values that ``"auto"`` stood for, as far as they do not depend on later choices.
    sample : SampleFacts
        Missing values, groups, and kept rows of moments.
    precision_reason : str, optional
        Why ``precision="auto"`` stands for its estimator.
    refine : str, optional
        The refinement that was done: ``"order"`` or ``"search"``.
    noise : {"equal", "unequal", "known"}
        Noise variances of the model.
    unit : float
        Divisor of Θ before its decomposition.
    lambda1, criterion
        The cut of Algorithm 3, and its candidates.
    decomposition : dict
        How the solver went: residual, iterations, history.
    refinement : Refinement, optional
    choices : Choices, optional
    claims : ClaimRecord
    measurement : MeasurementChoice
        Nothing by default.
    variables : int
    acyclic : bool
    sortability : dict, optional
    checks : tuple of Assumption
        The assumptions that were checked, with verdicts.
    rows : int, optional
        Effective sample size; None if an inverse covariance was given.
    categories : dict
        Levels of the variables that were taken as categories of more than two.
    codes : dict
        Labels of the variables that became single numbers, in the order of their codes 0, 1, …; none for dates.
    dropped : dict
        Columns that were left out, with the reasons.
    transform : TransformChoice
        Nothing by default.
    """

    timings: dict[str, float]
    settings: dict[str, Any]
    sample: SampleFacts
    precision_reason: str | None
    refine: str | None
    noise: str
    unit: float
    lambda1: float | None
    criterion: dict[float, float]
    decomposition: dict[str, Any]
    refinement: Refinement | None
    choices: Choices | None
    claims: ClaimRecord
    measurement: MeasurementChoice = field(default_factory=MeasurementChoice)
    variables: int
    acyclic: bool
    sortability: dict[str, Any] | None
    checks: tuple[Assumption, ...] = ()
    rows: int | None = None
    categories: dict[Any, int] = field(default_factory=dict)
    codes: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    dropped: dict[Any, str] = field(default_factory=dict)
    transform: TransformChoice = field(default_factory=TransformChoice)

    @property
    def is_grouped(self) -> bool:
        """Whether means were taken out within groups of rows."""
        return self.sample.groups is not None

    @property
    def shaped(self) -> tuple[int, ...]:
        """Variables whose residuals have a shape that counted."""
        residuals = None if self.choices is None else self.choices.residuals
        return () if residuals is None else residuals.shaped

    @property
    def identified(self) -> str | None:
        """How much of the graph the data determine; None for a graph with cycles."""
        if not self.acyclic:
            return None
        kinds = {kind for kind, count in self.claims.directions.items() if count}
        if kinds and "open" not in kinds:
            return "graph"
        return "equivalence class" if self.claims.is_class else "partly"

    def as_info(self) -> dict[str, Any]:
        """Return `ICID.info_`."""
        choices = {} if self.choices is None else self.choices.as_dict()
        if self.precision_reason is not None:
            choices["precision"] = {"chosen": self.settings["precision"], "reason": self.precision_reason}
        choices["transform"] = self.transform.as_dict()
        return {
            "timings": self.timings,
            **self.settings,
            "refine": self.refine,
            **self.sample.as_dict(),
            "categories": self.categories,
            "transform": self.transform.columns,
            "noise": self.noise,
            "unit": self.unit,
            "lambda1": self.lambda1,
            "criterion": self.criterion,
            "decomposition": self.decomposition,
            "refinement": None if self.refinement is None else self.refinement.as_dict(),
            "choices": choices,
            "claims": self.claims.as_dict(),
            "measurement": self.measurement.as_dict(),
            "identified": self.identified,
            "sortability": self.sortability,
            "checks": [assumption.as_dict() for assumption in self.checks],
        }

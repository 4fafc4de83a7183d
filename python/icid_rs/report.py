"""Typed records of the steps and choices of a fit, from which `ICID.info_` is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MissingValues:
    """Missing values of a table, and how they were treated.

    Attributes
    ----------
    policy : {"raise", "drop", "pairwise"}
    rows, incomplete, entries : int
        Rows in all, rows with missing values, and missing values.
    columns : dict
        Missing values by column, where there are any.
    samples : int, optional
        The smallest number of rows that two columns have in common, if covariances were taken pairwise.
    shrinkage : float, optional
        How far the pairwise correlations were shrunk to be positive definite.
    """

    policy: str
    rows: int
    incomplete: int
    entries: int
    columns: dict[Any, int]
    samples: int | None = None
    shrinkage: float | None = None

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
class SampleFacts:
    """Missing values, the number of groups whose means were taken out, and kept rows; None where there are none."""

    missing: MissingValues | None = None
    groups: int | None = None
    kept: KeptRows | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        return {
            "missing": None if self.missing is None else self.missing.as_dict(),
            "groups": self.groups,
            "sample": None if self.kept is None else dict(vars(self.kept)),
        }


@dataclass(frozen=True)
class NoiseChoice:
    """The noise model, and the score of each candidate.

    Attributes
    ----------
    chosen : {"equal", "unequal", "known"}
    scores : dict
        Smaller is better.
    """

    chosen: str
    scores: dict[str, float]


@dataclass(frozen=True)
class PenaltyChoice:
    """The price of an edge: `edge`, the extended BIC or less, times the `inflation` of the null."""

    edge: float
    inflation: float

    @property
    def value(self) -> float:
        """The price in twice the log-likelihood."""
        return self.edge * self.inflation


@dataclass(frozen=True)
class ShapeChoice:
    """Whether the shape of residuals counts in the score.

    Attributes
    ----------
    counts : bool
        False if residuals are taken to be Gaussian.
    gain : float
        Largest gain of a shape in the score, for the graph found with Gaussian residuals.
    threshold : float
        What the gain must exceed for shapes to count.
    shaped : tuple of int
        Variables whose residuals are not Gaussian.
    """

    counts: bool
    gain: float
    threshold: float
    shaped: tuple[int, ...]


@dataclass(frozen=True)
class Refinement:
    """The score of the graph that replaced the decomposition, and those of its competitors.

    Attributes
    ----------
    order : {"elimination", "decomposition", "search"}
        Where its causal order comes from.
    scores : dict
        Scores of the orders that competed.
    score, penalty : float
        Score of the graph, and the price of an edge in it.
    details : dict
        Facts that only some strategies report.
    """

    order: str
    scores: dict[str, float]
    score: float
    penalty: float
    details: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        named = {"order": self.order, "scores": self.scores, "score": self.score, "penalty": self.penalty}
        return {**named, **self.details}


@dataclass(frozen=True)
class Choices:
    """Choices made from the data: the noise model, the price of an edge, and whether shapes count.

    Attributes
    ----------
    noise : NoiseChoice
    penalty : PenaltyChoice
    residuals : ShapeChoice, optional
        Only where a search compared Gaussian residuals with others.
    starts : dict, optional
        Start orders of that search, with their scores.
    """

    noise: NoiseChoice
    penalty: PenaltyChoice
    residuals: ShapeChoice | None = None
    starts: dict[str, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        shown: dict[str, Any] = {
            "noise": {"chosen": self.noise.chosen, **self.noise.scores},
            "penalty": dict(vars(self.penalty)),
        }
        if self.residuals is not None:
            shown["residuals"] = {
                "gaussian": not self.residuals.counts,
                "shape": self.residuals.gain,
                "threshold": self.residuals.threshold,
                "shaped": list(self.residuals.shaped),
                "shaped variables": len(self.residuals.shaped),
            }
        return shown if self.starts is None else {**shown, "starts": self.starts}


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
    variables : int
    acyclic : bool
    sortability : dict, optional
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
    variables: int
    acyclic: bool
    sortability: dict[str, Any] | None

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
        if self.noise != "unequal" or self.choices is None or self.choices.residuals is None:
            return "graph"
        if not self.choices.residuals.counts:
            return "equivalence class"
        # With one Gaussian residual at most, directions are determined (Shimizu et al. 2006).
        return "graph" if len(self.shaped) >= self.variables - 1 else "partly"

    def as_info(self) -> dict[str, Any]:
        """Return `ICID.info_`."""
        choices = {} if self.choices is None else self.choices.as_dict()
        if self.precision_reason is not None:
            choices["precision"] = {"chosen": self.settings["precision"], "reason": self.precision_reason}
        return {
            "timings": self.timings,
            **self.settings,
            "refine": self.refine,
            **self.sample.as_dict(),
            "noise": self.noise,
            "unit": self.unit,
            "lambda1": self.lambda1,
            "criterion": self.criterion,
            "decomposition": self.decomposition,
            "refinement": None if self.refinement is None else self.refinement.as_dict(),
            "choices": choices,
            "identified": self.identified,
            "sortability": self.sortability,
        }

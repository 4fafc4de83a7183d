"""Records of choices that a fit makes from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class NoiseChoice:
    """The noise model, and the score of each candidate.

    Attributes
    ----------
    chosen : {"equal", "unequal", "known"}
    scores : dict
        Smaller is better.
    is_beyond_doubt : bool
        Whether equal noise variances fit so much better on the same graph that no other one was looked for.
    """

    chosen: str
    scores: dict[str, float]
    is_beyond_doubt: bool = False

    def is_favoured(self, odds: float) -> bool:
        """Tell whether the data favour the chosen model over the others by these odds, as far as scores tell."""
        rivals = [score for name, score in self.scores.items() if name != self.chosen]
        return all(score - self.scores[self.chosen] >= 2.0 * math.log(odds) for score in rivals)


@dataclass(frozen=True)
class PenaltyChoice:
    """The price of an edge: `edge`, the extended BIC or less, times the `inflation` of the null.

    `measured` is the inflation that the graph of the result still has. It may exceed `inflation`, which is not raised
    where that would remove most edges.
    """

    edge: float
    inflation: float
    measured: float = 1.0

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
    shape : str
        How the shape is measured, by its name in the core.
    """

    counts: bool
    gain: float
    threshold: float
    shaped: tuple[int, ...]
    shape: str = "negentropy"


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


@dataclass(frozen=True)
class MeasurementChoice:
    """The measurement layer of a fit.

    Attributes
    ----------
    hidden : int
        Number of hidden causes.
    error : float
        Mean share of the variances that is error of measurement.
    gain : float
        Gain of the layer in twice the log-likelihood of a row, less the price of its parameters.
    edges_without : int or None
        Edges of the graph that was found without it; None if no such graph or no layer was looked for.
    searches : int
        Graphs that were searched for, with one layer or another.
    strongest : tuple
        Names of the columns on which hidden causes load most.
    note : str or None
        Why nothing was looked for.
    """

    hidden: int = 0
    error: float = 0.0
    gain: float = 0.0
    edges_without: int | None = None
    searches: int = 0
    strongest: tuple[Any, ...] = ()
    note: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        shown = {key: value for key, value in vars(self).items() if key not in ("edges_without", "strongest")}
        return {**shown, "edges without": self.edges_without, "strongest": list(self.strongest)}


@dataclass(frozen=True)
class TransformChoice:
    """Whether columns were transformed, and why.

    Attributes
    ----------
    columns : dict
        The transform of each column that has one.
    dependence, transformed : float, optional
        How far residuals are from being independent of their causes, in the median of the variables, for the columns as
        they are and for their normal scores; None where that was not looked at.
    reason : str
    """

    columns: dict[Any, str] = field(default_factory=dict)
    dependence: float | None = None
    transformed: float | None = None
    reason: str = "as asked"

    def as_dict(self) -> dict[str, Any]:
        """Return the record as `ICID.info_` shows it."""
        kinds = sorted(set(self.columns.values()))
        return {"chosen": ", ".join(kinds) or None, **{k: v for k, v in vars(self).items() if k != "columns"}}

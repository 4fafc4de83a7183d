"""The effect of one variable on another, or of several at once: in the graph, and in the graphs of its class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from icid_rs._util.validation import listed
from icid_rs._util.words import agree, count
from icid_rs.graph import ida
from icid_rs.graph.adjustment import optimal_set
from icid_rs.graph.estimation import NO_EFFECT, Estimate, Network, path_effect
from icid_rs.graph.orientation import PartlyDirected


class MemberEffect(NamedTuple):
    """The effect in the graphs of the class in which a cause has certain causes itself, with its interval."""

    parents: tuple[Any, ...]
    total: float
    std_error: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Effect:
    """The change of one variable when another is set one unit higher.

    Attributes
    ----------
    cause, target : name
    total : float
        Along all directed paths of the graph; 0 where there is none.
    direct, indirect : float
        Along the edge alone, and along all other paths.
    std_error : float
        Of the total, given the graph; NaN where no sample size is known.
    interval : tuple of float
        Confidence interval of the total at the `level`, given the graph as it is drawn.
    low, high : float
        Smallest and largest total over the graphs of the class. Both are the total where open directions do not matter,
        and NaN where they do but covariances are not known.
    union : tuple of float
        From the lowest to the highest end of the intervals over the class: what can be said if no open direction is
        taken for granted.
    adjustment : tuple of names
        The optimal adjustment set in the graph as it is drawn: a regression of the target on the cause and these has
        the total as its coefficient.
    open_edges : tuple of pairs of names
        The open edges on which the total depends; their directions would settle it.
    members : tuple of MemberEffect
        One for each way in which the open edges may point, the drawn one first; a table for ``pandas.DataFrame``.
    level : float
    hidden : int
        Number of hidden causes that the fit took out of the graph. What two variables share through these is no effect
        of one on the other, as far as the fit is right that it is through these.

    Examples
    --------
    >>> from icid_rs import CausalGraph
    >>> graph = CausalGraph([[0, 2.0, 1.0], [0, 0, 3.0], [0, 0, 0]], ["a", "b", "c"], noise_variances=1)
    >>> effect = graph.effect("a", "c")
    >>> effect.total, effect.direct, effect.indirect
    (7.0, 1.0, 6.0)
    """

    cause: Any
    target: Any
    total: float
    direct: float
    indirect: float
    std_error: float
    interval: tuple[float, float]
    low: float
    high: float
    union: tuple[float, float]
    adjustment: tuple[Any, ...]
    open_edges: tuple[tuple[Any, Any], ...]
    members: tuple[MemberEffect, ...]
    level: float
    hidden: int = 0

    def __str__(self) -> str:
        lines = [f"Effect of {self.cause!r} on {self.target!r}: {self.total:.4g}"]
        if self.total == 0.0 and self.std_error == 0.0:
            lines[0] += ", since no directed path leads there in the graph as it is drawn"
        else:
            lines[0] += self._precision()
            names = listed([repr(name) for name in self.adjustment]) or "nothing"
            lines += [f"  direct {self.direct:.4g}, indirect {self.indirect:.4g}", f"  adjust for: {names}"]
        if self.open_edges:
            lines.append(f"  open: {listed([f'{a!r} — {b!r}' for a, b in self.open_edges])}")
            lines.append(self._range())
        if self.hidden:
            taken = count(self.hidden, "hidden cause") + agree(self.hidden, " was", " were")
            lines.append(f"  {taken} taken out of the graph; compare a fit with hidden=None")
        return "\n".join(lines)

    def _precision(self) -> str:
        if np.isnan(self.std_error):
            return " (no interval: the sample is not known; pass data=X)"
        low, high = self.interval
        return f" ({100 * self.level:g} % interval {low:.4g} to {high:.4g}, given the graph)"

    def _range(self) -> str:
        if np.isnan(self.low):
            return "  no range: neither covariances nor noise variances are known; pass data=X"
        text = f"  over these directions {self.low:.4g} to {self.high:.4g}"
        return (
            text if np.isnan(self.union[0]) else text + f", with intervals {self.union[0]:.4g} to {self.union[1]:.4g}"
        )


class JointEffect(NamedTuple):
    """The effect of one of several variables that are set together, the others held fixed; as in `Effect`."""

    cause: Any
    total: float
    std_error: float
    lower: float
    upper: float
    low: float
    high: float


def estimate_effect(network: Network, graph: PartlyDirected, a: int, b: int, level: float) -> Effect:
    """Estimate the effect of a on b in a graph and over its class."""
    names, drawn = network.names, path_effect(network, a, b)
    sets, open_edges = ida.possible_causes(network, graph, a, b)
    estimates = [drawn, *(_given_parents(network, a, b, parents) for parents in sets[1:])]
    intervals = [estimate.interval(level) for estimate in estimates]
    members = [
        MemberEffect(tuple(names[k] for k in sorted(parents)), estimate.total, estimate.std_error, *interval)
        for parents, estimate, interval in zip(sets, estimates, intervals, strict=True)
    ]
    into = network.equation(b) if a in network.parents(b) else None
    direct = 0.0 if into is None else float(into.weights[list(into.causes).index(a)])
    adjustment = () if drawn is NO_EFFECT else sorted(optimal_set(network, a, b))
    # NumPy's minimum is NaN where a member is.
    totals = [estimate.total for estimate in estimates]
    return Effect(
        cause=names[a],
        target=names[b],
        total=drawn.total,
        direct=direct,
        indirect=drawn.total - direct,
        std_error=drawn.std_error,
        interval=intervals[0],
        low=float(np.min(totals)),
        high=float(np.max(totals)),
        union=(float(np.min(intervals)), float(np.max(intervals))),
        adjustment=tuple(names[k] for k in adjustment),
        open_edges=tuple((names[i], names[k]) for i, k in open_edges),
        members=tuple(members),
        level=level,
        hidden=0 if network.moments is None or network.moments.layer is None else network.moments.layer.hidden,
    )


def estimate_joint_effect(
    network: Network, graph: PartlyDirected, causes: Sequence[int], b: int, level: float
) -> list[JointEffect]:
    """Estimate the effects on b of several variables that are set together, in a graph and over its class."""
    drawn = [set(network.parents(a)) for a in causes]
    estimates = [path_effect(network, a, b, set(causes) - {a}) for a in causes]
    totals = [[estimate.total for estimate in estimates]]
    if any(graph.open[a] for a in causes):
        combinations = ida.joint_parent_sets(graph, causes, drawn)
        totals += [_jointly(network, causes, b, sets) for sets in combinations if list(sets) != drawn]
    low, high = np.min(totals, axis=0), np.max(totals, axis=0)
    return [
        JointEffect(
            network.names[a],
            estimate.total,
            estimate.std_error,
            *estimate.interval(level),
            float(low[k]),
            float(high[k]),
        )
        for k, (a, estimate) in enumerate(zip(causes, estimates, strict=True))
    ]


def _given_parents(network: Network, a: int, b: int, parents: set[int]) -> Estimate:
    """Estimate the effect in the graphs of the class in which a has certain causes."""
    if b in parents:
        return NO_EFFECT
    return network.adjusted_effect(a, b, parents)


def _jointly(network: Network, causes: Sequence[int], b: int, sets: Sequence[set[int]]) -> list[float]:
    """Compute joint effects from single ones: a path to b is one to the last of the causes on it, and on from there."""
    among = [
        [1.0 if a == k else _given_parents(network, a, k, own).total for k in causes]
        for a, own in zip(causes, sets, strict=True)
    ]
    to_b = [_given_parents(network, a, b, own).total for a, own in zip(causes, sets, strict=True)]
    return [float(value) for value in np.linalg.solve(among, to_b)]

"""Estimates of total effects and their standard errors: along the paths of a graph, or by adjustment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from icid_rs._core import NumericalError
from icid_rs._util.validation import FloatArray, listed
from icid_rs.graph.covariances import ImpliedCovariances, SampleMoments
from icid_rs.graph.measured_regression import weight_covariance
from icid_rs.graph.sem import Csr

#: Smallest reciprocal of an entry of an inverse correlation matrix; below it columns are combinations of each other.
_SINGULAR = 1e-12


class Estimate(NamedTuple):
    """An effect, its standard error (NaN if the sample size is not known) and the degrees of freedom of that error."""

    total: float
    std_error: float
    freedom: float

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence interval of Student's t.

        Examples
        --------
        >>> from icid_rs.graph.estimation import Estimate
        >>> low, high = Estimate(1.0, 0.1, 1e6).interval(0.95)
        >>> round(low, 3), round(high, 3)
        (0.804, 1.196)
        """
        margin = float(stdtrit(self.freedom, (1 + level) / 2)) * self.std_error if self.std_error else 0.0
        return self.total - margin, self.total + margin


#: The effect of a variable on one that no directed path leads to.
NO_EFFECT = Estimate(0.0, 0.0, np.inf)


class Equation(NamedTuple):
    """The equation of a variable: its causes, their weights, and the covariance of the errors of the weights."""

    causes: Sequence[int]
    weights: FloatArray
    errors: FloatArray
    freedom: float


def regress(target: int, causes: Sequence[int], moments: SampleMoments, names: Sequence[Any]) -> Equation:
    """Regress a variable on others; raise if these are combinations of each other or too many.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.covariances import ImpliedCovariances, SampleMoments, StoredCovariances
    >>> from icid_rs.graph.estimation import regress
    >>> moments = SampleMoments(StoredCovariances(np.array([[1.0, 0.5], [0.5, 1.25]])), 102)
    >>> regress(1, [0], moments, ["rain", "wet"])
    Equation(causes=[0], weights=array([0.5]), errors=array([[0.01]]), freedom=100.0)
    """
    among = moments.covariances.among(np.array([*causes, target], dtype=np.intp))
    freedom = np.nan if moments.samples is None else float(moments.samples - len(causes) - 1)
    if freedom <= 0:
        raise ValueError(f"{moments.samples} samples are too few for a regression on {len(causes)} variables")
    scale = np.sqrt(np.diagonal(among)[:-1])
    units = np.outer(scale, scale)
    try:
        inverse = np.linalg.inv(among[:-1, :-1] / units)
    except np.linalg.LinAlgError:
        inverse = np.full(units.shape, np.inf)
    if len(causes) and not np.abs(inverse).max() < 1 / _SINGULAR:
        columns = listed([repr(names[cause]) for cause in causes])
        raise NumericalError(f"{names[target]!r} cannot be regressed on {columns}: they are combinations of each other")
    inverse = inverse / units
    weights = inverse @ among[:-1, -1]
    residual = max(float(among[-1, -1] - among[:-1, -1] @ weights), 0.0)
    if moments.errors is None:
        return Equation(causes, weights, residual / freedom * inverse, freedom)
    own, other = moments.errors[list(causes)], float(moments.errors[target])
    spread = weight_covariance(among[:-1, :-1], inverse, weights, residual, own, other)
    return Equation(causes, weights, spread / freedom, freedom)


@dataclass(frozen=True)
class Network:
    """An acyclic graph with the sample from which its effects are estimated.

    Attributes
    ----------
    B, columns : scipy.sparse.csr_array of shape (d, d)
        The weights, and their transpose.
    order : numpy.ndarray of shape (d,)
        The variables, causes first.
    names : sequence
    moments : SampleMoments or None
        With a sample, equations are regressions on it; without, those of the fitted weights.
    """

    B: Csr
    columns: Csr
    order: Any
    names: Sequence[Any]
    moments: SampleMoments | None = None

    def parents(self, i: int) -> list[int]:
        """Return the direct causes of i."""
        return _row(self.columns, i)

    def children(self, i: int) -> list[int]:
        """Return the direct effects of i."""
        return _row(self.B, i)

    def equation(self, i: int) -> Equation:
        """Return the equation of i."""
        causes = self.parents(i)
        # Covariances that the weights imply would only return the weights.
        if self.moments is not None and not isinstance(self.moments.covariances, ImpliedCovariances):
            return regress(i, causes, self.moments, self.names)
        weights = self.columns.data[self.columns.indptr[i] : self.columns.indptr[i + 1]]
        return Equation(causes, weights, np.full((len(causes), len(causes)), np.nan), np.nan)

    def adjusted_effect(self, a: int, b: int, given: Collection[int]) -> Estimate:
        """Estimate the effect of a on b by adjustment; unknown without a sample."""
        if self.moments is None:
            return Estimate(np.nan, np.nan, np.nan)
        return adjusted_effect(a, b, given, self.moments, self.names)

    def descendants(self, i: int, without: Collection[int] = ()) -> set[int]:
        """Return i and the variables that directed paths from it lead to, which avoid some others."""
        return _reached(self.B, i, set(without))

    def ancestors(self, i: int, without: Collection[int] = ()) -> set[int]:
        """Return i and the variables that directed paths lead to it from, which avoid some others."""
        return _reached(self.columns, i, set(without))

    def between(self, a: int, b: int, without: Collection[int] = ()) -> set[int]:
        """Return the variables on directed paths from a to b, b among them but not a; see `descendants`."""
        return (self.descendants(a, without) & self.ancestors(b, without)) - {a}


def path_effect(network: Network, a: int, b: int, held: Collection[int] = ()) -> Estimate:
    """Estimate the effect of a on b along all directed paths that avoid the variables `held` fixed.

    The equations of all variables on these paths are fitted by least squares, which is efficient given the graph. Their
    errors are independent of each other, so that the delta method sums over equations.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.estimation import Network, path_effect
    >>> B = sp.csr_array([[0, 2.0, 1.0], [0, 0, 3.0], [0, 0, 0]])
    >>> path_effect(Network(B, B.T.tocsr(), np.arange(3), "abc"), 0, 2).total
    7.0
    """
    inside = network.between(a, b, held)
    if b not in inside:
        return NO_EFFECT
    steps = [(i, network.equation(i)) for i in network.order.tolist() if i in inside]
    # Effects of a on each variable, and of each variable on b.
    from_a, to_b = {a: 1.0}, {b: 1.0}
    for i, (causes, weights, _, _) in steps:
        from_a[i] = sum(w * from_a.get(k, 0.0) for k, w in zip(causes, weights.tolist(), strict=True))
    for i, (causes, weights, _, _) in reversed(steps):
        for k, w in zip(causes, weights.tolist(), strict=True):
            to_b[k] = to_b.get(k, 0.0) + w * to_b[i]
    variance = 0.0
    for i, (causes, _, errors, _) in steps:
        moved = np.array([from_a.get(k, 0.0) for k in causes])
        variance += to_b[i] ** 2 * float(moved @ errors @ moved)
    freedom = min(equation.freedom for _, equation in steps)
    return Estimate(float(from_a[b]), float(np.sqrt(variance)), freedom)


def adjusted_effect(a: int, b: int, given: Collection[int], moments: SampleMoments, names: Sequence[Any]) -> Estimate:
    """Estimate the effect of a on b by regressing b on a and an adjustment set.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.covariances import ImpliedCovariances, SampleMoments, StoredCovariances
    >>> from icid_rs.graph.estimation import adjusted_effect
    >>> moments = SampleMoments(StoredCovariances(np.array([[1.0, 0.5], [0.5, 1.25]])), 102)
    >>> adjusted_effect(0, 1, [], moments, ["rain", "wet"])
    Estimate(total=0.5, std_error=0.1, freedom=100.0)
    """
    return estimate_of(regress(b, [a, *sorted(given)], moments, names))


def estimate_of(equation: Equation) -> Estimate:
    """Return the estimate of the first weight of an equation."""
    return Estimate(float(equation.weights[0]), float(np.sqrt(equation.errors[0, 0])), equation.freedom)


def _row(matrix: Csr, i: int) -> list[int]:
    return list(matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]].tolist())


def _reached(matrix: Csr, start: int, without: set[int]) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        new = set(_row(matrix, waiting.pop())) - found - without
        found |= new
        waiting.extend(new)
    return found

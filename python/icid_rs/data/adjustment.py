"""Covariates and batches, whose linear effects are taken out of all variables before anything is learned.

With Y the variables, Z the covariates and S their joint covariance, what is left has the covariance
S_YY − S_YZ S_ZZ⁻¹ S_ZY: that of the residuals of the regressions of Y on Z, with one degree of freedom less for each
column of Z (Frisch and Waugh 1933). A graph among the residuals is the graph given the covariates.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular

from icid_rs._util.validation import COLLINEAR, FloatArray, Rows, listed
from icid_rs.data import collinear
from icid_rs.data.encoding import Encoding
from icid_rs.data.faults import Fault, TableError
from icid_rs.data.kinds import ADJUSTED, WITHOUT_SPREAD, Kind
from icid_rs.report import Adjusted

#: A column of at most so many distinct values, or with so many rows for each, has few levels.
_FEW_LEVELS, _ROWS_PER_LEVEL = 20, 50
#: A deviation below this share of the largest value is rounding: the column is constant.
_CONSTANT = 1e-10


@dataclass(frozen=True, eq=False)
class Adjustment:
    """Linear effects of covariates on variables.

    Attributes
    ----------
    covariates : Encoding
        The columns of a table that are adjusted for.
    location : numpy.ndarray of shape (q,)
        Means of the columns of the covariates.
    effects : numpy.ndarray of shape (q, p)
        Effects on the columns of the variables; zero for columns of covariates that others determine.
    left : numpy.ndarray of shape (p,)
        The share of the variance of each column that covariates leave.
    rank : int
        Degrees of freedom that they cost.
    """

    covariates: Encoding
    location: FloatArray
    effects: FloatArray
    left: FloatArray
    rank: int

    @classmethod
    def of_rows(cls, values: Rows, rows: Rows, covariates: Encoding, *, strict: bool) -> Adjustment:
        """Regress columns of variables on those of covariates; if `strict`, raise where the latter are collinear."""
        location: FloatArray = rows.mean(axis=0, dtype=np.float64)
        centred = rows - location
        scale = np.sqrt(np.mean(centred**2, axis=0))
        varies = np.flatnonzero(scale > _CONSTANT * np.abs(rows).max(axis=0))
        Z = centred[:, varies] / scale[varies]
        own = _independent(Z.T @ Z / len(Z), varies, covariates, strict=strict)
        Q, R = qr(Z[:, own], mode="economic")
        effects = np.zeros((len(scale), values.shape[1]))
        Y = values - values.mean(axis=0, dtype=np.float64)
        before = np.sum(Y**2, axis=0)
        # Twice, since rounding in the first regression leaves a little.
        for _ in range(2):
            projected = Q.T @ Y
            Y = Y - Q @ projected
            effects[varies[own]] += solve_triangular(R, projected) / scale[varies[own], None]
        left = np.sum(Y**2, axis=0) / np.where(before > 0, before, 1.0)
        return cls(covariates, location, effects, left, len(own))

    @classmethod
    def of_moments(
        cls, covariance: FloatArray, location: FloatArray, covariates: Encoding, *, strict: bool
    ) -> Adjustment:
        """Find the effects from the joint covariance of variables and, behind them, covariates."""
        p = len(covariance) - covariates.blocks.columns
        scale = np.sqrt(covariance.diagonal())
        varies = np.flatnonzero(scale[p:] > _CONSTANT * np.abs(location[p:]))
        correlation = covariance / np.outer(*[np.where(scale > 0, scale, 1.0)] * 2)
        among = correlation[np.ix_(p + varies, p + varies)]
        own = _independent(among, varies, covariates, strict=strict)
        effects = np.zeros((len(scale) - p, p))
        shares = np.zeros((0, p))
        if len(own):
            shares = correlation[np.ix_(p + varies[own], np.arange(p))]
            standardised = cho_solve(cho_factor(among[np.ix_(own, own)], lower=True), shares)
            effects[varies[own]] = standardised * scale[:p] / scale[p + varies[own], None]
            shares = shares * standardised
        return cls(covariates, location[p:], effects, 1.0 - shares.sum(axis=0), len(own))

    def effects_at(self, rows: Rows) -> FloatArray:
        """Return what covariates add to the columns of variables, row by row, in comparison with their means."""
        return np.asarray((rows - self.location) @ self.effects)

    def taken_out(self, values: Rows, rows: Rows) -> FloatArray:
        """Return the columns of variables without the effects of covariates."""
        return np.asarray(values - self.effects_at(rows))

    def covariance_left(self, covariance: FloatArray) -> FloatArray:
        """Return the covariance of the variables given the covariates, from the joint one (a Schur complement)."""
        p = len(covariance) - len(self.location)
        # In the form of a residual's covariance, which stays positive semidefinite.
        change = np.vstack((np.eye(p), -self.effects))
        left = change.T @ covariance @ change
        return np.asarray((left + left.T) / 2.0)

    def determined(self, encoding: Encoding) -> dict[int, str]:
        """Return the variables of which covariates leave nothing, with the reason."""
        columns = np.flatnonzero(self.left <= COLLINEAR)
        names = listed([repr(name) for name in self.covariates.names])
        found = encoding.blocks.variable_of[columns].tolist()
        return {int(j): f"determined by what is adjusted for: {names}" for j in found}

    def check_left(self, encoding: Encoding) -> None:
        """Raise where covariates leave nothing of a variable."""
        determined = self.determined(encoding)
        if determined:
            texts = [f"column {encoding.names[j]!r} is {reason}" for j, reason in determined.items()]
            remedy = "leave it out, or name it in adjust= too"
            option = "leave it out with --drop, or name it with --adjust too"
            raise TableError("", [Fault(text, remedy, option) for text in texts])

    @property
    def record(self) -> Adjusted:
        """The record of the adjustment for reports."""
        return Adjusted(tuple(self.covariates.names), self.rank)

    def samples_left(self, samples: int) -> int:
        """Return the effective sample size after the adjustment; raise where it is too small."""
        if samples - self.rank < 3:
            names = listed([repr(name) for name in self.covariates.names])
            raise ValueError(
                f"adjust: {names} have {self.rank} columns of numbers, which leave {max(samples - self.rank, 0)} of "
                f"{samples} samples; adjust for fewer, or pass more rows"
            )
        return samples - self.rank


def parted(encoding: Encoding, adjust: Collection[Any]) -> tuple[Encoding, Encoding | None]:
    """Divide the columns of a table into variables and covariates; None if nothing is adjusted for.

    Examples
    --------
    >>> from icid_rs.data.adjustment import parted
    >>> from icid_rs.data.encoding import Encoding
    >>> variables, covariates = parted(Encoding.plain(["age", "dose", "pain"]), ["age"])
    >>> variables.names, covariates.names, variables.dropped
    (['dose', 'pain'], ['age'], {'age': 'adjusted for'})
    """
    if not adjust:
        return encoding, None
    apart, others = [], []
    for name, kind in zip(encoding.columns, encoding.kinds, strict=True):
        is_covariate = name in adjust and kind.is_kept
        if name in adjust and not kind.is_kept and kind.reason != WITHOUT_SPREAD[0]:
            raise ValueError(f"adjust: column {name!r} cannot be taken out ({kind.reason})")
        apart.append(kind if is_covariate else Kind("none", reason="a variable"))
        others.append(Kind("none", reason=ADJUSTED) if is_covariate else kind)
    # Nothing of a constant has to be taken out.
    some = any(kind.is_kept for kind in apart)
    return Encoding.from_kinds(encoding.columns, others), Encoding.from_kinds(encoding.columns, apart) if some else None


def has_few_levels(values: Rows) -> bool:
    """Tell whether a column has so few distinct values that its residuals have no shape.

    These are the numbers below which the core does not measure the shape of residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.adjustment import has_few_levels
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> has_few_levels(X), has_few_levels(np.sign(X))
    (False, True)
    """
    least = max(len(values) // _ROWS_PER_LEVEL, _FEW_LEVELS)
    ordered = np.sort(values[: 4 * least], axis=0)
    suspects = np.flatnonzero((np.diff(ordered, axis=0) > 0).sum(axis=0) < least)
    return any(len(np.unique(values[:, j])) <= least for j in suspects.tolist())


def joint_names(encoding: Encoding, covariates: Encoding | None) -> list[Any]:
    """Return the names of the columns of variables, and then of those of covariates.

    Examples
    --------
    >>> from icid_rs.data.adjustment import joint_names
    >>> from icid_rs.data.encoding import Encoding
    >>> joint_names(Encoding.plain(["dose", "pain"]), Encoding.plain(["age"]))
    ['dose', 'pain', 'age']
    """
    both = [encoding] if covariates is None else [encoding, covariates]
    return [name for one in both for name in one.blocks.column_names(one.names)]


def joined(values: Rows, beside: Rows | None) -> Rows:
    """Return a table of the columns of variables and, if there are any, those of covariates.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.adjustment import joined
    >>> joined(np.ones((2, 1)), np.zeros((2, 1)))
    array([[1., 0.],
           [1., 0.]])
    """
    return values if beside is None else np.asarray(np.hstack((values, beside)), dtype=np.float64)


def _independent(
    correlation: FloatArray, varies: NDArray[np.intp], covariates: Encoding, *, strict: bool
) -> NDArray[np.intp]:
    """Return the columns of covariates that no earlier ones determine; if `strict`, raise if some are determined."""
    dependent = collinear.dependent_columns(correlation)
    if strict and dependent:
        names: Sequence[Any] = covariates.blocks.column_names(covariates.names)
        said = collinear.describe(correlation, dependent, [names[k] for k in varies.tolist()])
        texts = [f"adjust: column {names[varies[j]]!r} is {text}" for j, text in said.items()]
        remedy = "leave it out of adjust=, or use collinear='drop'"
        option = "leave it out of --adjust, or say --collinear drop"
        raise TableError("", [Fault(text, remedy, option) for text in texts])
    return np.setdiff1d(np.arange(len(correlation)), list(dependent))

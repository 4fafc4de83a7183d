"""Checks of what causes leave unexplained: its tails, its dependence on causes, and correlations between columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from icid_rs._util.validation import FloatArray
from icid_rs._util.words import agree
from icid_rs.report import Assumption, Verdict
from icid_rs.trust.check.edges import dependence
from icid_rs.trust.check.fit_indices import FitIndices
from icid_rs.trust.check.table import FittedTable

#: Share of a column's squares that its outermost hundredth holds (0.08 where Gaussian): doubt, and failure.
_TAIL, _HEAVY_TAIL = 0.4, 0.6
#: Dependence of a residual on a cause, as a squared correlation: doubt, and failure; and of the median column.
_DEPENDS, _DEPENDS_STRONGLY, _DEPENDS_EVERYWHERE = 0.02, 0.1, 0.02
#: Correlation of residuals beyond chance: doubt, and failure.
_CORRELATED, _STRONGLY_CORRELATED = 0.05, 0.1


def tails(table: FittedTable) -> Assumption:
    """Check that no hundredth of the rows holds most of the scatter of a column."""
    name = "no column is ruled by its extremes"
    # One row alone is for other checks to judge.
    squares = np.sort(table.residuals**2, axis=0)[:-1]
    outermost = squares[-max(1, len(squares) // 100) :].sum(axis=0)
    share = outermost / np.maximum(squares.sum(axis=0), 1e-300)
    # In a column of few levels the outermost hundredth means nothing.
    share[table.spread.levels <= 2] = 0.0
    worst = float(share.max())
    found = [j for j in np.argsort(-share).tolist() if share[j] >= _TAIL]
    finding = f"the outermost hundredth of the rows holds up to {worst:.0%} of a column's scatter"
    if not found:
        return Assumption(name=name, verdict="pass", finding=finding, statistic=worst, effect=worst)
    return Assumption(
        name=name,
        verdict="fail" if worst >= _HEAVY_TAIL else "doubt",
        finding=finding,
        statistic=worst,
        effect=worst,
        where=tuple(f"{table.name(j)} ({share[j]:.0%})" for j in found),
        remedy="take logarithms or ranks of these columns, and see whether the edges stay",
    )


def unrelated_to_causes(table: FittedTable) -> Assumption:
    """Check that what is left of a column does not depend on its causes in any way."""
    name = "what is left does not depend on causes"
    found = dependence(table)
    F, p_value = found.size, found.p_value
    known = np.flatnonzero(np.isfinite(F))
    if not len(known):
        return Assumption(name=name, verdict="pass", finding="no column has a cause")
    median, worst = float(np.median(F[known])), float(F[known].max())
    strong = [j for j in known[np.argsort(-F[known])].tolist() if F[j] >= _DEPENDS]
    n = min(len(table.residuals), 4000)
    verdict: Verdict = "pass"
    if worst >= _DEPENDS and p_value < 1e-3:
        verdict = "fail" if worst >= _DEPENDS_STRONGLY or median >= _DEPENDS_EVERYWHERE else "doubt"
    return Assumption(
        name=name,
        verdict=verdict,
        finding=f"what is left of the typical column depends on its causes by {median:.3f}, of the worst by "
        f"{worst:.3f} (0: not at all)",
        statistic=n * worst + 15,
        p_value=p_value,
        effect=median,
        where=tuple(f"{table.edge(int(found.cause[j]), j)} ({F[j]:.3f})" for j in strong) if verdict != "pass" else (),
        remedy="" if verdict == "pass" else "do not read directions off the shape of the data: orient=('class',)",
    )


def uncorrelated(table: FittedTable, fit: FitIndices | None, covariance: FloatArray | None = None) -> Assumption:
    """Check that the graph leaves no correlation between columns that it does not join.

    Residuals are correlated as rows show, or as follows from a covariance that is given, such as that without hidden
    causes: these are not known row by row.
    """
    name = "nothing common is left out"
    R = np.corrcoef(np.clip(table.residuals, -6, 6), rowvar=False).reshape(table.d, table.d)
    if covariance is not None:
        R = _residual_correlations(covariance, table)
    first, second = np.nonzero(np.triu(_unjoined(table), 1))
    if not len(first):
        return Assumption(name=name, verdict="pass", finding="all columns are joined")
    n = len(table.residuals)
    r = R[first, second]
    # Squares that chance explains average 1/n.
    excess = float(np.sqrt(max(float(np.mean(r**2)) - 1 / n, 0.0)))
    bound = float(stats.norm.isf(0.001 / len(r))) / np.sqrt(n)
    strong = [k for k in np.argsort(-np.abs(r)).tolist() if abs(r[k]) >= max(bound, 2 * _CORRELATED)]
    misfit = max(excess, 0.0 if fit is None else fit.rmsea)
    fitted = "" if fit is None else f"; misfit per open pair (RMSEA) {fit.rmsea:.3f}"
    finding = f"beyond chance, unjoined columns still correlate by {excess:.3f} on average{fitted}"
    p_value = float("nan") if fit is None else fit.p_value
    statistic = float("nan") if fit is None else fit.chi2
    if misfit < _CORRELATED:
        return Assumption(
            name=name, verdict="pass", finding=finding, statistic=statistic, p_value=p_value, effect=misfit
        )
    return Assumption(
        name=name,
        verdict="fail" if misfit >= _STRONGLY_CORRELATED else "doubt",
        finding=finding,
        statistic=statistic,
        p_value=p_value,
        effect=misfit,
        where=tuple(f"{table.names[first[k]]} and {table.names[second[k]]} ({r[k]:+.2f})" for k in strong),
        remedy="think of causes that were not measured, groups of rows (groups=...), and errors of measurement",
    )


def hidden_causes(loadings: FloatArray, table: FittedTable) -> Assumption:
    """Report hidden causes of many columns that the model found, from their loadings (d × k)."""
    name = "no cause of many columns is hidden"
    k = loadings.shape[1] if loadings.ndim == 2 else 0
    if not k:
        return Assumption(name=name, verdict="pass", finding="no hidden cause of many columns fits better")
    variances = table.X.var(axis=0)
    share = (loadings**2).sum(axis=1) / np.where(variances > 0, variances, 1.0)
    reached = [j for j in np.argsort(-share).tolist() if share[j] >= 0.05]
    return Assumption(
        name=name,
        verdict="fail",
        finding=f"{k} hidden {agree(k, 'cause explains', 'causes explain')} {share.mean():.0%} "
        "of the columns' variance",
        statistic=float(k),
        effect=float(share.mean()),
        where=tuple(f"{table.name(j)} ({share[j]:.0%})" for j in reached),
        remedy="the graph allows for them; look whether they are batches, sites or subjects that you know",
    )


def _residual_correlations(covariance: FloatArray, table: FittedTable) -> FloatArray:
    A = np.eye(table.d) - table.B.toarray()
    K = A.T @ covariance @ A
    scale = np.sqrt(np.maximum(K.diagonal(), 1e-300))
    return np.asarray(np.clip(K / np.outer(scale, scale), -1.0, 1.0))


def _unjoined(table: FittedTable) -> NDArray[np.bool_]:
    joined = np.zeros((table.d, table.d), dtype=bool)
    joined[table.edges] = True
    return np.logical_not(joined | joined.T)

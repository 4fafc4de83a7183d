"""`ICID.check`: all checks of a table against a fitted model, and their summary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape
from typing import Any

import numpy as np

from icid_rs._util.frames import make_frame
from icid_rs._util.validation import FloatArray, listed
from icid_rs.graph.layer import Layer
from icid_rs.report import Assumption
from icid_rs.trust.check import edges, leftovers, rows
from icid_rs.trust.check.audit import audit
from icid_rs.trust.check.fit_indices import FitIndices, fit_indices
from icid_rs.trust.check.table import FittedTable

#: Most columns for which indices of fit and correlations of residuals are computed.
_MOST_COLUMNS = 3000
_MARKS = {"pass": "ok", "doubt": "doubt", "fail": "FAIL"}


@dataclass(frozen=True)
class Check:
    """Verdicts on what the model assumes of a table.

    Iterating gives the assumptions; ``check["rows are independent"]`` gives one by its name.

    Attributes
    ----------
    assumptions : tuple of Assumption
        Each with ``name``, ``verdict`` (``"pass"``, ``"doubt"`` or ``"fail"``, by size of effect), ``finding``,
        ``statistic``, ``p_value``, ``effect``, ``where`` (columns, edges or rows, worst first) and ``remedy``.
    fit : FitIndices or None
        ``chi2``, ``df``, ``p_value``, ``rmsea``, ``cfi`` and ``srmr`` of the graph; None if it has cycles or categories
        of more than two levels, if there are no more rows than columns, or with more than 3 000 columns.
    library : {"pandas", "polars"}
        That of the data frames, as of the table.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=1), 500, random_state=1)
    >>> check = ICID().fit(X).check(X)
    >>> check["rows are independent"].verdict
    'pass'
    >>> check.verdict
    'pass'
    """

    assumptions: tuple[Assumption, ...]
    fit: FitIndices | None
    library: str = "pandas"

    def __iter__(self) -> Iterator[Assumption]:
        return iter(self.assumptions)

    def __len__(self) -> int:
        return len(self.assumptions)

    def __getitem__(self, name: str) -> Assumption:
        for assumption in self.assumptions:
            if assumption.name == name:
                return assumption
        raise KeyError(f"no assumption is called {name!r}; there are {', '.join(a.name for a in self.assumptions)}")

    @property
    def verdict(self) -> str:
        """The worst verdict."""
        verdicts = [assumption.verdict for assumption in self.assumptions]
        return next((verdict for verdict in ("fail", "doubt") if verdict in verdicts), "pass")

    def table(self) -> Any:
        """Return the assumptions as a data frame, or a list of dictionaries if pandas is not installed.

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=1), 500, random_state=1)
        >>> ICID().fit(X).check(X).table().columns.tolist()
        ['name', 'verdict', 'finding', 'statistic', 'p_value', 'effect', 'where', 'remedy']
        """
        records = [assumption.as_dict() for assumption in self.assumptions]
        names = [field.name for field in fields(Assumption)]
        frame = make_frame({name: [record[name] for record in records] for name in names}, self.library)
        return records if frame is None else frame

    def __str__(self) -> str:
        lines = []
        for assumption in self.assumptions:
            lines.append(f"{_MARKS[assumption.verdict]:>5}  {assumption.name}: {assumption.finding}")
            if assumption.verdict != "pass":
                if assumption.where:
                    lines.append(f"       where: {listed(list(assumption.where))}")
                lines.append(f"       what to do: {assumption.remedy}")
        if self.fit is not None:
            f = self.fit
            lines.append(
                f"  fit  χ² {f.chi2:.1f} on {f.df} degrees of freedom (p {f.p_value:.2g}), RMSEA {f.rmsea:.3f}, "
                f"CFI {f.cfi:.3f}, SRMR {f.srmr:.3f}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def check_table(table: FittedTable, layer: Layer) -> Check:
    """Make all checks of a table.

    Parameters
    ----------
    table : FittedTable
    layer : Layer
        Hidden causes and errors of measurement that are part of the model, in the units of the columns.
    """
    if not table.d:
        return Check((), None)
    found = audit(table)
    sorting = found.sorting
    fit = covariance = None
    if table.is_whole and table.order is not None and table.d <= _MOST_COLUMNS and table.n > table.d:
        covariance = modelled_covariance(table, layer)
        fit = fit_indices(covariance, table.B, table.order, table.n)
    further = [
        rows.trends(table, sorting),
        leftovers.tails(table),
        edges.unequal_spread(table).assumption,
        leftovers.unrelated_to_causes(table),
    ]
    if table.d <= _MOST_COLUMNS:
        further.append(leftovers.uncorrelated(table, fit, None if layer.is_empty else covariance))
    if table.is_whole:
        further.append(leftovers.hidden_causes(layer.loadings, table))
    return Check((*found.assumptions, *further), fit)


def modelled_covariance(table: FittedTable, layer: Layer) -> FloatArray:
    """Return the covariance of a table without hidden causes and errors of measurement, which a graph is to explain."""
    X = np.asarray(table.X, dtype=np.float64)
    covariance = np.cov(X, rowvar=False, bias=True).reshape(table.d, table.d)
    return np.asarray(covariance if layer.is_empty else covariance - layer.covariance)

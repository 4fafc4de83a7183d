"""Other tables with the columns of a fit, read as the fit read its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from icid_rs._util.validation import Rows
from icid_rs.data import checks, missing
from icid_rs.data.adjustment import Adjustment, joint_names
from icid_rs.data.encoded import Encoded, table_rows
from icid_rs.data.encoding import Encoding
from icid_rs.data.frames import as_columns, is_numeric
from icid_rs.data.sample import Sample
from icid_rs.data.tables import check_name_types, column_names, open_table


@dataclass(frozen=True)
class FittedColumns:
    """The columns of a fit.

    Attributes
    ----------
    encoding : Encoding
        What each of them is, and the numbers that stand for its values.
    names : list or None
        Their names, if the table had any.
    adjustment : Adjustment or None
        The effects of covariates, if columns are adjusted for.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> model = ICID().fit(datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0))
    >>> model._fitted_columns.encoded([[1, 2]], model).values
    array([[1., 2.]])
    """

    encoding: Encoding
    names: list[Any] | None
    adjustment: Adjustment | None = None

    @classmethod
    def of(cls, sample: Sample) -> FittedColumns:
        """Remember the columns of a sample."""
        return cls(sample.encoding, sample.encoding.columns if sample.is_named else None, sample.adjustment)

    @property
    def are_strings(self) -> bool:
        """Whether the columns have names, and all of them are strings; raise if only some of them are."""
        return self.names is not None and check_name_types(self.names)

    @property
    def covariates(self) -> Encoding | None:
        """The columns that are adjusted for, if there are any."""
        return None if self.adjustment is None else self.adjustment.covariates

    def encoded(self, X: Any, model: BaseEstimator) -> Encoded:
        """Return a table as the fit of the model encoded its own; its columns must be the same."""
        X = open_table(X)
        rows, names = table_rows(X) if is_numeric(X) else None, column_names(X)
        if names is None or names != self.names:
            if names is not None and self.names is not None and not self.are_strings:
                # Names that are strings are compared by scikit-learn.
                raise ValueError(f"the columns must be those of the fit, in their order: {self.names}, not {names}")
            validate_data(model, X, reset=False, skip_check_array=True)
        table = as_columns(X) if rows is None else rows
        is_named = self.names is not None
        return Encoded.with_covariates(table, self.encoding, self.covariates, is_named=is_named)

    def complete_rows(
        self, X: Any, model: BaseEstimator, *, policy: str = "raise", least: int = 1, groups: Any = None
    ) -> Rows:
        """Return the rows of a table that have no missing values, without means of groups and effects of covariates.

        With the policy ``"raise"`` missing values are an error, with any other their rows are left out.
        """
        return self.parted_rows(X, model, policy=policy, least=least, groups=groups)[0]

    def parted_rows(
        self, X: Any, model: BaseEstimator, *, policy: str = "raise", least: int = 1, groups: Any = None
    ) -> tuple[Rows, Rows | None, NDArray[np.intp] | None]:
        """Return the complete rows of a table, all rows, and the places of the complete ones among these.

        The last two are None if no value is missing. Means are taken out within groups of the complete rows; with
        groups, all rows are not returned.
        """
        table = self.encoded(X, model)
        rows, names = table.values, joint_names(self.encoding, self.covariates)
        table.check_values(least=least, missing=policy)
        every = places = None
        if policy != "raise":
            complete = missing.complete_rows(rows, names, least=least)
            if not complete.all():
                groups = None if groups is None else checks.check_groups(groups, len(rows))[complete]
                every, places = rows if groups is None else None, np.flatnonzero(complete)
                rows = rows[complete]
        rows = rows if groups is None else checks.within_groups(rows, groups)[0]
        return self._left(table, rows), None if every is None else self._left(table, every), places

    def _left(self, table: Encoded, rows: Rows) -> Rows:
        """Return the columns of variables in some rows, without effects of covariates."""
        values, beside = table.parts(rows)
        return values if self.adjustment is None or beside is None else self.adjustment.taken_out(values, beside)

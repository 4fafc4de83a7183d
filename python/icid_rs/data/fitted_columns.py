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
from icid_rs.data.encoding import Encoding
from icid_rs.data.frames import as_columns, is_numeric
from icid_rs.data.sample import Sample, table_rows
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

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> model = ICID().fit(datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0))
    >>> model._fitted_columns.rows([[1, 2]], model)
    array([[1., 2.]])
    """

    encoding: Encoding
    names: list[Any] | None

    @classmethod
    def of(cls, sample: Sample) -> FittedColumns:
        """Remember the columns of a sample."""
        return cls(sample.encoding, sample.encoding.columns if sample.is_named else None)

    @property
    def are_strings(self) -> bool:
        """Whether the columns have names, and all of them are strings; raise if only some of them are."""
        return self.names is not None and check_name_types(self.names)

    def rows(self, X: Any, model: BaseEstimator) -> Rows:
        """Return a table as the fit of the model encoded its own; its columns must be the same."""
        X = open_table(X)
        rows, names = table_rows(X) if is_numeric(X) else None, column_names(X)
        if names is None or names != self.names:
            if names is not None and self.names is not None and not self.are_strings:
                # Names that are strings are compared by scikit-learn.
                raise ValueError(f"the columns must be those of the fit, in their order: {self.names}, not {names}")
            validate_data(model, X, reset=False, skip_check_array=True)
        return self.encoding.select(rows) if rows is not None else self.encoding.values(as_columns(X))

    def complete_rows(
        self, X: Any, model: BaseEstimator, *, policy: str = "raise", least: int = 1, groups: Any = None
    ) -> Rows:
        """Return the rows of a table that have no missing values, with means taken out within groups.

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
        rows, names = self.rows(X, model), self.encoding.blocks.column_names(self.encoding.names)
        checks.check_values(rows, names, least=least, missing=policy)
        every = places = None
        if policy != "raise":
            complete = missing.complete_rows(rows, names, least=least)
            if not complete.all():
                groups = None if groups is None else checks.check_groups(groups, len(rows))[complete]
                every, places = rows if groups is None else None, np.flatnonzero(complete)
                rows = rows[complete]
        return rows if groups is None else checks.within_groups(rows, groups)[0], every, places

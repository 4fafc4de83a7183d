"""Tables as numbers: the columns of variables, and those of covariates that are adjusted for."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from icid_rs._util.memory import ensure_room
from icid_rs._util.validation import Rows as RowArray
from icid_rs.data import checks
from icid_rs.data.adjustment import joined, joint_names, parted
from icid_rs.data.columns import Columns
from icid_rs.data.encoding import Encoding, column_faults
from icid_rs.data.faults import Fault, TableError
from icid_rs.data.frames import as_columns, is_numeric
from icid_rs.data.kinds import Wishes
from icid_rs.data.tables import as_numbers, column_names, open_table


def table_rows(X: Any) -> RowArray:
    """Return the numbers of an opened table in C order, in single or double precision as they are."""
    table: Any = check_array(
        as_numbers(X),
        dtype=[np.float64, np.float32],
        order="C",
        accept_sparse=True,
        ensure_all_finite=False,
        estimator="ICID",
        input_name="X",
    )
    if not hasattr(table, "toarray"):
        return np.ascontiguousarray(table)
    n, d = table.shape
    ensure_room(table.dtype.itemsize * n * d, f"a table of {n} rows and {d} columns", "give it as moments")
    # The covariance of sparse data is dense in any case.
    return np.ascontiguousarray(table.toarray())


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows of a table that were encoded before, such as a resample: no column is judged or left out again.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, p + q)
        The columns of variables, and then those of covariates.
    encoding : Encoding
        Of the variables.
    is_named : bool
    covariates : Encoding or None
        Of the columns that are adjusted for, if there are any.
    """

    values: RowArray
    encoding: Encoding
    is_named: bool
    covariates: Encoding | None = None

    @classmethod
    def of(cls, table: Columns | RowArray, encoding: Encoding, wishes: Wishes, *, is_named: bool) -> Encoded:
        """Encode the columns that are variables, and beside them those that are adjusted for."""
        encoding, covariates = parted(encoding, wishes.adjust)
        return cls.with_covariates(table, encoding, covariates, is_named=is_named)

    @classmethod
    def with_covariates(
        cls, table: Columns | RowArray, encoding: Encoding, covariates: Encoding | None, *, is_named: bool
    ) -> Encoded:
        """Encode the columns of variables and covariates that are known already."""

        def numbers(one: Encoding) -> RowArray:
            return one.values(table) if isinstance(table, Columns) else one.select(table)

        beside = None if covariates is None else numbers(covariates)
        return cls(joined(numbers(encoding), beside), encoding, is_named, covariates)

    @property
    def column_names(self) -> list[Any]:
        """Names of the columns of `values`."""
        return joint_names(self.encoding, self.covariates)

    @property
    def first_columns(self) -> tuple[RowArray, list[Any]]:
        """The first column of each variable and covariate, and their names: a category lacks all columns, or none."""
        both = [self.encoding] if self.covariates is None else [self.encoding, self.covariates]
        starts = np.cumsum([0, *(one.blocks.columns for one in both[:-1])])
        places = [start + one.blocks.offsets[: one.blocks.variables] for start, one in zip(starts, both, strict=True)]
        first = np.concatenate(places).astype(np.intp)
        values = self.values if len(first) == self.values.shape[1] else self.values[:, first]
        return values, [name for one in both for name in one.names]

    def check_values(self, *, least: int = 3, missing: str = "raise") -> None:
        """Raise if there are too few rows, infinite values, or missing ones with ``missing="raise"``."""
        values, names = self.first_columns
        checks.check_values(values, names, least=least, missing=missing)

    def parts(self, values: RowArray) -> tuple[RowArray, RowArray | None]:
        """Take some of the rows apart: the columns of variables, and those of covariates."""
        if self.covariates is None:
            return values, None
        p = self.encoding.blocks.columns
        return values[:, :p], values[:, p:]


def encode(X: Any, wishes: Wishes, missing: str = "raise") -> Encoded:
    """Return the numbers of a table, and how they were made; raise with all that is wrong with it.

    Examples
    --------
    >>> import pandas as pd
    >>> from icid_rs.data.kinds import Wishes
    >>> from icid_rs.data.encoded import encode
    >>> encode(pd.DataFrame({"x": [0.5] * 20, "sex": ["f", "m"] * 10}), Wishes()).encoding.names
    ['sex']
    """
    if isinstance(X, Encoded):
        return X
    X = open_table(X)
    if is_numeric(X):
        values = table_rows(X)
        checks.check_count(len(values))
        names = column_names(X)
        columns = list(range(values.shape[1])) if names is None else names
        wishes = wishes.among(columns)
        encoding = Encoding.of_numbers(values, columns, wishes)
        return Encoded.of(values, encoding, wishes, is_named=names is not None)
    table = as_columns(X)
    wishes = wishes.among(table.columns)
    if faults := column_faults(table, wishes):
        raise TableError(table.source, [*faults.values(), *_other_faults(table, faults, wishes, missing)])
    checks.check_count(table.shape[0])
    return Encoded.of(table, Encoding.of(table, wishes), wishes, is_named=table.is_named)


def _other_faults(table: Columns, faulty: Container[int], wishes: Wishes, missing: str) -> list[Fault]:
    """Describe what is wrong with the other columns of a table that is refused anyway."""
    good = [k for k in range(len(table.columns)) if k not in faulty]
    rest = replace(table, columns=[table.columns[k] for k in good], parts=[table.parts[k] for k in good])
    try:
        encoding = Encoding.of(rest, wishes)
    except ValueError:
        return []
    # A category lacks all of its columns in a row, or none.
    values = encoding.values(rest)[:, encoding.blocks.offsets[:-1]]
    return checks.value_faults(values, encoding.names, missing=missing)

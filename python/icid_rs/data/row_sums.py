"""Rows summed up chunk by chunk, with a sample of them beside."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from icid_rs._core import Accumulator, Sums
from icid_rs._util.randomness import RandomState, seed
from icid_rs._util.validation import FloatArray, check_int, listed
from icid_rs.data import checks, streaming, tables
from icid_rs.data.columns import Labels, Numbers
from icid_rs.data.encoding import Encoding
from icid_rs.data.frames import as_columns
from icid_rs.data.kinds import Kind
from icid_rs.data.reservoir import Reservoir

#: By default at most so many rows are kept beside the moments, with at most so many numbers.
RESERVOIR = 10_000
NUMBERS = 5_000_000
_MISSING = ("raise", "drop")
#: Parameters of `Moments` that its state includes.
_PARAMETERS = ("names", "third", "reservoir", "missing", "random_state")


class RowSums:
    """Sums over the rows that were added, or merged from others; `Moments` computes statistics from them.

    Parameters are those of `Moments`.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.row_sums import RowSums
    >>> RowSums().update(np.eye(3)).n
    3
    """

    def __init__(
        self,
        names: Sequence[Any] | None = None,
        *,
        categories: Mapping[Any, Sequence[Hashable]] | None = None,
        third: bool = False,
        reservoir: int | None = None,
        missing: str = "raise",
        random_state: RandomState = 0,
        n_threads: int | None = None,
    ) -> None:
        if missing not in _MISSING:
            raise ValueError(f"missing = {missing!r}: it must be one of {_MISSING}")
        if isinstance(names, str):
            raise TypeError(f"names must be a sequence with one name for each column, not {names!r}")
        self.names = None if names is None else list(names)
        tables.check_names(self.names or [])
        self.categories = {name: tuple(levels) for name, levels in (categories or {}).items()}
        for name, levels in self.categories.items():
            if len(set(levels)) != len(levels) or len(levels) < 2:
                raise ValueError(f"categories: {name!r} needs two different levels at least, not {levels!r}")
        self.missing = missing
        self.n_threads = n_threads
        self.dropped = 0
        self._third = bool(third)
        self._size = None if reservoir is None else check_int(reservoir, "reservoir", 0)
        self._seed = seed(random_state)
        self._sums: Accumulator | None = None
        self._reservoir = Reservoir.empty(0, 0)

    @property
    def n(self) -> int:
        """Number of rows."""
        return 0 if self._sums is None else self._sums.rows

    def update(self, chunk: Any, weights: ArrayLike | None = None) -> Self:
        """Add rows; all of them, or none if there is an error.

        Parameters
        ----------
        chunk : array or data frame of shape (m, d)
            In single or double precision; other numbers are converted. A few thousand rows at a time are best.
        weights : array of shape (m,), optional
            How much each row counts, relative to the others; by default all count the same.

        Returns
        -------
        self
        """
        table, names = self._encoded(chunk) if self.categories else streaming.as_table(chunk)
        sums = self._start(table.shape[1], names)
        counts = None if weights is None else checks.check_weights(weights, len(table))
        seed = self._seed if self._size else None
        keys, kept, not_finite = sums.update(
            table, counts, drop=self.missing == "drop", seed=seed, n_threads=self.n_threads
        )
        if not_finite is not None:
            row, column = not_finite
            name = column if self.names is None else self.encoding.blocks.column_names(self.names)[column]
            kind = "NaN" if np.isnan(table[row, column]) else "inf"
            raise ValueError(
                f"the chunk contains {kind}: row {row}, column {name!r}; it follows {self.n + self.dropped} rows that "
                "were added; fill the values in, or use missing='drop'"
            )
        self.dropped += int(len(kept) - kept.sum())
        if self._size:
            counts = np.ones(len(table)) if counts is None else counts
            if not kept.all():
                keys, table, counts = keys[kept], table[kept], counts[kept]
            self._reservoir.offer(keys, table, counts)
        elif kept.any():
            self._reservoir.complete = False
        return self

    def merge(self, other: RowSums) -> Self:
        """Add the rows of other moments.

        Returns
        -------
        self
        """
        if not isinstance(other, RowSums):
            raise TypeError(f"moments can be merged with moments, not with {type(other).__name__}")
        if other._sums is None:
            return self
        if self.categories != other.categories:
            raise ValueError("the moments have different categories, or these have different levels")
        if self._seed != other._seed:
            raise ValueError("the samples beside the moments have different seeds; use the same random_state for both")
        sums = self._start(other._sums.columns, other.names)
        # The core cannot borrow one object both to change and to read it.
        sums.merge(other._sums if other is not self else sums.copy())
        self._reservoir.merge(other._reservoir)
        self._size = self._reservoir.size
        self.dropped += other.dropped
        return self

    def __add__(self, other: RowSums) -> Self:
        if not isinstance(other, RowSums):
            return NotImplemented
        return self.copy().merge(other)

    def copy(self) -> Self:
        """Return a copy that shares nothing with these moments."""
        return copy.copy(self)

    def __getstate__(self) -> dict[str, Any]:
        settings = {
            "names": self.names,
            "missing": self.missing,
            "dropped": self.dropped,
            "third": self._third,
            "reservoir": self._size,
            "random_state": self._seed,
        }
        if self.categories:
            settings["categories"] = [[name, list(levels)] for name, levels in self.categories.items()]
        if self._sums is None:
            return {"settings": settings}
        sums = self._sums.sums()
        state = {
            "settings": {**settings, "n": sums.rows, "complete": self._reservoir.complete},
            "weight": np.array([sums.weight, sums.squares]),
            "shift": sums.shift,
            "mean": sums.mean,
            "second": sums.second,
            "keys": self._reservoir.keys,
            "rows": self._reservoir.rows,
            "row_weights": self._reservoir.weights,
        }
        return state if sums.third is None else {**state, "third": sums.third}

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings = state["settings"]
        categories = dict(settings.get("categories", []))
        RowSums.__init__(self, **{name: settings[name] for name in _PARAMETERS}, categories=categories)
        self.dropped = settings["dropped"]
        if "second" in state:
            weight, squares = map(float, state["weight"])
            sums = (state["shift"], state["mean"], state["second"], state.get("third"))
            self._sums = Accumulator.from_sums(settings["n"], weight, squares, *sums)
            held = (state["keys"].copy(), state["rows"].copy(), state["row_weights"].copy())
            self._reservoir = Reservoir(settings["reservoir"], *held, settings["complete"])

    @property
    def encoding(self) -> Encoding:
        """What the columns are, and which numbers stand for them; categories are those that were named."""
        names = range(self._sums.columns if self._sums is not None else 0) if self.names is None else self.names
        kinds = [
            Kind("category", self.categories[name]) if name in self.categories else Kind("number") for name in names
        ]
        return Encoding.from_kinds(list(names), kinds)

    def _encoded(self, chunk: Any) -> tuple[FloatArray, list[Any]]:
        """Return rows with indicators of the levels of categories, and the names of the columns."""
        columns = as_columns(streaming.as_frame(chunk))
        names = columns.columns if columns.is_named or self.names is None else self.names
        if self.names is None:
            self.names = list(names)
        if names != self.names:
            self._start(self._sums.columns if self._sums is not None else len(names), names)
        if unknown := [repr(name) for name in self.categories if name not in names]:
            raise ValueError(f"categories: there is no column {listed(unknown)}")
        parts = list(columns.parts)
        for k, name in enumerate(names):
            part, levels = parts[k], self.categories.get(name)
            if levels is None and not isinstance(part, Numbers):
                raise ValueError(
                    f"column {name!r} does not hold numbers; give its levels in categories=, or leave it out"
                )
            if levels is not None and isinstance(part, Numbers) and any(isinstance(level, str) for level in levels):
                parts[k] = Labels.of(None if value != value else f"{value:.15g}" for value in part.values.tolist())
        return self.encoding.values(replace(columns, columns=names, parts=parts)), names

    def _taken(self) -> Sums:
        """Return the sums; raise if there are no rows."""
        if self._sums is None:
            raise ValueError("the moments are those of no rows; update them first")
        return self._sums.sums()

    def _start(self, columns: int, names: Sequence[Any] | None) -> Accumulator:
        """Return the sums, new ones at the first rows; raise unless the columns are those of earlier rows."""
        if self._sums is not None and columns != self._sums.columns:
            raise ValueError(f"there are {columns} columns, but {self._sums.columns} before")
        if self.names is None:
            self.names = None if names is None else list(names)
        elif names is not None and list(names) != self.names:
            odd = next((pair for pair in zip(names, self.names, strict=False) if pair[0] != pair[1]), None)
            difference = f"{odd[0]!r} is where {odd[1]!r} was" if odd else f"{len(names)} instead of {len(self.names)}"
            raise ValueError(f"the columns differ from those before: {difference}; select them in the same order")
        if self._sums is None:
            if self.names is not None and not self.categories and len(self.names) != columns:
                raise ValueError(f"there are {len(self.names)} names, but {columns} columns")
            self._sums = Accumulator(columns, self._third)
            if self._size is None:
                self._size = max(1, min(RESERVOIR, NUMBERS // max(columns, 1)))
            self._reservoir = Reservoir.empty(self._size, columns)
        return self._sums

"""Mergeable moments of the rows of a table, for tables of any length."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icid_rs._core import Accumulator, Sums
from icid_rs._util.randomness import RandomState, seed
from icid_rs._util.validation import FloatArray, check_int
from icid_rs.data import archive, checks, streaming, tables
from icid_rs.data.reservoir import Reservoir
from icid_rs.data.text import TextOptions

#: By default at most so many rows are kept beside the moments, with at most so many numbers.
RESERVOIR = 10_000
NUMBERS = 5_000_000
_MISSING = ("raise", "drop")
#: Parameters of `Moments` that its state includes.
_PARAMETERS = ("names", "third", "reservoir", "missing", "random_state")


class Moments:
    """Number, means, covariance and third moments of rows that need not fit into memory.

    Rows come in chunks, in any order, from one stream or from several that are merged. `ICID.fit` takes moments in
    place of a table. The shape of residuals is estimated from a sample of the rows that is kept beside the moments;
    this sample does not depend on how the rows were divided into chunks or merged.

    Parameters
    ----------
    names : sequence of length d, optional
        The columns; by default those of the first chunk, if it has names.
    third : bool
        Whether E[x_i² x_j] is computed too, for `skewness` of `ICID`. Costs twice as much as the covariance.
    reservoir : int, optional
        How many distinct rows are kept at most; by default 10 000, or fewer if these are over five million numbers.
    missing : {"raise", "drop"}
        Whether a row with missing or infinite entries raises an error or is left out.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of the sample.
    n_threads : int, optional

    Attributes
    ----------
    n : int
        Number of rows.
    n_effective : int
        Effective sample size: n if all rows have the same weight, otherwise (Σw)² / Σw², after Kish (1965).
    dropped : int
        Rows that were left out.
    mean : numpy.ndarray of shape (d,)
    covariance : numpy.ndarray of shape (d, d)
        With denominator n, or the sum of the weights.
    third : numpy.ndarray of shape (d, d) or None
        E[(x_i − μ_i)² (x_j − μ_j)].
    rows : numpy.ndarray of shape (k, d)
        All rows, or a sample of them; of equal weight.
    complete : bool
        Whether `rows` holds all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import ICID, Moments, datasets
    >>> X = datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 2000, random_state=0)
    >>> first, second = Moments().update(X[:300]), Moments().update(X[300:])
    >>> both = first + second
    >>> both.n, bool(np.allclose(both.covariance, np.cov(X.T, bias=True)))
    (2000, True)
    >>> model = ICID().fit(both)
    >>> bool(abs(model.adjacency_matrix_ - ICID().fit(X).adjacency_matrix_).max() < 1e-9)
    True
    """

    def __init__(
        self,
        names: Sequence[Any] | None = None,
        *,
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
        self.missing = missing
        self.n_threads = n_threads
        self.dropped = 0
        self._third = bool(third)
        self._size = None if reservoir is None else check_int(reservoir, "reservoir", 0)
        self._seed = seed(random_state)
        self._sums: Accumulator | None = None
        self._reservoir = Reservoir.empty(0, 0)

    @classmethod
    def from_covariance(
        cls, covariance: ArrayLike, n_samples: int, mean: ArrayLike | None = None, names: Sequence[Any] | None = None
    ) -> Moments:
        """Make moments from a covariance matrix that was published or computed elsewhere.

        Without rows, `ICID.fit` takes the data to be Gaussian.

        Parameters
        ----------
        covariance : array of shape (d, d)
        n_samples : int
            Number of rows it was computed from.
        mean : array of shape (d,), optional
            Zeros by default.
        names : sequence of length d, optional

        Returns
        -------
        Moments

        Examples
        --------
        >>> from icid_rs import Moments
        >>> Moments.from_covariance([[2.0, 1.0], [1.0, 2.0]], 100, names=["a", "b"]).n
        100
        """
        n = check_int(n_samples, "n_samples", 1)
        matrix = checks.as_covariance(covariance)
        d = len(matrix)
        location = np.zeros(d) if mean is None else np.asarray(mean, dtype=np.float64)
        if location.shape != (d,) or not np.isfinite(location).all():
            raise ValueError(f"mean must hold {d} finite numbers")
        moments = cls(names, reservoir=0)
        moments._start(d, None)
        moments._sums = Accumulator.from_sums(n, float(n), float(n), location, np.zeros(d), matrix * n, None)
        moments._reservoir.complete = False
        return moments

    @classmethod
    def from_chunks(
        cls, chunks: Iterable[Any], *, total: int | None = None, progress: bool | None = None, **settings: Any
    ) -> Moments:
        """Compute the moments of an iterable of chunks.

        Parameters
        ----------
        chunks : iterable of arrays or data frames
        total : int, optional
            Number of rows in all chunks, for the progress bar.
        progress : bool, optional
            Whether to show a progress bar, which needs tqdm; by default on a terminal.
        **settings
            As for `Moments`.

        Returns
        -------
        Moments

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs import Moments
        >>> Moments.from_chunks(np.ones((5, 2)) * k for k in range(4)).mean
        array([1.5, 1.5])
        """
        moments = cls(**settings)
        with streaming.progress_bar(total, progress) as advance:
            for chunk in streaming.gathered(chunks):
                moments.update(chunk)
                advance(len(chunk))
        return moments

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        columns: Sequence[Any] | None = None,
        chunk_rows: int | None = None,
        progress: bool | None = None,
        na: Sequence[str] = (),
        decimal: str | None = None,
        delimiter: str | None = None,
        **settings: Any,
    ) -> Moments:
        """Compute the moments of a file or object that may be too large for memory, chunk by chunk.

        Parameters
        ----------
        source : path or object
            A file or folder of Parquet or Arrow (``.parquet``, ``.arrow``, ``.feather``); a file of CSV (``.csv``,
            ``.tsv``, also compressed), NumPy (``.npy``, mapped into memory) or AnnData (``.h5ad``, backed); data sets,
            tables and readers of pyarrow; arrays, memory-maps and AnnData objects; or any iterable of chunks.
        columns : sequence, optional
            Columns to be read, by name; for arrays, by number.
        chunk_rows : int, optional
            Rows that are read at a time; by default about 32 MiB.
        na : sequence of str
            What missing values look like in a text file, besides NA, ? and such.
        decimal, delimiter : str, optional
            Of a text file; found out by default.
        progress, **settings
            As for `from_chunks`.

        Returns
        -------
        Moments

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> from icid_rs import Moments
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/x.npy", np.eye(3))
        ...     Moments.read(f"{folder}/x.npy").n
        3
        """
        form = TextOptions(delimiter=delimiter, decimal=decimal, na=tuple(na))
        table = streaming.open_table(source, columns, chunk_rows, form)
        if table.names is not None:
            settings.setdefault("names", table.names)
        return cls.from_chunks(table.chunks, total=table.total, progress=progress, **settings)

    def update(self, chunk: Any, weights: ArrayLike | None = None) -> Moments:
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
        table, names = streaming.as_table(chunk)
        sums = self._start(table.shape[1], names)
        counts = None if weights is None else checks.check_weights(weights, len(table))
        seed = self._seed if self._size else None
        keys, kept, not_finite = sums.update(
            table, counts, drop=self.missing == "drop", seed=seed, n_threads=self.n_threads
        )
        if not_finite is not None:
            row, column = not_finite
            name = column if self.names is None else self.names[column]
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

    def merge(self, other: Moments) -> Moments:
        """Add the rows of other moments.

        Returns
        -------
        self
        """
        if not isinstance(other, Moments):
            raise TypeError(f"moments can be merged with moments, not with {type(other).__name__}")
        if other._sums is None:
            return self
        if self._seed != other._seed:
            raise ValueError("the samples beside the moments have different seeds; use the same random_state for both")
        sums = self._start(other._sums.columns, other.names)
        # The core cannot borrow one object both to change and to read it.
        sums.merge(other._sums if other is not self else sums.copy())
        self._reservoir.merge(other._reservoir)
        self._size = self._reservoir.size
        self.dropped += other.dropped
        return self

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        return self.copy().merge(other)

    def copy(self) -> Moments:
        """Return a copy that shares nothing with these moments."""
        return copy.copy(self)

    def save(self, path: str | Path) -> None:
        """Write to a file of NumPy's format ``npz``, completely or not at all.

        Parameters
        ----------
        path : str or pathlib.Path
        """
        archive.save(path, self.__getstate__())

    @classmethod
    def load(cls, path: str | Path) -> Moments:
        """Read a file of `save`; nothing in it is executed.

        Parameters
        ----------
        path : str or pathlib.Path

        Returns
        -------
        Moments

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> from icid_rs import Moments
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Moments().update(np.eye(3)).save(f"{folder}/m.npz")
        ...     Moments.load(f"{folder}/m.npz").n
        3
        """
        moments: Moments = cls.__new__(cls)
        moments.__setstate__(archive.load(path))
        return moments

    @property
    def n(self) -> int:
        """Number of rows."""
        return 0 if self._sums is None else self._sums.rows

    @property
    def n_effective(self) -> int:
        """Effective sample size."""
        sums = self._taken()
        # Rounded down, with a margin for the rounding errors of the sums.
        return int(sums.weight * (sums.weight / sums.squares) * (1 + 1e-12))

    @property
    def mean(self) -> FloatArray:
        """The means."""
        sums = self._taken()
        return np.asarray(sums.shift + sums.mean)

    @property
    def covariance(self) -> FloatArray:
        """The covariance, with denominator n."""
        sums = self._taken()
        return np.asarray(sums.second / sums.weight)

    @property
    def third(self) -> FloatArray | None:
        """E[(x_i − μ_i)² (x_j − μ_j)], if it was asked for."""
        sums = self._taken()
        return None if sums.third is None else sums.third / sums.weight

    @property
    def rows(self) -> FloatArray:
        """All rows, or a sample of them; of equal weight."""
        return self._reservoir.sample(self.n_effective)

    @property
    def complete(self) -> bool:
        """Whether `rows` holds all rows."""
        return self._reservoir.complete

    def __repr__(self) -> str:
        if self._sums is None:
            return "Moments of no rows"
        what = "all of them kept" if self.complete else f"{len(self.rows)} of them kept"
        return f"Moments of {self.n} rows by {self._sums.columns} columns, {what}"

    def __getstate__(self) -> dict[str, Any]:
        settings = {
            "names": self.names,
            "missing": self.missing,
            "dropped": self.dropped,
            "third": self._third,
            "reservoir": self._size,
            "random_state": self._seed,
        }
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
        Moments.__init__(self, **{name: settings[name] for name in _PARAMETERS})
        self.dropped = settings["dropped"]
        if "second" in state:
            weight, squares = map(float, state["weight"])
            sums = (state["shift"], state["mean"], state["second"], state.get("third"))
            self._sums = Accumulator.from_sums(settings["n"], weight, squares, *sums)
            held = (state["keys"].copy(), state["rows"].copy(), state["row_weights"].copy())
            self._reservoir = Reservoir(settings["reservoir"], *held, settings["complete"])

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
            if self.names is not None and len(self.names) != columns:
                raise ValueError(f"there are {len(self.names)} names, but {columns} columns")
            self._sums = Accumulator(columns, self._third)
            if self._size is None:
                self._size = max(1, min(RESERVOIR, NUMBERS // max(columns, 1)))
            self._reservoir = Reservoir.empty(self._size, columns)
        return self._sums

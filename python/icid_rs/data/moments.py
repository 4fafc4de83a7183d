"""Mergeable moments of the rows of a table, for tables of any length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icid_rs._core import Accumulator
from icid_rs._util.validation import FloatArray, check_int
from icid_rs.data import archive, checks, streaming
from icid_rs.data.row_sums import RowSums
from icid_rs.data.text import TextOptions


class Moments(RowSums):
    """Number, means, covariance and third moments of rows that need not fit into memory.

    Rows come in chunks, in any order, from one stream or from several that are merged. `ICID.fit` takes moments in
    place of a table. The shape of residuals is estimated from a sample of the rows that is kept beside the moments;
    this sample does not depend on how the rows were divided into chunks or merged.

    Parameters
    ----------
    names : sequence of length d, optional
        The columns; by default those of the first chunk, if it has names.
    categories : dict, optional
        Levels of the columns that are categories, by name. A category of k levels counts as k − 1 columns, which hold 1
        in the rows of a level other than the first; statistics are those of these columns.
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
        labels = tuple(map(str, settings.get("categories") or ()))
        form = TextOptions(delimiter=delimiter, decimal=decimal, na=tuple(na), labels=labels)
        table = streaming.open_table(source, columns, chunk_rows, form)
        if table.names is not None:
            settings.setdefault("names", table.names)
        return cls.from_chunks(table.chunks, total=table.total, progress=progress, **settings)

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

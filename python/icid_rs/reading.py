"""From what `ICID.fit` is given to what it works with: a table, its moments, or Θ itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from icid_rs import audit, missing, summary
from icid_rs._memory import ensure_room, ensure_square
from icid_rs._validation import FloatArray, Rows, as_csr, as_theta
from icid_rs.decomposition import decompose
from icid_rs.distributed import is_dask, moments_of
from icid_rs.estimation import estimate_from_moments, estimate_precision, settle_kind
from icid_rs.graph import GraphHolder
from icid_rs.inputs import as_numbers, column_names, open_table
from icid_rs.moments import Moments
from icid_rs.precision import Precision, Stopwatch, invert
from icid_rs.skewness import skewness_matrix


@dataclass(frozen=True)
class Evidence:
    """What data say.

    Attributes
    ----------
    estimate : Precision
        Θ, the covariance and its inverse.
    location : numpy.ndarray of shape (d,)
        The means.
    rows : numpy.ndarray or None
        All rows or some, which show the shape of residuals.
    samples : int
        What the rows are worth; zero if Θ was given.
    M : numpy.ndarray or None
        The skewness matrix, if it counts.
    info : dict
        What is to be told of missing values, groups and moments.
    """

    estimate: Precision
    location: FloatArray
    rows: Rows | None
    samples: int
    M: FloatArray | None
    info: dict[str, Any]


class ReadingMixin(GraphHolder):
    """How an estimator reads what it is given."""

    precision: Any
    lambda1: Any
    missing: str
    n_threads: int | None

    def _gather(self, X: Any, groups: Any, choices: dict[str, Any], watch: Stopwatch) -> Evidence:
        """Read, look for faults, and estimate Θ."""
        has_data = self.precision != "precomputed"
        samples, rows, holes, count, sample = 0, None, None, None, None
        if not has_data:
            if groups is not None:
                raise ValueError("groups needs data, but precision='precomputed' gives none")
            estimate, M = self._given(X), None
            location = np.zeros(estimate.theta.shape[0])
            if choices["skewness"] > 0:
                raise ValueError("skewness needs data, but precision='precomputed' gives none; use skewness=0")
        elif (moments := self._moments(X, third=choices["skewness"] > 0)) is not None:
            if groups is not None:
                raise ValueError("groups needs the rows themselves; take their means out before moments are computed")
            self._columns = moments.names
            self._count_columns(len(moments.mean))
            watch.lap("moments")
            choices["precision"] = settle_kind(self.precision, moments.n_effective, len(moments.mean), choices["ridge"])
            estimate, location = estimate_from_moments(
                moments,
                choices["precision"],
                self.lambda1,
                self._names(),
                ridge=choices["ridge"],
                n_threads=self.n_threads,
            )
            watch.skip()
            rows, samples, sample = summary.rows_of(moments), moments.n_effective, summary.report(moments)
            M = summary.skewness_of(moments) if choices["skewness"] > 0 else None
            watch.lap("skewness")
        else:
            X, groups, holes = self._read(X, groups)
            samples, rows, given = len(X), X, None
            if groups is not None:
                X, count = audit.within_groups(X, groups)
                rows = X
            if self.missing == "pairwise" and holes["entries"]:
                X = X.astype(np.float64, copy=False)
                pairwise = missing.pairwise_covariance(X, self._names())
                samples, rows, given = pairwise.samples, None, (pairwise.covariance, pairwise.location)
                holes |= {"samples": samples, "shrinkage": pairwise.shrinkage, "residuals": "taken to be Gaussian"}
            if count is not None:
                samples -= count - 1
                if samples < 3:
                    raise ValueError(
                        f"the means of {count} groups leave {max(samples, 0)} samples; pass fewer groups or more rows"
                    )
            watch.lap("audit")
            choices["precision"] = settle_kind(self.precision, samples, X.shape[1], choices["ridge"])
            estimate, location = estimate_precision(
                X,
                choices["precision"],
                self.lambda1,
                self._names(),
                samples=samples,
                given=given,
                ridge=choices["ridge"],
                n_threads=self.n_threads,
            )
            watch.skip()
            M = None
            if choices["skewness"] > 0:
                M = missing.pairwise_skewness(X) if rows is None else skewness_matrix(X)
            watch.lap("skewness")
        info = {"missing": holes, "groups": count, "sample": sample}
        return Evidence(estimate, location, rows, samples, M, info)

    def _validated(self, X: Any, *, reset: bool) -> Rows:
        """Return X as an array in rows, in double or single precision as it is; keep or compare its names."""
        X = open_table(X)
        names = column_names(X)
        if reset:
            self._columns = names
        elif None not in (names, self._columns) and names != self._columns and not hasattr(self, "feature_names_in_"):
            # Names that are strings are compared by scikit-learn.
            raise ValueError(f"the columns must be those of the fit, in their order: {self._columns}, not {names}")
        validate_data(self, X, reset=reset, skip_check_array=True)
        table: Any = check_array(
            as_numbers(X),
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse=True,
            ensure_all_finite=False,
            estimator=self,
            input_name="X",
        )
        if hasattr(table, "toarray"):
            rows, columns = table.shape
            size = table.dtype.itemsize * rows * columns
            ensure_room(size, f"a table of {rows} rows and {columns} columns", "give it as moments")
        # The covariance of sparse data is dense in any case.
        return np.ascontiguousarray(table.toarray() if hasattr(table, "toarray") else table)

    def _read(self, X: Any, groups: Any) -> tuple[Rows, Any, dict[str, Any]]:
        """Return X and the groups without the rows that are to be dropped, and what is missing."""
        X = self._validated(X, reset=True)
        audit.check_values(X, self._names(), missing=self.missing)
        holes = missing.report(X, self.missing, self._names())
        if self.missing == "drop" and holes["entries"]:
            n, d = X.shape
            by_inverse = self.precision in ("auto", "fdr", "empirical")
            complete = missing.complete_rows(X, self._names(), least=min(n, d + 3) if by_inverse else 3)
            groups = None if groups is None else audit.check_groups(groups, n)[complete]
            X = X[complete]
        return X, groups, holes

    def _moments(self, X: Any, *, third: bool) -> Moments | None:
        """Return the moments that were given, or those of what lies on a cluster."""
        if is_dask(X):
            if self.missing == "pairwise":
                raise ValueError(
                    "missing='pairwise' needs the rows themselves, not a Dask collection; use missing='drop'"
                )
            return moments_of(X, third=third, missing=self.missing)
        return X if isinstance(X, Moments) else None

    def _count_columns(self, d: int) -> None:
        self.n_features_in_ = d
        self.__dict__.pop("feature_names_in_", None)
        if self._columns is not None and all(isinstance(name, str) for name in self._columns):
            self.feature_names_in_ = np.asarray(self._columns, dtype=object)

    def _given(self, theta: Any) -> Precision:
        """Take what was given for Θ."""
        theta = open_table(theta)
        self._columns = column_names(theta)
        theta = as_csr(as_theta(theta if self._columns is None else as_numbers(theta)), "theta")
        theta.eliminate_zeros()
        if theta.shape[0] != theta.shape[1]:
            raise ValueError(f"precision='precomputed' needs a square matrix, but its shape is {theta.shape}")
        self._count_columns(theta.shape[0])
        diagonal = theta.diagonal()
        if not (diagonal > 0).all() or not np.isfinite(theta.data).all():
            # The core names the entry.
            decompose(theta, max_alm_iter=1, max_fista_iter=1)
        extreme = np.flatnonzero((diagonal < 1e-150) | (diagonal > 1e150))
        if extreme.size:
            i = int(extreme[0])
            raise ValueError(f"theta[{i}, {i}] = {diagonal[i]:.3g} is out of range; rescale the variables")
        ensure_square(theta.shape[0], "the covariance", copies=4)
        try:
            covariance = invert(theta.toarray())
        except np.linalg.LinAlgError:
            raise ValueError(
                "theta is not positive definite, or nearly singular: no model has it as inverse covariance"
            ) from None
        return Precision(theta, covariance)

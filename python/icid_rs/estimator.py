"""ICID as a scikit-learn estimator: from a table to a causal graph."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from icid_rs import audit, estimation, missing, sortability
from icid_rs._validation import FloatArray, as_vector, check_int
from icid_rs.choices import refine_by_search, refine_large
from icid_rs.dag import equivalence_class
from icid_rs.decomposition import Decomposition
from icid_rs.knowledge import Knowledge
from icid_rs.orientation import orient
from icid_rs.parameters import settle_parameters
from icid_rs.pictures import NotebookMixin, PictureMixin
from icid_rs.precision import Precision, Stopwatch
from icid_rs.proposals import Proposer
from icid_rs.reading import Evidence, ReadingMixin
from icid_rs.refine import Refined, refine_by_order, refine_exactly
from icid_rs.result import GraphMixin


class ICID(ReadingMixin, PictureMixin, NotebookMixin, GraphMixin, BaseEstimator):  # type: ignore[misc]
    """Find the graph of linear causes behind a table.

    Estimates the inverse covariance Θ, decomposes it as Θ = (I − B) D (I − B)ᵀ with a sparse B inside its support,
    makes B acyclic, and fits a graph along its causal order or a better one.

    Parameters
    ----------
    precision : {"auto", "empirical", "fdr", "lasso", "precomputed"} or estimator
        How Θ is estimated. ``"empirical"``: the paper's Algorithm 3 (`empirical_precision`). ``"fdr"``: the same with
        its support found by tests (`fdr_precision`). ``"lasso"``: neighbourhood selection (`lasso_precision`), which
        works with fewer rows than columns. ``"auto"``: ``"fdr"`` from two rows for each column on, or else ``"lasso"``.
        ``"precomputed"``: `fit` is given Θ itself. An estimator with an attribute ``precision_`` is fitted to the data.
    lambda1 : "auto", float in (0, 1), or sequence of them
        Cut of ``precision="empirical"``.
    ridge : float
        Share of each variance that is added to it before the covariance is inverted, less than 1: for columns that are
        copies or combinations of others, or nearly, and must all be kept. Weights between these are then a compromise.
        Needs ``precision="fdr"`` or ``"empirical"``; with a ridge ``"auto"`` is ``"fdr"`` if there are d + 3 rows.
    l1_weight : "auto" or float
        The paper's λ₁' = 1/ρ₀, for Θ as it is: its effect depends on the unit of X. ``"auto"`` is 0.1 after Θ has been
        divided by its smallest diagonal entry (or the typical inverse of known noise variances), so that it does not.
    skewness : "auto" or float
        The paper's λ₂, the weight of the skewness term; ``"auto"`` is 0.
    noise : {"auto", "equal", "unequal"}
        What is assumed of the noise variances. ``"auto"``: what scores better.
    noise_variances : float or array of shape (d,), optional
        The noise variances, where they are known.
    refine : {"auto", "order", "search"} or None
        What happens after the decomposition. ``"order"``: its causal order competes with the one that elimination
        finds (`eliminate`); along each, every variable is regressed on its predecessors, and causes that do not earn a
        penalty of the BIC type are dropped; the better score wins. A Θ that is given, without data, is decomposed
        exactly along the better order instead. ``"search"``: causal orders are improved by moving variables, and
        perturbed; this needs no supposition on the noise. ``"auto"``: ``"order"`` where noise variances are known or
        found to be equal, with variables moved where that scores better, otherwise ``"search"``. Nothing where `dag` is
        None, where an estimator is given fewer than d + 3 rows, and for a given Θ whose exact decomposition has more
        edges than the decomposition, as that of an estimate has. None: nothing, as in the paper.
    dag : {"greedy", "exptrace"} or None
        How B is made acyclic (`project_to_dag`). None keeps it as it is, and nothing is refined.
    threshold : "auto" or float
        Weights smaller than this are dropped; ``"auto"`` is 0.
    required, forbidden : list of pairs, optional
        Edges (cause, effect) that the graph must have or must not have, by name or number of their columns.
    tiers : list of groups of columns, optional
        Earliest first: no edge goes from a later group to an earlier one. Columns may be left out; within a group
        anything goes. The decomposition and the search know all this while they look; elimination knows required edges
        and tiers, and gives way to the search if there is more.
    missing : {"raise", "drop", "pairwise"}
        What to do about missing values. ``"raise"``: refuse them. ``"drop"``: leave out rows that have any.
        ``"pairwise"``: take each correlation from the rows that the two columns have in common, and shrink them all as
        far as a positive definite matrix needs (`info_["missing"]` says how far). The number of samples is then the
        smallest number of common rows, and residuals are taken to be Gaussian, so that their shape tells no directions.
        Dropping is better as long as enough rows are left: errors of pairs do not cancel as those of complete rows do.
    max_alm_iter, max_fista_iter, tol, fista_tol, schedule
        The solver; see `decompose`. One round is what the paper uses on estimated Θ. If the result is refined, the
        decomposition only proposes an order, and stops after 150 iterations.
    trials : "auto" or int
        Perturbations that a search tries. ``"auto"``: one for each variable, and 1000 at least; then on until half as
        many in a row found nothing better, or there were ten for each variable.
    time_limit : float, optional
        Seconds after which the search stops with what it has. Results then depend on the machine.
    n_threads : int, optional
        Threads of the solver.
    random_state : int, optional
        Seed of what is random: the trials of a search, and ``dag="exptrace"`` on large graphs.
    verbose : bool
        Report the progress on standard error.
    callback : callable, optional
        See `decompose`.

    Attributes
    ----------
    adjacency_matrix_ : scipy.sparse.csr_array of shape (d, d)
        Weights of the graph; ``[i, j] != 0`` means i → j.
    causal_order_ : numpy.ndarray of shape (d,)
        The variables, causes first. None if ``dag=None``.
    cpdag_ : scipy.sparse.csr_array of shape (d, d)
        The class of graphs with the same independences (`equivalence_class`): ones at [i, j] alone for an edge that
        points the same way in all of them, at [i, j] and [j, i] for a reversible one. With Gaussian data and unequal
        unknown noise variances no more than this can be known. What `required`, `forbidden` and `tiers` decide, and
        what follows from it, is not reversible. None if ``dag=None``.
    noise_variances_ : numpy.ndarray of shape (d,)
        What the causes leave unexplained of each variable.
    precision_ : scipy.sparse.csr_array of shape (d, d)
        The Θ that was decomposed.
    covariance_ : numpy.ndarray of shape (d, d)
        The empirical covariance, with its ridge; with ``precision="precomputed"``, the inverse of Θ. With more than
        20 000 columns it is a scipy.sparse.csr_array (`Precision`).
    location_ : numpy.ndarray of shape (d,)
        The means.
    status_ : str
        How the solver ended; see `Decomposition`.
    info_ : dict
        ``timings`` of the stages in seconds; what was chosen (``precision``, ``lambda1``, ``ridge``, ``l1_weight``,
        ``skewness``, ``threshold``, ``refine``); the ``unit`` that Θ was divided by before it was decomposed; the
        ``sample`` of rows that showed the shape of residuals, if moments were given; the ``decomposition``: residual,
        info and history of the solver; and the ``refinement``: which ``order`` won, the ``scores`` inside the support
        (smaller is better), the ``score`` of the result and the ``penalty`` of an edge; the ``choices``:
        candidates with their scores, for the noise model, the penalty, the shape of the residuals and the starts, and
        why ``precision="auto"`` is what it is;
        ``missing``: the policy, and the ``rows``, ``incomplete`` rows, ``entries`` and entries by ``columns`` that were
        missing; ``groups``: their number, if means were taken out within groups;
        ``identified``: the ``"graph"``, its ``"equivalence class"``, or the class and ``"partly"`` more, where some
        residuals are not Gaussian; and the ``sortability``, shares of edges along
        which variances and explained variances grow.
    n_features_in_, feature_names_in_
        As in scikit-learn; names only if the columns of X have them.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, metrics
    >>> B = datasets.random_dag(30, 1, random_state=1)
    >>> X = datasets.sample_sem(B, 3000, random_state=1)
    >>> model = ICID().fit(X)
    >>> metrics.count_accuracy(B, model.adjacency_matrix_)["shd"]
    0
    """

    def __init__(
        self,
        *,
        precision: Any = "auto",
        lambda1: Any = "auto",
        ridge: float = 0.0,
        l1_weight: Any = "auto",
        skewness: Any = "auto",
        noise: str = "auto",
        noise_variances: Any = None,
        refine: str | None = "auto",
        dag: str | None = "greedy",
        threshold: Any = "auto",
        required: Any = None,
        forbidden: Any = None,
        tiers: Any = None,
        missing: str = "raise",
        max_alm_iter: int = 1,
        max_fista_iter: int = 3000,
        tol: float = 5e-3,
        fista_tol: float = 1e-4,
        schedule: str = "restart",
        trials: Any = "auto",
        time_limit: float | None = None,
        n_threads: int | None = None,
        random_state: int | None = 0,
        verbose: bool = False,
        callback: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        self.precision = precision
        self.lambda1 = lambda1
        self.ridge = ridge
        self.l1_weight = l1_weight
        self.skewness = skewness
        self.noise = noise
        self.noise_variances = noise_variances
        self.refine = refine
        self.dag = dag
        self.threshold = threshold
        self.required = required
        self.forbidden = forbidden
        self.tiers = tiers
        self.missing = missing
        self.max_alm_iter = max_alm_iter
        self.max_fista_iter = max_fista_iter
        self.tol = tol
        self.fista_tol = fista_tol
        self.schedule = schedule
        self.trials = trials
        self.time_limit = time_limit
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> ICID:
        """Find the graph.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Samples by variables. Frames may be of pandas, polars, PyArrow or any other library that narwhals knows, or
            AnnData; their names are kept. Integers, booleans, decimals and nullable numbers are converted; masked
            entries are missing. A Dask array or frame is summed up where it lies; the `Moments` of a table will do.
            With ``precision="precomputed"``, the inverse covariance of shape (d, d).
        y : None
            Ignored.
        groups : array of shape (n,), optional
            The subject, site or batch of each row. Means are taken out within groups, so that differences between them
            are not mistaken for causes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X has columns that hold no numbers, missing or infinite values, constant, duplicate or collinear columns,
            or too few rows; the message names the column and the remedy.
        NumericalError
            If Θ is given and has no exact decomposition, being indefinite.

        Warns
        -----
        ConvergenceWarning
            If the solver ran out of iterations.
        ScaleWarning
            If the directions may rest on the units of the columns.
        UserWarning
            If the columns have wildly different scales, if one is nearly a combination of others, or if no
            dependence was found between any of them.
        """
        choices = settle_parameters(self)
        # Nothing of an earlier fit is left if this one fails.
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        watch = Stopwatch()
        evidence = self._gather(X, groups, choices, watch)
        estimate, self.location_ = evidence.estimate, evidence.location

        proposer = self._proposer(estimate)
        proposing = choices["refine"] is not None
        result, B, order = self._decomposed(choices, evidence, proposer, watch, proposing=proposing)
        refined = self._refine(choices, evidence, order, proposer)
        watch.lap("refine")
        if proposing and choices["refine"] is None:
            # What was to propose an order is the result, unless an exact decomposition needs no more edges.
            result, B, order = self._decomposed(choices, evidence, proposer, watch, proposing=False)
            if refined is not None and refined.B.nnz <= B.nnz:
                choices["refine"] = "order"
            else:
                refined = None
        if refined is not None:
            B, order = refined.B, refined.order
        B = proposer.complete(_above(B, choices["threshold"]))
        self.adjacency_matrix_, self.causal_order_ = B, order
        self.cpdag_ = None if order is None else equivalence_class(B)
        if self.cpdag_ is not None and proposer.knowledge is not None:
            self.cpdag_ = orient(self.cpdag_, proposer.knowledge)
        self.precision_, self.covariance_ = estimate.theta, estimate.covariance
        if refined is not None and choices["threshold"] == 0:
            self.noise_variances_ = refined.noise_variances
        else:
            self.noise_variances_ = _unexplained(B, estimate)
        watch.lap("noise")
        self.status_ = result.status
        made = {} if refined is None else refined.info.pop("choices", {})
        chosen = made.get("noise", {}).get("chosen", "equal" if self.noise_variances is None else "known")
        if evidence.samples and chosen == "equal":
            audit.warn_of_scales(estimate.covariance, self._names())
        audit.warn_of_collinearity(estimate.covariance, estimate.inverse, self._names())
        self.info_ = {
            "timings": {**estimate.timings, **watch.timings},
            **choices,
            **evidence.info,
            "noise": chosen,
            "unit": proposer.unit,
            "lambda1": estimate.lambda1,
            "criterion": estimate.criterion,
            "decomposition": {"residual": result.residual, **result.info, "history": result.history},
            "refinement": None if refined is None else refined.info,
            "choices": made,
            "identified": None if order is None else _identified(chosen, made, len(order)),
            "sortability": sortability.report(
                B,
                estimate.covariance,
                estimate.theta if estimate.inverse is None else estimate.inverse,
                by_scale=chosen == "equal" and self.noise == "auto" and bool(made),
            )
            if order is not None
            else None,
        }
        if isinstance(self.precision, str) and self.precision == "auto":
            kind = choices["precision"]
            why = estimation.reason(kind, evidence.samples, self.n_features_in_)
            self.info_["choices"] = {**made, "precision": {"chosen": kind, "reason": why}}
        self._warn_if_empty()
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the mean Gaussian log-likelihood of samples under the fitted model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            As for `fit`, with its columns in the same order. Rows with missing values are refused, or left out if
            `missing` is not ``"raise"``.
        y : None
            Ignored.

        Returns
        -------
        float
        """
        check_is_fitted(self, "adjacency_matrix_")
        X = self._validated(X, reset=False)
        audit.check_values(X, self._names(), least=1, missing=self.missing)
        if self.missing != "raise":
            X = X[missing.complete_rows(X, self._names(), least=1)]
        centred = X - self.location_
        residual = centred - centred @ self.adjacency_matrix_
        omega = self.noise_variances_
        value = -0.5 * np.sum(np.log(2 * np.pi * omega) + np.mean(residual**2, axis=0) / omega)
        if self.causal_order_ is None:
            # With cycles the change of variables from noise to data has a determinant.
            value += np.linalg.slogdet(np.eye(omega.size) - self.adjacency_matrix_.toarray())[1]
        return float(value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _proposer(self, estimate: Precision) -> Proposer:
        knowledge = Knowledge.make(self._names(), required=self.required, forbidden=self.forbidden, tiers=self.tiers)
        if knowledge is not None and estimate.values is not None:
            raise ValueError(
                "required, forbidden and tiers need the covariance of all columns, which would be too large for "
                f"{estimate.theta.shape[0]}; choose fewer columns"
            )
        return Proposer.make(
            estimate.theta,
            self.noise_variances,
            rescale=isinstance(self.l1_weight, str),
            solver={
                "max_alm_iter": self.max_alm_iter,
                "max_fista_iter": self.max_fista_iter,
                "tol": self.tol,
                "fista_tol": self.fista_tol,
                "schedule": self.schedule,
                "n_threads": self.n_threads,
            },
            dag=self.dag,
            random_state=self.random_state,
            knowledge=knowledge,
            covariance=estimate.covariance,
        )

    def _observer(self) -> Callable[[dict[str, Any]], object] | None:
        if not self.verbose:
            return self.callback

        def report(progress: dict[str, Any]) -> object:
            print(
                f"ICID: round {progress['round']}, iteration {progress['iteration']}, "
                f"objective {progress['objective']:.6g}, optimality {progress['optimality']:.2g}",
                file=sys.stderr,
            )
            return None if self.callback is None else self.callback(progress)

        return report

    def _decomposed(
        self, choices: dict[str, Any], evidence: Evidence, proposer: Proposer, watch: Stopwatch, *, proposing: bool
    ) -> tuple[Decomposition, Any, Any]:
        """Decompose Θ, to the end or to propose an order; return the graph and its order, if it is to have one."""
        result = proposer.decompose(
            l1_weight=choices["l1_weight"],
            skewness=choices["skewness"],
            M=evidence.M,
            proposing=proposing,
            callback=self._observer(),
        )
        watch.lap("decompose")
        B, order = proposer.complete(result.B), None
        if self.dag is not None:
            graph = proposer.project(B)
            B, order = graph.B, graph.order
        watch.lap("dag")
        return result, B, order

    def _refine(
        self,
        choices: dict[str, Any],
        evidence: Evidence,
        order: Any,
        proposer: Proposer,
    ) -> Refined | None:
        """Make of the proposed order what can be made of it, if that is wanted and there are enough data.

        Where ``choices["refine"]`` is None afterwards, what is returned competes with the decomposition.
        """
        kind = choices["refine"]
        if kind is None:
            return None
        estimate, samples = evidence.estimate, evidence.samples
        d = len(order)
        known = None if self.noise_variances is None else as_vector(self.noise_variances, d, "noise_variances")
        if not samples:
            if kind == "search":
                raise ValueError("refine='search' needs data, but precision='precomputed' gives none")
            exact = refine_exactly(estimate.theta, order, known, self.n_threads, knowledge=proposer.knowledge)
            if kind == "order" and proposer.knowledge is not None and not exact.info["confirmed"]:
                raise ValueError(
                    "theta has no exact decomposition that respects what is known of the edges; use refine=None"
                )
            # An estimate's exact decomposition would make edges of its errors.
            choices["refine"] = "order" if kind == "order" or exact.info["confirmed"] else None
            return exact if exact.info["respectful"] else None
        if choices["precision"] != "lasso" and (samples < d + 3 or estimate.inverse is None):
            if kind != "auto" or (self.noise == "unequal" and known is None):
                raise ValueError(
                    f"n_samples = {samples} for {d} columns: refine={kind!r} regresses each column on those before it, "
                    f"which needs at least {d + 3} rows; use precision='lasso', refine=None, or fewer columns"
                )
            choices["refine"] = None
            return None
        if estimate.values is not None:
            if kind == "search" or (self.noise == "unequal" and known is None):
                raise ValueError(
                    f"{d} columns are too many for a search over orders; use refine='order' with equal or known noise "
                    "variances, or fewer columns"
                )
            choices["refine"] = "order"
            return refine_large(estimate, samples, order, known, self.n_threads)
        if kind == "order":
            return refine_by_order(estimate, samples, order, known, self.n_threads, knowledge=proposer.knowledge)
        refined = refine_by_search(
            evidence.rows,
            evidence.location,
            estimate,
            proposer.proposals(evidence.rows, order, vary=self.l1_weight == "auto" and self.skewness == "auto"),
            samples=samples,
            noise=self.noise,
            noise_variances=known,
            knowledge=proposer.knowledge,
            always=kind == "search",
            trials=None if choices["trials"] == "auto" else choices["trials"],
            seconds=choices["time_limit"],
            seed=0 if self.random_state is None else check_int(self.random_state, "random_state", 0),
            n_threads=self.n_threads,
        )
        choices["refine"] = refined.info["kind"]
        return refined

    def _warn_if_empty(self) -> None:
        """Say why there is nothing, unless there is nothing."""
        if self.adjacency_matrix_.nnz or self.n_features_in_ == 1:
            return
        if self.precision_.nnz == self.n_features_in_:
            reason = (
                "no partial correlation differs from zero: the variables look independent, or there are too few rows"
            )
        elif self.info_["threshold"] > 0:
            reason = f"threshold = {self.info_['threshold']:g} may have removed every edge; lower it"
        elif self.info_["refine"] is None:
            reason = "the penalty removed every edge: lower l1_weight"
        else:
            reason = "no edge earns its penalty: find more rows"
        warnings.warn(f"the graph is empty: {reason}", UserWarning, stacklevel=3)


def _identified(noise: str, choices: dict[str, Any], d: int) -> str:
    """Tell how much of the graph the data determine."""
    if noise != "unequal":
        return "graph"
    residuals = choices["residuals"]
    if residuals["gaussian"]:
        return "equivalence class"
    # With one Gaussian residual at most, directions are determined (Shimizu et al. 2006).
    return "graph" if residuals["shaped variables"] >= d - 1 else "partly"


def _above(B: Any, threshold: float) -> Any:
    """Drop weights below a threshold."""
    B.data[np.abs(B.data) < threshold] = 0.0
    B.eliminate_zeros()
    return B


def _unexplained(B: sp.csr_array[np.float64, tuple[int, int]], estimate: Precision) -> FloatArray:
    """Compute the variance of X − X B: a_jᵀ Ĉ a_j for each column of I − B."""
    covariance = estimate.covariance
    if estimate.values is not None:
        scale = np.sqrt(covariance.diagonal())
        weights = sp.csr_array(sp.diags_array(scale) @ B @ sp.diags_array(1.0 / scale))
        residual = estimate.values - weights.T @ estimate.values
        return np.asarray(np.einsum("ij,ij->i", residual, residual) * scale**2)
    A = sp.csc_array(sp.eye_array(B.shape[0]) - B)
    columns = np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
    products = np.asarray(covariance @ A)[A.indices, columns] * A.data
    return np.asarray(np.bincount(columns, products, minlength=A.shape[1]), dtype=np.float64)

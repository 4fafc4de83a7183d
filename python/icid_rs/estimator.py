"""ICID as a scikit-learn estimator: from a table to a causal graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from icid_rs._util.stopwatch import Stopwatch
from icid_rs._util.validation import Rows
from icid_rs._util.warn import warn_user
from icid_rs.data import checks, missing
from icid_rs.data.sample import GivenTheta, Sample, read, table_rows
from icid_rs.data.tables import check_name_types, column_names, open_table
from icid_rs.export.web import summarise_fit
from icid_rs.learning.learn import Learned, learn
from icid_rs.options import Options
from icid_rs.plotting import plot_convergence, plot_matrix
from icid_rs.precision.estimate import Estimator, choose_estimator, estimate_precision
from icid_rs.precision.kinds import KINDS
from icid_rs.precision.variants import Full, Precision
from icid_rs.report import FitReport
from icid_rs.result import CausalGraph, asks_graph
from icid_rs.trust import sortability


class ICID(BaseEstimator):  # type: ignore[misc]
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
        Assumption about the noise variances. ``"auto"``: the one with the better score.
    noise_variances : float or array of shape (d,), optional
        The noise variances, where they are known.
    refine : {"auto", "order", "search"} or None
        Step after the decomposition. ``"order"``: fit one graph along the causal order of the decomposition and one
        along that of elimination (`eliminate`), and keep the one with the better score. To fit a graph along an order,
        each variable is regressed on its predecessors, and only causes that earn a penalty of the BIC type are kept. A
        given Θ, without data, is decomposed exactly along the better order instead. ``"search"``: improve causal
        orders by moving variables and by random perturbations; this assumes nothing about the noise variances. With few
        variables the best graph is computed instead. ``"auto"``: ``"order"`` if noise variances are known or found to
        be equal, followed by moves of variables if these improve the score; otherwise ``"search"``. Nothing is refined
        if `dag` is None, if an estimator is given fewer than d + 3 rows, or if the exact decomposition of a given Θ
        has more edges than the sparse one, as that of an estimated Θ has. None: no refinement, as in the paper.
    dag : {"greedy", "exptrace"} or None
        How B is made acyclic (`project_to_dag`). None keeps it as it is, and nothing is refined.
    threshold : "auto" or float
        Weights smaller than this are dropped; ``"auto"`` is 0.
    required, forbidden : list of pairs, optional
        Edges (cause, effect) that the graph must have or must not have, by name or number of their columns.
    tiers : list of groups of columns, optional
        Earliest first: no edge goes from a later group to an earlier one. Edges within a group are not restricted, nor
        are those of columns in no group. The decomposition and the search respect all knowledge; elimination respects
        only required edges and tiers of all columns, so with more than these the search replaces it.
    missing : {"raise", "drop", "pairwise"}
        Treatment of missing values. ``"raise"``: refuse them. ``"drop"``: leave out rows that have any.
        ``"pairwise"``: take each correlation from the rows that the two columns have in common, and shrink them all as
        far as a positive definite matrix needs (`info_["missing"]` says how far). The number of samples is then the
        smallest number of common rows, and residuals are taken to be Gaussian, so that their shape tells no directions.
        Dropping is better as long as enough rows are left: errors of pairs do not cancel as those of complete rows do.
    max_alm_iter, max_fista_iter, tol, fista_tol, schedule
        The solver; see `decompose`. The paper uses one round on an estimated Θ. If the result is refined, the
        decomposition only proposes an order, and stops after 150 iterations.
    penalty : "auto" or float
        The price of an edge in the score, in units of BIC: an edge must gain ``penalty`` · log n in twice the
        log-likelihood, so that 1.0 is BIC. ``"auto"``: log n + 4 log d, times the inflation of the null where residuals
        are more correlated than chance explains; less, where noise variances are unequal and the data have far more
        weak edges than chance would add (`info_["choices"]["penalty"]` has the price). A number is taken as it is;
        `penalty_path` shows what others would give. Nothing without a refinement.
    trials : "auto" or int
        Perturbations that a search tries. ``"auto"``: until one for every four variables, and at least 300, in a row
        bring no improvement, or ten for each variable, and at least 5000, were tried.
    time_limit : float, optional
        Seconds after which the search returns the best graph so far. Results then depend on the machine.
    n_threads : int, optional
        Threads of the solver.
    random_state : int, optional
        Seed of the random numbers: the trials of a search, and ``dag="exptrace"`` on large graphs.
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
        unknown noise variances no more than this can be known. Edges oriented by `required`, `forbidden` and
        `tiers`, and edges whose direction follows from these, are not reversible. None if ``dag=None``.
    noise_variances_ : numpy.ndarray of shape (d,)
        Variance of each variable that its causes leave unexplained.
    precision_ : scipy.sparse.csr_array of shape (d, d)
        The Θ that was decomposed.
    covariance_ : numpy.ndarray of shape (d, d)
        The empirical covariance, with its ridge; with ``precision="precomputed"``, the inverse of Θ. With more than
        4 000 columns and fewer than two rows for each it is a scipy.sparse.csr_array (`Precision`).
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
        why ``precision="auto"`` chose its estimator;
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
        penalty: Any = "auto",
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
        self.penalty = penalty
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
            If the solver ran out of iterations, or a search out of trials or time.
        ScaleWarning
            If the directions may rest on the units of the columns.
        UserWarning
            If the columns have wildly different scales, if one is nearly a combination of others, or if no
            dependence was found between any of them.
        """
        options = Options.of(self, KINDS)
        self._forget()
        watch = Stopwatch()
        sample = read(X, groups, options, watch)
        self._keep_columns(sample)
        estimator = choose_estimator(sample, options)
        estimate = estimate_precision(sample, estimator, options, watch)
        learned = learn(estimate, sample, options, watch)
        self._keep_model(learned, estimate)
        self.fit_report_ = self._report(learned, sample, estimate, estimator, options, watch)
        self.info_ = self.fit_report_.as_info()
        self.graph_ = self._graph()
        self._warn_if_empty(options)
        return self

    edges = asks_graph(CausalGraph.edges)
    total_effects = asks_graph(CausalGraph.total_effects)
    parents = asks_graph(CausalGraph.parents)
    children = asks_graph(CausalGraph.children)
    ancestors = asks_graph(CausalGraph.ancestors)
    descendants = asks_graph(CausalGraph.descendants)
    markov_blanket = asks_graph(CausalGraph.markov_blanket)
    subgraph = asks_graph(CausalGraph.subgraph)

    plot = asks_graph(CausalGraph.plot)
    to_html = asks_graph(CausalGraph.to_html)
    to_networkx = asks_graph(CausalGraph.to_networkx)
    to_pandas = asks_graph(CausalGraph.to_pandas)
    to_json = asks_graph(CausalGraph.to_json)
    to_graphml = asks_graph(CausalGraph.to_graphml)
    to_dot = asks_graph(CausalGraph.to_dot)
    to_csv = asks_graph(CausalGraph.to_csv)
    to_dowhy = asks_graph(CausalGraph.to_dowhy)
    to_causallearn = asks_graph(CausalGraph.to_causallearn)
    save = asks_graph(CausalGraph.save)

    @property
    def confidence_(self) -> Any:
        """Probabilities of the edges, a sparse matrix of shape (d, d), or None before a `bootstrap`."""
        return self.graph_.confidence_ if hasattr(self, "graph_") else None

    def plot_matrix(self, axes: Any = None) -> Any:
        """Draw Θ beside B, both in the causal order; see `icid_rs.plotting.plot_matrix`.

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> model = ICID().fit(datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0))
        >>> figure = model.plot_matrix()
        """
        check_is_fitted(self, "graph_")
        return plot_matrix(self.precision_, self.adjacency_matrix_, self.names_, order=self.causal_order_, axes=axes)

    def plot_convergence(self, axes: Any = None) -> Any:
        """Draw how the decomposition converged, round by round; see `icid_rs.plotting.plot_convergence`.

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> X = datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0)
        >>> figure = ICID(max_alm_iter=5, refine=None).fit(X).plot_convergence()
        """
        check_is_fitted(self, "graph_")
        return plot_convergence(self.info_["decomposition"]["history"], axes=axes)

    def _repr_html_inner(self) -> str:
        own: str = super()._repr_html_inner()
        return self._summary_html() + own

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._summary_html() + bundle["text/html"]
        return bundle

    def _summary_html(self) -> str:
        """Return the summary that notebooks show above scikit-learn's own picture of the estimator."""
        return summarise_fit(self.graph_, noise=self.info_["noise"]) if hasattr(self, "graph_") else ""

    def _settings(self) -> dict[str, Any]:
        """Return the parameters that matter for the result."""
        incidental = ("callback", "n_threads", "verbose")
        return {key: value for key, value in self.get_params(deep=False).items() if key not in incidental}

    def _summary(self) -> dict[str, Any]:
        """Return the choices of the fit, and how the solver ended."""
        simple = {key: value for key, value in self.info_.items() if isinstance(value, str | int | float | None)}
        return {"status": self.status_, **simple}

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
        check_is_fitted(self, "graph_")
        X = self._rows(X)
        checks.check_values(X, self.names_, least=1, missing=self.missing)
        if self.missing != "raise":
            X = X[missing.complete_rows(X, self.names_, least=1)]
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

    @property
    def names_(self) -> list[Any]:
        """Names of the variables, or their numbers."""
        return list(range(self.n_features_in_)) if self._columns is None else list(self._columns)

    def _forget(self) -> None:
        """Remove the results of an earlier fit, so that none of them is left if this one fails."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _keep_columns(self, sample: Sample) -> None:
        """Keep the number and the names of the columns, as scikit-learn does."""
        self._columns, self.n_features_in_ = sample.columns, len(sample.names)
        if sample.columns is not None and check_name_types(sample.columns):
            self.feature_names_in_ = np.asarray(sample.columns, dtype=object)

    def _rows(self, X: Any) -> Rows:
        """Return another table as an array of rows; its columns must be those of the fit."""
        X = open_table(X)
        names = column_names(X)
        if names is None or names != self._columns:
            if names is not None and self._columns is not None and not hasattr(self, "feature_names_in_"):
                # Names that are strings are compared by scikit-learn.
                raise ValueError(f"the columns must be those of the fit, in their order: {self._columns}, not {names}")
            validate_data(self, X, reset=False, skip_check_array=True)
        return table_rows(X)

    def _keep_model(self, learned: Learned, estimate: Precision) -> None:
        """Set the attributes that hold the model."""
        self.location_, self.precision_, self.covariance_ = estimate.location, estimate.theta, estimate.covariance
        self.adjacency_matrix_, self.causal_order_ = learned.sem.B, learned.sem.order
        self.noise_variances_, self.status_ = learned.sem.noise_variances, learned.decomposition.status
        self.cpdag_ = learned.cpdag

    def _graph(self) -> CausalGraph:
        """Return the graph that answers questions about the fit, and is drawn and exported."""
        shared = ("adjacency_matrix_", "causal_order_", "cpdag_", "noise_variances_", "location_")
        parts = {name: getattr(self, name) for name in shared}
        return CausalGraph._trusted(self.names_, **parts, settings_=self._settings(), info_=self._summary())

    def _report(
        self,
        learned: Learned,
        sample: Sample,
        estimate: Precision,
        estimator: Estimator,
        options: Options,
        watch: Stopwatch,
    ) -> FitReport:
        """Record the fit, and warn where directions depend on units or columns are nearly collinear."""
        choices, sem = learned.choices, learned.sem
        supposed = "equal" if options.noise_variances is None else "known"
        noise = supposed if choices is None else choices.noise.chosen
        if noise == "equal" and not isinstance(sample, GivenTheta):
            checks.warn_of_scales(estimate.covariance, sample.names)
        if isinstance(estimate, Full):
            checks.warn_of_collinearity(estimate.covariance, estimate.inverse, sample.names)
        self._warn_if_cut_short(learned, options)
        by_scale = noise == "equal" and options.noise == "auto" and choices is not None
        return FitReport(
            timings=dict(watch.timings),
            settings=options.settled(estimator.kind),
            sample=sample.facts,
            precision_reason=estimator.reason,
            refine=learned.refine,
            noise=noise,
            unit=learned.unit,
            lambda1=estimate.lambda1,
            criterion=estimate.criterion,
            decomposition=learned.decomposition.as_info(),
            refinement=learned.refinement,
            choices=choices,
            variables=self.n_features_in_,
            acyclic=sem.order is not None,
            sortability=None
            if sem.order is None
            else sortability.report(sem.B, estimate.variances, estimate.diagonal, by_scale=by_scale),
        )

    @staticmethod
    def _warn_if_cut_short(learned: Learned, options: Options) -> None:
        """Warn of a search that might have found a better graph."""
        ended = None if learned.refinement is None else learned.refinement.details.get("ended")
        remedy = {
            "out of trials": "all trials were made while they still improved the graph; raise trials",
            "out of time": f"its time limit of {options.time_limit} s was reached; raise time_limit",
        }
        if ended in remedy and options.trials != 0:
            warn_user(f"the search has not converged: {remedy[ended]}", ConvergenceWarning)

    def _warn_if_empty(self, options: Options) -> None:
        """Warn of an empty graph, and name the cause."""
        if self.adjacency_matrix_.nnz or self.n_features_in_ == 1:
            return
        if self.precision_.nnz == self.n_features_in_:
            why = "no partial correlation differs from zero: the variables look independent, or there are too few rows"
        elif options.threshold > 0:
            why = f"threshold = {options.threshold:g} may have removed every edge; lower it"
        elif self.fit_report_.refine is None:
            why = "the penalty removed every edge: lower l1_weight"
        else:
            why = "no edge earns its penalty: find more rows"
        warn_user(f"the graph is empty: {why}")

"""ICID as a scikit-learn estimator: from a table to a causal graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from icid_rs import fitted
from icid_rs._util.frames import frame_library
from icid_rs._util.memory import ensure_within_limit
from icid_rs._util.parameters import Unread
from icid_rs._util.randomness import RandomState
from icid_rs._util.reentry import not_reentrant
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.data.fitted_columns import FittedColumns
from icid_rs.data.reading import read
from icid_rs.data.sample import IncompleteRows, Rows, Sample
from icid_rs.export.web import summarise_fit
from icid_rs.fitted import asks_graph
from icid_rs.graph.covariances import SampleMoments
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.mixed import ColumnModel
from icid_rs.learning.evidence import edge_evidence
from icid_rs.learning.find import find
from icid_rs.learning.learn import sample_moments
from icid_rs.learning.learned import Learned
from icid_rs.options import Options
from icid_rs.plotting import plot_convergence, plot_matrix
from icid_rs.precision.kinds import KINDS
from icid_rs.precision.neighbourhood import WIDE
from icid_rs.precision.variants import Precision
from icid_rs.result import CausalGraph
from icid_rs.trust.bootstrap import bootstrap
from icid_rs.trust.check.audit import audit_sample, warn_of
from icid_rs.trust.claims import claim
from icid_rs.trust.fit_record import measurement_layer, record_fit, warn_if_empty, warn_of_fit
from icid_rs.trust.lowering import lowered


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
    hidden : "auto", int or None
        Hidden common causes of many columns, which the graph would otherwise explain by many edges: their number, or
        ``"auto"`` for as many as earn the price of their loadings, log n each, in the likelihood. None: there are none.
        A cause of only two or three columns is not seen.
    measurement_error : "auto", float, array of shape (d,), dict or None
        The share of each column's variance that is error of measurement, 1 minus its reliability: one for all columns,
        one for each, or by name (0 for those that are not named). ``"auto"``: one share for all, if it earns its price.
        Weights are then those between the variables without their errors. None: columns are measured without error.
        ``"auto"`` of both needs at least two rows for each column, or for hidden causes more than 4 000 columns;
        ``info_["measurement"]`` says what was found.
        Neither is looked for with ``refine=None`` or ``"order"``, known noise variances, or a Θ that is given or comes
        from an estimator.
    columns : list, optional
        The columns to be used, by name, or by number if they have no names; by default all that can be. Columns named
        here are used even if they would be left out as identifiers, dates or labels with many levels.
    categorical : list, optional
        Columns that are categories, whatever they hold. By default text is, if it has few levels, and so are up to 10
        different whole numbers in no order: the means of another column by these numbers go up and down. A category is
        one variable; categories of two levels are a column of 0 and 1.
    ordinal : list or dict, optional
        Columns whose values are in order, which are fitted as numbers 0, 1, 2, …; a dict gives the levels of each in
        their order. By default columns are in order if their type says so, and numbers unless they look like codes.
    transform : {"auto", "normal-scores", "log"}, dict or None
        What stands for numbers with more than two values, for all of them or by column in a dict. ``"normal-scores"``:
        the normal quantiles of their ranks, which undo any monotone distortion of Gaussian columns; residuals then
        count as Gaussian, with unequal variances. ``"log"``: the logarithm of positive columns. ``"auto"``: normal
        scores of all numbers, if residuals of the columns as they are depend on their causes, and those of the scores
        hardly do (`info_["choices"]["transform"]`). None: columns as they are. All results are in the units of the
        table: a weight is the slope at which the effect changes with the cause on average over the table, where both
        follow curves. `sample` and `predict` return values of the table.
    adjust : list, optional
        Columns that are covariates or batches, by name or number: their linear effects are taken out of all others
        exactly, with the degrees of freedom that this costs. They are no variables of the graph, which is the graph
        given them. Categories are taken out level by level: text, or what `categorical` names. Of moments, columns must
        be numbers.
    collinear : {"raise", "drop", "ridge"}
        Treatment of columns that are copies or exact combinations of others. ``"raise"``: refuse them. ``"drop"``:
        leave out each column that earlier ones determine. ``"ridge"``: keep them all, as with ``ridge=1e-6``.
    missing : {"raise", "drop", "em", "pairwise"}
        Treatment of missing values. ``"raise"``: refuse them. ``"drop"``: leave out rows that have any. ``"em"``:
        estimate the moments by maximum likelihood from all observed values, which allows whether a value is missing to
        depend on observed ones; the number of samples is less by what is not known, and residuals are taken to be
        Gaussian. Where so much is missing that the likelihood has no maximum, correlations are shrunk by one row more.
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
    stability : "auto", int or None
        Number of resamples that judge the direction of an edge: it is claimed if nine in ten of them have it, and left
        open otherwise (`orient` says by what evidence). ``"auto"``: 20 to 120, fewer in larger tables. Rows are drawn
        as whole groups if there are at least 20 of these, in blocks where rows are autocorrelated, or else one by one;
        without all rows, second moments are drawn. `time_limit` does not count this. None: every direction is claimed
        that changes the score.
    orient : tuple of {"class", "shape", "variance"}
        Kinds of evidence that may orient edges. ``"class"``: the equivalence classes of resamples compel a direction.
        ``"shape"``: the shape of residuals. ``"variance"``: noise variances that are known, or look equal. With
        ``("class",)`` data count as Gaussian, with unequal noise variances unless `noise` says otherwise.
    trials : "auto" or int
        Perturbations that a search tries. ``"auto"``: until one for every four variables, and at least 300, in a row
        bring no improvement, or ten for each variable, and at least 5000, were tried.
    time_limit : float, optional
        Seconds after which the search returns the best graph so far. Results then depend on the machine.
    n_threads : int, optional
        Threads of the solver.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of the random numbers: the trials of a search, and ``dag="exptrace"`` on large graphs.
    verbose : bool
        Report on standard error: each stage of the fit with its seconds, and the rounds of the solver.
    callback : callable, optional
        See `decompose`.

    Attributes
    ----------
    adjacency_matrix_ : scipy.sparse.csr_array of shape (d, d)
        Weights of the graph; ``[i, j] != 0`` means i → j. At a category of more than two levels the strength of the
        edge: the square root of the share of the effect that the cause explains, given its other causes; `coefficients`
        has its weights by level.
    causal_order_ : numpy.ndarray of shape (d,)
        The variables, causes first. None if ``dag=None``.
    cpdag_ : scipy.sparse.csr_array of shape (d, d)
        The graph as far as its directions are claimed: ones at [i, j] alone for a claimed i → j, at [i, j] and [j, i]
        for an edge whose direction is open. Edges oriented by `required`, `forbidden` and `tiers`, and edges whose
        direction follows from these, are not open. `equivalence_class` gives the class of `adjacency_matrix_`, which
        may say more than is certain. None if ``dag=None``.
    noise_variances_ : numpy.ndarray of shape (d,)
        Variance of each variable that its causes leave unexplained; of a category of more than two levels, the share.
    hidden_loadings_ : numpy.ndarray of shape (d, k)
        Effects of k hidden causes of variance 1 on the columns, in their units; k is 0 if none were found. With more
        than one, only the sum of what they explain is determined, so that causes may be mixed (rotated).
    measurement_error_ : numpy.ndarray of shape (d,)
        The share of each column's variance that is error of measurement.
    precision_ : scipy.sparse.csr_array of shape (d, d)
        The Θ that the graph was fitted to: without what hidden causes and errors of measurement add to the covariance.
        At categories of more than two levels, root mean squares of the partial correlations of their columns.
    covariance_ : numpy.ndarray of shape (d, d)
        The empirical covariance, with its ridge; with ``precision="precomputed"``, the inverse of Θ. With more than
        4 000 columns and fewer than two rows for each it is a scipy.sparse.csr_array (`Precision`), without what
        hidden causes add. NaN at categories of more than two levels.
    location_ : numpy.ndarray of shape (d,)
        The means; NaN at categories of more than two levels.
    status_ : str
        How the solver ended; see `Decomposition`. ``"not needed"``: the graph was searched for without a decomposition.
    info_ : dict
        ``timings`` of the stages in seconds; what was chosen (``precision``, ``lambda1``, ``ridge``, ``l1_weight``,
        ``skewness``, ``threshold``, ``refine``); the ``unit`` that Θ was divided by before it was decomposed; the
        ``sample`` of rows that showed the shape of residuals, if moments were given; the ``decomposition``: residual,
        info and history of the solver, empty if none was needed; and the ``refinement``: which ``order`` won, the
        ``scores`` inside the support (smaller is better), the ``score`` of the result and the ``penalty`` of an edge;
        the ``choices``: candidates with their scores, for the noise model, the penalty, the shape of the residuals and
        the starts, and why ``precision="auto"`` chose its estimator;
        the ``measurement``: the number of ``hidden`` causes, the share of ``error``, their ``gain`` in twice the
        log-likelihood of a row, the number of ``edges without`` them, and why they were not looked for;
        ``missing``: the policy, and the ``rows``, ``incomplete`` rows, ``entries`` and entries by ``columns`` that were
        missing; ``categories``: those of more than two levels, with how many; ``transform``: that of each column that
        has one; ``groups``: their number, if means were taken out within groups; ``adjusted``: the ``columns`` that
        were adjusted for, and the ``degrees of freedom``;
        ``claims``: the ``resamples``, ``how`` rows were drawn, the number of ``directions`` by what they rest on, and
        the score of the best graph without the claims; ``identified``: the ``"graph"`` if no direction is open, its
        ``"equivalence class"`` if just the compelled ones are claimed, or else ``"partly"``; the ``sortability``,
        shares of edges along which variances and explained variances grow; and the ``checks``: assumptions with
        ``name``, ``verdict``, ``finding``, ``effect``, ``where`` and ``remedy``.
    variables_ : list
        The columns that are variables of the graph, in the order of its matrices.
    dropped_ : dict
        The columns that were left out, with the reasons.
    n_features_in_, feature_names_in_
        Of all columns, as in scikit-learn; names only if the columns of X have them.

    Examples
    --------
    >>> from icid_rs import ICID, datasets, metrics
    >>> B = datasets.random_dag(30, 1, random_state=1)
    >>> X = datasets.sample_sem(B, 3000, random_state=1)
    >>> model = ICID().fit(X)
    >>> metrics.count_accuracy(B, model.adjacency_matrix_)["shd"]
    0
    """

    transform = Unread()

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
        hidden: Any = "auto",
        measurement_error: Any = "auto",
        columns: Any = None,
        categorical: Any = None,
        ordinal: Any = None,
        transform: Any = "auto",
        adjust: Any = None,
        collinear: str = "raise",
        missing: str = "raise",
        max_alm_iter: int = 1,
        max_fista_iter: int = 3000,
        tol: float = 5e-3,
        fista_tol: float = 1e-4,
        schedule: str = "restart",
        penalty: Any = "auto",
        stability: Any = "auto",
        orient: Any = ("class", "shape", "variance"),
        trials: Any = "auto",
        time_limit: float | None = None,
        n_threads: int | None = None,
        random_state: RandomState = 0,
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
        self.hidden = hidden
        self.measurement_error = measurement_error
        self.columns = columns
        self.categorical = categorical
        self.ordinal = ordinal
        self.transform = transform
        self.adjust = adjust
        self.collinear = collinear
        self.missing = missing
        self.max_alm_iter = max_alm_iter
        self.max_fista_iter = max_fista_iter
        self.tol = tol
        self.fista_tol = fista_tol
        self.schedule = schedule
        self.penalty = penalty
        self.stability = stability
        self.orient = orient
        self.trials = trials
        self.time_limit = time_limit
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @not_reentrant
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
        AssumptionWarning
            If the table does not look like what the model assumes: few levels, codes for missing values, gross values,
            edges that rest on one row, row numbers, dependent rows, or curved relations. One warning of each kind names
            columns and rows.
        UserWarning
            If the columns have wildly different scales, if one is nearly a combination of others, or if no
            dependence was found between any of them.
        """
        options = Options.of(self, KINDS)
        self._forget()
        watch = Stopwatch(options.stage_observer())
        sample = read(X, groups, options, watch)
        if isinstance(sample, Rows | IncompleteRows):
            n, p = sample.values.shape
            ensure_within_limit(n, p, squares=p <= WIDE or n >= 2 * p)
        self._frames = frame_library(X)
        model = find(sample, options, watch)
        sample, options, estimate = model.sample, model.options, model.estimate
        self._keep_columns(sample)
        claimed = claim(model.learned, estimate, sample, options, watch)
        layer = measurement_layer(claimed.learned, estimate)
        found = audit_sample(sample, claimed.learned.sem, claimed.learned.columns, layer, estimate.location)
        claimed = lowered(claimed, found.spoiled)
        watch.lap("checks")
        learned = claimed.learned
        modelled = learned.modelled(estimate)
        self._keep_model(learned, estimate)
        warn_of_fit(learned, sample, estimate, options)
        self.fit_report_ = record_fit(claimed, model, found, watch)
        self.info_ = self.fit_report_.as_info()
        evidence = edge_evidence(claimed.evidence, learned, modelled, options.n_threads)
        moments = replace(sample_moments(modelled, sample, learned), layer=None if layer.is_empty else layer)
        self.graph_ = self._graph(evidence, moments, learned.columns)
        warn_if_empty(learned, self.precision_, sample.names, options)
        warn_of(found)
        return self

    edges = asks_graph(CausalGraph.edges)
    coefficients = asks_graph(CausalGraph.coefficients)
    total_effects = asks_graph(CausalGraph.total_effects)
    parents = asks_graph(CausalGraph.parents)
    children = asks_graph(CausalGraph.children)
    ancestors = asks_graph(CausalGraph.ancestors)
    descendants = asks_graph(CausalGraph.descendants)
    markov_blanket = asks_graph(CausalGraph.markov_blanket)
    subgraph = asks_graph(CausalGraph.subgraph)

    effect = asks_graph(CausalGraph.effect)
    joint_effects = asks_graph(CausalGraph.joint_effects)
    adjustment_sets = asks_graph(CausalGraph.adjustment_sets)
    d_separated = asks_graph(CausalGraph.d_separated)
    sample = asks_graph(CausalGraph.sample)

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

    bootstrap = bootstrap
    check = fitted.check
    falsify = fitted.falsify
    hidden_scores = fitted.hidden_scores
    report = fitted.report
    score = fitted.score

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

        By default there is a single round, which only proposes an order for the search; the figure then says so.

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> X = datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0)
        >>> figure = ICID(max_alm_iter=5, refine=None).fit(X).plot_convergence()
        """
        check_is_fitted(self, "graph_")
        history = self.info_["decomposition"]["history"]
        if not history:
            raise ValueError("the graph was searched for without a decomposition; refine=None fits one to the end")
        note = None
        if self.info_["refine"] is not None:
            note = "The decomposition only proposed a causal order, and stopped early; refine=None runs all of it."
        return plot_convergence(history, axes=axes, note=note)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        own: str = super().__repr__(N_CHAR_MAX)
        return f"{own}: {self.graph_._found()}" if hasattr(self, "graph_") else own

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters and their values, as scikit-learn has it.

        Examples
        --------
        >>> from icid_rs import ICID
        >>> ICID(transform="log").get_params()["transform"]
        'log'
        """
        own = vars(self)
        found = {name: own[name] for name in self._get_param_names()}
        if deep and hasattr(self.precision, "get_params") and not isinstance(self.precision, type):
            found |= {f"precision__{name}": value for name, value in self.precision.get_params().items()}
        return found

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

    def predict(self, X: Any, target: Any = None, *, do: Mapping[Any, ArrayLike] | None = None) -> NDArray[Any]:
        """Predict variables from others, as they are or after an intervention; see `CausalGraph.predict`.

        Without a target, X must have the columns of the fit; with `adjust`, always those that were adjusted for.

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0)
        >>> ICID(required=[(0, 1)]).fit(X).predict(X[:2], 1, do={0: 10.0}).round(0)
        array([8., 8.])
        """
        check_is_fitted(self, "graph_")
        if self._fitted_columns.adjustment is not None:
            return fitted.predict_given_covariates(self, self._fitted_columns.adjustment, X, target, do)
        if target is None:
            # All columns are predicted and read, so that they must be those of the fit, as scikit-learn has it.
            if issparse(X):
                raise ValueError(
                    "predictions of all variables of a sparse table are dense: pass X.toarray(), or a target"
                )
            rows = np.asarray(self._fitted_columns.complete_rows(X, self), dtype=np.float64)
            return self.graph_._predict_straight(rows, list(range(len(self.variables_))), None, do)
        return self.graph_.predict(X, target, do=do)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def names_(self) -> list[Any]:
        """Names of the variables, or their numbers; the same as `variables_`."""
        return list(self.variables_)

    def _forget(self) -> None:
        """Remove the results of an earlier fit, so that none of them is left if this one fails."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _learn(self, X: Any, groups: Any = None) -> Learned:
        """Learn the graph of a resample: a fit that sets nothing, without checks of assumptions, evidence of edges."""
        options, watch = Options.of(self, KINDS), Stopwatch()
        return find(read(X, groups, options, watch), options, watch).learned

    def _keep_columns(self, sample: Sample) -> None:
        """Keep the number and the names of the columns, as scikit-learn does, and which of them are variables."""
        encoding = sample.encoding
        self._fitted_columns, self.n_features_in_ = FittedColumns.of(sample), len(encoding.columns)
        self.variables_, self.dropped_ = encoding.names, encoding.dropped
        if self._fitted_columns.are_strings:
            self.feature_names_in_ = np.asarray(encoding.columns, dtype=object)

    def _keep_model(self, learned: Learned, estimate: Precision) -> None:
        """Set the attributes that hold the model."""
        self.location_, self.covariance_ = estimate.location, estimate.covariance
        if learned.columns is not None:
            self.location_ = learned.columns.means
            self.covariance_ = learned.columns.blocks.among_variables(estimate.covariance)
        self.precision_ = learned.modelled(estimate).theta
        layer = measurement_layer(learned, estimate)
        self.measurement_error_ = np.zeros(estimate.variables)
        if learned.measurement is not None:
            self.measurement_error_ = learned.measurement.layer.errors
        self.hidden_loadings_ = layer.loadings
        self.adjacency_matrix_, self.causal_order_ = learned.sem.B, learned.sem.order
        self.noise_variances_, self.status_ = learned.sem.noise_variances, learned.status
        self.cpdag_ = learned.cpdag

    def _graph(self, evidence: EdgeEvidence, moments: SampleMoments, columns: ColumnModel | None) -> CausalGraph:
        """Return the graph that answers questions about the fit, and is drawn and exported."""
        shared = ("adjacency_matrix_", "causal_order_", "cpdag_", "noise_variances_", "location_")
        parts = {name: getattr(self, name) for name in shared}
        described: dict[str, Any] = {
            "evidence_": evidence,
            "sample_": moments,
            "settings_": self._settings(),
            "info_": self._summary(),
        }
        described |= {"column_model_": columns, "curves_": self._fitted_columns.encoding.variable_curves}
        return CausalGraph._trusted(self.names_, **parts, **described, _library=self._frames)

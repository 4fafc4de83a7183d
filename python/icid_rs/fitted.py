"""Questions to a fitted model: those that its graph answers, and those about a table or the fit.

They become methods of `ICID`, which lies above this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from icid_rs._util.frames import frame_library
from icid_rs._util.randomness import RandomState
from icid_rs._util.validation import FloatArray, as_vector, listed
from icid_rs.data.adjustment import Adjustment
from icid_rs.data.blocks import Blocks
from icid_rs.data.encoding import encoded_among
from icid_rs.data.fitted_columns import FittedColumns
from icid_rs.data.frames import as_columns
from icid_rs.data.tables import Table, open_table
from icid_rs.graph.layer import Layer
from icid_rs.graph.mixed_answers import mixed_log_likelihood
from icid_rs.graph.sem import Csr, log_likelihood
from icid_rs.graph.variables import locate
from icid_rs.report import FitReport
from icid_rs.result import CausalGraph
from icid_rs.trust.check.check import Check, check_table
from icid_rs.trust.check.fit_indices import FitIndices, fit_indices
from icid_rs.trust.check.mixed import fitted_table
from icid_rs.trust.check.table import FittedTable, Measured
from icid_rs.trust.falsification import Falsification, falsify_table
from icid_rs.trust.page import Page
from icid_rs.trust.page_text import Report

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Fitted(Protocol):
    """The attributes of a fitted `ICID` that answers need."""

    missing: str
    graph_: CausalGraph
    fit_report_: FitReport
    names_: list[Any]
    adjacency_matrix_: Csr
    causal_order_: NDArray[np.intp] | None
    noise_variances_: FloatArray
    location_: FloatArray
    covariance_: Any
    hidden_loadings_: FloatArray
    measurement_error_: FloatArray
    _fitted_columns: FittedColumns


def asks_graph(
    method: Callable[Concatenate[CausalGraph, Arguments], Answer],
) -> Callable[Concatenate[Any, Arguments], Answer]:
    """Make a method that passes its arguments to ``self.graph_``, and raises NotFittedError without one.

    Signature and docstring are those of `method`, a method of the graph.

    Examples
    --------
    >>> from icid_rs import ICID, CausalGraph
    >>> from icid_rs.fitted import asks_graph
    >>> class Model(ICID):
    ...     causes = asks_graph(CausalGraph.parents)
    >>> model = Model(precision="precomputed").fit([[1.25, -0.5], [-0.5, 1.0]])
    >>> model.causes(1)
    [0]
    """

    @wraps(method)
    def ask(model: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        check_is_fitted(model, "graph_")
        return method(model.graph_, *args, **kwargs)

    return ask


def score(model: Fitted, X: Any, y: Any = None) -> float:
    """Compute the mean Gaussian log-likelihood of samples under the fitted model.

    Where columns were transformed, it is that of the transformed ones.

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
    check_is_fitted(model, "graph_")
    rows = model._fitted_columns.complete_rows(X, model, policy=model.missing)
    if model.graph_.column_model_ is not None:
        return mixed_log_likelihood(model.graph_.column_model_, np.asarray(rows))
    centred = rows - model.location_
    B, noise_variances, layer = model.adjacency_matrix_, model.noise_variances_, _layer(model)
    if not layer.is_empty:
        return layer.log_likelihood(centred, B, noise_variances)
    return log_likelihood(centred, B, noise_variances, is_acyclic=model.causal_order_ is not None)


def hidden_scores(model: Fitted, X: Any) -> FloatArray:
    """Estimate the hidden causes, row by row: their expectation given what was measured.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n, d)
        As for `fit`, with its columns in the same order and without missing values.

    Returns
    -------
    numpy.ndarray of shape (n, k)
        k is the number of hidden causes.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> B, noise_variances = datasets.random_sem(30, 1, random_state=0)
    >>> X = datasets.sample_sem(B, 1000, noise_variances=noise_variances, hidden=1, random_state=0)
    >>> ICID(hidden=1).fit(X).hidden_scores(X).shape
    (1000, 1)
    """
    check_is_fitted(model, "graph_")
    rows = model._fitted_columns.complete_rows(X, model)
    if model.graph_.column_model_ is not None:
        return np.zeros((len(rows), 0))
    return _layer(model).scores(rows - model.location_, model.adjacency_matrix_, model.noise_variances_)


def predict_given_covariates(
    model: Fitted, adjustment: Adjustment, X: Any, target: Any, do: Mapping[Any, ArrayLike] | None
) -> NDArray[Any]:
    """Predict variables from others and from the covariates that were adjusted for; see `ICID.predict`.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem([[0, 0.8, 1], [0, 0, 0], [0, 0, 0]], 500, random_state=0)
    >>> X[:, 1] += 3 * X[:, 2]
    >>> ICID(adjust=[2]).fit(X).predict([[1, 0, 5], [1, 0, 6]], 1).round(0)
    array([16., 19.])
    """
    graph, covariates, names = model.graph_, adjustment.covariates, model.names_
    graph._refuse_categories("predictions given what was adjusted for")
    table = as_columns(open_table(X))
    if not table.is_named:
        columns = covariates.columns
        if len(table.columns) != len(columns):
            raise ValueError(f"the data must have {len(columns)} columns, but they have {len(table.columns)}")
        table = replace(table, columns=columns, is_named=True)
    if missing := [repr(name) for name in covariates.names if name not in table.columns]:
        raise ValueError(f"predictions need the columns that were adjusted for, but there is no {listed(missing)}")
    beside, _ = encoded_among(table, covariates.names, covariates.blocks)
    values, present = encoded_among(table, names, Blocks.numbers(len(names)))
    effects = adjustment.effects_at(beside)
    settings = {}
    for name, value in (do or {}).items():
        vector = as_vector(value, len(values), f"do[{name!r}]")
        # Longer vectors are refused below.
        settings[name] = vector - effects[:, locate(name, names)] if len(vector) == len(values) else vector
    rows = Table((values - effects)[:, present], [names[j] for j in present])
    predicted = graph.predict(rows, target, do=settings)
    return np.asarray(predicted + (effects if target is None else effects[:, locate(target, names)]))


def check(model: Fitted, X: Any, groups: Any = None) -> Check:
    """Check whether a table looks like what the model assumes.

    The table is the one of the fit, or another with the same columns. It costs about as much as a fit at most.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n, d)
        As for `score`.
    groups : array of shape (n,), optional
        As for `fit`.

    Returns
    -------
    Check
        The assumptions, each with a verdict, the size of the departure, where it is, and a remedy; and indices of
        fit. ``print(check)`` shows them.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=1), 500, random_state=1)
    >>> model = ICID().fit(X)
    >>> X[:6, 2] = -999
    >>> model.check(X)["every number is a measurement"].where
    ('2 (-999 in 6 rows)',)
    """
    check_is_fitted(model, "graph_")
    return replace(check_table(_table(model, X, groups), _layer(model)), library=frame_library(X))


def report(model: Fitted, X: Any = None, groups: Any = None) -> Report:
    """Write a page about the fit, in plain words: the table, its faults, the graph, and what to do next.

    Edges are in three groups: with a known direction, with an open one, and weak ones.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n, d), optional
        The table of the fit. With it the page has all checks of `check`, without it those that the fit made.
    groups : array of shape (n,), optional
        As for `fit`.

    Returns
    -------
    str
        Notebooks show it with headings.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem([[0, 0.8], [0, 0]], 500, noise="exponential", random_state=0)
    >>> print(ICID().fit(X).report().splitlines()[5])
      500 rows and 2 columns were used.
    """
    check_is_fitted(model, "graph_")
    report = model.fit_report_
    if X is None:
        return Page(model.graph_, report, report.checks, _fit_indices(model), report.rows, is_thorough=False).text()
    checked = check(model, X, groups)
    return Page(model.graph_, report, checked.assumptions, checked.fit, report.rows, is_thorough=True).text()


def falsify(
    model: Fitted,
    X: Any,
    groups: Any = None,
    *,
    significance: float = 0.05,
    permutations: int = 200,
    random_state: RandomState = 0,
) -> Falsification:
    """Test the independences that the graph implies, and compare with the same graph with permuted names.

    Best done with rows that the fit did not use: on its own rows hardly any graph is falsified.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n, d)
        As for `score`.
    groups : array of shape (n,), optional
        As for `fit`.
    significance : float
        The graph is falsified if more than this share of permuted graphs violates no larger share of their
        independences, and informative if no more than this share is equivalent to it. It is the level of each test
        of independence too.
    permutations : int
        Permuted graphs.
    random_state : int, optional

    Returns
    -------
    Falsification

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem(datasets.random_dag(10, 1, random_state=1), 1000, random_state=1)
    >>> ICID().fit(X[:500]).falsify(X[500:]).falsified
    False
    """
    check_is_fitted(model, "graph_")
    if model.causal_order_ is None:
        raise ValueError("a graph with cycles implies no independences that could be tested; use dag='greedy'")
    model.graph_._refuse_categories("tests of independence by partial correlations")
    return falsify_table(
        _table(model, X, groups),
        _layer(model),
        significance=significance,
        permutations=permutations,
        random_state=random_state,
    )


def _layer(model: Fitted) -> Layer:
    """Return the measurement layer in the units of the columns; tables with categories have none."""
    if model.graph_.column_model_ is not None:
        return Layer.none(len(model.names_))
    return Layer(model.hidden_loadings_, model.measurement_error_ * model.covariance_.diagonal())


def _fit_indices(model: Fitted) -> FitIndices | None:
    """Return the indices of fit by the covariance of the fit; None without rows, a causal order or all covariances."""
    rows, order, covariance = model.fit_report_.rows, model.causal_order_, model.covariance_
    is_plain = model.graph_.column_model_ is None and isinstance(covariance, np.ndarray)
    if rows is None or order is None or not is_plain:
        return None
    return fit_indices(covariance - _layer(model).covariance, model.adjacency_matrix_, order, rows)


def _table(model: Fitted, X: Any, groups: Any) -> FittedTable:
    """Return the rows of a table beside the graph, with means taken out within groups."""
    columns = model._fitted_columns
    rows, cells, numbers = columns.parted_rows(X, model, policy=model.missing, least=3, groups=groups)
    layer, common = _layer(model), None
    if layer.hidden:
        # Rows of groups have mean zero already.
        location = 0.0 if groups is not None else model.location_
        common = layer.hidden_part(
            np.asarray(rows - location, dtype=np.float64), model.adjacency_matrix_, model.noise_variances_
        )
    described = (model.names_, model.adjacency_matrix_, model.causal_order_, model.graph_.column_model_)
    measured = Measured.of(rows, cells, columns.encoding, is_plain=groups is None and columns.adjustment is None)
    return fitted_table(
        rows, *described, consecutive=numbers is None, cells=cells, numbers=numbers, common=common, measured=measured
    )

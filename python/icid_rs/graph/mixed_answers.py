"""Samples and predictions of a graph in which some variables are categories.

Categories are drawn and predicted by their linear probabilities, as regressions on their causes give them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import FloatArray, listed
from icid_rs.graph.mixed import ColumnModel


def setting_columns(values: Any, rows: int, levels: Sequence[Any] | None, name: Any) -> FloatArray:
    """Return the columns of a variable that is set from outside; raise unless the values are its levels, or numbers.

    Examples
    --------
    >>> from icid_rs.graph.mixed_answers import setting_columns
    >>> setting_columns("blue", 2, ("red", "green", "blue"), "colour")
    array([[0., 1.],
           [0., 1.]])
    """
    given = np.asarray(values, dtype=np.float64 if levels is None else object)
    given = np.full(rows, given.item(), dtype=given.dtype) if given.ndim == 0 else given
    if given.shape != (rows,):
        raise ValueError(f"do[{name!r}] has shape {given.shape}, but there are {rows} rows")
    if levels is None:
        if not np.isfinite(given).all():
            raise ValueError(f"do[{name!r}] must be finite")
        return given[:, None]
    place = {level: k for k, level in enumerate(levels)}
    if unknown := [value for value in given.tolist() if value not in place]:
        raise ValueError(
            f"do[{name!r}] = {unknown[0]!r}, which is none of its levels {listed([repr(level) for level in levels])}"
        )
    codes = np.array([place[value] for value in given.tolist()])
    return np.asarray(codes[:, None] == np.arange(1, len(levels)), dtype=np.float64)


def probabilities(columns: FloatArray) -> FloatArray:
    """Return the probability of each level from expected indicators, which may fall outside of 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.mixed_answers import probabilities
    >>> probabilities(np.array([[0.25, 0.25], [-0.5, 1.0]]))
    array([[0.5       , 0.25      , 0.25      ],
           [0.33333333, 0.        , 0.66666667]])
    """
    shares = np.maximum(np.hstack([1.0 - columns.sum(axis=1, keepdims=True), columns]), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def labels(columns: FloatArray, levels: Sequence[Any] | None) -> NDArray[Any]:
    """Return the values of a variable from its columns: numbers, or the most probable levels.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.mixed_answers import labels
    >>> labels(np.array([[0.1, 0.2], [0.1, 0.8]]), ("red", "green", "blue"))
    array(['red', 'blue'], dtype=object)
    """
    if levels is None:
        return np.asarray(columns[:, 0])
    return np.asarray(_objects(levels)[probabilities(columns).argmax(axis=1)])


def draw_mixed(
    model: ColumnModel,
    order: NDArray[np.intp],
    n: int,
    settings: Mapping[int, FloatArray],
    residuals: FloatArray | None,
    rng: np.random.Generator,
) -> list[NDArray[Any]]:
    """Draw all variables, causes first; `settings` hold the columns of those that are set.

    The noise of numbers is drawn from `residuals` of shape (k, p), or Gaussian without them.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.graph.mixed import ColumnModel
    >>> from icid_rs.graph.mixed_answers import draw_mixed
    >>> blocks = Blocks.of([("a", "b", "c"), None])
    >>> weights = sp.csr_array(([3.0], ([1], [2])), shape=(3, 3))
    >>> model = ColumnModel(blocks, weights, sp.csr_array(np.diag([1, 1, 1e-12])), np.array([0.2, 0.2, 0.6]))
    >>> fixed = {0: np.array([[0.0, 1.0]])}
    >>> kind, size = draw_mixed(model, np.arange(2), 1, fixed, None, np.random.default_rng(0))
    >>> kind, size.round(2)
    (array(['c'], dtype=object), array([3.]))
    """
    blocks = model.blocks
    columns = np.zeros((n, blocks.columns))
    deviations = np.sqrt(model.residuals.diagonal())
    drawn: list[NDArray[Any]] = [np.zeros(0)] * blocks.variables
    for j in order.tolist():
        part, levels = blocks.part(j), blocks.levels[j]
        if j in settings:
            columns[:, part] = settings[j]
        else:
            expected = model.location[part] + (columns - model.location) @ model.weights[:, part]
            if levels is None:
                noise = rng.standard_normal(n)
                own = None if residuals is None else residuals[:, part.start]
                if own is not None and own.std() > 0:
                    noise = own[rng.integers(len(own), size=n)] / own.std()
                columns[:, part.start] = expected[:, 0] + noise * deviations[part.start]
            else:
                bounds = np.cumsum(probabilities(expected), axis=1)
                codes = np.minimum((rng.random(n)[:, None] > bounds).sum(axis=1), len(levels) - 1)
                columns[:, part] = codes[:, None] == np.arange(1, len(levels))
        drawn[j] = labels(columns[:, part], levels)
    return drawn


def predict_mixed(
    model: ColumnModel, X: FloatArray, known: Sequence[int], target: int, settings: Mapping[int, FloatArray]
) -> NDArray[Any]:
    """Predict a variable from others and from settings, whose effects are not among the known ones.

    Parameters
    ----------
    model : ColumnModel
    X : array of shape (n, p)
        Only the columns of known variables are read.
    known : sequence of int
    target : int
    settings : mapping
        Columns of the variables that are set.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.graph.mixed import ColumnModel
    >>> from icid_rs.graph.mixed_answers import predict_mixed
    >>> blocks = Blocks.of([("a", "b", "c"), None])
    >>> weights = sp.csr_array(([3.0], ([1], [2])), shape=(3, 3))
    >>> model = ColumnModel(blocks, weights, sp.csr_array(np.diag([0.2, 0.2, 1.0])), np.array([0.2, 0.2, 0.6]))
    >>> predict_mixed(model, np.array([[0.0, 1.0, 0.0]]), [0], 1, {})
    array([3.])
    """
    blocks, location = model.blocks, model.location
    part, levels = blocks.part(target), blocks.levels[target]
    if target in settings:
        return labels(settings[target], levels)
    is_set = np.isin(blocks.variable_of, list(settings))
    free = np.flatnonzero(~is_set)
    weights = model.weights.toarray()
    # Total effects among the columns that are not set: row on column.
    total = np.linalg.inv(np.eye(len(free)) - weights[np.ix_(free, free)])
    covariance = total.T @ model.residuals.toarray()[np.ix_(free, free)] @ total
    own = np.flatnonzero((free >= part.start) & (free < part.stop))
    given = np.flatnonzero(np.isin(blocks.variable_of[free], list(known)))
    expected = np.tile(location[part], (len(X), 1))
    if len(given):
        on_given = np.linalg.solve(covariance[np.ix_(given, given)], covariance[np.ix_(given, own)])
        expected += (X[:, free[given]] - location[free[given]]) @ on_given
    for j, columns in settings.items():
        # What is known is no effect of the settings, so that they add to its prediction.
        cause = blocks.part(j)
        expected += (columns - location[cause]) @ weights[cause][:, free] @ total[:, own]
    return labels(expected, levels)


def mixed_log_likelihood(model: ColumnModel, X: FloatArray) -> float:
    """Return the mean log-density of rows, indicators taken as Gaussian, as searches take them.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.graph.mixed import ColumnModel
    >>> from icid_rs.graph.mixed_answers import mixed_log_likelihood
    >>> model = ColumnModel(Blocks.numbers(1), sp.csr_array((1, 1)), sp.eye_array(1).tocsr(), np.zeros(1))
    >>> round(mixed_log_likelihood(model, np.zeros((3, 1))), 4)
    -0.9189
    """
    centred = X - model.location
    left = np.asarray(centred - centred @ model.weights)
    value = 0.0
    for j in range(model.blocks.variables):
        part = model.blocks.part(j)
        covariance = model.residuals[part][:, part].toarray()
        own = left[:, part]
        squares = np.einsum("ij,ij->i", own, np.linalg.solve(covariance, own.T).T)
        value -= 0.5 * float(np.linalg.slogdet(2 * np.pi * covariance)[1] + squares.mean())
    return value


def _objects(levels: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(levels), dtype=object)
    array[:] = list(levels)
    return array

"""Samples and predictions of a graph in which some variables are set from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from icid_rs._util.validation import FloatArray
from icid_rs.graph.estimation import Network
from icid_rs.graph.layer import Layer
from icid_rs.graph.sem import Csr


def draw_noise(
    n: int, variances: FloatArray, residuals: FloatArray | None, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw noise for each variable by itself: residuals with replacement, or Gaussian without them.

    Residuals are scaled to the noise variances, so that means and covariances are those of the model.

    Returns
    -------
    numpy.ndarray of shape (d, n)

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.interventions import draw_noise
    >>> noise = draw_noise(4, np.array([4.0]), np.array([[-1.0], [1.0]]), np.random.default_rng(0))
    >>> np.abs(noise)
    array([[2., 2., 2., 2.]])
    """
    noise = rng.standard_normal((len(variances), n))
    for j, own in enumerate([] if residuals is None else residuals.T):
        if own.std() > 0:
            noise[j] = own[rng.integers(len(own), size=n)] / own.std()
    return noise * np.sqrt(variances)[:, None]


def draw_sample(
    network: Network, location: FloatArray, noise: FloatArray, settings: Mapping[int, FloatArray]
) -> FloatArray:
    """Compute all variables from their causes and their noise, causes first; `settings` replace the equations of some.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.estimation import Network
    >>> from icid_rs.graph.interventions import draw_sample
    >>> B = sp.csr_array([[0, 2.0], [0, 0]])
    >>> draw_sample(Network(B, B.T.tocsr(), np.arange(2), "ab"), np.zeros(2), np.ones((2, 1)), {0: np.array([3.0])})
    array([[3., 7.]])
    """
    centred = np.array(noise)
    for j in network.order.tolist():
        if j in settings:
            centred[j] = settings[j] - location[j]
            continue
        causes = network.parents(j)
        own = slice(network.columns.indptr[j], network.columns.indptr[j + 1])
        if causes:
            centred[j] += network.columns.data[own] @ centred[causes]
    return np.ascontiguousarray(centred.T) + location


def predict(
    network: Network,
    location: FloatArray,
    noise_variances: FloatArray,
    X: FloatArray,
    observed: list[int],
    target: int,
    settings: Mapping[int, FloatArray],
    layer: Layer | None = None,
) -> FloatArray:
    """Predict a variable from others that were observed, after some variables have been set.

    Observed variables that the settings affect are ignored: their values were taken before. The others, and the
    settings, enter the best linear prediction, which is the conditional mean where noise is Gaussian.

    Parameters
    ----------
    X : array of shape (n, d)
        Only the observed columns are read.
    layer : Layer, optional
        Hidden causes and errors of what is observed and predicted.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.estimation import Network
    >>> from icid_rs.graph.interventions import predict
    >>> B = sp.csr_array([[0, 2.0], [0, 0]])
    >>> network, X = Network(B, B.T.tocsr(), np.arange(2), "ab"), np.array([[3.0, 0.0]])
    >>> predict(network, np.zeros(2), np.ones(2), X, [0], 1, {})
    array([6.])
    >>> predict(network, np.zeros(2), np.ones(2), X, [0], 1, {0: np.array([1.0])})
    array([2.])
    """
    if target in settings:
        return np.array(settings[target])
    moved = {k for i in settings for k in network.descendants(i)}
    known = sorted(set(observed) - moved - {target})
    free = [i for i in range(network.B.shape[0]) if i not in settings]
    if layer is None:
        weights = _conditional_weights(network.B, noise_variances, free, known, target)
    else:
        weights = _measured_weights(network.B, noise_variances, layer, free, known, target)
    prediction = location[target] + (X[:, known] - location[known]) @ weights
    if settings:
        shifts = np.array([settings[i] - location[i] for i in settings])
        # What is known is no effect of the settings, so that they add to its prediction.
        prediction += _effects_of_settings(network.B, free, list(settings), target) @ shifts
    return np.asarray(prediction)


def predict_each(
    B: Csr, location: FloatArray, noise_variances: FloatArray, X: FloatArray, layer: Layer | None = None
) -> FloatArray:
    """Predict each variable from all others, without an intervention: by its row of the precision matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.graph.interventions import predict_each
    >>> predict_each(sp.csr_array([[0, 2.0], [0, 0]]), np.zeros(2), np.ones(2), np.array([[1.0, 2.5]]))
    array([[1., 2.]])
    """
    theta: Any = _precision(B, noise_variances)
    if layer is not None:
        theta = np.linalg.inv(np.linalg.inv(theta.toarray()) + layer.covariance)
    return np.asarray(X - np.asarray((X - location) @ theta) / theta.diagonal())


def _precision(B: Csr, noise_variances: FloatArray) -> Csr:
    """Return the inverse covariance that a graph implies."""
    A = sp.csr_array(sp.eye_array(B.shape[0]) - B)
    return sp.csr_array(A @ sp.diags_array(1.0 / noise_variances) @ A.T)


def _conditional_weights(
    B: Csr, noise_variances: FloatArray, free: list[int], known: list[int], target: int
) -> FloatArray:
    """Return the weights of known variables in the conditional mean of a target, from the sparse precision matrix."""
    if not known:
        return np.zeros(0)
    theta = _precision(B[free][:, free], noise_variances[free])
    place, given = {i: k for k, i in enumerate(free)}, set(known)
    hidden = [place[i] for i in free if i not in given]
    unit = np.zeros(len(hidden))
    unit[hidden.index(place[target])] = 1.0
    solved = splu(sp.csc_array(theta[hidden][:, hidden])).solve(unit)
    return np.asarray(-(theta[[place[i] for i in known]][:, hidden] @ solved))


def _measured_weights(
    B: Csr, noise_variances: FloatArray, layer: Layer, free: list[int], known: list[int], target: int
) -> FloatArray:
    """Return the weights of known variables in the conditional mean of a target, where hidden causes act on both."""
    noise = np.sqrt(noise_variances)[:, None]
    to_known = noise * np.linalg.inv(np.eye(B.shape[0]) - B.toarray())[:, known]
    to_target = np.zeros(B.shape[0])
    # What was set keeps its own noise from the target.
    among = np.linalg.inv(np.eye(len(free)) - B[free][:, free].toarray())
    to_target[free] = noise[free, 0] * among[:, free.index(target)]
    own, shared = layer.loadings[known], layer.loadings[target]
    covariance = to_known.T @ to_known + own @ own.T + np.diag(layer.errors[known])
    return np.asarray(np.linalg.solve(covariance, to_known.T @ to_target + own @ shared))


def draw_measured(
    X: FloatArray, layer: Layer, settings: Mapping[int, FloatArray], rng: np.random.Generator
) -> FloatArray:
    """Add hidden causes and errors of measurement to drawn variables, but for those that were set.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.interventions import draw_measured
    >>> from icid_rs.graph.layer import Layer
    >>> layer = Layer(np.array([[1.0], [1.0]]), np.zeros(2))
    >>> X = draw_measured(np.zeros((3, 2)), layer, {}, np.random.default_rng(0))
    >>> bool((X[:, 0] == X[:, 1]).all())
    True
    """
    added = rng.standard_normal((len(X), layer.hidden)) @ layer.loadings.T
    added += rng.standard_normal(X.shape) * np.sqrt(layer.errors)
    added[:, list(settings)] = 0.0
    return np.asarray(X + added)


def _effects_of_settings(B: Csr, free: list[int], settings: list[int], target: int) -> FloatArray:
    """Return the joint effects of the variables that are set on a target."""
    unit = np.zeros(len(free))
    unit[free.index(target)] = 1.0
    to_target = splu(sp.csc_array(sp.eye_array(len(free)) - B[free][:, free])).solve(unit)
    return np.asarray(B[settings][:, free] @ to_target)

"""Projection onto acyclic graphs (the paper's Algorithm 4)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import expm_multiply

from icid_rs import _core
from icid_rs._util.randomness import RandomState, generator
from icid_rs._util.validation import FloatArray, as_csr, csr_from_parts, csr_parts
from icid_rs.graph.sem import Csr

Method = Literal["greedy", "exptrace"]

#: Components of the graph up to this size take the dense matrix exponential.
_DENSE_SIZE = 400
#: Rank of the factors that stand for the exponential of larger ones.
_RANK = 64


def project_to_dag(B: Any, method: Method = "greedy", *, required: Any = None, random_state: RandomState = 0) -> Csr:
    """Make a graph acyclic by dropping edges.

    Parameters
    ----------
    B : array or sparse matrix of shape (d, d)
        Weights; ``B[i, j] != 0`` means i → j. The diagonal is dropped.
    method : {"greedy", "exptrace"}
        ``"greedy"``: take the heaviest edges first, and leave out any that closes a cycle. ``"exptrace"``: Algorithm 4
        of the paper, which first shrinks the edges on cycles by gradient steps on h(B) = tr exp|B|, then takes them in
        the order of the shrunken weights.
    required : sparse matrix of shape (d, d), optional
        Edges of B, acyclic, that are kept whatever their weight.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of the random factors that ``"exptrace"`` uses on large strongly connected components.

    Returns
    -------
    scipy.sparse.csr_array of shape (d, d)
        Edges of B, with their weights in B.

    Examples
    --------
    >>> from icid_rs import project_to_dag
    >>> project_to_dag([[0, 2, 0], [0, 0, -3], [1, 0, 0]]).toarray()
    array([[ 0.,  2.,  0.],
           [ 0.,  0., -3.],
           [ 0.,  0.,  0.]])
    """
    return acyclic_graph(B, method, required=required, random_state=random_state)[0]


def acyclic_graph(
    B: Any, method: Method = "greedy", *, required: Any = None, random_state: RandomState = 0
) -> tuple[Csr, NDArray[np.intp]]:
    """Make a graph acyclic as `project_to_dag` does; return its causal order too.

    Examples
    --------
    >>> from icid_rs.decomposition.acyclic import acyclic_graph
    >>> acyclic_graph([[0, 0.1], [5, 0]])[1]
    array([1, 0])
    """
    B = as_csr(B, "B")
    if method == "greedy" and required is None:
        return _heaviest(B)
    if method not in ("greedy", "exptrace"):
        raise ValueError(f"method = {method!r}: it must be 'greedy' or 'exptrace'")
    # An entry that is not finite is reported by the greedy projection, with its place.
    if B.shape[0] != B.shape[1] or not np.isfinite(B.data).all():
        return _heaviest(B)
    B = sp.csr_array(B - sp.diags_array(B.diagonal(), format="csr"))
    B.eliminate_zeros()
    left = abs(B)
    if method == "exptrace" and left.nnz:
        # Only the ratios of weights matter, and division by a power of two keeps them exactly.
        left.data = np.ldexp(left.data, -int(np.frexp(left.data.max())[1]))
        left = _shrink_cycles(left, generator(random_state))
    if required is not None:
        # Heavier than all others, required edges are taken first.
        left = sp.csr_array(left + (left.max() + 1.0) * as_csr(required, "required").astype(bool))
    kept, order = _heaviest(left)
    return sp.csr_array(B.multiply(kept.astype(bool))), order


def _heaviest(B: Csr) -> tuple[Csr, NDArray[np.intp]]:
    """Take the heaviest edges that close no cycle; return their causal order too."""
    parts, order = _core.heaviest_acyclic(csr_parts(B))
    return csr_from_parts(parts, B.shape[0]), order.astype(np.intp)


def trace_exponential(W: Any, *, rank: int | None = None, random_state: RandomState = 0) -> tuple[float, Any]:
    """Compute h(W) = tr exp(W) for W ≥ 0, and its gradient exp(W)ᵀ where W is not zero.

    Only edges inside a strongly connected component lie on cycles, so each component is treated on its own.

    Parameters
    ----------
    W : sparse matrix of shape (d, d)
        Absolute weights.
    rank : int, optional
        Approximate exp(W) − I by a product of factors with so many columns, which need only products of the exponential
        with vectors, in the manner of LoRAM (Dong and Sebag 2022); exact once the rank is that of exp(W) − I. By
        default small components are dense, and large ones have rank 64.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of the factors.

    Returns
    -------
    value : float
    gradient : scipy.sparse.csr_array of shape (d, d)

    Examples
    --------
    >>> from icid_rs.decomposition.acyclic import trace_exponential
    >>> import numpy as np, scipy.sparse as sp
    >>> value, gradient = trace_exponential(sp.csr_array([[0, 1.0], [1.0, 0]]))
    >>> bool(np.isclose(value, 2 * np.cosh(1)))
    True
    """
    W = as_csr(W, "W")
    rng = generator(random_state)
    gradient = W.copy()
    gradient.data = np.zeros_like(W.data)
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    count, labels = connected_components(W, directed=True, connection="strong")
    sizes = np.bincount(labels, minlength=count)
    # A component of one variable has only its loop.
    value = float(np.sum(np.exp(W.diagonal()[sizes[labels] == 1])))
    loops, inside = rows == W.indices, labels[rows] == labels[W.indices]
    gradient.data[loops] = np.exp(W.data[loops])
    for label in np.flatnonzero(sizes > 1):
        members = np.flatnonzero(labels == label)
        entries = np.flatnonzero(inside & (labels[rows] == label))
        part = W[members][:, members]
        i, j = np.searchsorted(members, rows[entries]), np.searchsorted(members, W.indices[entries])
        if rank is None and members.size <= _DENSE_SIZE:
            exponential = expm(part.toarray())
            value += float(np.trace(exponential))
            gradient.data[entries] = exponential[j, i]
        else:
            Q, P = _exponential_factors(part, min(rank or _RANK, members.size), rng)
            value += members.size + float(np.sum(Q * P))
            # The exponential of W ≥ 0 has no negative entries, but its approximation may have.
            gradient.data[entries] = np.maximum(np.einsum("kr,kr->k", Q[j], P[i]) + (i == j), 0.0)
    return value, gradient


def _exponential_factors(W: Any, rank: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Find Q and P with exp(W) − I ≈ Q Pᵀ, by one random range finder with a power step (Halko et al. 2011)."""

    def apply(A: Any, V: FloatArray) -> FloatArray:
        return np.asarray(expm_multiply(A, V, traceA=float(A.diagonal().sum()))) - V

    transposed = W.T.tocsr()
    sketch = apply(W, rng.standard_normal((W.shape[0], rank)))
    Q, _ = np.linalg.qr(apply(transposed, sketch))
    Q, _ = np.linalg.qr(apply(W, Q))
    return Q, apply(transposed, Q)


def _shrink_cycles(W: Any, rng: np.random.Generator) -> Any:
    """Alternate between the weights and a proximal point of h (Algorithm 4) until the weights on cycles are small."""
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    _, labels = connected_components(W, directed=True, connection="strong")
    on_cycles = labels[rows] == labels[W.indices]
    if not on_cycles.any():
        return W
    # The paper's c₀: scaled by it, the exponential neither overflows nor loses the long cycles.
    scale = 1.0 / _spectral_radius(W)
    start = W.data * scale
    left = W.copy()
    left.data = start.copy()
    tolerance = 1e-3 * np.count_nonzero(on_cycles)
    mix, gamma = 0.5, 1.0
    seed = int(rng.integers(2**31))
    for _ in range(12):
        target = (1.0 - mix) * start + mix * left.data
        left.data = _proximal_point(left, target, gamma, seed)
        value, _ = trace_exponential(left, random_state=seed)
        if value - W.shape[0] <= tolerance:
            break
        gamma *= 3.0
    # Edges that were shrunk to zero come after all others, in the order of their weights.
    left.data = np.maximum(left.data + 1e-12 * start, np.finfo(np.float64).tiny)
    return left


def _proximal_point(W: Any, target: FloatArray, gamma: float, seed: int) -> FloatArray:
    """Take a projected gradient step on h(W) + ‖W − target‖² / γ from the target that decreases it sufficiently.

    As in the paper, one such point stands for the proximal map.
    """
    point = W.copy()
    point.data = target
    value, gradient = trace_exponential(point, random_state=seed)
    step = gamma / 2.0
    for _ in range(8):
        moved: FloatArray = np.maximum(target - step * gradient.data, 0.0)
        change = moved - target
        point.data = moved
        new_value, _ = trace_exponential(point, random_state=seed)
        if new_value + float(change @ change) / gamma <= value + float(gradient.data @ change) / 2:
            return moved
        step /= 2.0
    return target


def _spectral_radius(W: Any) -> float:
    """Bound the spectral radius of W ≥ 0 from above by a few products (the largest ratio of Collatz and Wielandt)."""
    largest = W.data.max()
    W = W / largest
    v = np.ones(W.shape[0])
    bound = np.inf
    for _ in range(50):
        # Shifted and floored, so that no entry of v vanishes.
        u = W @ v + 1e-3 * v
        bound = min(bound, float(np.max(u / v)))
        v = np.maximum(u / u.max(), 1e-100)
    return float(bound * largest)

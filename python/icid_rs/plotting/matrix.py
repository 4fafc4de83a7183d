"""Θ beside B, both in the causal order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from icid_rs._util.validation import FloatArray, as_csr
from icid_rs.decomposition.acyclic import acyclic_graph
from icid_rs.plotting import style

#: Cells along a side; a larger matrix shows the strongest entry of a block in each.
_MOST_CELLS = 250


def plot_matrix(
    precision: Any, adjacency: Any, names: Sequence[Any] | None = None, *, order: Any = None, axes: Any = None
) -> Any:
    """Draw the inverse covariance Θ beside the weights B, rows and columns in the causal order.

    Θ is scaled to a unit diagonal, so that its entries are partial correlations but for their sign; the diagonal itself
    is grey. In the causal order B lies above its diagonal.

    Parameters
    ----------
    precision, adjacency : arrays or sparse matrices of shape (d, d)
    names : sequence of d names, optional
    order : array of shape (d,), optional
        Causes first.
    axes : two matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.plotting import plot_matrix
    >>> B = np.array([[0, 0.8, 0], [0, 0, -0.5], [0, 0, 0]])
    >>> figure = plot_matrix((np.eye(3) - B) @ (np.eye(3) - B).T, B, ["rain", "wet", "slow"])
    >>> [label.get_text() for label in figure.axes[1].get_yticklabels()]
    ['rain', 'wet', 'slow']
    """
    style.require_matplotlib("plot_matrix")
    theta, B = as_csr(precision, "precision"), as_csr(adjacency, "adjacency")
    d = B.shape[0]
    if theta.shape != B.shape:
        raise ValueError(f"precision has shape {theta.shape}, but adjacency {B.shape}")
    order = acyclic_graph(B)[1] if order is None else np.asarray(order)
    labels = [style.shorten(name) for name in (range(d) if names is None else names)]
    if axes is None:
        axes = style.new_figure(11, 5).subplots(1, 2, gridspec_kw={"wspace": 0.45 if d <= style.MOST_NAMES else 0.25})
    scale = sp.diags_array(1 / np.sqrt(theta.diagonal()))
    pictures = ((scale @ theta @ scale, "inverse covariance Θ, unit diagonal"), (B, "weights B"))
    for ax, (matrix, title) in zip(axes, pictures, strict=True):
        _draw(ax, sp.coo_array(matrix[order][:, order]), title, [labels[i] for i in order])
    axes[1].set_ylabel("cause", color=style.MUTED)
    axes[1].set_xlabel("effect", color=style.MUTED)
    return axes[0].figure


def _draw(ax: Any, matrix: Any, title: str, labels: list[str]) -> None:
    from matplotlib.colors import ListedColormap

    d = matrix.shape[0]
    off = matrix.row != matrix.col
    _, limit, linear_width = style.strengths(matrix.data[off])
    block = -(-d // _MOST_CELLS)
    extent = (-0.5, d - 0.5, d - 0.5, -0.5)
    shared = {"extent": extent, "interpolation": "nearest", "aspect": "equal"}
    image = ax.imshow(
        _strongest(matrix.row[off] // block, matrix.col[off] // block, matrix.data[off], -(-d // block)),
        cmap=style.diverging_map(neutral="white"),
        norm=style.diverging_norm(limit, linear_width),
        **shared,
    )
    if not off.all():
        diagonal = np.where(np.eye(min(d, 4 * _MOST_CELLS), dtype=bool), 1.0, np.nan)
        ax.imshow(diagonal, cmap=ListedColormap([style.LINE]), **shared)
    note = "" if block == 1 else f"\neach cell: the strongest entry of {block} × {block}"
    ax.set_title(title + note, fontsize=10, color=style.INK, loc="left")
    ax.tick_params(labelsize=8)
    style.finish_heat_map(ax, image, labels)


def _strongest(row: Any, column: Any, data: FloatArray, cells: int) -> FloatArray:
    """Return for each cell the entry with the largest absolute value in it."""
    image = np.zeros((cells, cells))
    weakest_first = np.argsort(np.abs(data), kind="stable")
    image[row[weakest_first], column[weakest_first]] = data[weakest_first]
    return image

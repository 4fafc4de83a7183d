"""How sure the edges are, from resampled data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from icid_rs._util.validation import FloatArray
from icid_rs.plotting import style


def plot_bootstrap(
    probabilities: Any,
    names: Sequence[Any] | None = None,
    *,
    order: Any = None,
    n: int | None = None,
    top: int = 20,
    axes: Any = None,
) -> Any:
    """Draw the probabilities of the edges: all as a heat map, the highest as bars.

    A bar shows how often the edge was found, and its pale end how often the same two variables were joined the other
    way round: where that is long they belong together, but which one is the cause is not sure.

    Parameters
    ----------
    probabilities : array of shape (d, d), or a result of a bootstrap
        ``[i, j]``: the share of resamples with i → j. From a result, `names` and `n` are taken too.
    names : sequence of d names, optional
    order : array of shape (d,), optional
        The order of rows and columns; by default variables that are causes more often come first.
    n : int, optional
        The number of resamples, for the title.
    top : int
        How many bars.
    axes : two matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from icid_rs.plotting import plot_bootstrap
    >>> figure = plot_bootstrap([[0, 0.9, 0], [0.1, 0, 0.6], [0, 0, 0]], ["rain", "wet", "slow"])
    >>> [label.get_text() for label in figure.axes[1].get_yticklabels()]
    ['rain → wet', 'wet → slow', 'wet → rain']
    """
    style.require_matplotlib("plot_bootstrap")
    names = getattr(probabilities, "names", None) if names is None else names
    n = getattr(probabilities, "n", None) if n is None else n
    P = style.probability_matrix(probabilities)
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise ValueError(f"probabilities must be a square matrix, but its shape is {P.shape}")
    if not ((P >= 0) & (P <= 1)).all():
        raise ValueError("probabilities must lie between 0 and 1")
    labels = [style.shorten(name) for name in (range(len(P)) if names is None else names)]
    order = np.argsort(P.sum(axis=0) - P.sum(axis=1), kind="stable") if order is None else np.asarray(order)
    if axes is None:
        figure = style.new_figure(11.5, 5.2)
        axes = figure.subplots(1, 2, gridspec_kw={"width_ratios": [1.15, 1], "wspace": 0.55})
    _draw_heat_map(axes[0], P[np.ix_(order, order)], [labels[i] for i in order])
    _draw_bars(axes[1], P, labels, top)
    resamples = "" if n is None else f", {n} resamples"
    axes[0].set_title(f"probability of each edge{resamples}", fontsize=10, color=style.INK, loc="left")
    return axes[0].figure


def _draw_heat_map(ax: Any, P: FloatArray, labels: list[str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("icid probability", ["white", "#8fb8dc", style.NEGATIVE, "#0b2f52"])
    image = ax.imshow(P, cmap=colours, vmin=0, vmax=1, interpolation="nearest")
    style.finish_heat_map(ax, image, labels)
    ax.set_ylabel("cause", color=style.MUTED)
    ax.set_xlabel("effect", color=style.MUTED)


def _draw_bars(ax: Any, P: FloatArray, labels: list[str], top: int) -> None:
    row, column = np.nonzero(P)
    strongest = np.lexsort((column, row, -P[row, column]))[:top]
    row, column = row[strongest], column[strongest]
    there, back = P[row, column], P[column, row]
    y = np.arange(row.size)
    reverse = ax.barh(y, back, left=there, height=0.62, color="#d5dbe3", label="the other way round")
    ax.barh(y, there, height=0.62, color=style.NEGATIVE, label="as written")
    ax.bar_label(reverse, [f"{value:.2f}" for value in there], padding=4, fontsize=8, color=style.MUTED)
    ax.set_yticks(y, [f"{labels[i]} → {labels[j]}" for i, j in zip(row, column, strict=True)], fontsize=8.5)
    for tick in ax.get_yticklabels():
        tick.set_parse_math(False)
    ax.set_ylim(max(row.size, 1) - 0.4, -0.6)
    ax.set_xlim(0, 1.12)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1.0])
    ax.tick_params(length=0, colors=style.MUTED)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(style.LINE)
    ax.set_title("edges found most often", fontsize=10, color=style.INK, loc="left", pad=24)
    if row.size:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=2,
            frameon=False,
            fontsize=8,
            labelcolor=style.MUTED,
            borderpad=0.2,
            borderaxespad=0.2,
            handlelength=1,
            reverse=True,
        )

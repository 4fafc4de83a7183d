"""How the solver came to its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icid_rs.plotting import style

#: Quantities that are drawn if they were recorded, and whether on a logarithmic axis.
_PANELS = {"objective": False, "optimality": True, "residual": True}


def plot_convergence(history: Sequence[Mapping[str, Any]], *, axes: Any = None, note: str | None = None) -> Any:
    """Draw objective, optimality and residual over the iterations.

    Parameters
    ----------
    history : sequence of dict
        Records of rounds, as in ``Decomposition.history`` and ``model.info_["decomposition"]["history"]``, or those
        that a callback was given: ``records = []; decompose(theta, callback=records.append)`` collects them every ten
        iterations.
    axes : sequence of matplotlib.axes.Axes, optional
        One for each of the three quantities that the records have.
    note : str, optional
        A line above the panels. A history of one record, which is a single point, is explained in any case.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from icid_rs import datasets, decompose
    >>> from icid_rs.plotting import plot_convergence
    >>> theta = datasets.sem_precision(datasets.random_dag(20, 1, random_state=0))
    >>> figure = plot_convergence(decompose(theta).history)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['objective', 'optimality', 'residual']
    """
    style.require_matplotlib("plot_convergence")
    if not history:
        raise ValueError("history is empty: the solver recorded nothing")
    by_round = "iterations" in history[0]
    x = np.array([record["iterations" if by_round else "iteration"] for record in history])
    x = np.cumsum(x) if by_round else x
    panels = [name for name in _PANELS if name in history[0]]
    if axes is None:
        axes = style.new_figure(6, 1 + 1.4 * len(panels)).subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        axes[0].figure.subplots_adjust(
            left=0.16, right=0.96, top=0.9 if note or len(history) == 1 else 0.96, bottom=0.14, hspace=0.15
        )
    marker = "o" if len(history) <= 30 else ""
    for ax, name in zip(axes, panels, strict=True):
        y = np.array([record[name] for record in history], dtype=np.float64)
        if len(y) == 1:
            ax.annotate(f"{y[0]:.4g}", (x[0], y[0]), xytext=(8, 4), textcoords="offset points", color=style.MUTED)
        ax.plot(x, y, marker=marker, markersize=4, linewidth=1.2, color=style.NEGATIVE)
        if _PANELS[name] and (y > 0).all():
            ax.set_yscale("log")
        ax.set_ylabel(name, color=style.INK)
        ax.tick_params(which="both", colors=style.MUTED, labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(style.LINE)
        ax.grid(axis="y", color="#eceff2", linewidth=0.8)
    lines = [note] if note else []
    if len(history) == 1:
        lines.append(f"One record: a round of {x[0]} iterations. More rounds, max_alm_iter > 1, show a course.")
    if lines:
        axes[0].set_title("\n".join(lines), fontsize=7.5, color=style.MUTED, loc="left")
    axes[-1].set_xlabel("iterations, at the end of each round" if by_round else "iterations", color=style.INK)
    return axes[0].figure

"""Common to all pictures: labels, the scale of the weights, colours, figures of matplotlib."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icid_rs._util.extras import require
from icid_rs._util.validation import FloatArray, as_csr

#: Blue for negative and orange for positive weights: told apart with any common colour blindness.
NEGATIVE, NEUTRAL, POSITIVE = "#1f6fb4", "#b9bec6", "#d5620e"
INK, MUTED, LINE = "#1c2430", "#68717d", "#c3c9d1"
#: Longest label, in characters.
_LONGEST = 19
#: A heat map of at most this many variables has names at its rows and columns.
MOST_NAMES = 40


def shorten(name: Any) -> str:
    """Return a label for a name: on one line, and with its middle left out if it is long.

    Examples
    --------
    >>> from icid_rs.plotting.style import shorten
    >>> shorten("left superior temporal gyrus")
    'left superi…al gyrus'
    """
    label = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    if len(label) <= _LONGEST + 1:
        return label or "·"
    head = (_LONGEST + 4) // 2
    return f"{label[:head]}…{label[head - _LONGEST :]}"


def label_widths(labels: Sequence[str]) -> FloatArray:
    """Estimate how wide labels are with room around them, in units of the font size."""

    def width(character: str) -> float:
        if unicodedata.east_asian_width(character) in "WF":
            return 1.05
        return 0.35 if character in "ijlI.,:;|!'()[] " else 0.85 if character in "mwMW%@" else 0.63

    return np.array([max(1.5, 1.0 + sum(map(width, label))) for label in labels])


def strengths(weights: ArrayLike) -> tuple[FloatArray, float, float]:
    """Map weights to [−1, 1] for colours and widths: in proportion, or by asinh where they differ by magnitudes.

    Returns
    -------
    strengths : array
    limit : float
        The weight that is mapped to 1.
    linear_width : float
        Where the asinh bends; infinite for a map in proportion.

    Examples
    --------
    >>> from icid_rs.plotting.style import strengths
    >>> strengths([0.5, -2])[0]
    array([ 0.25, -1.  ])
    """
    values = np.asarray(weights, dtype=np.float64)
    sizes = np.abs(values[values != 0])
    if not sizes.size:
        return np.zeros_like(values), 1.0, np.inf
    limit, typical = float(sizes.max()), float(np.median(sizes))
    if limit <= 10 * typical:
        return values / limit, limit, np.inf
    return np.arcsinh(values / typical) / np.arcsinh(limit / typical), limit, typical


def probability_matrix(probabilities: Any) -> FloatArray:
    """Return a dense matrix, from one of any kind or from a result of a bootstrap."""
    matrix = getattr(probabilities, "edge_probabilities", probabilities)
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


def edge_confidence(confidence: Any, source: NDArray[np.intp], target: NDArray[np.intp], d: int) -> FloatArray | None:
    """Return the probability of each edge, from a matrix of them or a result that has one."""
    if confidence is None:
        return None
    matrix = probability_matrix(confidence)
    if matrix.shape != (d, d):
        raise ValueError(
            f"confidence must have shape {(d, d)}, one probability for each pair, but it has {matrix.shape}"
        )
    values = matrix[source, target]
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("confidence must hold probabilities, between 0 and 1")
    return values


def edge_flags(matrix: Any, source: NDArray[np.intp], target: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tell which edges are nonzero in a matrix; none if there is none."""
    if matrix is None:
        return np.zeros(source.size, dtype=bool)
    flagged = as_csr(matrix, "reversible")
    row, column = flagged.nonzero()
    return np.isin(source * flagged.shape[1] + target, row.astype(np.intp) * flagged.shape[1] + column)


def require_matplotlib(caller: str) -> None:
    """Raise ImportError, with the command that installs matplotlib, if it is missing."""
    require("matplotlib", caller, "plot")


def new_figure(width: float, height: float) -> Any:
    """Make a figure that pyplot does not know, so that its memory is freed once it is no longer used."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    show_in_notebook(figure, figure)
    return figure


def show_in_notebook(result: Any, figure: Any) -> None:
    """Make a notebook show the figure if `result` is the value of a cell; it shows others only from pyplot."""
    result._repr_png_ = partial(_png, figure)


def _png(figure: Any) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()


def finish_heat_map(ax: Any, image: Any, labels: Sequence[str]) -> None:
    """Name the rows and columns of a heat map, if there is room, and draw its scale beside it."""
    if len(labels) <= MOST_NAMES:
        size = min(9.0, 250 / len(labels))
        ax.set_xticks(range(len(labels)), labels, rotation=90, fontsize=size, parse_math=False)
        ax.set_yticks(range(len(labels)), labels, fontsize=size, parse_math=False)
    ax.tick_params(length=0, colors=MUTED)
    ax.spines[:].set_color(LINE)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.045, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=8, labelcolor=MUTED)


def diverging_map(*, neutral: str = NEUTRAL) -> Any:
    """Return a colour map from negative over `neutral` to positive."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("icid", [NEGATIVE, neutral, POSITIVE])


def diverging_norm(limit: float, linear_width: float) -> Any:
    """Return the scale of `strengths` for colour bars."""
    from matplotlib.colors import AsinhNorm, Normalize

    return Normalize(-limit, limit) if np.isinf(linear_width) else AsinhNorm(linear_width, -limit, limit)

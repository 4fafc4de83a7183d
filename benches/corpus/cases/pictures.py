"""Drawings and pages of graphs: their whole text, which holds every position."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import matplotlib as mpl
import pandas as pd
from benches.corpus.cases.common import EQUAL, GAUSSIAN, SKEWED, Cases

from icid_rs import ICID, CausalGraph, bootstrap, plotting

_DATA = {"equal": EQUAL, "gaussian": GAUSSIAN, "skewed": SKEWED}


def svg(drawn: Any) -> str:
    """Return a drawing as SVG without its date; axes may come in a list."""
    axes = drawn.ravel()[0] if hasattr(drawn, "ravel") else drawn[0] if isinstance(drawn, list | tuple) else drawn
    text = io.StringIO()
    # Identifiers in the file are random without a salt.
    with mpl.rc_context({"svg.hashsalt": "corpus"}):
        axes.figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def resampled(model: ICID) -> Any:
    """Bootstrap the first rows of a table, few times."""
    X = pd.DataFrame(EQUAL.rows[:200], columns=model.names_)
    return bootstrap(model, X, 5, progress=False)


_PICTURES: dict[str, Callable[[ICID], str]] = {
    "plot": lambda model: svg(model.plot()),
    "plot without isolated": lambda model: svg(model.plot(isolated=False)),
    "plot with confidence": lambda model: svg(model.plot(confidence=abs(model.adjacency_matrix_).sign().toarray() / 2)),
    "plot_matrix": lambda model: svg(model.plot_matrix()),
    "plot_convergence": lambda model: svg(model.plot_convergence()),
    "plot_bootstrap": lambda model: svg(plotting.plot_bootstrap(resampled(model))),
    "html": lambda model: model.to_html(),
    "html with confidence": lambda model: model.to_html(confidence=resampled(model), title="Weather"),
}


def draw(picture: Callable[[ICID], str], data: Any) -> str:
    """Fit a frame, and draw the graph."""
    return picture(ICID(trials=50).fit(pd.DataFrame(data.rows, columns=data.names)))


def cases() -> Cases:
    """Yield names and functions."""
    for (label, data), (name, picture) in product(_DATA.items(), _PICTURES.items()):
        yield f"picture/{label}/{name}", partial(draw, picture, data)
    yield "picture/cyclic", lambda: svg(CausalGraph([[0, 1.0], [1.0, 0]], ["rain", "wet"]).plot())
    yield "picture/plot_graph", lambda: svg(plotting.plot_graph(GAUSSIAN.weights))

"""What can be seen of a fitted model: plots, a page for the browser, a summary in notebooks."""

from __future__ import annotations

from os import PathLike
from typing import Any

import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from icid_rs import plotting, web
from icid_rs.export.files import write_atomically


class PictureMixin:
    """Pictures of what has found, or holds, a graph."""

    def plot(self, ax: Any = None, *, confidence: Any = None, isolated: bool = True) -> Any:
        """Draw the graph in layers, causes left of effects; see `icid_rs.plotting.plot_graph`.

        Edges whose direction the data do not determine are dashed.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure, which pyplot does not know: save it with ``ax.figure.savefig``,
            or pass ``plt.gca()`` to see it in a window.
        confidence : array of shape (d, d), or a result of a bootstrap, optional
            Probabilities of the edges; the less sure, the paler.
        isolated : bool
            Whether variables without edges are drawn.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> model = ICID().fit(datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0))
        >>> model.plot().texts[-1].get_text()
        '10 variables, 10 edges'
        """
        return plotting.plot_graph(**self._drawn(), confidence=self._sure(confidence), isolated=isolated, ax=ax)

    def plot_matrix(self, axes: Any = None) -> Any:
        """Draw Θ beside B, both in the causal order; see `icid_rs.plotting.plot_matrix`.

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> model = ICID().fit(datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0))
        >>> figure = model.plot_matrix()
        """
        drawn = self._drawn()
        precision = self.precision_  # type: ignore[attr-defined]
        return plotting.plot_matrix(precision, drawn["adjacency"], drawn["names"], order=drawn["order"], axes=axes)

    def plot_convergence(self, axes: Any = None) -> Any:
        """Draw how the decomposition converged, round by round; see `icid_rs.plotting.plot_convergence`.

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> X = datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0)
        >>> figure = ICID(max_alm_iter=5, refine=None).fit(X).plot_convergence()
        """
        self._drawn()
        history = self.info_["decomposition"]["history"]  # type: ignore[attr-defined]
        return plotting.plot_convergence(history, axes=axes)

    def to_html(
        self, path: str | PathLike[str] | None = None, *, confidence: Any = None, title: str = "Causal graph"
    ) -> str | None:
        """Write a page that shows the graph in any browser: move, zoom, search, filter, click for causes and effects.

        Everything is in the one file, and nothing is loaded from a network.

        Parameters
        ----------
        path : path, optional
            The file, written as a whole or not at all; without it the page is returned.
        confidence : array of shape (d, d), or a result of a bootstrap, optional
            Probabilities of the edges, to be shown and filtered by.
        title : str

        Returns
        -------
        str or None

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> model = ICID().fit(datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0))
        >>> model.to_html()[:15]
        '<!doctype html>'
        """
        page = web.render_page(**self._drawn(), confidence=self._sure(confidence), title=title)
        if path is None:
            return page
        write_atomically(path, page)
        return None

    def _sure(self, confidence: Any) -> Any:
        """Return the confidence that was given, or else what the graph has of its own."""
        return getattr(self, "confidence_", None) if confidence is None else confidence

    def _drawn(self) -> dict[str, Any]:
        """Gather what every picture of the graph needs."""
        model: Any = self
        if isinstance(self, BaseEstimator):
            check_is_fitted(self, "adjacency_matrix_")
        reversible = None
        if (getattr(model, "info_", None) or {}).get("identified") == "equivalence class":
            cpdag = sp.csr_array(model.cpdag_)
            reversible = cpdag.multiply(cpdag.T)
        return {
            "adjacency": model.adjacency_matrix_,
            "names": model._names(),
            "order": model.causal_order_,
            "reversible": reversible,
        }


class NotebookMixin:
    """A summary of the graph above scikit-learn's own picture of the estimator, once it is fitted."""

    def _repr_html_inner(self) -> str:
        own: str = super()._repr_html_inner()  # type: ignore[misc]
        return self._summary_html() + own

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._summary_html() + bundle["text/html"]
        return bundle

    def _summary_html(self) -> str:
        model: Any = self
        if not hasattr(model, "adjacency_matrix_"):
            return ""
        facts = {"noise variances": model.info_["noise"]}
        if model.info_["identified"] is not None:
            facts["what the data determine"] = _IDENTIFIED[model.info_["identified"]]
        return web.summarise(**model._drawn(), title="Causal graph", facts=facts)


_IDENTIFIED = {
    "graph": "the graph with all its directions",
    "equivalence class": "the graph but for the directions of some edges (see cpdag_)",
    "partly": "the graph but for the directions of a few edges (see cpdag_)",
}

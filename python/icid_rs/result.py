"""The graph that users hold: `CausalGraph`, with its exports and pictures."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal, Self

from icid_rs._util.files import write_atomically
from icid_rs.export import dot, formats, networks, schema, tables, tools, web
from icid_rs.graph.conventions import Convention
from icid_rs.plotting.graph import drawing, plot_graph
from icid_rs.predictions import PredictingGraph


class CausalGraph(PredictingGraph):
    """A weighted graph with named variables: its data, questions about it, exports and pictures.

    A fitted `ICID` has one as ``graph_``; `load` and `subgraph` return one.

    Parameters
    ----------
    adjacency_matrix : array or sparse matrix of shape (d, d)
        Weights; ``[i, j] != 0`` means i → j.
    names : sequence of length d, optional
        Without them, variables are numbered.
    causal_order : array of shape (d,), optional
        The variables, causes first; computed by default.
    cpdag : sparse matrix of shape (d, d), optional
        The equivalence class, as `equivalence_class` returns it; computed by default.
    noise_variances, location : array of shape (d,), optional
        The variance of each variable that its causes leave unexplained, and its mean.
    confidence : array or sparse matrix of shape (d, d), optional
        ``[i, j]`` is the probability of i → j, a column of `edges`.
    evidence : EdgeEvidence, optional
        What each edge rests on, in the order of the entries of the matrix in CSR form. Without it, directions are taken
        for known; if `cpdag` is given, they are known but for its reversible edges, which are ``"open"``.
    settings, info : mapping, optional
        Parameters of the estimator that found the graph, and its report.
    column_model : ColumnModel, optional
        The equations by column, where some variables are categories of more than two levels. The means are then its
        own.
    curves : mapping, optional
        Curves that straighten variables, by their numbers: the graph is then one of straightened variables, in the
        units of the table, and `sample` and `predict` map them back.

    Attributes
    ----------
    adjacency_matrix_, causal_order_, cpdag_, noise_variances_, location_, info_
        As those of `ICID`. ``causal_order_`` and ``cpdag_`` are None if the graph has a cycle, ``noise_variances_`` and
        ``location_`` if they are not known.
    confidence_ : scipy.sparse.csr_array or None
    evidence_ : EdgeEvidence
        In the order of the entries of ``adjacency_matrix_``. Open edges are reversible in ``cpdag_``.
    settings_ : dict
    names_ : list
    curves_ : mapping
    column_model_ : ColumnModel or None
        The equations of a graph with categories of more than two levels. An entry of ``adjacency_matrix_`` at such a
        category is the strength of the edge; `coefficients` has the equation.

    Examples
    --------
    >>> from icid_rs import CausalGraph
    >>> graph = CausalGraph([[0, 0.5, 0], [0, 0, 2.0], [0, 0, 0]], ["rain", "wet", "slippery"])
    >>> graph
    CausalGraph(3 variables, 2 edges)
    >>> graph.ancestors("slippery")
    ['rain', 'wet']
    """

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Read a ``networkx.DiGraph``.

        Parameters
        ----------
        graph : networkx.DiGraph
            Edges may have a ``weight``, which is 1 by default; the other attributes that `to_networkx` writes are read
            too. If the graph has an attribute ``convention``, it gives the direction of the edges.

        Returns
        -------
        CausalGraph

        Examples
        --------
        >>> import networkx as nx
        >>> from icid_rs import CausalGraph
        >>> CausalGraph.from_networkx(nx.DiGraph([("rain", "wet")])).children("rain")
        ['wet']
        """
        return networks.from_networkx(graph, cls)

    def plot(self, ax: Any = None, *, confidence: Any = None, isolated: bool = True) -> Any:
        """Draw the graph in layers, causes left of effects; see `icid_rs.plotting.plot_graph`.

        Edges whose direction is open have no arrowhead; colour and width show standardised weights.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure, which pyplot does not know: save it with ``ax.figure.savefig``,
            or pass ``plt.gca()`` to see it in a window.
        confidence : array of shape (d, d), or a result of a bootstrap, optional
            Probabilities of the edges; the less sure, the paler. By default those of a bootstrap, or the stability of
            the directions, where one of these is known.
        isolated : bool
            Whether variables without edges are drawn.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> from icid_rs import ICID, datasets
        >>> model = ICID().fit(datasets.sample_sem(datasets.random_dag(10, 1, random_state=0), 500, random_state=0))
        >>> "10 variables, 10 edges" in [text.get_text() for text in model.plot().texts]
        True
        """
        confidence = self.confidence_ if confidence is None else confidence
        return plot_graph(**drawing(self), confidence=confidence, isolated=isolated, ax=ax)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        confidence: Any = None,
        title: str = "Causal graph",
        report: str | None = None,
    ) -> str | None:
        """Write a page that shows the graph in any browser: move, zoom, search, filter, click for causes and effects.

        Edges whose direction is open have no arrowhead; pointing at an edge shows what it rests on. Variables can be
        dragged, and the picture saved as SVG or PNG.

        Everything is in the one file, and nothing is loaded from a network.

        Parameters
        ----------
        path : path, optional
            The file, written as a whole or not at all; without it the page is returned.
        confidence : array of shape (d, d), or a result of a bootstrap, optional
            Probabilities of the edges, to be shown and filtered by.
        title : str
        report : str, optional
            Text that the page shows beside the graph, such as a report on the fit.

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
        page = web.to_html(self, confidence=confidence, title=title, report=report)
        if path is None:
            return page
        write_atomically(path, page)
        return None

    def to_networkx(self, *, convention: Convention = "row_to_column") -> Any:
        """Return a ``networkx.DiGraph``.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}
            The convention of the matrix that ``networkx.to_numpy_array`` then returns. With ``"column_to_row"`` arrows
            point from effects to causes. It is kept as the graph's attribute ``convention``.

        Returns
        -------
        networkx.DiGraph
            The names are nodes, with ``noise_variance``, ``mean`` and ``order`` (their place in the causal order);
            edges have a ``weight``, the evidence that is known (columns of `edges`), and say whether they are
            ``reversible`` (in ``cpdag_``).

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_networkx().edges["rain", "wet"]["weight"]
        0.5
        """
        return networks.to_networkx(self, convention=convention)

    def to_pandas(self, *, convention: Convention = "row_to_column") -> Any:
        """Return the weights as a data frame, with the names on both sides; `edges` returns a list of them.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}

        Returns
        -------
        pandas.DataFrame of shape (d, d)
            Its axes are called ``source`` and ``target``.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_pandas()  # doctest: +NORMALIZE_WHITESPACE
        target  rain  wet
        source
        rain     0.0  0.5
        wet      0.0  0.0
        """
        return tables.to_pandas(self, convention=convention)

    def to_json(self) -> str:
        """Return JSON that holds all of the graph: see `icid_rs.export.schema` for its members.

        Edges name their source and their target, so there is no convention to choose.

        Examples
        --------
        >>> import json
        >>> from icid_rs import CausalGraph
        >>> json.loads(CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_json())["edges"]
        [{'source': 'rain', 'target': 'wet', 'weight': 0.5, 'direction': 'knowledge', 'reversible': True}]
        """
        return schema.to_json(self)

    def to_graphml(self, *, convention: Convention = "row_to_column") -> str:
        """Return GraphML, with the attributes of nodes and edges that `to_networkx` sets.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}
            See `to_networkx`.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> "rain" in CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_graphml()
        True
        """
        return networks.to_graphml(self, convention=convention)

    def to_dot(self, *, convention: Convention = "row_to_column") -> str:
        """Return DOT for Graphviz, with rounded weights as labels; open edges have no arrowhead.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}
            With ``"column_to_row"`` arrows point from effects to causes.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> print(CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_dot())
        digraph {
          "rain";
          "wet";
          "rain" -> "wet" [label="0.5"];
        }
        <BLANKLINE>
        """
        return dot.to_dot(self, convention=convention)

    def to_csv(self, *, convention: Convention = "row_to_column", spreadsheet: bool = False) -> str:
        """Return the edges as CSV, strongest first, with a header.

        Columns are those of `edges`, but for those of which nothing is known.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}
            With ``"column_to_row"`` the target comes first, for programs that read rows and columns of a matrix.
        spreadsheet : bool
            Names are written as they are, so that they are the same when read back. A spreadsheet takes a name that
            begins with ``=``, ``+``, ``-`` or ``@`` for a formula and may run it: for names from a source you do not
            trust, and a file to be opened there, True puts an apostrophe before these.

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> print(CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_csv())
        source,target,weight,direction
        rain,wet,0.5,knowledge
        <BLANKLINE>
        """
        return tables.to_csv(self, convention=convention, spreadsheet=spreadsheet)

    def to_dowhy(self, data: Any = None) -> Any:
        """Return a model for DoWhy's ``gcm``, with the weights of the graph; it needs no fitting.

        Parameters
        ----------
        data : array or data frame of shape (n, d), optional
            Noise is then drawn from its residuals. Without data it is Gaussian, with the noise variances of the graph.

        Returns
        -------
        dowhy.gcm.InvertibleStructuralCausalModel

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> graph = CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"], noise_variances=1.0)
        >>> model = graph.to_dowhy()  # doctest: +SKIP
        >>> gcm.interventional_samples(model, {"rain": lambda x: 1.0}, num_samples_to_draw=100)  # doctest: +SKIP
        """
        return tools.to_dowhy(self, data)

    def to_causallearn(self, kind: Literal["dag", "cpdag"] = "dag") -> Any:
        """Return a graph of causal-learn.

        Parameters
        ----------
        kind : {"dag", "cpdag"}
            The graph, or its equivalence class, where reversible edges are undirected.

        Returns
        -------
        causallearn.graph.GeneralGraph.GeneralGraph

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_causallearn()  # doctest: +SKIP
        """
        return tools.to_causallearn(self, kind)

    def save(self, /, path: str | PathLike[str], **options: Any) -> None:
        """Write the graph to a file, completely or not at all.

        Parameters
        ----------
        path : path
            Its suffix chooses the format: ``.json`` (`to_json`), ``.graphml`` (`to_graphml`), ``.dot`` or ``.gv``
            (`to_dot`), ``.csv`` (`to_csv`), ``.html`` (`to_html`), or ``.png``, ``.svg`` or ``.pdf`` (`plot`).
            `icid_rs.load` reads the JSON, GraphML and CSV.
        **options
            Of that method.

        Examples
        --------
        >>> import os, tempfile
        >>> from icid_rs import CausalGraph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).save(os.path.join(folder, "graph.dot"))
        """
        formats.save(self, path, **options)

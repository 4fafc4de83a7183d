"""The methods that lead out of a graph, of a fitted model and of a loaded one."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

from icid_rs.export.conventions import Convention
from icid_rs.graph import GraphHolder


class ExportMixin(GraphHolder):
    """Ways out to files and other libraries.

    Wherever a result is a matrix, or is read as one, ``convention`` says which way its entries point:
    ``"row_to_column"``, as everywhere in this package, or ``"column_to_row"``.
    """

    def to_networkx(self, *, convention: Convention = "row_to_column") -> Any:
        """Return a ``networkx.DiGraph``.

        Parameters
        ----------
        convention : {"row_to_column", "column_to_row"}
            What ``networkx.to_numpy_array`` makes of the graph. With ``"column_to_row"`` arrows point from effects to
            causes. The graph's attribute ``convention`` says which it was.

        Returns
        -------
        networkx.DiGraph
            The names are nodes, with ``noise_variance``, ``mean`` and ``order`` (their place in the causal order);
            edges have a ``weight``, and say whether they are ``reversible`` (in ``cpdag_``).

        Examples
        --------
        >>> from icid_rs import CausalGraph
        >>> CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_networkx().edges["rain", "wet"]["weight"]
        0.5
        """
        from icid_rs.export.networks import to_networkx

        return to_networkx(self._checked(), convention)

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
        from icid_rs.export.tables import to_pandas

        return to_pandas(self._checked(), convention)

    def to_json(self) -> str:
        """Return JSON that holds all of the graph: see `icid_rs.export.schema` for its members.

        Edges name their source and their target, so there is no convention to choose.

        Examples
        --------
        >>> import json
        >>> from icid_rs import CausalGraph
        >>> json.loads(CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).to_json())["edges"]
        [{'source': 'rain', 'target': 'wet', 'weight': 0.5, 'reversible': True}]
        """
        from icid_rs.export.schema import to_json

        return to_json(self._checked())

    def to_graphml(self, *, convention: Convention = "row_to_column") -> str:
        """Return GraphML, with what `to_networkx` puts on nodes and edges.

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
        from icid_rs.export.networks import to_graphml

        return to_graphml(self._checked(), convention)

    def to_dot(self, *, convention: Convention = "row_to_column") -> str:
        """Return DOT for Graphviz, with rounded weights as labels.

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
        from icid_rs.export.dot import to_dot

        return to_dot(self._checked(), convention)

    def to_csv(self, *, convention: Convention = "row_to_column", spreadsheet: bool = False) -> str:
        """Return the edges as CSV, strongest first, with a header.

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
        source,target,weight
        rain,wet,0.5
        <BLANKLINE>
        """
        from icid_rs.export.tables import to_csv

        return to_csv(self._checked(), convention, spreadsheet=spreadsheet)

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
        from icid_rs.export.tools import to_dowhy

        return to_dowhy(self._checked(), data)

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
        from icid_rs.export.tools import to_causallearn

        return to_causallearn(self._checked(), kind)

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the graph to a file, all of it or nothing.

        Parameters
        ----------
        path : path
            Its suffix says what is written: ``.json`` (`to_json`), ``.graphml`` (`to_graphml`), ``.dot`` or ``.gv``
            (`to_dot`), ``.csv`` (`to_csv`), ``.html`` (`to_html`). `icid_rs.load` reads the JSON, GraphML and CSV.
        **options
            Of that method.

        Examples
        --------
        >>> import os, tempfile
        >>> from icid_rs import CausalGraph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     CausalGraph([[0, 0.5], [0, 0]], ["rain", "wet"]).save(os.path.join(folder, "graph.dot"))
        """
        from icid_rs.export.formats import save

        save(self._checked(), path, **options)

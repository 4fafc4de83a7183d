"""A complete graph as JSON, for programs in any language.

Version 2 is an object with these members:

==================== ==================================================================================================
``format``           ``"icid_rs.graph"``
``version``          ``2``; a member may be added without a new number, but none changes its meaning
``library``          the program that wrote the file, such as ``"icid_rs 0.2.0"``
``names``            of the variables, in the order of the columns: strings, or integers
``noise_variances``  one for each variable, or null
``means``            one for each variable, or null
``causal_order``     the names, causes first, or null if the graph has cycles
``edges``            a list of objects, strongest first: ``source`` and ``target``, names of the cause and its effect;
                     ``weight``; ``reversible``, whether other graphs of the equivalence class have the edge the other
                     way round (null if the graph has cycles); ``direction``, what the direction rests on:
                     ``"compelled"``, ``"shape"``, ``"variance"``, ``"knowledge"``, or ``"open"``. Numbers, where they
                     are known: ``standardised``, the weight in standard deviations; ``std_error`` and ``p_value`` of
                     the weight, given the graph; ``stability`` and ``joined``, shares of resamples with this direction
                     and with an edge either way; ``margin``, the score lost by the best graph with the edge reversed;
                     ``confidence``, a probability
``columns``          only where variables are categories of more than two levels, whose edges have their strength for
                     ``weight`` and whose means are null. An object with lists, one entry for each variable: ``levels``
                     (null for a number; of a category the reference first, without a column), ``means`` of its columns,
                     and ``residuals``, their covariance given the causes; and ``weights``, a list of objects with
                     ``source``, ``target`` and ``rows``, a row for each column of the source
``transforms``       only where columns were straightened, which the other members are then about: a list with null for
                     a straight variable, or an object with its ``kind``: ``"normal-scores"`` with ascending lists
                     ``values`` and ``straightened``, between which lines run; or ``"log"`` with ``mean``, ``slope``
                     and ``middle``: mean + slope · (log x − middle)
``sample``           only where it is known and there are at most 500 columns: what effects are estimated from. An
                     object with ``samples``, how many rows there were in effect, or null; and ``covariances``, the
                     lower triangle row by row, of straightened columns. Only where the fit took hidden causes or errors
                     of measurement out of these: ``loadings``, a row for each column, and ``errors``, variances
``settings``         parameters of the estimator
``info``             its choices, and how the solver ended
==================== ==================================================================================================

Version 1 has the same members, but of the edges only ``weight``, ``reversible`` and ``confidence``.

Numbers are written with as many digits as it takes to read the same bits back.
"""

from __future__ import annotations

import json
import math
from importlib.metadata import version
from typing import Any

import numpy as np

from icid_rs._util.validation import check_real
from icid_rs.export.categories import column_records, read_columns
from icid_rs.export.edge_lists import Graph, build_graph, edge_records, evidence_columns
from icid_rs.export.samples import read_sample, sample_record
from icid_rs.graph.curves import read_curves
from icid_rs.graph.edges import known_values
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.graph.variables import as_plain

FORMAT = "icid_rs.graph"
VERSION = 2


def to_json(graph: NamedGraph) -> str:
    """Write JSON; see `CausalGraph.to_json`."""
    names = as_plain(graph.names_, "JSON")
    order = graph.causal_order_
    head = {
        "format": FORMAT,
        "version": VERSION,
        "library": f"icid_rs {version('icid_rs')}",
        "names": names,
        "noise_variances": _list(graph.noise_variances_),
        "means": _list(graph.location_),
        "causal_order": None if order is None else [names[i] for i in order],
        "settings": _plain(graph.settings_),
        "info": _plain(graph.info_),
    }
    if graph.column_model_ is not None:
        head["columns"] = column_records(graph.column_model_, graph.adjacency_matrix_, names)
    if graph.curves_:
        head["transforms"] = [graph.curves_[k].as_record() if k in graph.curves_ else None for k in range(len(names))]
    if (sample := sample_record(graph.sample_)) is not None:
        head["sample"] = sample
    members = [f"  {json.dumps(key)}: {_dump(value)}" for key, value in head.items()]
    edges = ",\n".join(f"    {_dump(edge)}" for edge in edge_records(graph, names))
    members.append('  "edges": [\n' + edges + "\n  ]" if edges else '  "edges": []')
    return "{\n" + ",\n".join(members) + "\n}\n"


def from_json(text: str, kind: type[Graph]) -> Graph:
    """Read the JSON of `to_json` as a graph of class `kind`; a ValueError names the member that is wrong.

    Examples
    --------
    >>> from icid_rs import CausalGraph
    >>> from icid_rs.export.schema import from_json
    >>> from_json(CausalGraph([[0, 0.1], [0, 0]]).to_json(), CausalGraph).adjacency_matrix_.toarray()
    array([[0. , 0.1],
           [0. , 0. ]])
    """
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not valid JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"not a graph written by icid_rs: it must be an object with the format {FORMAT!r}")
    number = content.get("version")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(f"version = {number!r}: it must be a positive integer")
    if number > VERSION:
        raise ValueError(f"version = {number}: this icid_rs reads versions up to {VERSION}; install a newer one")
    return _Reader(content).graph(kind)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _list(vector: Any) -> list[float | None] | None:
    return None if vector is None else known_values(vector)


def _plain(value: Any) -> Any:
    """Convert settings to types of JSON; other objects become their descriptions."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return repr(value)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"not valid JSON: it holds {name}, which is no number")


class _Reader:
    """Checks the members of a file, and builds the graph."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        self.names = self._names()
        self.position = {name: k for k, name in enumerate(self.names)}

    def graph(self, kind: type[Graph]) -> Graph:
        edges = self._list("edges")
        sources, targets = ([self._end(k, edge, end) for k, edge in enumerate(edges)] for end in ("source", "target"))
        weights = self._numbers(edges, "weight")
        confident = bool(edges) and all("confidence" in edge for edge in edges)
        ordered = self.content.get("causal_order") is not None
        columns = read_columns(self.content.get("columns"), self.position)
        graph = build_graph(
            kind,
            self.names,
            sources,
            targets,
            weights,
            reversible=self._reversible(edges),
            confidence=self._numbers(edges, "confidence") if confident else None,
            evidence=self._evidence(edges),
            causal_order=[self._place(x, "causal_order") for x in self._list("causal_order")] if ordered else None,
            noise_variances=self._vector("noise_variances"),
            location=self._vector("means") if columns is None else None,
            column_model=columns,
            curves=read_curves(self.content.get("transforms"), len(self.names)),
            settings=self._object("settings"),
            info=self._object("info"),
        )
        width = len(self.names) if columns is None else columns.blocks.columns
        graph.sample_ = read_sample(self.content.get("sample"), width)
        return graph

    def _numbers(self, edges: list[dict[str, Any]], key: str) -> list[float]:
        return [_number(edge.get(key), f"edges[{k}].{key}") for k, edge in enumerate(edges)]

    def _evidence(self, edges: list[dict[str, Any]]) -> dict[str, list[Any]]:
        columns = evidence_columns(edges)
        for name, values in columns.items():
            for k, value in enumerate(values):
                if name == "direction" and not isinstance(value, str | None):
                    raise ValueError(f"edges[{k}].direction must be a string, not {value!r}")
                if name != "direction" and value is not None:
                    values[k] = _number(value, f"edges[{k}].{name}")
        return columns

    def _names(self) -> list[Any]:
        names = self._list("names")
        for k, name in enumerate(names):
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise ValueError(f"names[{k}] must be a string or an integer, not {name!r}")
        return names

    def _list(self, key: str) -> list[Any]:
        values = self.content.get(key)
        if not isinstance(values, list):
            raise ValueError(f"{key} must be a list")
        return values

    def _object(self, key: str) -> dict[str, Any]:
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            raise ValueError(f"{key} must be an object")
        return value

    def _vector(self, key: str) -> Any:
        if self.content.get(key) is None:
            return None
        return np.array([_number(value, f"{key}[{k}]") for k, value in enumerate(self._list(key))])

    def _end(self, k: int, edge: Any, end: str) -> int:
        if not isinstance(edge, dict):
            raise ValueError(f"edges[{k}] must be an object")
        return self._place(edge.get(end), f"edges[{k}].{end}")

    def _place(self, name: Any, where: str) -> int:
        if not isinstance(name, str | int) or isinstance(name, bool) or name not in self.position:
            raise ValueError(f"{where}: {name!r} is not among the names")
        return self.position[name]

    def _reversible(self, edges: list[dict[str, Any]]) -> list[bool] | None:
        values = [edge.get("reversible") for edge in edges]
        if not values or all(value is None for value in values):
            return None
        for k, value in enumerate(values):
            if not isinstance(value, bool):
                raise ValueError(f"edges[{k}].reversible must be true or false, not {value!r}")
        return [bool(value) for value in values]


def _number(value: Any, where: str) -> float:
    try:
        return check_real(value, where)
    except TypeError as error:
        raise ValueError(str(error)) from None

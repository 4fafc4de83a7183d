"""Matrices of pandas, and lists of edges as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

from icid_rs._util.extras import require
from icid_rs._util.memory import ensure_square
from icid_rs.export.edge_lists import Graph, build_graph
from icid_rs.graph.conventions import Convention, is_transposed
from icid_rs.graph.edges import edge_columns, known_values
from icid_rs.graph.evidence import EdgeEvidence
from icid_rs.graph.named_graph import NamedGraph
from icid_rs.graph.variables import as_text

#: First characters of a cell that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ALWAYS = ("source", "target", "weight")


def to_pandas(graph: NamedGraph, *, convention: Convention = "row_to_column") -> Any:
    """Build a data frame of weights; see `CausalGraph.to_pandas`."""
    pd = require("pandas", "to_pandas", "pandas")
    names = graph.names_
    ensure_square(len(names), "the frame", copies=2)
    frame = pd.DataFrame(
        graph.adjacency_matrix_.toarray(), index=pd.Index(names, name="source"), columns=pd.Index(names, name="target")
    )
    return frame.T if is_transposed(convention) else frame


def to_csv(graph: NamedGraph, *, convention: Convention = "row_to_column", spreadsheet: bool = False) -> str:
    """Write a list of edges; see `CausalGraph.to_csv`."""
    names = as_text(graph.names_, "CSV")
    if spreadsheet:
        names = [f"'{name}" if name.startswith(_FORMULA) else name for name in names]
    columns = edge_columns(graph.adjacency_matrix_, names, graph.evidence_, graph.confidence_)
    listed = {name: known_values(values) for name, values in columns.items()}
    # A column of which nothing is known is left out.
    listed = {name: values for name, values in listed.items() if name in _ALWAYS or any(v is not None for v in values)}
    if is_transposed(convention):
        listed = {"target": listed.pop("target"), **listed}
    file = io.StringIO()
    # A carriage return would go unquoted where lines end in a line feed alone.
    quoting: Any = csv.QUOTE_NONNUMERIC if any("\r" in name for name in names) else csv.QUOTE_MINIMAL
    csv.writer(file, lineterminator="\n", quoting=quoting).writerows(
        [list(listed), *zip(*listed.values(), strict=True)]
    )
    return file.getvalue()


def from_csv(text: str, kind: type[Graph]) -> Graph:
    r"""Read a list of edges with a header as a graph of class `kind`; variables come in the order of first mention.

    Examples
    --------
    >>> from icid_rs import CausalGraph
    >>> from icid_rs.export.tables import from_csv
    >>> from_csv("source,target,weight\nrain,wet,0.5\n", CausalGraph).parents("wet")
    ['rain']
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return _read_edges(reader, kind)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _read_edges(reader: Any, kind: type[Graph]) -> Graph:
    header: list[str] = next(reader, [])
    if not {"source", "target"} <= set(header):
        shown = ",".join(header)
        shown = shown if len(shown) < 60 else shown[:60] + "…"
        raise ValueError(
            f"no list of edges: its first line must name the columns source, target, weight, not {shown!r}"
        )
    place: dict[str, int] = {}
    numbers = ("weight", "confidence", *EdgeEvidence.columns())
    columns: dict[str, list[Any]] = {field: [] for field in numbers if field in header}
    ends: tuple[list[int], list[int]] = ([], [])
    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(f"line {reader.line_num} has {len(row)} cells, but the first line has {len(header)}")
        cells = dict(zip(header, row, strict=True))
        for end, field in zip(ends, ("source", "target"), strict=True):
            end.append(place.setdefault(cells[field], len(place)))
        for field, values in columns.items():
            values.append(_value(cells[field], field, reader.line_num))
    weights = columns.get("weight", [1.0] * len(ends[0]))
    evidence = {field: values for field, values in columns.items() if field in EdgeEvidence.columns()}
    return build_graph(kind, list(place), *ends, weights, confidence=columns.get("confidence"), evidence=evidence)


def _value(cell: str, field: str, line: int) -> Any:
    """Read a cell: a direction is text, all others are numbers, and an empty cell of evidence is not known."""
    if field == "direction":
        return cell or None
    if not cell and field in EdgeEvidence.columns():
        return None
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"line {line}, column {field!r}: {cell!r} is not a number") from None

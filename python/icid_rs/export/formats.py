"""Graph files: the suffix of a file names its format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from icid_rs._util.files import write_atomically
from icid_rs.export.dot import to_dot
from icid_rs.export.edge_lists import Graph
from icid_rs.export.networks import from_graphml, to_graphml
from icid_rs.export.pictures import to_pdf, to_png, to_svg
from icid_rs.export.schema import from_json, to_json
from icid_rs.export.tables import from_csv, to_csv
from icid_rs.export.web import to_html
from icid_rs.graph.named_graph import NamedGraph

#: A function of a graph and options of its format, which returns the content of the file.
Writer = Callable[..., str | bytes]
Entry = TypeVar("Entry")

WRITERS: dict[str, Writer] = {
    ".json": to_json,
    ".graphml": to_graphml,
    ".dot": to_dot,
    ".gv": to_dot,
    ".csv": to_csv,
    ".html": to_html,
    ".png": to_png,
    ".svg": to_svg,
    ".pdf": to_pdf,
}
_READERS: dict[str, Callable[[bytes, Any], Any]] = {
    ".json": lambda content, kind: from_json(_text(content), kind),
    # XML declares its own encoding.
    ".graphml": from_graphml,
    ".csv": lambda content, kind: from_csv(_text(content), kind),
}


def writer(path: str | PathLike[str]) -> Writer:
    """Return the function that writes files with this suffix.

    Examples
    --------
    >>> from icid_rs.export.formats import writer
    >>> writer("graph.json").__name__
    'to_json'
    """
    return _by_suffix(path, WRITERS)


def save(graph: NamedGraph, path: str | PathLike[str], **options: Any) -> None:
    """Write a file; see `CausalGraph.save`."""
    write_atomically(path, writer(path)(graph, **options))


def load(path: str | PathLike[str], kind: type[Graph]) -> Graph:
    """Read a file as a graph of class `kind`; see `icid_rs.load`."""
    read = _by_suffix(path, _READERS)
    content = Path(path).read_bytes()
    try:
        graph: Graph = read(content, kind)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: no UTF-8 text (byte {error.start})") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return graph


def _text(content: bytes) -> str:
    # Spreadsheets write a byte order mark first.
    return content.decode("utf-8-sig")


def _by_suffix(path: str | PathLike[str], known: Mapping[str, Entry]) -> Entry:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise ValueError(f"{path}: the suffix must be one of {', '.join(known)}, not {suffix!r}")
    return known[suffix]

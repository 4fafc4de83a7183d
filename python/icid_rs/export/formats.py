"""Graphs in files, by the suffix of their names."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from icid_rs.causal_graph import CausalGraph
from icid_rs.export.files import write_atomically
from icid_rs.export.networks import from_graphml
from icid_rs.export.schema import from_json
from icid_rs.export.tables import from_csv
from icid_rs.graph import GraphHolder

#: Suffixes, and the method that writes such a file.
WRITERS = {".json": "to_json", ".graphml": "to_graphml", ".dot": "to_dot", ".gv": "to_dot", ".csv": "to_csv"}
WRITERS[".html"] = "to_html"
_READERS: dict[str, Callable[[bytes], CausalGraph]] = {
    ".json": lambda content: from_json(_text(content)),
    # XML says itself how it is encoded.
    ".graphml": from_graphml,
    ".csv": lambda content: from_csv(_text(content)),
}


def writer(path: str | PathLike[str]) -> str:
    """Return the name of the method that writes a file with this suffix.

    Examples
    --------
    >>> from icid_rs.export.formats import writer
    >>> writer("graph.json")
    'to_json'
    """
    return WRITERS[_suffix(path, WRITERS)]


def save(graph: GraphHolder, path: str | PathLike[str], **options: Any) -> None:
    """Write a file; see `GraphMixin.save`."""
    write_atomically(path, getattr(graph, writer(path))(**options))


def load(path: str | PathLike[str]) -> CausalGraph:
    """Read a graph from a file.

    Parameters
    ----------
    path : path
        Its suffix says what it is. ``.json``: everything that `ICID.save` wrote, to the last bit. ``.graphml``: the
        same without settings; or a file of another program, with ``weight`` on its edges. ``.csv``: a list of edges
        with a header that names the columns ``source``, ``target`` and ``weight``; variables without an edge are not
        in it, and all names are strings.

    Returns
    -------
    CausalGraph

    Raises
    ------
    ValueError
        If the file does not hold a graph; the message says where it is wrong. Nothing in a file is ever executed.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs import CausalGraph, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "graph.json")
    ...     CausalGraph([[0, 0.1], [0, 0]], ["rain", "wet"]).save(path)
    ...     load(path).parents("wet")
    ['rain']
    """
    read = _READERS[_suffix(path, _READERS)]
    content = Path(path).read_bytes()
    try:
        return read(content)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: no UTF-8 text (byte {error.start})") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _text(content: bytes) -> str:
    # Spreadsheets put a mark in front.
    return content.decode("utf-8-sig")


def _suffix(path: str | PathLike[str], known: dict[str, Any]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise ValueError(f"{path}: the suffix must be one of {', '.join(known)}, not {suffix!r}")
    return suffix

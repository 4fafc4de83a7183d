"""Graphs from files."""

from __future__ import annotations

from os import PathLike

from icid_rs.export import formats
from icid_rs.result import CausalGraph


def load(path: str | PathLike[str]) -> CausalGraph:
    """Read a graph from a file.

    Parameters
    ----------
    path : path
        Its suffix names the format. ``.json``: everything that `ICID.save` wrote, to the last bit. ``.graphml``: the
        same without settings; or a file of another program, with ``weight`` on its edges. ``.csv``: a list of edges
        with a header that names the columns ``source``, ``target`` and ``weight``, and may name other columns of
        `CausalGraph.edges`; variables without an edge are not in it, and all names are strings.

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
    return formats.load(path, CausalGraph)

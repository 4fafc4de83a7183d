"""Results on standard output or in files."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from icid_rs._util.extras import require
from icid_rs._util.files import encode, write_atomically
from icid_rs._util.terminal import printable

if TYPE_CHECKING:
    from icid_rs.export.formats import Writer

#: Formats of graphs by name.
FORMATS = ("csv", "json", "graphml", "dot", "html", "png", "svg", "pdf")


def graph_writer(path: str, kind: str | None) -> Writer:
    """Return the function that writes a graph; raise now, before a fit, if a library it needs is missing."""
    from icid_rs.export.formats import writer
    from icid_rs.export.networks import to_graphml

    kind = kind or ("csv" if path == "-" else None)
    suffix = Path(path).suffix.lower() if kind is None else f".{kind}"
    write_graph = writer(path if kind is None else f"graph.{kind}")
    if write_graph is to_graphml:
        require("networkx", "GraphML", "networkx")
    if suffix in (".png", ".svg", ".pdf"):
        require("matplotlib", "a picture", "plot")
    return write_graph


def check_writable(path: str) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    if path == "-":
        return
    folder = Path(path).resolve().parent
    if Path(path).is_dir():
        raise ValueError(f"{path}: this is a folder; name a file in it")
    if not folder.is_dir():
        raise ValueError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: the folder {folder} cannot be written to")


def write(path: str, content: str | bytes) -> None:
    """Write a whole file, or to standard output for ``-``."""
    if path == "-":
        if isinstance(content, str) and sys.stdout.isatty():
            content = printable(content)
        left = memoryview(encode(content) if isinstance(content, str) else content)
        # With PYTHONUNBUFFERED a pipe takes as much as it has room for.
        while left:
            left = left[sys.stdout.buffer.write(left) :]
        sys.stdout.buffer.flush()
    else:
        write_atomically(path, content)


@contextmanager
def warnings_in_one_line(quiet: bool) -> Iterator[None]:
    """Print each warning as a line on standard error, when all is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for message in {str(warning.message): None for warning in caught}:
        if not quiet:
            print(f"icid: warning: {printable(' '.join(message.split()))}", file=sys.stderr)

"""Files that are there as a whole, or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO


def write_atomically(path: str | PathLike[str], content: str | bytes | Callable[[BinaryIO], Any]) -> None:
    """Write a file under a passing name in the same folder, then rename it; large content writes itself.

    Whatever happens on the way, `path` holds its old content or the new, and nothing else is left behind. A link keeps
    pointing to its file, which keeps its permissions; what is no file, such as a pipe, is written directly.

    Examples
    --------
    >>> import os, tempfile
    >>> from icid_rs._util.files import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(os.path.join(folder, "graph.dot"), "digraph {}")
    ...     os.listdir(folder)
    ['graph.dot']
    """
    data = encode(content) if isinstance(content, str) else content
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file in it", str(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            _put(data, file)
        return
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}", str(path))
    passing = target.with_name(f".icid-{secrets.token_hex(8)}.tmp")
    try:
        with passing.open("xb") as file:
            _put(data, file)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, passing)
        os.replace(passing, target)
    except BaseException:
        passing.unlink(missing_ok=True)
        raise


def _put(data: bytes | Callable[[BinaryIO], Any], file: BinaryIO) -> None:
    if callable(data):
        data(file)
    else:
        file.write(data)


def encode(text: str) -> bytes:
    r"""Encode as UTF-8, or name what cannot be.

    Examples
    --------
    >>> from icid_rs._util.files import encode
    >>> encode("é")
    b'\xc3\xa9'
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - 20) : error.end + 20]
        raise ValueError(f"no file can hold {text[error.start]!r}, half of a character, in {around!r}") from None

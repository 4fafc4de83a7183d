"""Files that are written completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

#: Seconds after which a temporary file belongs to no running program.
_ABANDONED = 3600.0


def write_atomically(path: str | PathLike[str], content: str | bytes | Callable[[BinaryIO], Any]) -> None:
    """Write a file under a temporary name in the same folder, then rename it.

    Whatever happens on the way, `path` holds either its old content or the new one, and no other file is left behind. A
    link keeps pointing to its file, which keeps its permissions; a pipe or a device is written directly. Large content
    may be given as a function that writes to an open file.

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
    write = data if callable(data) else lambda file: file.write(data)
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file in it", str(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            write(file)
        return
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}", str(path))
    _remove_abandoned(target.parent)
    temporary = target.with_name(f".icid-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of runs that were killed; nothing is written for so long without a change."""
    for path in folder.glob(".icid-*.tmp"):
        # Another run may remove it meanwhile, or it may belong to another user.
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()


def encode(text: str) -> bytes:
    r"""Encode as UTF-8; raise where text holds half of a character.

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

"""The lines of a text file, checked and counted while they are read."""

from __future__ import annotations

import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any, BinaryIO

from icid_rs._util.bounds import GROWTH, most_bytes

#: Characters of a line at most: millions of columns, or a file that is no text.
_LONGEST_LINE = 1 << 24
#: Lines from which delimiter, header and decimal mark are inferred.
_SAMPLE = 200
#: The first line by which Excel is told the delimiter.
_SEPARATOR = re.compile(r"\ufeff?\"?sep=.\"?\s*")


class Bounded(io.RawIOBase):
    """A compressed file that must not grow beyond reason; damage is a ValueError that names the file."""

    def __init__(self, inner: BinaryIO, path: str, raw: BinaryIO) -> None:
        self._inner, self._path = inner, path
        size = os.fstat(raw.fileno()).st_size
        self._most, self._taken = most_bytes(size), 0

    def readable(self) -> bool:
        """Return True: buffers read from it."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, and return how many bytes it was given."""
        try:
            data = self._inner.read(len(buffer))
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"{self._path}: the compressed file is damaged: {error}") from None
        self._taken += len(data)
        if self._taken > self._most:
            raise ValueError(
                f"{self._path}: it unpacks to more than {self._most >> 20} MiB, {GROWTH} times its size, as no "
                "ordinary table does; unpack it first if it is one"
            )
        buffer[: len(data)] = data
        return len(data)


class Lines:
    """The lines of a file, checked and counted; comment lines and blank ones above the table are passed over."""

    def __init__(
        self,
        text: io.TextIOWrapper,
        path: str,
        encoding: str,
        raw: BinaryIO,
        report: Callable[[int], object],
        skipped: Collection[int] = (),
    ) -> None:
        self.text, self.path, self.encoding, self.raw, self.report = text, path, encoding, raw, report
        #: Numbers of lines that are no part of the table; blank lines stand for them.
        self._skipped = skipped
        #: Numbers of the line read last, and of the first line of the table.
        self.number = self.start = 0
        #: The last comment above the table, which may hold the names.
        self.comment: str | None = None
        self.is_plain = True
        self._waiting: list[str] = []

    def sample(self) -> list[str]:
        """Return the first lines from the first one with content, without using them up."""
        first = next((line for line in self._fresh() if line.strip() and not self._is_comment(line)), None)
        if first is None:
            raise ValueError(f"{self.path} is empty")
        self.start = self.number
        self._waiting = [first, *islice(self._fresh(), _SAMPLE - 1)]
        self.number = self.start - 1
        return self._waiting

    def __iter__(self) -> Iterator[str]:
        for line in self._waiting:
            self.number += 1
            self._look(line)
            yield line
        self._waiting = []
        for line in self._fresh():
            self._look(line)
            yield line

    def _look(self, line: str) -> None:
        # Python reads 1_2 as 12, and digits of any script.
        if "_" in line or not line.isascii():
            self.is_plain = False

    def _is_comment(self, line: str) -> bool:
        if line.startswith("#"):
            self.comment = line[1:]
            return True
        return False

    def _fresh(self) -> Iterator[str]:
        try:
            while line := self.text.readline(_LONGEST_LINE):
                self.number += 1
                if len(line) == _LONGEST_LINE:
                    raise ValueError(f"{self.path}, line {self.number}: it is longer than {_LONGEST_LINE} characters")
                if "\0" in line:
                    raise ValueError(f"{self.path}, line {self.number}: it holds zero bytes; this is no text file")
                is_apart = self.number in self._skipped or (self.number == 1 and _SEPARATOR.fullmatch(line))
                yield "\n" if is_apart else line
        except UnicodeDecodeError as error:
            raise ValueError(self._undecodable(error)) from None

    def _undecodable(self, error: UnicodeDecodeError) -> str:
        """Say which byte is no text; the decoder works ahead of the lines, so count those before it."""
        name = "UTF-8" if self.encoding == "utf-8-sig" else self.encoding
        ahead = error.object[: error.start].count(b"\n")
        place = f"line {self.number + 1 + ahead}" if self.number or ahead else "line 1"
        byte = error.object[error.start]
        return (
            f"{self.path}, {place}: byte 0x{byte:02x} is no {name} text; name the encoding with --encoding, such as "
            "latin-1 or utf-16"
        )

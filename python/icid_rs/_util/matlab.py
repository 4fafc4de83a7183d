"""Check of MATLAB files before SciPy reads them: its reader may crash on wrong types and sizes."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator

from icid_rs._util.bounds import GROWTH, most_bytes

#: Bytes of the header of a file of version 5.
_HEADER = 128
#: Codes of the types of elements: numbers with their width in bytes, containers of other elements, and text.
_NUMBERS = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
_MATRIX, _COMPRESSED = 14, 15
_TEXT = (16, 17, 18)
#: Classes of arrays that hold numbers.
_CLASSES = range(6, 16)


def check_elements(content: bytes) -> None:
    """Raise ValueError unless a file of version 5 is complete and holds only arrays of real numbers.

    Examples
    --------
    >>> from icid_rs._util.matlab import check_elements
    >>> check_elements(b"")
    Traceback (most recent call last):
    ValueError: it ends too early
    """
    if len(content) < _HEADER:
        raise ValueError("it ends too early")
    if content[126:128] != b"IM" or content[124:126] != b"\x00\x01":
        raise ValueError("it is not of version 5 as written on common machines; save it with -v7 or -v6")
    for kind, data in _elements(content[_HEADER:]):
        if kind == _COMPRESSED:
            inner = list(_elements(_inflated(data)))
            if len(inner) != 1:
                raise ValueError("a compressed element must hold one array")
            kind, data = inner[0]
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} is where an array should be")
        _check_array(data)


def _inflated(data: bytes) -> bytes:
    """Unpack an element; raise if it grows beyond reason, or is not whole."""
    unpacker = zlib.decompressobj()
    head = unpacker.decompress(data, 8)
    if len(head) < 8:
        raise ValueError("it ends too early")
    # The size that the element claims is checked before anything is unpacked.
    _, size = struct.unpack("<II", head)
    if size > most_bytes(len(data)):
        raise ValueError(f"a compressed element claims {size} bytes, more than {GROWTH} times its size")
    rest = unpacker.decompress(unpacker.unconsumed_tail, size + 8)
    if not unpacker.eof:
        raise ValueError("a compressed element must hold one array, as long as it claims")
    return head + rest


def _check_array(data: bytes) -> None:
    """Raise unless an array has flags, dimensions, a name, and as many numbers as its dimensions say."""
    parts = list(_elements(data))
    if [kind for kind, _ in parts[:3]] != [6, 5, 1] or len(parts) not in (4, 5):
        raise ValueError("an array lacks flags, dimensions, a name or numbers")
    flags, dimensions = parts[0][1], parts[1][1]
    if len(flags) != 8 or flags[0] not in _CLASSES or flags[1] & 0x08 or len(parts) != 4:
        raise ValueError("an array holds something else than real numbers")
    if len(dimensions) % 4 or not 8 <= len(dimensions) <= 128:
        raise ValueError("an array has no dimensions, or too many")
    sizes = struct.unpack(f"<{len(dimensions) // 4}i", dimensions)
    if min(sizes) < 0:
        raise ValueError(f"an array has the dimension {min(sizes)}")
    kind, numbers = parts[3]
    if kind not in _NUMBERS or len(numbers) != math.prod(sizes) * _NUMBERS[kind]:
        raise ValueError("an array does not hold as many numbers as its dimensions say")


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the content of each element; elements begin at multiples of eight bytes."""
    place = 0
    while place < len(data):
        if place + 8 > len(data):
            raise ValueError("it ends too early")
        kind, size = struct.unpack_from("<II", data, place)
        if kind >> 16:
            # A small element has its size in the upper half of its type, and its content in the same word.
            kind, size, start, following = kind & 0xFFFF, kind >> 16, place + 4, place + 8
            if size > 4:
                raise ValueError("a small element is too large")
        else:
            start = place + 8
            # Compressed elements are not padded.
            following = start + size if kind == _COMPRESSED else start + (size + 7) // 8 * 8
        if start + size > len(data):
            raise ValueError("it ends too early")
        if kind not in _NUMBERS and kind not in (_MATRIX, _COMPRESSED, *_TEXT):
            raise ValueError(f"there is an element of type {kind}, which is none")
        yield kind, data[start : start + size]
        place = following

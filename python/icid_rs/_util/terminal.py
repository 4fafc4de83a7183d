"""Text from files on a terminal."""

from __future__ import annotations

import re

#: Control characters, which may move the cursor or start an escape sequence; not line ends and tabs.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Write control characters as Python does, so that names in a file cannot steer the terminal.

    Examples
    --------
    >>> from icid_rs._util.terminal import printable
    >>> printable("rain\x1b[31m")
    'rain\\x1b[31m'
    """
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)

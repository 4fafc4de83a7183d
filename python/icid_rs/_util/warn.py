"""Warnings that point at the line of the user's program."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

#: Frames of files below this folder belong to the package.
_PACKAGE = str(Path(__file__).parents[1])


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the innermost frame outside this package, however deep the call was.

    Examples
    --------
    >>> import warnings
    >>> from icid_rs._util.warn import warn_user
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("the graph is empty")
    >>> str(caught[0].message)
    'the graph is empty'
    """
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)

"""Variables by name or by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

#: Names that an error message lists.
_SHOWN = 8


def locate(variable: Any, names: Sequence[Any]) -> int:
    """Return the position of a variable.

    Names are looked up first. An integer that is no name is a position, unless some of the names are integers.

    Parameters
    ----------
    variable : name or int
    names : sequence
        Of all variables.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no such variable; the message lists close matches.

    Examples
    --------
    >>> from icid_rs.graph.variables import locate
    >>> locate("wet", ["rain", "wet"]), locate(0, ["rain", "wet"])
    (1, 0)
    >>> locate("wett", ["rain", "wet"])
    Traceback (most recent call last):
    ValueError: no variable is named 'wett'; did you mean 'wet'?
    """
    return locate_all([variable], names)[0]


def locate_all(variables: Iterable[Any], names: Sequence[Any]) -> list[int]:
    """Return the positions of several variables; see `locate`.

    Examples
    --------
    >>> from icid_rs.graph.variables import locate_all
    >>> locate_all(["wet", 0], ["rain", "wet"])
    [1, 0]
    """
    positions = {name: k for k, name in enumerate(names)}
    numbered = any(_is_integer(name) for name in names)

    def find(variable: Any) -> int:
        # True equals 1 in Python, but is not meant as the number of a variable.
        if not isinstance(variable, bool):
            try:
                if variable in positions:
                    return positions[variable]
            except TypeError:
                raise TypeError(f"a variable is a name or a number, not {variable!r}") from None
            if _is_integer(variable) and not numbered and 0 <= variable < len(names):
                return int(variable)
        raise ValueError(_unknown(variable, names, numbered))

    return [find(variable) for variable in variables]


def as_text(names: Sequence[Any], purpose: str) -> list[str]:
    """Write names as text, for files that hold nothing else.

    Examples
    --------
    >>> from icid_rs.graph.variables import as_text
    >>> as_text([0, "wet"], "DOT")
    ['0', 'wet']
    >>> as_text([1, "1"], "DOT")
    Traceback (most recent call last):
    ValueError: the names 1 and '1' are the same text in DOT; rename one of them
    """
    seen: dict[str, Any] = {}
    for name in names:
        text = str(name)
        if text in seen:
            raise ValueError(
                f"the names {seen[text]!r} and {name!r} are the same text in {purpose}; rename one of them"
            )
        seen[text] = name
    return list(seen)


def as_plain(names: Sequence[Any], purpose: str) -> list[str | int]:
    """Return names as Python's own strings and integers, whose type a file keeps; raise if a name is neither.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.variables import as_plain
    >>> as_plain([np.int64(3), "wet"], "JSON")
    [3, 'wet']
    """
    for name in names:
        if not isinstance(name, str) and not _is_integer(name):
            raise TypeError(f"{purpose} holds names that are strings or integers, not {name!r}; rename the columns")
    return [str(name) if isinstance(name, str) else int(name) for name in names]


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _unknown(variable: Any, names: Sequence[Any], numbered: bool) -> str:
    if _is_integer(variable) and not numbered:
        return f"there is no variable {variable}: they are numbered 0 to {len(names) - 1}"
    lowered = {str(name).casefold(): name for name in names}
    close = get_close_matches(str(variable).casefold(), list(lowered), n=3)
    message = f"no variable is named {variable!r}; "
    if close:
        return message + f"did you mean {' or '.join(repr(lowered[match]) for match in close)}?"
    listed = ", ".join(repr(name) for name in names[:_SHOWN])
    return message + f"there are {listed}" + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")

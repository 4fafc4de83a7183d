"""Hidden causes and shares of error that the caller asks for: what they may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icid_rs._util.validation import FloatArray, as_vector, listed

#: A share of variance that is left must exceed this.
_LEFT = 1e-6


def most_hidden(d: int) -> int:
    """Return the largest number of hidden causes whose loadings d columns can determine (Ledermann 1937).

    Examples
    --------
    >>> from icid_rs.learning.shares import most_hidden
    >>> most_hidden(2), most_hidden(3), most_hidden(6), most_hidden(100)
    (0, 1, 3, 86)
    """
    return int((2 * d + 1 - np.sqrt(8 * d + 1)) / 2)


def check_hidden(hidden: int, d: int) -> None:
    """Raise if so many columns cannot determine the loadings of so many hidden causes.

    Examples
    --------
    >>> from icid_rs.learning.shares import check_hidden
    >>> check_hidden(1, 10)
    """
    if hidden > most_hidden(d):
        raise ValueError(f"hidden = {hidden}: {d} columns can carry at most {most_hidden(d)} hidden causes")


def error_shares(given: Any, names: Sequence[Any]) -> FloatArray:
    """Return the share of error of each column from a number, an array, or a dict by names.

    Examples
    --------
    >>> from icid_rs.learning.shares import error_shares
    >>> error_shares({"b": 0.2}, ["a", "b"])
    array([0. , 0.2])
    """
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(
                f"measurement_error names {listed([repr(name) for name in unknown])}: the columns are "
                f"{listed([repr(name) for name in names])}"
            )
        shares = as_vector([given.get(name, 0.0) for name in names], len(names), "measurement_error")
    else:
        shares = as_vector(given, len(names), "measurement_error")
    if len(shares) != len(names):
        raise ValueError(f"measurement_error has length {len(shares)}, but there are {len(names)} columns")
    bad = np.flatnonzero(~((shares >= 0) & (shares < 1)))
    if bad.size:
        j = int(bad[0])
        raise ValueError(
            f"measurement_error of column {names[j]!r} is {shares[j]:g}: a share of its variance is at least 0 and "
            "less than 1"
        )
    return shares


def check_shares(
    shares: FloatArray, correlation: FloatArray, inverse_diagonal: FloatArray, names: Sequence[Any]
) -> None:
    """Raise if the correlations leave less room for errors than these shares need.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.learning.shares import check_shares
    >>> check_shares(np.array([0.1, 0.1]), np.eye(2), np.ones(2), ["a", "b"])
    """
    # Of each variance, what the other columns do not explain.
    unexplained = 1.0 / inverse_diagonal
    bad = np.flatnonzero(shares >= unexplained)
    if bad.size:
        j = int(bad[0])
        raise ValueError(
            f"measurement_error of column {names[j]!r} is {shares[j]:g}, but the other columns explain all but "
            f"{unexplained[j]:.3g} of its variance: its share of error must be less than that"
        )
    root = np.sqrt(shares)
    largest = float(np.linalg.eigvalsh(root[:, None] * np.linalg.inv(correlation) * root)[-1])
    if largest >= 1.0 - _LEFT:
        raise ValueError(
            f"measurement_error: so much error in all of these columns at once leaves no covariance of the variables; "
            f"the shares must be less than {1.0 / largest:.3g} times these"
        )

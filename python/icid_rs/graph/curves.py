"""Monotone curves that straighten columns, in the units of these columns.

A straightened column is m + s z, with z its normal score or logarithm, m the mean of the column and s the slope of the
line that fits the column to z best. For a Gaussian z this slope is the mean of the curve's own (Stein's lemma), so that
weights between straightened columns are those of the table, on average over its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from icid_rs._util.validation import FloatArray


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """Normal scores: straight lines between knots, and lines of slope one beyond the first and the last of them.

    Attributes
    ----------
    values, straightened : array of shape (k,)
        The knots, both ascending: values of the column, and their scores in its units.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.curves import ScoreCurve
    >>> curve = ScoreCurve(np.array([0.0, 1.0, 9.0]), np.array([-2.0, 3.0, 8.0]))
    >>> curve.straighten(np.array([1.0, 5.0, 10.0])), curve.restore(np.array([5.5, 9.0]))
    (array([3. , 5.5, 9. ]), array([ 5., 10.]))
    """

    values: FloatArray
    straightened: FloatArray
    kind = "normal-scores"

    def straighten(self, x: FloatArray) -> FloatArray:
        """Map values of the column to its straight scale."""
        return _along(x, self.values, self.straightened)

    def restore(self, u: FloatArray) -> FloatArray:
        """Map the straight scale back to values of the column."""
        return _along(u, self.straightened, self.values)

    def as_record(self) -> dict[str, Any]:
        """Return the curve as plain lists, for JSON."""
        return {"kind": self.kind, "values": self.values.tolist(), "straightened": self.straightened.tolist()}


@dataclass(frozen=True)
class LogCurve:
    """The logarithm, in the units of the column.

    Attributes
    ----------
    mean, slope : float
        Mean of the column, and the slope of its best line on the logarithm.
    middle : float
        Mean of the logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.curves import LogCurve
    >>> curve = LogCurve(mean=2.0, slope=1.5, middle=0.0)
    >>> curve.straighten(np.array([1.0])), curve.restore(np.array([2.0]))
    (array([2.]), array([1.]))
    """

    mean: float
    slope: float
    middle: float
    kind = "log"

    def straighten(self, x: FloatArray) -> FloatArray:
        """Map values of the column to its straight scale; raise unless they are positive."""
        if (x <= 0).any():
            raise ValueError(f"holds {x[x <= 0][0]:g}, and only positive values have a logarithm")
        return np.asarray(self.mean + self.slope * (np.log(x) - self.middle))

    def restore(self, u: FloatArray) -> FloatArray:
        """Map the straight scale back to values of the column."""
        return np.asarray(np.exp((u - self.mean) / self.slope + self.middle))

    def as_record(self) -> dict[str, Any]:
        """Return the curve as plain numbers, for JSON."""
        return {"kind": self.kind, "mean": self.mean, "slope": self.slope, "middle": self.middle}


Curve: TypeAlias = ScoreCurve | LogCurve
#: Curves by the number of the variable; others are straight as they are.
Curves: TypeAlias = Mapping[int, Curve]


def _along(x: FloatArray, knots: FloatArray, heights: FloatArray) -> FloatArray:
    found = np.interp(x, knots, heights)
    return np.asarray(found + np.minimum(x - knots[0], 0.0) + np.maximum(x - knots[-1], 0.0))


def straighten(curve: Curve, x: FloatArray, name: Any) -> FloatArray:
    """Straighten a column of this name.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.curves import LogCurve, straighten
    >>> straighten(LogCurve(1.0, 1.0, 0.0), np.array([1.0, np.nan]), "gene")
    array([ 1., nan])
    """
    try:
        return curve.straighten(x)
    except ValueError as error:
        raise ValueError(f"column {name!r} {error}; use transform='normal-scores', or None for this column") from None


def read_curves(content: Any, d: int) -> dict[int, Curve]:
    """Read a list of records as `Curve.as_record` returns them, with null for straight variables.

    Examples
    --------
    >>> from icid_rs.graph.curves import read_curves
    >>> read_curves([None, {"kind": "log", "mean": 2, "slope": 1.5, "middle": 0}], 2)
    {1: LogCurve(mean=2.0, slope=1.5, middle=0.0)}
    """
    if content is None:
        return {}
    if not isinstance(content, list) or len(content) != d:
        raise ValueError(f"transforms must be a list of {d} entries")
    return {k: _curve(record, f"transforms[{k}]") for k, record in enumerate(content) if record is not None}


def _curve(record: Any, where: str) -> Curve:
    kind = record.get("kind") if isinstance(record, dict) else None
    if kind == "log":
        mean, slope, middle = _numbers([record.get(key) for key in ("mean", "slope", "middle")], where).tolist()
        if slope <= 0:
            raise ValueError(f"{where}.slope must be positive")
        return LogCurve(mean, slope, middle)
    if kind == "normal-scores":
        values, heights = (_numbers(record.get(key), f"{where}.{key}") for key in ("values", "straightened"))
        ascending = len(values) == len(heights) >= 2 and (np.diff(values) > 0).all() and (np.diff(heights) > 0).all()
        if not ascending:
            raise ValueError(f"{where}: values and straightened must be ascending, and of one length of at least 2")
        return ScoreCurve(values, heights)
    raise ValueError(f"{where}.kind must be 'normal-scores' or 'log', not {kind!r}")


def _numbers(values: Any, where: str) -> FloatArray:
    if not isinstance(values, Sequence) or any(isinstance(x, bool) or not isinstance(x, int | float) for x in values):
        raise ValueError(f"{where} must hold numbers")
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{where} must be finite")
    return numbers

"""Transforms of columns whose relations are curved: normal scores, and logarithms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.special import ndtri

from icid_rs._util.validation import FloatArray, Rows, listed
from icid_rs.data.encoding import Encoding
from icid_rs.graph.curves import Curve, LogCurve, ScoreCurve

#: Knots of a curve, at equal distances on the straight scale, so that the tails have as many as they need.
_KNOTS = 1000


def normal_scores(x: FloatArray) -> ScoreCurve:
    """Return the curve from a column to its normal scores, Φ⁻¹((rank − ½)/n); equal values share their mean rank.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.transforms import normal_scores
    >>> x = np.exp(np.random.default_rng(0).normal(size=500))
    >>> u = normal_scores(x).straighten(x)
    >>> bool(abs(u.mean() - x.mean()) < 0.01), bool(abs(((u - u.mean()) ** 3).mean() / u.std() ** 3) < 0.01)
    (True, True)
    """
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    n = counts.sum()
    z = ndtri((np.cumsum(counts) - 0.5 * counts) / n)
    middle, mean = counts @ z / n, counts @ values / n
    slope = counts @ ((z - middle) * (values - mean)) / (counts @ (z - middle) ** 2)
    if len(values) > _KNOTS:
        nearest = np.searchsorted(z, np.linspace(z[0], z[-1], _KNOTS)).clip(max=len(z) - 1)
        kept = np.unique(nearest)
        values, z = values[kept], z[kept]
    return ScoreCurve(values, mean + slope * (z - middle))


def logarithm(x: FloatArray) -> LogCurve:
    """Return the curve from a column to its logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.transforms import logarithm
    >>> logarithm(np.array([1.0, np.e])).middle
    0.5
    """
    present = x[~np.isnan(x)]
    z, mean = np.log(present), float(present.mean())
    middle = float(z.mean())
    return LogCurve(mean, float((z - middle) @ (present - mean) / ((z - middle) @ (z - middle))), middle)


def asked_curves(asked: Any, values: Rows, encoding: Encoding) -> dict[int, Curve]:
    """Return the curves that the parameter `transform` asks for, by the places of columns; ``"auto"`` asks for none.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.transforms import asked_curves
    >>> X = np.exp(np.random.default_rng(0).normal(size=(100, 2)))
    >>> asked_curves({"a": "log"}, X, Encoding.plain(["a", "b"])).keys()
    dict_keys([0])
    """
    if asked is None or asked == "auto":
        return {}
    able = transformable(values, encoding)
    if isinstance(asked, str):
        return _curves(dict.fromkeys(able, asked), values, encoding)
    if unknown := [name for name in asked if name not in set(encoding.columns)]:
        raise ValueError(
            f"transform: there is no column {listed(sorted(map(repr, unknown)))}; the columns are "
            f"{listed([repr(name) for name in encoding.columns])}"
        )
    wanted = {k: asked[name] for k, name in enumerate(encoding.columns) if asked.get(name) is not None}
    if others := [encoding.columns[k] for k in wanted if k not in able and k in set(encoding.kept.tolist())]:
        raise ValueError(
            f"transform: column {others[0]!r} has two values or is a category, and only numbers with more can be "
            "transformed; leave it out of transform"
        )
    return _curves({k: kind for k, kind in wanted.items() if k in able}, values, encoding)


def transformable(values: Rows, encoding: Encoding) -> list[int]:
    """Return the places of the columns that are numbers with more than two values.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.transforms import transformable
    >>> transformable(np.array([[0.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), Encoding.plain(["a", "b"]))
    [1]
    """
    numbers = np.flatnonzero(~encoding.blocks.is_category)
    columns = {int(encoding.kept[j]): values[:, encoding.blocks.offsets[j]] for j in numbers.tolist()}
    return [k for k, x in columns.items() if _has_three_values(x)]


def _has_three_values(x: Rows) -> bool:
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    return bool(((x > low) & (x < high)).any())


def score_curves(values: Rows, encoding: Encoding, places: Iterable[int]) -> dict[int, Curve]:
    """Return the curves to normal scores of some columns.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.data.encoding import Encoding
    >>> from icid_rs.data.transforms import score_curves
    >>> score_curves(np.arange(6.0)[:, None], Encoding.plain(["a"]), [0])[0].values
    array([0., 1., 2., 3., 4., 5.])
    """
    return {k: _curve("normal-scores", values, encoding, k) for k in places}


def _curves(kinds: dict[int, str], values: Rows, encoding: Encoding) -> dict[int, Curve]:
    """Return a curve of its kind for each column; raise with all columns that have no logarithm."""
    columns = {k: np.asarray(values[:, encoding.blocks.offsets[_number(k, encoding)]]) for k in kinds}
    least = {encoding.columns[k]: np.nanmin(columns[k]) for k, kind in kinds.items() if kind == "log"}
    if bad := [f"{name!r} (least value {value:g})" for name, value in least.items() if value <= 0]:
        raise ValueError(
            f"only positive values have a logarithm, but transform asks for that of column(s) {listed(bad)}; ask for "
            "'normal-scores' of these, or leave them as they are"
        )
    return {k: _curve(kind, values, encoding, k) for k, kind in kinds.items()}


def _number(place: int, encoding: Encoding) -> int:
    return int(np.searchsorted(encoding.kept, place))


def _curve(kind: str, values: Rows, encoding: Encoding, place: int) -> Curve:
    x = np.asarray(values[:, encoding.blocks.offsets[_number(place, encoding)]], dtype=np.float64)
    return normal_scores(x) if kind == "normal-scores" else logarithm(x)

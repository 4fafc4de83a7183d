"""Edges between categories that rest on the misfit of straight lines: found by tables of levels.

A search explains the levels of a category by sums over its causes. Where causes interact, sums do not fit, and what is
left correlates with other variables, as if these were causes too. Tables of counts need no sums: in them an effect is
independent of any other variable that is no cause of it, at fixed levels of its causes. So an edge must show in them.

By how much is a matter of size, not of significance. Pearson's statistic exceeds its degrees of freedom by n times a
sum of squared correlations, and so does the statistic of the regression.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icid_rs._util.validation import Rows
from icid_rs.graph.blocks import Blocks
from icid_rs.graph.evidence import edge_ends
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.sem import Csr

#: Rows that are counted at most, and cells of tables.
_MOST_ROWS, _MOST_CELLS = 20_000, 20_000_000
#: Variables with more distinct values have too few rows at each for tables of counts.
_MOST_VALUES = 20
#: Share of the evidence of an edge that tables must confirm.
_CONFIRMED = 0.25
#: Standard deviations by which Pearson's statistic may be too small by chance.
_CHANCE = 2.0


def codes_of(rows: Rows, blocks: Blocks) -> dict[int, NDArray[np.intp]]:
    """Return numbered levels of the categories, and of other variables with few distinct values, in some of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.graph.blocks import Blocks
    >>> from icid_rs.learning.contingency import codes_of
    >>> rows = np.array([[1.0, 0.0, 0.5], [0.0, 0.0, 0.1], [0.0, 1.0, 0.5]])
    >>> codes_of(rows, Blocks.of([("a", "b", "c"), None]))
    {0: array([1, 0, 2]), 1: array([1, 0, 1])}
    """
    codes: dict[int, NDArray[np.intp]] = {}
    rows = rows[:: -(-len(rows) // _MOST_ROWS)]
    for j, width in enumerate(blocks.widths.tolist()):
        values = rows[:, blocks.part(j)] @ np.arange(1.0, width + 1.0)
        # Most numbers have too many values among their first rows already.
        if len(np.unique(values[: 5 * _MOST_VALUES])) > _MOST_VALUES:
            continue
        levels, own = np.unique(values, return_inverse=True)
        if len(levels) <= _MOST_VALUES:
            codes[j] = own
    return codes


@dataclass(frozen=True)
class Association:
    """Pearson's statistic of two variables at fixed levels of others, and its degrees of freedom."""

    statistic: float
    freedom: int

    @classmethod
    def of(cls, a: NDArray[np.intp], b: NDArray[np.intp], given: list[NDArray[np.intp]]) -> Association | None:
        """Add up the tables of two variables, one for each combination of the levels of others; None if too many.

        Without association the statistic is the degrees of freedom on average, however few the counts are.

        Examples
        --------
        >>> import numpy as np
        >>> from icid_rs.learning.contingency import Association
        >>> a = np.array([0, 0, 1, 1] * 25)
        >>> Association.of(a, a, []), Association.of(a, a, [a])
        (Association(statistic=99.0, freedom=1), Association(statistic=0.0, freedom=0))
        """
        stratum = np.zeros(len(a), dtype=np.intp)
        for other in given:
            stratum = np.unique(stratum * (other.max() + 1) + other, return_inverse=True)[1]
        shape = (int(stratum.max()) + 1, int(a.max()) + 1, int(b.max()) + 1)
        if int(np.prod(shape)) > _MOST_CELLS:
            return None
        place = (stratum * shape[1] + a) * shape[2] + b
        counts = np.bincount(place, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
        rows, columns, sizes = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
        expected = rows[:, :, None] * columns[:, None, :] / sizes[:, None, None]
        off = np.divide((counts - expected) ** 2, expected, out=np.zeros_like(counts), where=expected > 0)
        # The mean given the margins is larger by N/(N − 1).
        statistic = float(np.sum(off.sum(axis=(1, 2)) * (sizes - 1.0) / sizes))
        freedom = ((rows > 0).sum(axis=1) - 1) * ((columns > 0).sum(axis=1) - 1)
        return cls(statistic, int(freedom.sum()))


def unconfirmed(strengths: Csr, codes: dict[int, NDArray[np.intp]], knowledge: Knowledge | None) -> NDArray[np.int64]:
    """Return the edges (cause, effect) that tables of levels do not confirm; required ones are not looked at.

    Parameters
    ----------
    strengths : scipy.sparse.csr_array of shape (d, d)
        The graph, with the strengths of its edges.
    codes : dict
        Levels of the variables that have few of them. Edges are looked at where all causes of the effect have.
    knowledge : Knowledge or None

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from icid_rs.learning.contingency import unconfirmed
    >>> codes = dict(enumerate(np.random.default_rng(0).integers(0, 3, (2, 500))))
    >>> unconfirmed(sp.csr_array([[0, 0.5], [0, 0]]), codes, None)
    array([[0, 1]])
    """
    causes, effects = edge_ends(strengths)
    required = set() if knowledge is None else {(int(i), int(j)) for i, j in knowledge.required}
    found = []
    for cause, effect, strength in zip(causes.tolist(), effects.tolist(), strengths.data.tolist(), strict=True):
        family = causes[effects == effect].tolist()
        if (cause, effect) in required or not all(k in codes for k in (effect, *family)):
            continue
        table = Association.of(codes[cause], codes[effect], [codes[k] for k in family if k != cause])
        if table is None:
            continue
        excess = table.statistic - table.freedom + _CHANCE * np.sqrt(2.0 * table.freedom)
        if excess < _CONFIRMED * len(codes[effect]) * strength**2:
            found.append((cause, effect))
    return np.array(found, dtype=np.int64).reshape(-1, 2)

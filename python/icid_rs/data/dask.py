"""Moments of Dask arrays and frames, summed where the partitions are."""

from __future__ import annotations

import importlib
from typing import Any

from icid_rs.data.moments import Moments

#: Partial moments that are merged by one task.
_FAN_IN = 8


def is_dask(X: Any) -> bool:
    """Tell whether X is a collection of Dask, without importing Dask.

    Examples
    --------
    >>> from icid_rs.data.dask import is_dask
    >>> is_dask([[1.0]])
    False
    """
    return type(X).__module__.partition(".")[0].startswith("dask") and hasattr(X, "__dask_graph__")


def moments_of(X: Any, **settings: Any) -> Moments:
    """Reduce a Dask array or frame to its moments, by a tree of merges.

    Every partition is summed by the worker that holds it, and no worker holds more than a few partial moments. If a
    worker is lost, the scheduler computes its part again, with the same result.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Samples by variables.
    **settings
        As for `Moments`.

    Returns
    -------
    Moments

    Examples
    --------
    >>> import dask.array as da  # doctest: +SKIP
    >>> from icid_rs.data.dask import moments_of
    >>> moments_of(da.ones((10, 2), chunks=(4, 1))).n  # doctest: +SKIP
    10
    """
    delayed = importlib.import_module("dask").delayed
    names = list(X.columns) if hasattr(X, "columns") else None
    if names is None:
        if X.ndim != 2:
            raise ValueError(f"X must be a table of samples by variables, but its shape is {X.shape}")
        # Each block must hold whole rows.
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        parts = X.to_delayed().ravel().tolist()
    else:
        parts = X.to_delayed()
    # One thread for each part: Dask already runs parts in parallel.
    settings = {"names": names, "n_threads": 1, **settings}
    level = [delayed(_part)(part, settings) for part in parts]
    while len(level) > 1:
        level = [delayed(_merged)(level[k : k + _FAN_IN]) for k in range(0, len(level), _FAN_IN)]
    result: Moments = level[0].compute()
    return result


def _part(rows: Any, settings: dict[str, Any]) -> Moments:
    moments = Moments(**settings)
    return moments.update(rows) if len(rows) else moments


def _merged(parts: list[Moments]) -> Moments:
    # A copy: Dask may give the same object to another task.
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total

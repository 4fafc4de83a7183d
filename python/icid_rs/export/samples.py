"""What effects are estimated from as plain lists, for JSON: covariances, and how many rows they come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from icid_rs.export.categories import numbers_in
from icid_rs.graph.covariances import SampleMoments, StoredCovariances
from icid_rs.graph.layer import Layer

#: Files of graphs with more columns are without a sample: its covariances would take most of the file.
MOST_COLUMNS = 500
#: A covariance matrix may have an eigenvalue that rounding has made so negative, beside correlations of at most 1.
_ROUNDING = 1e-6


def sample_record(moments: SampleMoments | None) -> dict[str, Any] | None:
    """Describe a sample: see `icid_rs.export.schema`; None where covariances are not stored, or are too many.

    Examples
    --------
    >>> import numpy as np
    >>> from icid_rs.export.samples import sample_record
    >>> from icid_rs.graph.covariances import SampleMoments, StoredCovariances
    >>> sample_record(SampleMoments(StoredCovariances(np.array([[1.0, 0.5], [0.5, 2.0]])), 100))
    {'samples': 100, 'covariances': [[1.0], [0.5, 2.0]]}
    """
    if moments is None or not isinstance(moments.covariances, StoredCovariances):
        return None
    matrix = moments.covariances.matrix
    if len(matrix) > MOST_COLUMNS or not np.isfinite(matrix).all():
        return None
    record = {
        "samples": moments.samples,
        "covariances": [matrix[k, : k + 1].tolist() for k in range(len(matrix))],
    }
    if moments.layer is not None:
        record |= {"loadings": moments.layer.loadings.tolist(), "errors": moments.layer.errors.tolist()}
    return record


def read_sample(content: Any, columns: int) -> SampleMoments | None:
    """Read what `sample_record` wrote of so many columns; a ValueError names the member that is wrong.

    Examples
    --------
    >>> from icid_rs.export.samples import read_sample
    >>> read_sample({"samples": 100, "covariances": [[1.0], [0.5, 2.0]]}, 2).covariances.among([1])
    array([[2.]])
    """
    if content is None:
        return None
    if not isinstance(content, dict):
        raise ValueError("sample must be an object")
    samples = content.get("samples")
    if samples is not None and (not isinstance(samples, int) or isinstance(samples, bool) or samples < 1):
        raise ValueError(f"sample.samples = {samples!r}: it must be a positive integer, or null")
    rows = content.get("covariances")
    if not isinstance(rows, list) or len(rows) != columns:
        raise ValueError(f"sample.covariances must be a list of {columns} rows")
    matrix = np.zeros((columns, columns))
    for k, row in enumerate(rows):
        matrix[k, : k + 1] = matrix[: k + 1, k] = numbers_in(row, (k + 1,), f"sample.covariances[{k}]")
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    if not (scale > 0).all() or (columns and np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] < -_ROUNDING):
        raise ValueError("sample.covariances must be the lower triangle of a covariance matrix")
    return SampleMoments(StoredCovariances(matrix), samples, layer=_layer(content, columns))


def _layer(content: dict[str, Any], columns: int) -> Layer | None:
    loadings = content.get("loadings")
    if loadings is None:
        return None
    causes = len(loadings[0]) if isinstance(loadings, list) and loadings and isinstance(loadings[0], list) else 0
    errors = numbers_in(content.get("errors"), (columns,), "sample.errors")
    if (errors < 0).any():
        raise ValueError("sample.errors must not be negative")
    return Layer(numbers_in(loadings, (columns, causes), "sample.loadings"), errors)

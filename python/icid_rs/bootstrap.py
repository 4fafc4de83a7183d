"""Fitting a model again to resamples of its data."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from icid_rs import audit
from icid_rs._core import NumericalError
from icid_rs._validation import Rows, check_int, check_real
from icid_rs.confidence import Bootstrap, Csr
from icid_rs.estimator import ICID
from icid_rs.inputs import Table
from icid_rs.moments import Moments
from icid_rs.resampling import Resampling, block_length


def bootstrap(
    model: ICID,
    X: Any,
    n: int = 100,
    *,
    groups: Any = None,
    block: Any = None,
    subsample: float | None = None,
    n_jobs: int | None = None,
    random_state: int | None = 0,
    progress: bool | None = None,
) -> Bootstrap:
    """Fit a model again to resamples of its data, and count what is found.

    The result is kept as ``model.bootstrap_`` until the model is fitted anew, and ``model.edges()`` has a column
    ``confidence``: the probability of each edge.

    Parameters
    ----------
    model : ICID
        A model that was fitted to X. Resamples are fitted with its parameters, and one thread each.
    X : array, sparse matrix or data frame of shape (n, d)
        As for `ICID.fit`.
    n : int
        Number of resamples.
    groups : array of shape (n,), optional
        The subject, site or batch of each row. Whole groups are drawn; one should have many of them. Needed if the
        model was fitted with groups; means are then taken out within groups in resamples too.
    block : int or "auto", optional
        Draw blocks of so many consecutive rows, if rows follow each other in time and are autocorrelated. ``"auto"``
        chooses the length (`resampling.block_length`).
    subsample : float in (0, 1), optional
        Draw this share of the rows, blocks or groups without replacement, instead of as many as there are with
        replacement. With 0.5 this is stability selection with complementary pairs.
    n_jobs : int, optional
        Fits at a time; see ``joblib.Parallel``. Other backends, such as Dask and Ray, are chosen by
        ``joblib.parallel_config``. Results do not depend on either.
    random_state : int, optional
    progress : bool, optional
        Show a progress bar, which needs tqdm. By default where tqdm is installed, and on terminals and in notebooks
        only.

    Returns
    -------
    Bootstrap

    Raises
    ------
    ValueError
        If more than half of the resamples cannot be fitted.

    Warns
    -----
    UserWarning
        If some resamples cannot be fitted.

    Notes
    -----
    In a bootstrap sample rows occur more than once, so that chance correlations are larger than in n independent rows,
    and a few more false edges are found; since they are other ones in each resample, their probabilities stay small.
    Subsamples do not have this fault. But those of half the rows find fewer edges, and those of nine tenths resemble
    each other so much that what chance has put into all of them looks certain; see ``benches/bootstrap.py``.

    A probability says how firmly the data at hand lead to an edge. It says nothing of hidden common causes or of other
    suppositions that do not hold, which are the same in every resample. In particular, weak edges between standardised
    columns can make unequal noise variances look equal, and then directions are found from that, wrongly and firmly;
    where scales mean nothing, say so with ``noise="unequal"``.

    Examples
    --------
    >>> from icid_rs import ICID, bootstrap, datasets
    >>> X = datasets.sample_sem(datasets.random_dag(5, 1, random_state=0), 500, random_state=0)
    >>> model = ICID().fit(X)
    >>> found = bootstrap(model, X, n=20)
    >>> bool(found.edge_probabilities.max() > 0.9)
    True
    """
    _check_model(model)
    if isinstance(X, Moments):
        raise TypeError("bootstrap draws rows, which moments do not hold; pass the table")
    count = check_int(n, "n", 1)
    values = model._validated(X, reset=False)
    audit.check_values(values, model._names(), missing=model.missing)
    resampling = _resampling(model, values, groups, block, subsample, random_state)
    refit = clone(model).set_params(n_threads=1, verbose=False, callback=None)
    tasks = (
        delayed(_fit_draw)(refit, values, model._names(), resampling, k, model.info_["groups"] is not None)
        for k in range(count)
    )
    backend, _ = get_active_backend()
    parallel = Parallel(n_jobs, return_as="generator" if backend.supports_return_generator else "list")
    with _quiet():
        results = list(_bar(parallel(tasks), count, progress))
    failures = Counter(result for result in results if isinstance(result, str))
    found = [result for result in results if not isinstance(result, str)]
    _report_failures(failures, count)
    graphs, directions = [graph for graph, _ in found], [direction for _, direction in found]
    result = Bootstrap(model._names(), graphs, directions, dict(failures), None if block is None else resampling.block)
    model.bootstrap_ = result
    return result


def _check_model(model: Any) -> None:
    if not isinstance(model, ICID):
        raise TypeError(f"bootstrap needs an ICID, not {type(model).__name__}")
    check_is_fitted(model, "adjacency_matrix_")
    if model.precision == "precomputed":
        raise ValueError("bootstrap needs data, but the model has precision='precomputed'")
    if model.dag is None:
        raise ValueError("bootstrap counts edges of acyclic graphs, but the model has dag=None")


def _resampling(model: ICID, X: Rows, groups: Any, block: Any, subsample: Any, random_state: int | None) -> Resampling:
    """Check how rows are to be drawn."""
    rows = len(X)
    if model.info_["groups"] is not None and groups is None:
        raise ValueError("the model was fitted with groups; pass them, so that whole groups are drawn")
    member = None
    if groups is not None:
        if block is not None:
            raise ValueError("pass groups or block, not both: whole groups keep their rows together in any case")
        labels, member = np.unique(audit.check_groups(groups, rows), return_inverse=True)
        if len(labels) < 2:
            raise ValueError("groups are drawn as a whole, but all rows are of one group")
    if isinstance(block, str) and block != "auto":
        raise ValueError(f"block = {block!r}: it must be 'auto' or an integer")
    length = 1
    if block is not None:
        length = block_length(X) if isinstance(block, str) else check_int(block, "block", 1, max(1, rows // 2))
    if subsample is not None:
        subsample = check_real(subsample, "subsample")
        units = rows // length if member is None else len(labels)
        if not 0 < subsample < 1 or int(subsample * units) < 1:
            raise ValueError(f"subsample = {subsample}: it must be between 0 and 1, and leave something of {units}")
    seed = None if random_state is None else check_int(random_state, "random_state", 0)
    entropy: Any = np.random.SeedSequence(seed).entropy
    return Resampling(rows, entropy, member, length, subsample)


def _fit_draw(
    model: ICID, X: Rows, names: list[Any], resampling: Resampling, k: int, centre: bool
) -> tuple[Csr, Csr] | str:
    """Fit one resample; return its graph and what the edges count, or why it cannot be fitted."""
    rows, groups = resampling.draw(k)
    with _quiet():
        try:
            fitted = clone(model).fit(Table(X[rows], names), groups=groups if centre else None)
        except (ValueError, NumericalError, np.linalg.LinAlgError) as error:
            return str(error)
    return fitted.adjacency_matrix_, _directions(fitted)


def _directions(model: ICID) -> Csr:
    """Return what each edge counts: 1, or ½ each way if its direction is not determined."""
    found = sp.csr_array(model.adjacency_matrix_.astype(bool).astype(np.float64))
    if model.info_["identified"] == "graph":
        return found
    pattern: Any = model.cpdag_
    reversible = sp.coo_array(pattern.multiply(pattern.T))
    shaped = np.zeros(found.shape[0], dtype=bool)
    shaped[model.info_["choices"]["residuals"]["shaped"]] = True
    # Reversed, an edge leaves residuals that are not independent, unless both ends are Gaussian.
    undetermined = ~(shaped[reversible.row] | shaped[reversible.col])
    directions = found.tolil()
    directions[reversible.row[undetermined], reversible.col[undetermined]] = 0.5
    return sp.csr_array(directions)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Neither warn nor use several threads for algebra, whose sums would depend on their number.

    Around all fits for those in this process, whose threads share these settings, and around each for those in others.
    """
    with _libraries().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.cache
def _libraries() -> Any:
    """Return the libraries for linear algebra of this process; to look for them takes as long as a small fit."""
    return ThreadpoolController()


def _bar(results: Iterable[Any], count: int, progress: bool | None) -> Any:
    if progress is False:
        return results
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise ImportError("a progress bar needs tqdm: pip install 'icid_rs[progress]'") from None
        return results
    # None: not if standard error is no terminal.
    return tqdm(results, total=count, desc="bootstrap", disable=None if progress is None else False)


def _report_failures(failures: Counter[str], count: int) -> None:
    failed = failures.total()
    if not failed:
        return
    reason = f"{failed} of {count} resamples could not be fitted, most of them because: {failures.most_common(1)[0][0]}"
    if 2 * failed > count:
        raise ValueError(reason)
    warnings.warn(reason, UserWarning, stacklevel=3)

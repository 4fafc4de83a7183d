"""Bootstrap: a model is refitted to resamples of its data, and the edges are counted."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from icid_rs._core import NumericalError
from icid_rs._util.frames import frame_library
from icid_rs._util.randomness import RandomState, seed
from icid_rs._util.validation import Rows, check_int, check_real
from icid_rs._util.warn import warn_user
from icid_rs.data import checks
from icid_rs.data.encoded import Encoded
from icid_rs.data.fitted_columns import FittedColumns
from icid_rs.data.moments import Moments
from icid_rs.graph.equivalence import undetermined_edges
from icid_rs.graph.sem import Csr
from icid_rs.learning.learned import Learned
from icid_rs.trust.confidence import Bootstrap
from icid_rs.trust.resampling import Resampling, block_length


@runtime_checkable
class Refittable(Protocol):
    """The parameters and methods by which `bootstrap` recognises an `ICID`, which lies above this module."""

    precision: Any
    dag: str | None
    missing: str

    def _learn(self, X: Any, groups: Any = None) -> Learned:
        """Learn the graph of a table, and nothing more."""


def bootstrap(
    model: Refittable,
    X: Any,
    n: int = 100,
    *,
    groups: Any = None,
    block: Any = None,
    subsample: float | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
    progress: bool | None = None,
) -> Bootstrap:
    """Fit a model again to resamples of its data, and count how often each edge is found.

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
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
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
    and a few more false edges are found; since these differ between resamples, their probabilities stay small.
    Subsamples do not have this fault. But those of half the rows find fewer edges, and those of nine tenths resemble
    each other so much that chance correlations common to all of them look certain; see ``benches/bootstrap.py``.

    A probability measures sampling error alone. It does not account for hidden common causes or other violated
    assumptions, which are the same in every resample. In particular, weak edges between standardised columns can make
    unequal noise variances look equal, and the same wrong directions then follow in every resample; if scales are
    arbitrary, use ``noise="unequal"``.

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
    fitted: Any = model
    columns: FittedColumns = fitted._fitted_columns
    table = columns.encoded(X, fitted)
    values = table.values
    names, grouped = fitted.graph_.names_, fitted.fit_report_.is_grouped
    table.check_values(missing=model.missing)
    resampling = _resampling(grouped, values, groups, block, subsample, random_state)
    refit = clone(model).set_params(n_threads=1, verbose=False, callback=None, transform=None)
    shaped = fitted.fit_report_.shaped
    tasks = (delayed(_fit_draw)(refit, table, resampling, k, grouped, shaped) for k in range(count))
    backend, _ = get_active_backend()
    parallel = Parallel(n_jobs, return_as="generator" if backend.supports_return_generator else "list")
    with _quiet():
        results = list(_bar(parallel(tasks), count, progress))
    failures = Counter(result for result in results if isinstance(result, str))
    _report_failures(failures, count)
    graphs, directions = map(list, zip(*(result for result in results if not isinstance(result, str)), strict=True))
    result = Bootstrap(
        names, graphs, directions, dict(failures), None if block is None else resampling.block, frame_library(X)
    )
    fitted.bootstrap_ = result
    fitted.graph_ = fitted.graph_._with_confidence(result.edge_probabilities)
    return result


def _check_model(model: Any) -> None:
    if not isinstance(model, Refittable):
        raise TypeError(f"bootstrap needs an ICID, not {type(model).__name__}")
    check_is_fitted(model, "graph_")
    if model.precision == "precomputed":
        raise ValueError("bootstrap needs data, but the model has precision='precomputed'")
    if model.dag is None:
        raise ValueError("bootstrap counts edges of acyclic graphs, but the model has dag=None")


def _resampling(
    grouped: bool, X: Rows, groups: Any, block: Any, subsample: Any, random_state: RandomState
) -> Resampling:
    """Check the arguments that say how rows are drawn."""
    rows = len(X)
    if grouped and groups is None:
        raise ValueError("the model was fitted with groups; pass them, so that whole groups are drawn")
    member = None
    if groups is not None:
        if block is not None:
            raise ValueError("pass groups or block, not both: whole groups keep their rows together in any case")
        labels, member = np.unique(checks.check_groups(groups, rows), return_inverse=True)
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
    return Resampling(rows, seed(random_state), member, length, subsample)


def _fit_draw(
    model: Any, table: Encoded, resampling: Resampling, k: int, grouped: bool, shaped: tuple[int, ...]
) -> tuple[Csr, Csr] | str:
    """Fit resample k; return its weights and the count of each edge, or the message of the error."""
    rows, groups = resampling.draw(k)
    with _quiet():
        try:
            learned = model._learn(replace(table, values=table.values[rows]), groups if grouped else None)
        except (ValueError, NumericalError, np.linalg.LinAlgError) as error:
            return str(error)
    return learned.sem.B, _counts(learned, shaped)


def _counts(learned: Learned, shaped: tuple[int, ...]) -> Csr:
    """Count each edge as 1, or as ½ each way if its direction is not determined.

    Repeated rows look less Gaussian: a shape must be there in the whole table too.
    """
    counts: Csr = sp.csr_array(learned.sem.B.astype(bool).astype(np.float64))
    choices = learned.choices
    if choices is None or choices.noise.chosen != "unequal":
        return counts
    own = () if choices.residuals is None else choices.residuals.shaped
    causes, effects = undetermined_edges(learned.cpdag, tuple(set(own) & set(shaped)))
    shared = counts.tolil()
    shared[causes, effects] = 0.5
    return sp.csr_array(shared)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings, and run linear algebra on one thread: the sums would depend on the number of threads.

    Used around all fits, since the threads of this process share these settings, and around each fit for other
    processes.
    """
    with _libraries().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.cache
def _libraries() -> Any:
    """Return the linear algebra libraries of this process; the lookup takes as long as a small fit, so it is cached."""
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
    # To tqdm, None means: only if standard error is a terminal.
    return tqdm(results, total=count, desc="bootstrap", disable=None if progress is None else False)


def _report_failures(failures: Counter[str], count: int) -> None:
    failed = failures.total()
    if not failed:
        return
    reason = f"{failed} of {count} resamples could not be fitted, most of them because: {failures.most_common(1)[0][0]}"
    if 2 * failed > count:
        raise ValueError(reason)
    warn_user(reason)

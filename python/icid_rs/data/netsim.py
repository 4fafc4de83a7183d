"""Simulated fMRI time series of NetSim."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat

from icid_rs._util.matlab import check_elements
from icid_rs._util.validation import FloatArray, as_numbers
from icid_rs.graph.sem import Csr


def load_netsim(path: str | PathLike[str]) -> tuple[FloatArray, Csr, list[str]]:
    """Read a NetSim file of simulated fMRI time series (Smith et al. 2011).

    Parameters
    ----------
    path : path
        A ``simN.mat`` as distributed by FMRIB.

    Returns
    -------
    X : numpy.ndarray of shape (subjects * time points, nodes)
        The series of all subjects, stacked.
    adjacency : scipy.sparse.csr_array of shape (nodes, nodes)
        Mean weights over the subjects; ``[i, j] != 0`` means i → j.
    names : list of str

    Notes
    -----
    The nodes are stored in a causal order: permute the columns before judging a method by them.

    Examples
    --------
    >>> import numpy as np, scipy.io, tempfile, os
    >>> from icid_rs.datasets import load_netsim
    >>> net = np.array([[[-1.0, 0.4], [0.0, -1.0]]])  # one subject, 0 → 1; the diagonal is no edge
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "sim.mat")
    ...     scipy.io.savemat(path, {"ts": np.zeros((200, 2)), "net": net})
    ...     X, adjacency, names = load_netsim(path)
    >>> X.shape, adjacency.nnz, names
    ((200, 2), 1, ['node 1', 'node 2'])
    """
    try:
        check_elements(Path(path).read_bytes())
        content = loadmat(path, appendmat=False, variable_names=("ts", "net"))
    except (OSError, MemoryError):
        raise
    # SciPy raises errors of many types when a file is damaged.
    except Exception as error:
        raise ValueError(f"{path} is no valid MATLAB file: {str(error) or type(error).__name__}") from None
    if "ts" not in content or "net" not in content:
        raise ValueError(f"{path} is no NetSim file: it lacks the arrays 'ts' and 'net'")
    X, networks = (as_numbers(content[name], f"{path}: {name}") for name in ("ts", "net"))
    nodes = X.shape[1] if X.ndim == 2 else 0
    if not nodes or not networks.size or networks.ndim not in (2, 3) or networks.shape[-2:] != (nodes, nodes):
        raise ValueError(
            f"{path} is no NetSim file: 'ts' has shape {X.shape}, so 'net' must be (subjects, {nodes}, {nodes}), "
            f"not {networks.shape}"
        )
    mean = networks.reshape(-1, nodes, nodes).mean(axis=0)
    np.fill_diagonal(mean, 0.0)
    return X, sp.csr_array(mean), [f"node {k + 1}" for k in range(nodes)]

"""Causal graphs from data, by sparse decomposition of the inverse covariance matrix."""

from importlib.metadata import version

from icid_rs import datasets, metrics
from icid_rs._core import NumericalError
from icid_rs.decomposition import Decomposition, decompose

__version__ = version("icid_rs")

__all__ = ["Decomposition", "NumericalError", "__version__", "datasets", "decompose", "metrics"]

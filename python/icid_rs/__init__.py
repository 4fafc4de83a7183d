"""Causal graphs from data, by sparse decomposition of the inverse covariance matrix."""

from importlib.metadata import version

from icid_rs import datasets, metrics, plotting
from icid_rs._core import NumericalError
from icid_rs.bootstrap import bootstrap
from icid_rs.causal_graph import CausalGraph
from icid_rs.confidence import Bootstrap
from icid_rs.dag import equivalence_class, project_to_dag
from icid_rs.decomposition import Decomposition, decompose
from icid_rs.elimination import Elimination, eliminate, eliminate_along
from icid_rs.estimator import ICID
from icid_rs.export.formats import load
from icid_rs.moments import Moments
from icid_rs.neighbours import lasso_precision
from icid_rs.precision import Precision, empirical_precision, fdr_precision
from icid_rs.skewness import skewness_matrix
from icid_rs.sortability import ScaleWarning

__version__ = version("icid_rs")

__all__ = [
    "ICID",
    "Bootstrap",
    "CausalGraph",
    "Decomposition",
    "Elimination",
    "Moments",
    "NumericalError",
    "Precision",
    "ScaleWarning",
    "__version__",
    "bootstrap",
    "datasets",
    "decompose",
    "eliminate",
    "eliminate_along",
    "empirical_precision",
    "equivalence_class",
    "fdr_precision",
    "lasso_precision",
    "load",
    "metrics",
    "plotting",
    "project_to_dag",
    "skewness_matrix",
]

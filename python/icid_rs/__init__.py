"""Causal graphs from data, by sparse decomposition of the inverse covariance matrix.

Names are imported when they are first used (PEP 562), so that ``import icid_rs`` and ``icid --version`` do not wait for
SciPy and scikit-learn. A public name has one line in `_HOMES`, and one below for type checkers, which cannot read that
table.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

#: The module of each public name; a module that is public itself is its own home.
_HOMES = {
    "ICID": "estimator",
    "AssumptionWarning": "trust.check.audit",
    "Bootstrap": "trust.confidence",
    "CausalGraph": "result",
    "Check": "trust.check.check",
    "Comparison": "comparison",
    "Decomposition": "decomposition.oicid",
    "Effect": "graph.effect",
    "Elimination": "decomposition.elimination",
    "Falsification": "trust.falsification",
    "Moments": "data.moments",
    "PenaltyPath": "paths",
    "NumericalError": "_core",
    "Precision": "precision.variants",
    "ScaleWarning": "trust.sortability",
    "bootstrap": "trust.bootstrap",
    "compare": "comparison",
    "datasets": "datasets",
    "decompose": "decomposition.oicid",
    "eliminate": "decomposition.elimination",
    "eliminate_along": "decomposition.elimination",
    "empirical_precision": "precision.empirical",
    "equivalence_class": "graph.equivalence",
    "fdr_precision": "precision.fdr",
    "lasso_precision": "precision.neighbourhood",
    "load": "files",
    "metrics": "metrics",
    "penalty_path": "paths",
    "plotting": "plotting",
    "project_to_dag": "decomposition.acyclic",
    "skewness_matrix": "precision.skewness",
}

__all__ = sorted([*_HOMES, "__version__"])

if TYPE_CHECKING:
    from icid_rs import datasets as datasets
    from icid_rs import metrics as metrics
    from icid_rs import plotting as plotting
    from icid_rs._core import NumericalError as NumericalError
    from icid_rs.comparison import Comparison as Comparison
    from icid_rs.comparison import compare as compare
    from icid_rs.data.moments import Moments as Moments
    from icid_rs.decomposition.acyclic import project_to_dag as project_to_dag
    from icid_rs.decomposition.elimination import Elimination as Elimination
    from icid_rs.decomposition.elimination import eliminate as eliminate
    from icid_rs.decomposition.elimination import eliminate_along as eliminate_along
    from icid_rs.decomposition.oicid import Decomposition as Decomposition
    from icid_rs.decomposition.oicid import decompose as decompose
    from icid_rs.estimator import ICID as ICID
    from icid_rs.files import load as load
    from icid_rs.graph.effect import Effect as Effect
    from icid_rs.graph.equivalence import equivalence_class as equivalence_class
    from icid_rs.paths import PenaltyPath as PenaltyPath
    from icid_rs.paths import penalty_path as penalty_path
    from icid_rs.precision.empirical import empirical_precision as empirical_precision
    from icid_rs.precision.fdr import fdr_precision as fdr_precision
    from icid_rs.precision.neighbourhood import lasso_precision as lasso_precision
    from icid_rs.precision.skewness import skewness_matrix as skewness_matrix
    from icid_rs.precision.variants import Precision as Precision
    from icid_rs.result import CausalGraph as CausalGraph
    from icid_rs.trust.bootstrap import bootstrap as bootstrap
    from icid_rs.trust.check.audit import AssumptionWarning as AssumptionWarning
    from icid_rs.trust.check.check import Check as Check
    from icid_rs.trust.confidence import Bootstrap as Bootstrap
    from icid_rs.trust.falsification import Falsification as Falsification
    from icid_rs.trust.sortability import ScaleWarning as ScaleWarning

    __version__: str
else:
    # Hidden from type checkers, which would otherwise accept any attribute of the package.
    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            value: Any = version("icid_rs")
        elif name in _HOMES:
            module = import_module(f"icid_rs.{_HOMES[name]}")
            value = module if _HOMES[name] == name else getattr(module, name)
        else:
            raise AttributeError(f"module 'icid_rs' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

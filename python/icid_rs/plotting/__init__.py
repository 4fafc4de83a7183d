"""Pictures of causal graphs, and of how they were found, with matplotlib."""

from icid_rs.plotting.bootstrap import plot_bootstrap
from icid_rs.plotting.comparison import plot_comparison
from icid_rs.plotting.convergence import plot_convergence
from icid_rs.plotting.graph import plot_graph
from icid_rs.plotting.matrix import plot_matrix

__all__ = ["plot_bootstrap", "plot_comparison", "plot_convergence", "plot_graph", "plot_matrix"]

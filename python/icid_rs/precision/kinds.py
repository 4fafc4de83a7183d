"""The named estimators of Θ. Nothing is imported here, so that the command line can list the names at once."""

from __future__ import annotations

#: Estimators that choose a support for the inverse of the covariance. The module of this folder with the same name has
#: their function ``estimate(covariance, options, watch)``, which returns a `Full`.
BY_INVERSE = ("empirical", "fdr")
#: Values of the parameter `precision` of `ICID`, apart from estimators. True for those that may invert the covariance:
#: they take a ridge, and want at least d + 3 complete rows.
KINDS = {"auto": True, **dict.fromkeys(BY_INVERSE, True), "lasso": False, "precomputed": False}

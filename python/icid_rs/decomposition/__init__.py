"""Decompositions of Θ into weights and noise variances."""

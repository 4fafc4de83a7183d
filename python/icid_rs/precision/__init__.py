"""Estimates of the inverse covariance Θ."""

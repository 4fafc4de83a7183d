"""Checks of a table against what the model assumes of it."""

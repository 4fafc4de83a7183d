"""How much a graph can be trusted: resampling, and sensitivity to the units of the columns."""

"""Real data beside other packages: edges found, directions claimed, and directions that are wrong."""

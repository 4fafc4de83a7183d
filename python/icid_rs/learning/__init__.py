"""From an estimate of Θ to a causal model: orders, regression, search, noise model."""

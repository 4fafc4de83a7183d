"""Small helpers that know nothing of causal graphs."""

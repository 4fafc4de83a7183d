"""A graph with named variables: its edges, effects, equivalence class, and background knowledge."""

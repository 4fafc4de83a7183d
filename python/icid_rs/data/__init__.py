"""From whatever holds a table to numbers, names and moments."""

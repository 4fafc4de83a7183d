"""From stored results to a page and its figures. The page needs nothing but Python, the figures Matplotlib."""

"""How the pages are built: ``sphinx-build -W -b html docs site``."""

from icid_rs import __version__

project = "icid_rs"
release = version = __version__
language = "en"

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser"]
exclude_patterns = ["figures"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# Single backticks in docstrings name objects, and sometimes expressions.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"icid_rs {release}"

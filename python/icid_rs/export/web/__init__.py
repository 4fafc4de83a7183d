"""A page that shows a graph in any browser, and a summary for notebooks; neither needs a network."""

from icid_rs.export.web.page import render_page, to_html
from icid_rs.export.web.summary import summarise, summarise_fit

__all__ = ["render_page", "summarise", "summarise_fit", "to_html"]

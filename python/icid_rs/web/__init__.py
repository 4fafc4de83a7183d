"""A page that shows a graph in any browser, and a summary for notebooks; neither needs a network."""

from icid_rs.web.page import render_page
from icid_rs.web.summary import summarise

__all__ = ["render_page", "summarise"]

"""The text of a page, which notebooks show with headings."""

from __future__ import annotations

import textwrap
from html import escape


class Report(str):
    r"""A page of text, which notebooks show with headings.

    Examples
    --------
    >>> from icid_rs.trust.page_text import Report
    >>> Report("THE TABLE\n  500 rows")
    THE TABLE
      500 rows
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts: list[str] = []
        block: list[str] = []
        for line in [*str(self).splitlines(), ""]:
            if line.startswith(" "):
                block.append(line)
                continue
            if block:
                parts.append(f"<pre>{escape(textwrap.dedent(chr(10).join(block)))}</pre>")
                block = []
            if line:
                parts.append(f"<h4>{escape(line.capitalize() if line.isupper() else line)}</h4>")
        return "\n".join(parts)

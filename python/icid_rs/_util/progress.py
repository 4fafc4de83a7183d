"""Lines of progress on standard error."""

from __future__ import annotations

import sys


def report_progress(text: str) -> None:
    """Write a line on standard error, above a progress bar of tqdm if one is shown.

    Examples
    --------
    >>> from icid_rs._util.progress import report_progress
    >>> report_progress("ICID: covariance, 0.1 s")
    """
    try:
        from tqdm import tqdm
    except ImportError:
        print(text, file=sys.stderr)
    else:
        tqdm.write(text, file=sys.stderr)

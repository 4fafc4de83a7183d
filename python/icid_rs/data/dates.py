"""Dates and times in text, recognised by their form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

import numpy as np

from icid_rs._util.validation import FloatArray

_TIME = r"(?:[T ]+[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?[AaPp][Mm])?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
#: Year, month and day in the orders that are in use; where day and month may be meant either way, their order is found
#: from the column as a whole.
_FORMS = (
    re.compile(rf"(?P<year>[0-9]{{4}})[-/.](?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}}){_TIME}"),
    re.compile(rf"(?P<day>[0-9]{{1,2}})[-/.](?P<month>[0-9]{{1,2}})[-/.](?P<year>[0-9]{{4}}){_TIME}"),
    re.compile(rf"(?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}})[-/.](?P<year>[0-9]{{4}}){_TIME}"),
    re.compile(rf"(?P<day>[0-9]{{1,2}})[-/. ](?P<word>[A-Za-z]{{3}})[a-z]*[-/., ]+(?P<year>[0-9]{{4}}){_TIME}"),
    re.compile(rf"(?P<word>[A-Za-z]{{3}})[a-z]*[-/. ](?P<day>[0-9]{{1,2}}),? +(?P<year>[0-9]{{4}}){_TIME}"),
    re.compile(r"(?P<year>[0-9]{4})[-/](?P<month>[0-9]{1,2})"),
)
_EPOCH = date(1970, 1, 1)


def days_of(texts: Sequence[str]) -> FloatArray | None:
    """Return the days since 1970 of texts that are all dates of one form, with the time as a fraction; otherwise None.

    Examples
    --------
    >>> from icid_rs.data.dates import days_of
    >>> days_of(["1970-01-02", "1970-02-01"]), days_of(["31/12/1970"]), days_of(["one", "two"])
    (array([ 1., 31.]), array([364.]), None)
    """
    for form in _FORMS:
        if texts and form.fullmatch(texts[0].strip()):
            days = [_day(form, text.strip()) for text in texts]
            if None not in days:
                return np.array(days, dtype=np.float64)
    return None


def _day(form: re.Pattern[str], text: str) -> float | None:
    found = form.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    word = parts.get("word")
    if word is not None and word.lower() not in _MONTHS:
        return None
    month = int(parts["month"]) if word is None else _MONTHS.index(word.lower()) + 1
    try:
        day = date(int(parts["year"]), month, int(parts.get("day") or 1))
    except ValueError:
        return None
    return float((day - _EPOCH).days) + _time(text)


def _time(text: str) -> float:
    """Return the time of an ISO date as a fraction of a day; 0 where there is none, or in another form."""
    if ":" not in text:
        return 0.0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo is None else moment.astimezone(UTC)
    return (moment.hour + (moment.minute + moment.second / 60) / 60) / 24

"""The days on which a file says that it was created and last changed.

They limit what its text can report: nothing in it happened after the last change. Impossible days are ignored.
"""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

_DAY: Final = re.compile(r"(?:D:)?(?P<year>\d{4})-?(?P<month>\d\d)?-?(?P<day>\d\d)?")
"""The beginning of a moment in Office and OpenDocument files (W3CDTF) and in PDFs (ISO 32000-1, 7.9.4)."""

_FIRST: Final = date(1990, 1, 1)
"""What is older is the zero of some clock: 1601, 1899, 1970, 1980."""

_TEMPLATES: Final = frozenset(
    map(date.fromisoformat, ("1996-10-14", "2000-01-01", "2006-09-16", "2013-01-27", "2013-12-23", "2015-06-05"))
)
"""The days that programs put into every file: Excel's three templates, those of python-pptx and python-docx, and
ReportLab's when it is to write the same file each time."""


DOUBTED: Final = "?"
"""How a place keeps that a file gives a day that cannot be."""


class FileDates(NamedTuple):
    """The days on which a file was made and last changed, and what is to be said of a day that is not sure.

    `label` is how a place keeps them: "2024-02-16/2024-08-05", "" where neither is told, `DOUBTED` where it cannot be.
    """

    label: str = ""
    doubt: str = ""


def file_dates(made: str, changed: str) -> FileDates:
    """The days of two timestamps as a file gives them ("" for none); a file that was never changed counts as changed
    when created.
    """
    written = _day(changed or made)
    begun, last = sure_day(_day(made)), sure_day(written)
    if begun and last and begun > last:  # a copy has its own beginning
        begun = None
    label = f"{begun or ''}/{last or ''}"
    if written is None or last is not None or written in _TEMPLATES:
        return FileDates(label.strip("/") and label)
    doubt = f"The file is dated {written}, which cannot be: nothing in it is dated by that."
    return FileDates(DOUBTED, doubt)


def sure_day(day: date | None) -> date | None:
    """The day, if a file can have been written on it: not before such files existed, nor in the future."""
    return day if day and _FIRST <= day <= today() + timedelta(days=1) and day not in _TEMPLATES else None


def today() -> date:
    """Today in UTC, the zone of dates in files."""
    return datetime.now(UTC).date()


def _day(moment: str) -> date | None:
    match = _DAY.match(moment.strip())
    try:
        return date(int(match["year"]), int(match["month"] or 12), int(match["day"] or 1)) if match else None
    except ValueError:
        return None

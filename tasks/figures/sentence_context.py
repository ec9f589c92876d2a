"""When a sentence is of that names no time itself: as the one before it in its paragraph, or as what stands over it.

"Borrowings were £ 9.6 million at 30 June 2024. Cash was £ 2.3 million." A slide "FY24 in figures", a heading, or a line
"At 31 December 2024:" over a list say it for what stands under them. Only a sentence that the concept begins takes it
over: whoever else stands first may be another company, and words of another time ("today", "a month") end it.
"""

import re
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.sentence_words import BEFORE, PLAN
from tasks.language.periods import When, find_periods, header_period

_LONG: Final = 60_000
"""Characters from which on headings stand over too much."""

_LONGEST_LEAD: Final = 100
_MOST_LINES: Final = 12
_MONTH: Final = 1
_ANOTHER_TIME: Final = re.compile(
    r"\b(?:today|now|current(?:ly)?|to date|since|so far|months?|monthly|quarter\w*|weeks?|days?|daily|half|half-year"
    r"|prior|previous(?:ly)?|earlier|before|ago|latest|recent(?:ly)?|annuali[sz]ed|run[- ]rate|lifetime|cumulative"
    r"|pro forma"
    r"|aktuell\w*|derzeit|heute|seit|bisher|monat\w*|quartal\w*|vorjahr\w*|actuel\w*|depuis|à ce jour|aujourd['’]hui"
    r"|mois|trimestre|semestre|actual\w*|desde|hoy|mes|attual\w*|oggi|mese|momenteel|sinds|maand\w*|kwartaal|nu"
    r"|constant|like-for-like|organic\w*|per)\b",
    re.IGNORECASE,
)
_AT: Final = re.compile(
    r"\b(?:at|as at|as of|on|per|zum|am|au|al|a|op|em|pr\.?|stand)\s+(?:the )?\W*$|\b(?:position|balance|status)\b",
    re.IGNORECASE,
)
"""Before a day: what is under it is as of that day, and not only written on it."""

_BULLET: Final = re.compile(r"^\s*(?:[•\-–*]|\d{1,2}[.)])\s")
_OF_PLANS: Final = re.compile(
    r"\b(?:budget|plan|outlook|target|forecast|goal|ausblick|perspectives|vooruitblik)", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class Spoken:
    """The time that a document speaks of while its sentences are read one after the other."""

    def __init__(self, document: LedgerDocument) -> None:
        self._document = document
        self._start = 0
        self._end = -1
        self._before: When | None = None  # of the sentence before this one
        self._said: When | None = None  # of this one

    def begin(self, start: int, sentence: str) -> None:
        """Go on to the sentence that starts there."""
        gap = self._document.text[self._end : start] if 0 <= self._end <= start else "\n"
        self._before = None if gap.strip() or "\n" in gap else self._said
        self._said = None
        self._start, self._end = start, start + len(sentence)

    def hear(self, when: When) -> None:
        """A figure of this sentence is of then."""
        self._said = when

    def inherited(self, sentence: str, begin: int, *, instant: bool) -> When | None:
        """When a figure is of whose words begin there in a sentence that names no time; None where that is not sure."""
        if len(self._document.text) > _LONG or find_periods(sentence):
            return None
        if _ANOTHER_TIME.search(sentence) or PLAN.search(sentence):
            return None
        if any(word.lower() not in BEFORE for word in _WORD.findall(sentence[:begin])):
            return None
        before = self._before
        if before is not None and (_is_of_a_day(before) if instant else _is_of_a_time(before)):
            return before
        return self._of_heading(instant=instant)

    def _of_heading(self, *, instant: bool) -> When | None:
        heading = _lead_over(self._document.text, self._start) or self._document.heading(self._start)
        if not heading or len(heading) > _LONGEST_LEAD or _OF_PLANS.search(heading):
            return None
        found = [when for when in find_periods(heading) if when.dated]
        when = header_period(heading)
        if when is None or not found or when.forecast or len({(each.end, each.year) for each in found}) > 1:
            return None
        if _is_of_a_time(when):
            return when
        as_of = _is_of_a_day(when) and _AT.search(heading[: found[0].start]) is not None
        return when if instant and as_of else None


def _is_of_a_day(when: When) -> bool:
    return when.end is not None and when.months is None


def _is_of_a_time(when: When) -> bool:
    """Whether a duration is named: a year, a quarter, "six months to June"; a month may be when it was written."""
    return when.year is not None or (when.months or _MONTH) > _MONTH


def _lead_over(text: str, start: int) -> str:
    """The line with a colon at its end over the list or the paragraph that an offset is in; "" where there is none."""
    line = text.rfind("\n", 0, start) + 1
    listed = _BULLET.match(text[line : line + 4]) is not None
    blank = False
    for above in reversed(text[max(0, line - 4000) : line].split("\n")[-_MOST_LINES - 1 : -1]):
        if above.rstrip().endswith(":"):
            return above.strip(" :*#•–-")
        if not above.strip():
            if blank or not listed:
                return ""
            blank = True
        elif not (listed and _BULLET.match(above)):
            return ""
    return ""

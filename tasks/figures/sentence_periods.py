"""The period of a figure in a sentence."""

import re
from dataclasses import replace
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.language.locales import months
from tasks.language.numbers import PERCENT, amounts
from tasks.language.periods import MONTH, When, day_of, find_periods, months_back

_ELSEWHERE: Final = re.compile(
    r"[;(]|\b(?:from|compared|versus|against|contre|gegenüber|frente a|rispetto|tegenover|contra)\b", re.IGNORECASE
)
_ANOTHER_CLAUSE: Final = re.compile(
    r"\b(?:and|while|whereas|but|und|et|y|ed?|en|och|og)\s+(?!about|approximately|around|some|rund|etwa|environ)[a-zà-ÿ]{3,}",
    re.IGNORECASE,
)
"""Words before another amount that make it one of something else; "$ 5 million and $ 6 million in" has none."""

_COMPARED_WITH: Final = re.compile(
    r"\b(?:compared (?:with|to)|versus|vs\.?|against|gegenüber|par rapport|frente a|rispetto|tegenover)\b",
    re.IGNORECASE,
)
_IN_BRACKETS: Final = re.compile(
    r"(?: (?:last|this) (?:financial |fiscal )?year)?"
    r" \((?:(?:for|in|to|at|as|of|on|the|(?:financial |fiscal |business )?(?:years?|months?|quarters?|period)|ended"
    r"|ending|three|six|nine|twelve|zum|am|per|im|au|le|al|el|il|em|op|den|exercice clos|geschäftsjahr|ejercicio"
    r"|esercizio|exercício|boekjaar|stand)\b ?)*$",
    re.IGNORECASE,
)
"""What opens a bracket in which a period stands and nothing else: "(fiscal year ended ", "(as of "."""

_LONG: Final = 60_000
"""Characters from which on a document speaks of more months than its last."""

_BARE_MONTH: Final = re.compile(
    rf"\b(?:in|[Ff]or|during|[Ee]nd of|at|by|to|ended|closed|im|Ende) ((?=[A-Z])(?i:{MONTH}))(?!,? ?['’]?\d)"
)
"""A month without its year: "at the end of January"."""

_UP_TO: Final = re.compile(
    r"(?:(?<!from )\b(?:up to|until|till|through|by)|\b(?:to|bis|jusqu[’']à|hasta|fino a|tot|til|till|até)"
    r"(?: the)? (?:ende?|(?:la )?fin(?: de)?|finales|fine|einde?|udgangen|utgangen|slutet|(?:o )?final)"
    r"(?: of| a[fv]| d[ei]| van)?|\b(?:bis|jusqu[’']à|hasta|fino a|t/m|até))(?: the end of)? *$",
    re.IGNORECASE,
)
"""What stands before the last day of a stretch that began with the fiscal year: "revenue to the end of September"."""

_BARE_TO: Final = re.compile(
    r"(?<!compared )(?<!relative )(?<!prior )(?<!due )(?<!subsequent )(?<!down )(?<!back )\bto *$", re.IGNORECASE
)
"""The same in short: "revenue to November"."""

_OWN: Final = re.compile(
    r"\b(?:at|as at|as of|at the) (?:the )?(?:year[- ]end|end of the (?:financial |fiscal )?year|balance sheet date"
    r"|period end)\b|\bat year[- ]end\b|\b(?:in|for|during) (?:the|this) (?:financial |fiscal |business )?(?:year(?!-)"
    r"|period)\b|\bfor the year\b|\bzum jahresende\b|\bim geschäftsjahr\b",
    re.IGNORECASE,
)


def period_of(sentence: str, mention: int, number: int, end: int) -> When | None:
    """The period nearest to an amount: behind it in the same clause, between it and the concept, then before."""
    found = [when for when in find_periods(sentence) if when.dated]
    behind = [
        when
        for when in found
        if when.start >= end
        and not _ELSEWHERE.search(sentence[end : when.start])
        and not _of_another_amount(sentence[end : when.start])
    ]
    behind = [when for when in behind if when.start - end < 60] or [
        when
        for when in found
        if _IN_BRACKETS.match(sentence[end : when.start]) and sentence[when.stop :].startswith(")")
    ]
    within = [when for when in found if mention <= when.start < number]
    before = [when for when in found if when.stop <= mention]
    if len(before) > 1 and _COMPARED_WITH.search(sentence[before[-2].stop : before[-1].start]):
        before = before[:-1]  # "second quarter 2023 compared with second quarter 2022" speaks of the first
    for group in (behind[:1], within[-1:], before[-1:]):
        if group:
            return _widened(group[0], sentence)
    return None


def _of_another_amount(between: str) -> bool:
    """Whether another clause with an amount of its own stands between an amount and a period: it is that one's."""
    return any(
        amount.unit not in {None, PERCENT} and _ANOTHER_CLAUSE.search(between[: amount.start])
        for amount in amounts(between)
    )


def _widened(when: When, sentence: str) -> When:
    lead = sentence[max(0, when.start - 40) : when.start]
    if when.end is not None and re.search(r"second half of\s*$", lead, re.IGNORECASE):
        return replace(when, months=6)
    return replace(when, to_date=True) if _is_up_to(lead, when) else when


def _is_up_to(lead: str, when: When) -> bool:
    """Whether a month or quarter is the end of what began with the fiscal year; "from May until June" is not."""
    if (when.months or 1) > 1 and not when.part:
        return False  # "nine months to the end of September 2024" says its own length
    up_to = _UP_TO.search(lead) or _BARE_TO.search(lead)
    return up_to is not None and not re.search(rf"\b(?:{MONTH})(?: \d{{4}})? *$", lead[: up_to.start()], re.IGNORECASE)


def own_period(document: LedgerDocument, sentence: str, mention: int, end: int) -> When | None:
    """The last month of a bare name, or the document's own fiscal year where a sentence speaks of "the year".

    Only what the semicolons around the amount leave counts: "churn in the year was 20 %; the loss in February weighs".
    """
    clause = sentence[sentence.rfind(";", 0, mention) + 1 : end] + sentence[end:].partition(";")[0]
    month = _BARE_MONTH.search(clause)
    dated = document.calendar.dated
    if month is not None and dated is not None and len(document.text) <= _LONG:
        name = month[1].rstrip(".").lower()
        number = months()[name]
        last = day_of(dated.year, number, 31)
        last = last if months_back(last, 1) < dated else day_of(dated.year - 1, number, 31)
        return When(end=last, months=1, to_date=_is_up_to(clause[: month.start(1)], When()))
    if not _OWN.search(clause) or not document.calendar.ends:
        return None
    if len(document.text) > 60_000 or document.kind.deck:
        return None
    dated = document.calendar.dated
    ends = [end for end in document.calendar.ends.values() if dated is None or end <= dated]
    return When(end=max(ends), months=12) if ends else None

"""Counts in sentences: people, customers and the largest customer's share, which are worded in their own ways."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import WORDS, Figure, Findings, Taxonomy, find_basis, words_in
from tasks.figures.sentence_periods import SEVERAL, SeveralError, Spoken, find_period, in_brackets, own_period
from tasks.language.numbers import PERCENT
from tasks.language.periods import When, find_periods


def is_hypothetical(sentence: str, at: int) -> bool:
    """Whether a sentence says at this place what did not happen, or what concerns somebody else; a
    semicolon ends it.
    """
    begin, end = sentence.rfind(";", 0, at) + 1, sentence.find(";", at)
    return WORDS.count_hypothetical.search(sentence, begin, end if end >= 0 else len(sentence)) is not None


_ITEM: Final = re.compile(r"\s*[•*–-]\s+[*_]*(?P<name>[^:*_\n]{2,40})[*_]*\s*:[*_\s]*")
_AHEAD: Final = 40
"""Characters before a count in which its clause may call it an average."""
_LONGEST_NUMBER: Final = 2  # digits of a heading's
_PEOPLE: Final = words_in("people_stems")
_BUYERS: Final = ("customer", "client", "kunde", "logo")
_STOCK: Final = ("shares", "stock")


def _without_days(sentence: str) -> str:
    """A sentence of the same length with its dates blanked out: "zum 31.12.2024 191 Mitarbeiter"."""
    for when in find_periods(sentence):
        if when.end is not None and when.months is None:
            sentence = sentence[: when.start] + " " * (when.stop - when.start) + sentence[when.stop :]
    return sentence


def _counts(taxonomy: Taxonomy, sentence: str, lower: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The concepts that a sentence gives counts for, each with its match."""
    counted = {words: any(word in lower for word in words) for words in (_PEOPLE, _BUYERS, _STOCK)}
    if not any(counted.values()):
        return
    undated = _without_days(sentence) if WORDS.count_day_before.search(sentence) else sentence
    for concept, words, counted_by in (
        ("headcount", _PEOPLE, WORDS.people_employed),
        ("headcount", _PEOPLE, WORDS.listed_people),
        ("headcount", _PEOPLE, WORDS.people_numbered),
        ("headcount", _PEOPLE, WORDS.workforce),
        ("headcount", _PEOPLE, WORDS.people_on_payroll),
        ("customers", _BUYERS, WORDS.customers_counted),
        ("customers", _BUYERS, WORDS.listed_customers),
        ("largest_customer_share", _BUYERS, WORDS.largest_customer),
        ("shares", _STOCK, WORDS.shares_in_issue),
    ):
        match = counted_by.search(undated) if counted[words] and concept in taxonomy.concepts else None
        of_growth = (
            counted_by is WORDS.largest_customer
            and match is not None
            and not WORDS.count_has_share.search(match["verb"])
        )
        weighted = counted_by is WORDS.shares_in_issue and match and "weighted" in lower[: match.end()]
        if match is not None and not of_growth and not weighted and not is_hypothetical(sentence, match.start()):
            yield concept, match


def _time(document: LedgerDocument, sentence: str, match: re.Match[str], spoken: Spoken, *, share: bool) -> When | None:
    """The period of a count; if no words tell it, that of short audited accounts, or the document's date.

    Raises:
        SeveralError: it is one of several times.
    """
    when = find_period(sentence, match.start(), match.start("number"), match.end("number"))
    when = when or own_period(document, sentence, match.start(), match.end())
    when = when or spoken.inherit(sentence, match.start("number"), instant=not share)
    when = when or (spoken.of_the_year(sentence, match.start()) if share else None)
    said = when is None and WORDS.listed_name.fullmatch(sentence, 0, match.start("number"))
    if said and WORDS.listed_end.match(sentence, match.end("number")):
        when = spoken.own_time()
    calendar = document.calendar
    if when is None and calendar.ends and document.kind.basis == "audited" and len(document.text) < 60_000:
        ends = [end for end in calendar.ends.values() if calendar.dated is None or end <= calendar.dated]
        when = When(end=max(ends), months=12) if ends else None
    if when is None and not share and calendar.dated is not None:
        when = When(end=calendar.dated)
    return when


def count_figures(
    document: LedgerDocument, taxonomy: Taxonomy, sentence: str, lower: str, spoken: Spoken, findings: Findings
) -> Iterator[Figure]:
    """People, customers and the largest customer's share in a sentence.

    `lower` is the sentence in lower case, `spoken` the time that the text around it refers to.
    """
    for concept, match in _counts(taxonomy, sentence, lower):
        share = concept == "largest_customer_share"
        if _is_not_of_all(sentence, match, share=share) or _numbers_heading(document, match):
            continue
        try:
            when = _time(document, sentence, match, spoken, share=share)
        except SeveralError:
            findings.leave_out(SEVERAL)
            continue
        after = match["after"] or ""
        instant = WORDS.count_of_stock.search(after) is not None if share else not _is_average(concept, sentence, match)
        period = document.calendar.resolve(when, instant=instant) if when else None
        if when is None or period is None:
            continue
        spoken.hear(when)
        value, step = _value(match, share=share)
        said = find_basis(sentence[max(0, match.start() - 40) : match.end("number")])
        basis = said if said in {"forecast", "budget"} else None
        figure = Figure(
            concept, " ".join(match.group().split())[:80], value, PERCENT if share else "count", "", step, period, None,
            basis, "", "", match.start("number"), match.end("number"),
        )  # fmt: skip
        yield figure
        compared = WORDS.compared_in_brackets.match(after if not share else after + sentence[match.end() :])
        if compared:
            earlier = in_brackets(document, figure, compared, match.start("after") if match["after"] else match.end())
            yield from filter(None, (earlier,))


def _is_average(concept: str, sentence: str, match: re.Match[str]) -> bool:
    """Whether a count of people is an average over its period."""
    clause = re.split(r"[;,(]", sentence[max(0, match.start() - _AHEAD) : match.start()])[-1] + match.group()
    return concept == "headcount" and WORDS.count_average.search(clause) is not None


def _is_not_of_all(sentence: str, match: re.Match[str], *, share: bool) -> bool:
    """Whether a count is of joiners, leavers, one place or one item of a list, none, or a share a bound or of debts."""
    if share:
        return WORDS.no_share_of_sales.search(sentence[max(0, match.start() - 12) : match.end()]) is not None
    after = match["after"] or ""
    item = _ITEM.fullmatch(sentence, 0, match.start("number"))
    return bool(
        (item and not any(word in item["name"].lower() for word in (*_PEOPLE, *_BUYERS, *_STOCK, "team", "total")))
        or not match["number"].strip("0")  # "for a club with 0 employees"
        or WORDS.count_of_some.search(after)
        or WORDS.count_somewhere.match(after)
        or ((item or not after) and WORDS.count_to_come.match(sentence, match.end("number")))
        or WORDS.count_of_a_segment.search(sentence)
        or WORDS.of_a_place.search(sentence[: match.start()])
    )


def _numbers_heading(document: LedgerDocument, match: re.Match[str]) -> bool:
    """Whether a number is that of a heading, before or behind which the next one stands: "5 Staff numbers"."""
    number, what = match["number"], match.groupdict().get("what") or ""
    if not what[:1].isupper() or not number.isdigit() or len(number) > _LONGEST_NUMBER:
        return False
    lines, at = document.numbered_lines, int(number)
    return what.split()[0] in lines.get(at, ()) and not lines.keys().isdisjoint({at - 1, at + 1})


def _value(match: re.Match[str], *, share: bool) -> tuple[Decimal, Decimal]:
    """A count or a percentage, and the value of one unit in its last digit."""
    in_millions = bool(match.groupdict().get("million"))
    digits = match["number"].replace(",", "." if share else "")
    digits = digits if share or in_millions else digits.replace(".", "")
    value, step = Decimal(digits), Decimal(1).scaleb(-len(digits.partition(".")[2]))
    return (Decimal(int(value * 10**6)), step * 10**6) if in_millions else (value, step)

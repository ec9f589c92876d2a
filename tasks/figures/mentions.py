"""What sentences name: concepts, with the words around a name that make it another one or say its amount; and counts.

Counts are of people, customers and the largest customer's share, which are worded in their own ways.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import (
    DATA,
    SHORT_NAMES,
    WORDS,
    Concept,
    Figure,
    Findings,
    Taxonomy,
    either,
    find_basis,
    spellings,
    words_in,
)
from tasks.figures.sentence_periods import SEVERAL, SeveralError, Spoken, find_period, in_brackets, own_period
from tasks.language.numbers import PERCENT
from tasks.language.periods import When, find_periods
from tasks.language.words import spell_out


def _more(kind: str, concept: Concept) -> Iterator[str]:
    """Further words for a concept in sentences, in all languages."""
    for words in DATA[kind].get(concept.id, {}).values():
        yield from words


CLAUSES: Final = frozenset(
    spelling
    for by_language in DATA["clauses"].values()
    for written in chain.from_iterable(by_language.values())
    for spelling in spellings(written)
)
"""Mentions with who does it in them, before which any word may stand: "we owed the bank"."""
PART_STEMS: Final = words_in("part_stems")


class Mentions:
    """Finds the concepts that sentences name."""

    def __init__(self, taxonomy: Taxonomy, short_names: Mapping[str, str]) -> None:
        self._by_words: dict[str, Concept] = {}
        self._short = {}
        for short, name in short_names.items():
            meaning = taxonomy.meaning(name)
            if meaning is not None:
                self._short[short] = self._by_words[short] = meaning.concept
        for concept in taxonomy.concepts.values():
            for written in (*concept.mentions, *_more("mentions", concept), *_more("clauses", concept)):
                for spelling in spellings(written):
                    for words in {spelling, spelling.replace(" and ", " & ")}:
                        self._by_words.setdefault(words.lower(), concept)
        self._pattern = re.compile(rf"(?<![\w-]){spell_out(self._by_words)}(?![\w-])")

    def find(self, lower: str, sentence: str) -> Iterator[tuple[Concept, re.Match[str]]]:
        """The concepts that a sentence names, and where; `lower` is the sentence in lower case."""
        for match in self._pattern.finditer(lower.replace("’", "'")):
            # a short name is one in capitals alone
            if match.group() not in self._short or sentence[match.start() : match.start() + 2].isupper():
                yield self._by_words[match.group()], match


Mention = tuple[Concept, re.Match[str]]


@lru_cache(maxsize=4)
def find_mentions(taxonomy: Taxonomy, language: str) -> Mentions:
    """Finds mentions in texts of a language; shared by the texts of a room."""
    return Mentions(taxonomy, SHORT_NAMES.get(language, {}))


SHORT_LEAD: Final = 30
CASH: Final = frozenset({"cash", "cash and cash equivalents"})
STATED_ALONE: Final = frozenset({"equity", "debt", "sales", "ventas", "ventes", "vendite", "vendas"})
"""Names of concepts that are parts of many others: what they are called alone is stated in so many words."""
STATED: Final = re.compile(
    r"\s*(?:,? ?(?:at|as at|as of|on|in|for|per|au|al?|el|en|nel|em) (?=[^.;:,]{0,40}\d)(?:the )?[^.;:,]{3,45}?,? ?)?"
    rf"(?:(?:had|have|has) )?(?:{either('stated')}|:|=)?\s*(?:(?:(?:just|only) )?(?:{either('about')} )?)?",
    re.IGNORECASE,
)
"""All that stands between such a name and its amount: "Equity at 31 May 2024 was", "debt of"; not "debt service of"."""
STATED_AMOUNT: Final = re.compile(rf"{STATED.pattern}(?:[A-Z]{{1,3}}|Rs\.?)? ?[$€£¥₹]? ?\d", re.IGNORECASE)
"""The same up to the amount: without it the name is not looked at."""


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

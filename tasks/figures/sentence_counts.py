"""Counts in sentences: people, customers and the largest customer's share, which have words of their own."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from tasks.figures.concepts import Taxonomy
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Figure, Findings, find_basis
from tasks.figures.measures import find_planned_basis
from tasks.figures.sentence_periods import COMPARED, SEVERAL, SeveralError, Spoken, find_period, in_brackets, own_period
from tasks.figures.sentence_words import either, words_in
from tasks.language.numbers import PERCENT
from tasks.language.periods import SHORT_MONTH, When, find_periods

HYPOTHETICAL: Final = re.compile(rf"\b(?:{either('hypothetical')}\b|competitor|peer)", re.IGNORECASE)


def is_hypothetical(sentence: str, at: int) -> bool:
    """Whether what a sentence says at a place of it did not happen, or is another's: a semicolon ends what is said."""
    begin, end = sentence.rfind(";", 0, at) + 1, sentence.find(";", at)
    return HYPOTHETICAL.search(sentence, begin, end if end >= 0 else len(sentence)) is not None


_HEADCOUNT: Final = re.compile(
    rf"(?:(?P<lead>\b{either('employs')}\b(?: (?-i:[A-Z])[\w&.-]*){{0,3}}[ :]*"
    r"(?:about |around |approximately |some |an average of |a total of |rund |on average |(?:zum|am|ende"
    r"|per|at|on|as of|au|al|a|op|em|den) {4,})?)|^(?:[•\-–]\s*)?(?:.{0,30}[.:] )?"
    r"|^(?:at|as at|as of|on|by|zum|per|au|al|a|op|em) {4,},? ?)"
    r"(?P<number>\d{1,3}(?:[,.]\d{3})+|\d{1,6}|\d\.\d{1,2}(?= million))(?P<million> million)?\s+"
    r"(?:(?:permanent|total|regular|full-?(?:[ -]time)?|part[- ]time|and|active|dedicated|full[- ]time equivalent) )*"
    rf"(?P<what>{either('people')})\b(?P<after>.{{0,90}})",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(
    rf"\b(?P<what>{either('staff')}) (?:were|numbered|totall?ed|waren|étaient|eran|erano|eram|bedroegen|var)"
    rf" (?:{either('about')} )?(?P<number>\d{{1,3}}(?:[,.]\d{{3}})+|\d{{1,6}})"
    r"(?=[.;,)]|\s*$| (?:at|as|on|in|zum|am|au|al|a|em|op|per|den)\b)(?P<after>.{0,60})",
    re.IGNORECASE,
)
"""The people come first: "the employees numbered 412 at year end"."""

_WORKFORCE: Final = re.compile(
    r"\b(?:workforce|employee (?:base|count)|number of employees) (?:was|is|of|totall?ed|stood at"
    r"|consisted of|numbered|came to|comprised)"
    r" (?:about |around |approximately |some )?(?P<number>\d{1,3}(?:,\d{3})+|\d{1,6})(?![\d.,]*\d| ?%)(?P<after>)",
    re.IGNORECASE,
)
"""All of them by one word: "our total workforce was approximately 172,000"."""

_ON_PAYROLL: Final = re.compile(
    r"(?<![\w.,])(?P<number>\d{1,3}(?:,\d{3})+|\d{1,6}) (?:people|persons|employees|staff|colleagues)"
    r" (?:on (?:the|our) payroll|in (?:our |the )?employment|in (?:our )?employ)\b(?P<after>.{0,60})",
    re.IGNORECASE,
)
_CUSTOMERS: Final = re.compile(
    r"(?:\b(?:had|has|have|serves?|served|with|customers:|total of)\s+(?:about |around |more than )?"
    r"|^(?:[•\-–]\s*)?)(?P<number>\d{1,3}(?:[,.]\d{3})+|\d{1,6})\s+(?:(?:paying|active|live"
    r"|recurring) )*(?P<what>customers|clients|logos|Kunden|clientes)\b(?P<after>.{0,60})",
    re.IGNORECASE,
)

_OF_A_SEGMENT: Final = re.compile(r"\b(?i:the|our|its) (?:[A-Z][\w&-]+ ){0,4}(?:[Ss]egment|[Dd]ivision)\b")
"""A sentence about a part of the company: "our Flexibles Segment, with 37,000 employees"."""


_OF_A_PLACE: Final = re.compile(
    r"\b(?:facility|plant|site|factory|mill|warehouse|store|subsidiary|venture) (?:\w+ ){0,2}$", re.IGNORECASE
)
"""Before a count: those of one place, "the facility employed 350 individuals"."""


def _match_list_line(words: str) -> re.Pattern[str]:
    """A line that gives a count and says no more: "Customers at 31 December 2024: 3,450"."""
    return re.compile(
        rf"^(?:[•\-–*]\s*)?(?:number of |total |anzahl |active |paying |year[- ]end )*(?:average )?(?:{words})"
        r"(?: \((?:fte|average|year[- ]end)s?\))?"
        r"[^:\d]{0,20}[^:]{0,25}?[:=]\s*(?P<number>\d{1,3}(?:[,.]\d{3})+|\d{1,6})(?![\d.,]*\d|\s?%)(?P<after>)",
        re.IGNORECASE,
    )


_LISTED_PEOPLE: Final = _match_list_line("employees|headcount|staff|ftes?|mitarbeiter")
_LISTED_CUSTOMERS: Final = _match_list_line("customers|clients|kunden")
_LARGEST: Final = re.compile(
    r"\b(?:largest|biggest|single largest|top|one|a single|größter?|wichtigster?|premier|principal|plus grand"
    r"|mayor|principale|grootste) (?:single )?(?:customer|client|kunde"
    r"|cliente|klant)\b(?!s)(?:, [^,.;\d]{2,60},)?(?P<verb>(?:[^.;\n]|\.(?=\d)){0,90}?)(?<![\d.,])"
    r"(?P<number>\d{1,3}(?:[.,]\d{1,2})?)\s?(?:%|per ?cent|percent"
    r"|Prozent)(?P<after>\s(?:of|des|der|du|de|del|dei|van)\s[^.;,()]{3,60})?",
    re.IGNORECASE,
)


_HAS_SHARE: Final = re.compile(rf"[:(=–]|(?<!\w){either('has_share')}(?!\w)|^\s*$", re.IGNORECASE)
"""Between the largest customer and a percentage: it is no growth."""

_NO_SHARE_OF_SALES: Final = re.compile(
    r"\b(?:no|none of|not) (?:one |single |other |individual )*(?:customer|client)\b|\breceivables?\b"
    r"|\b(?:more|greater|less|fewer|higher|lower) than\b|\bexceed|\bin excess of\b|\bover\b",
    re.IGNORECASE,
)
"""Around a share: a bound that nobody reaches, or a share of what customers owe."""

_SOMEWHERE: Final = re.compile(rf"\s+(?:located )?(?:in|outside) (?:the )?(?!{SHORT_MONTH}|Q[1-4]|H[12]|FY)[A-Z]")
"""Behind a count: those of one country."""

_AVERAGE: Final = re.compile(r"average|durchschnitt|moyenne|media", re.IGNORECASE)
_AHEAD: Final = 40
"""Characters before a count in which its clause may call it an average."""

_PEOPLE: Final = words_in("people_stems")
_BUYERS: Final = ("customer", "client", "kunde", "logo")
_STOCK: Final = ("shares", "stock")
_SHARES: Final = re.compile(
    r"\b(?:there (?:were|are)|had|has|of|in issue:|outstanding:)\s+(?P<number>\d{1,3}(?:[,.]\d{3})+|\d{4,12})\s+"
    r"(?:(?:ordinary|common|registered|voting) )*(?:shares|stock)"
    r"(?: of (?:(?:our|its|the) )?(?:class [a-c] )?(?:common|ordinary|capital) (?:stock|shares))?,?"
    r" (?:(?:were|are|was) )?(?:in issue|(?:issued and )?outstanding|issued)\b(?P<after>.{0,60})",
    re.IGNORECASE,
)


_DAY_BEFORE: Final = re.compile(r"(?:(?:19|20)|[./-])\d\d,? {1,2}\d")
"""A number right behind what may be a date, "31 December 2024, 214": searched before dates are."""


def _without_days(sentence: str) -> str:
    """A sentence with blanks in the place of its dates, of the same length: "zum 31.12.2024 191 Mitarbeiter"."""
    for when in find_periods(sentence):
        if when.end is not None and when.months is None:
            sentence = sentence[: when.start] + " " * (when.stop - when.start) + sentence[when.stop :]
    return sentence


def _counts(taxonomy: Taxonomy, sentence: str, lower: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The concepts that a sentence counts, and where."""
    counted = {words: any(word in lower for word in words) for words in (_PEOPLE, _BUYERS, _STOCK)}
    if not any(counted.values()):
        return
    undated = _without_days(sentence) if _DAY_BEFORE.search(sentence) else sentence
    for concept, words, pattern in (
        ("headcount", _PEOPLE, _HEADCOUNT),
        ("headcount", _PEOPLE, _LISTED_PEOPLE),
        ("headcount", _PEOPLE, _NUMBERED),
        ("headcount", _PEOPLE, _WORKFORCE),
        ("headcount", _PEOPLE, _ON_PAYROLL),
        ("customers", _BUYERS, _CUSTOMERS),
        ("customers", _BUYERS, _LISTED_CUSTOMERS),
        ("largest_customer_share", _BUYERS, _LARGEST),
        ("shares", _STOCK, _SHARES),
    ):
        match = pattern.search(undated) if counted[words] and concept in taxonomy.concepts else None
        of_growth = pattern is _LARGEST and match is not None and not _HAS_SHARE.search(match["verb"])
        if match is not None and not of_growth and not is_hypothetical(sentence, match.start()):
            yield concept, match


def _time(document: LedgerDocument, sentence: str, match: re.Match[str], spoken: Spoken, *, share: bool) -> When | None:
    """When a count is of; without any word on it, that of short audited accounts, or the document's date.

    Raises:
        SeveralError: it is one of several times.
    """
    when = find_period(sentence, match.start(), match.start("number"), match.end("number"))
    when = when or own_period(document, sentence, match.start(), match.end())
    when = when or spoken.inherit(sentence, match.start("number"), instant=not share)
    when = when or (spoken.of_the_year(sentence, match.start()) if share else None)
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
    """People, customers and the largest customer's share, which sentences count in words of their own.

    `lower` is the sentence in lower case, `spoken` what stands over it and before it.
    """
    for concept, match in _counts(taxonomy, sentence, lower):
        share = concept == "largest_customer_share"
        after = match["after"] or ""
        if not share and re.search(
            r"\b(?:left|joined|lost|hired|resigned|churned|each|in (?:the )?[a-z]+ (?:department|team)|laid off"
            r"|were made|signed|renewed|unvested"
            r"|restricted|options?|awards?|warrants?|treasury)\b"
            r"|^,? and (?:approximately |about )?[\d,]+ (?:part|seasonal|temporary)"
            r"|^\s+(?:of|from|who|with|representing|accounted|account)\b",
            after,
            re.IGNORECASE,
        ):
            continue
        of_a_part = _OF_A_SEGMENT.search(sentence) or _OF_A_PLACE.search(sentence[: match.start()])
        if not share and (of_a_part or _SOMEWHERE.match(after)):
            continue
        clause = re.split(r"[;,(]", sentence[max(0, match.start() - _AHEAD) : match.start()])[-1] + match.group()
        if share and _NO_SHARE_OF_SALES.search(sentence[max(0, match.start() - 12) : match.end()]):
            continue
        average = concept == "headcount" and _AVERAGE.search(clause)
        millions = bool(match.groupdict().get("million"))
        digits = match["number"].replace(",", "" if not share else ".")
        if not share and not millions:
            digits = digits.replace(".", "")
        of_stock = share and re.search(r"\barr\b|recurring", after, re.IGNORECASE)
        try:
            when = _time(document, sentence, match, spoken, share=share)
        except SeveralError:
            findings.leave_out(SEVERAL)
            continue
        if when is None:
            continue
        instant = bool(of_stock) if share else not average
        period = document.calendar.resolve(when, instant=instant)
        if period is None:
            continue
        spoken.hear(when)
        value = Decimal(digits)
        step = Decimal(1).scaleb(-len(digits.partition(".")[2]))
        if millions:
            value, step = Decimal(int(value * 10**6)), step * 10**6
        at = match.start("number")
        said = find_basis(sentence[max(0, match.start() - 40) : match.end("number")])
        basis = find_planned_basis(said if said in {"forecast", "budget"} else None, period, document.calendar.dated)
        figure = Figure(
            concept, " ".join(match.group().split())[:80], value, PERCENT if share else "count", "", step, period, None,
            basis, "", "", at, match.end("number"),
        )  # fmt: skip
        yield figure
        compared = COMPARED.match(after if not share else after + sentence[match.end() :])
        if compared:
            earlier = in_brackets(document, figure, compared, match.start("after") if match["after"] else match.end())
            if earlier:
                yield earlier

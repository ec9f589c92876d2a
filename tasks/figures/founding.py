"""When a company was founded, as sentences and lists of facts say it: "founded in 2009", "incorporated on 3 May 2009".

A founding year is no figure of the taxonomy: it has no period, and no criterion asks for it. It is kept beside the
figures of a text, to be held against what public sources say.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Figure

FOUNDING_YEAR: Final = "founding_year"
"""What such a figure's concept is called; its value and its period are the year, its unit is `year`."""

_LONGEST: Final = 300
_YEAR: Final = r"(?P<year>(?:1[6-9]|20)\d\d)\b(?![,.]\d|%| ?(?:employees|million|m\b))"
_DAY: Final = r"(?:\d{1,2}(?:st|nd|rd|th)?\.?\s(?:of\s)?)?(?:[A-Za-zäéûô]{3,9}\.?\s)?(?:\d{1,2}(?:st|nd|rd|th)?,\s)?"
_VERBS: Final = (
    r"founded|established|incorporated|formed|gegründet|errichtet|fondée?|créée?|constituée?|fundad[ao]|constituid[ao]"
)
_FOUNDED: Final = re.compile(
    rf"\b(?P<verb>{_VERBS})\b[^.;\n\t\d]{{0,60}}?(?:\b(?:in|on|im jahr|am|en|le|el|im)\s)?{_DAY}{_YEAR}"
    rf"|\b(?:year (?:founded|established|of (?:foundation|incorporation))|(?:date|year) of (?:foundation|incorporation)"
    rf"|founding year|foundation|founded|established|incorporated|gründung(?:sjahr|sdatum)?|gegründet"
    rf"|année de création|date de création|año de fundación)\s*[:\t|–-]\s*{_DAY}{_YEAR.replace('year', 'listed', 1)}"
    rf"|\b(?:im jahr(?:e)? |wurde |en )?{_YEAR.replace('year', 'before', 1)}(?:\s\S+){{0,6}}\s(?:gegründet|fondée|fundada)\b",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(
    r"found|establish|incorporat|formed|gründ|errichtet|fond|créé|création|constitu|fund", re.IGNORECASE
)
_OTHERS: Final = re.compile(
    r"\b(?:competitors?|customers?|clients?|funds?|plans?|committee|programmes?|programs?|subsidiar\w+|branch\w*|offices?"
    r"|plant|factory|joint venture|investors?|partners?|trusts?|schemes?|boards?|university|association|policy|policies"
    r"|reserves?|provisions?|facilit\w+|tochter\w*|niederlassung|wettbewerber\w*|kunden?|filiale|concurrents?)\b",
    re.IGNORECASE,
)


def founding_years(document: LedgerDocument) -> Iterator[Figure]:
    """Each place of a document that says when the company itself was founded."""
    at = 0
    for line in document.text.split("\n"):
        start, at = at, at + len(line) + 1
        if not _WORDS.search(line):
            continue
        for match in _FOUNDED.finditer(line):
            opening = max(line.rfind(". ", 0, match.start()) + 1, match.start() - _LONGEST)
            end = line.find(". ", match.end())
            sentence = line[opening : end + 1 if end >= 0 else match.end() + 80]
            if _OTHERS.search(sentence[: match.end() - opening]):
                continue
            name = next(name for name in ("year", "listed", "before") if match[name])
            where = start + match.start(name)
            yield Figure(
                FOUNDING_YEAR, " ".join(match.group().split())[:80], Decimal(match[name]), "year", "", Decimal(1),
                match[name], None, None, "", document.place(where), where, start + match.end(name),
            )  # fmt: skip

"""When a company was founded, as sentences and lists of facts say it: "founded in 2009", "incorporated on 3 May 2009".

A founding year is no figure of the taxonomy: it has no period, and no criterion asks for it. It is kept beside the
figures of a text, to be held against what public sources say.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from tasks.figures.anchors import lowered, spots
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Figure

FOUNDING_YEAR: Final = "founding_year"
"""What such a figure's concept is called; its value and its period are the year, its unit is `year`."""

_LONGEST: Final = 300
_LOOKED_AT: Final = 300_000
"""Characters of a document that are looked at: what a company is stands near the beginning."""

_YEAR: Final = r"(?P<year>(?:1[6-9]|20)\d\d)\b(?![,.]\d|%| ?(?:employees|million|m\b))"
_DAY: Final = r"(?:\d{1,2}(?:st|nd|rd|th)?\.?\s(?:of\s)?)?(?:[A-Za-zäéûô]{3,9}\.?\s)?(?:\d{1,2}(?:st|nd|rd|th)?,\s)?"
_VERBS: Final = (
    r"founded|established|incorporated|formed|gegründet|errichtet|fondée?|créée?|constituée?|fundad[ao]|constituid[ao]"
)
_FOUNDED: Final = re.compile(
    rf"\b(?P<verb>{_VERBS})\b,?(?P<gap>(?:\s(?:in|on|under|as|at|by|and|or|im|en|am|le|el|von|par|por)\b[^.;:\n\t\d(]{{0,60}}?)??)"
    rf"(?:\s(?:in|on|im jahre?|am|en|le|el|im))?\s{_DAY}{_YEAR}"
    rf"|\b(?:year (?:founded|established|of (?:foundation|incorporation))|(?:date|year) of (?:foundation|incorporation)"
    rf"|founding year|foundation|founded|established|incorporated|gründung(?:sjahr|sdatum)?|gegründet"
    rf"|année de création|date de création|año de fundación)\s*[:\t|–-]\s*{_DAY}{_YEAR.replace('year', 'listed', 1)}"
    rf"|\b(?:im jahr(?:e)? |wurde |en )?{_YEAR.replace('year', 'before', 1)}(?:\s\S+){{0,6}}\s(?:gegründet"
    rf"|fondée|fundada)\b",
    re.IGNORECASE,
)
_STEMS: Final = (
    "found", "establish", "incorporat", "formed", "gründ", "errichtet", "fond", "créé", "création", "constitu", "fund",
)  # fmt: skip
_NOT_BETWEEN: Final = re.compile(
    r"\b(?:reference|control|until|after|before|plans?|act|from|effective|through|for|with|beginning|agencies|commission)\b",
    re.IGNORECASE,
)
"""Between "established" and a year: something else was."""

_OTHERS: Final = re.compile(
    r"\b(?:competitors?|customers?|clients?|funds?|plans?|committee|programmes?|programs?|subsidiar\w+|branch\w*|offices?"
    r"|plant|factory|joint venture|investors?|partners?|trusts?|schemes?|boards?|university|association|policy|policies"
    r"|reserves?|provisions?|facilit\w+|tochter\w*|niederlassung|wettbewerber\w*|kunden?|filiale|concurrents?)\b",
    re.IGNORECASE,
)


def founding_years(document: LedgerDocument) -> Iterator[Figure]:
    """Each place of a document that says when the company itself was founded."""
    text = document.text[:_LOOKED_AT]
    looked = -1
    for spot in spots(lowered(text), _STEMS):
        start = text.rfind("\n", 0, spot) + 1
        if start == looked:
            continue
        looked = start
        end = text.find("\n", spot)
        line = text[start : end if end >= 0 else len(text)]
        for match in _FOUNDED.finditer(line):
            if _is_the_company(line, match):
                name = next(name for name in ("year", "listed", "before") if match[name])
                where = start + match.start(name)
                yield Figure(
                    FOUNDING_YEAR, " ".join(match.group().split())[:80], Decimal(match[name]), "year", "", Decimal(1),
                    match[name], None, None, "", document.place(where), where, start + match.end(name),
                )  # fmt: skip


def _is_the_company(line: str, match: re.Match[str]) -> bool:
    """Whether a match speaks of the company itself and of its founding."""
    opening = max(line.rfind(". ", 0, match.start()) + 1, match.start() - _LONGEST)
    if _OTHERS.search(line[opening : match.end()]):
        return False
    verb, gap = match["verb"] or "", match["gap"] or ""
    if verb[:1].isupper() and line[opening : match.start()].strip(" \t•–-|"):
        return False  # a name: "Corning Incorporated"
    return not _NOT_BETWEEN.search(gap) and not (verb.startswith("establish") and re.match(r"\s*by\b", gap))

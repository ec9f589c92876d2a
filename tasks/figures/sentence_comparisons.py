"""What a sentence compares a figure with: the same of another year, in brackets or in words behind it.

"Net sales were € 66.2 million in 2024 (2023: € 58.1 million)", "… up 14 % from € 58.1 million in 2023", "… against
€ 58.1 million the year before".
"""

import re
from dataclasses import replace
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Figure
from tasks.figures.sentence_words import CURRENCY_LAST, LOSS
from tasks.language.numbers import Amount, amounts
from tasks.language.periods import When, a_year_before, find_periods

COMPARED: Final = re.compile(
    r"^[^(.;]{0,40}\((?:(?:in|fy|prior year|previous year|vorjahr)[ :]*)?(?P<year>(?:19"
    r"|20)\d\d|(?<=fy)['’]?\d\d(?=[:,]))?[:,]? ?(?P<rest>[^()]{1,40})\)",
    re.IGNORECASE,
)
_YEAR_BEFORE: Final = re.compile(r"\((?:prior year|previous year|vorjahr)\b", re.IGNORECASE)
_BESIDE: Final = re.compile(
    r"(?:,? (?:and|up from|down from|from|compared (?:with|to)|against|versus|vs\.?|after|gegenüber|nach|und|contre|et"
    r"|frente a|y|contro|rispetto a|e|tegenover|en|contra|och|mot|og|mod))"
    r"(?: about| approximately| around| rund| some)? $",
    re.IGNORECASE,
)
"""Right before the other amount."""

_OF_TIME: Final = re.compile(
    r"[\s,.%()-]|\d[\d.,]*\s?%|\b(?:in|for|at|on|as|of|the|to|ended|ending|years?|financial|fiscal|quarter|half|months?|up|down"
    r"|by|an?|increase|decrease|growth|per ?cent|zum|am|im|per|jahr|geschäftsjahr|au|le|la|en|el|al?|de|nel|del|dell|op"
    r"|den|em|pr|exercice|ejercicio|esercizio|boekjaar|plus|minus|over|around)\b",
    re.IGNORECASE,
)
"""Words between the two amounts, and behind the other one, that speak of time and of change alone."""

_THE_YEAR_BEFORE: Final = re.compile(
    r",? (?:(?:in |for )?the (?:prior|previous|preceding) (?:financial |fiscal )?year"
    r"|(?:the|a) year (?:before|earlier|ago)"
    r"|im (?:Vorjahr|Jahr zuvor)|(?:pour )?l['’](?:exercice|année) précédente?|un an (?:plus tôt|auparavant)"
    r"|(?:en )?el (?:ejercicio|año) anterior|(?:nel)?l['’](?:esercizio|anno) precedente"
    r"|(?:in )?het jaar (?:ervoor|daarvoor)"
    r"|(?:i )?året (?:innan|før))\b",
    re.IGNORECASE,
)
_FAR: Final = 60
"""Characters between two amounts that are compared."""


def compared_year(match: re.Match[str]) -> int | None:
    """The year of a bracket that `COMPARED` found: 2023 of "(2023: …" and of "(FY23: …"."""
    digits = (match["year"] or "").lstrip("'’")
    return None if not digits else int(digits) + (2000 if int(digits) < 100 else 0)


def in_brackets(document: LedgerDocument, figure: Figure, match: re.Match[str], offset: int) -> Figure | None:
    """The figure of the year before in brackets: "38.0 % of revenue (2023: 40.0 %)"."""
    year = compared_year(match)
    before = year is None and _YEAR_BEFORE.search(match.group()) is not None
    if year is None and not before:
        return None
    found = next(iter(amounts(match["rest"], comma_decimal=document.comma_decimal)), None)
    if found is None or not _is_of_its_unit(document, figure, found):
        return None
    period = (
        a_year_before(figure.period)
        if year is None
        else document.calendar.resolve(When(year=year, months=12), instant="/" not in figure.period)
    )
    return None if period is None else _other(document, figure, found, offset + match.start("rest"), period)


def behind_it(document: LedgerDocument, figure: Figure, rest: str, offset: int) -> Figure | None:
    """The figure of another time in the same clause: "and € 58.1 million in 2023", "against € 2.1 million a year ago".

    `rest` is what stands behind the figure's own amount, from `offset` of the text on.
    """
    for found in amounts(rest[: 2 * _FAR], comma_decimal=document.comma_decimal):
        if found.start > _FAR:
            return None
        if not _is_of_its_unit(document, figure, found):
            continue
        lead = CURRENCY_LAST.sub("", rest[: found.start].rstrip() + " ") if found.unit else rest[: found.start]
        beside = _BESIDE.search(lead.rstrip() + " ")
        if beside is None or not _is_of_time(lead[: beside.start()]):
            return None
        period = _period_behind(document, figure, rest[found.end : found.end + _FAR])
        if period is None or period == figure.period:
            return None
        planned = figure.basis in {"budget", "forecast"}
        other = _other(document, figure, found, offset, period)
        return replace(other, basis=None) if planned else other
    return None


def _period_behind(document: LedgerDocument, figure: Figure, behind: str) -> str | None:
    if _THE_YEAR_BEFORE.match(behind):
        return a_year_before(figure.period)
    when = next((when for when in find_periods(behind) if when.dated), None)
    if when is None or not _is_of_time(behind[: when.start]) or "." in behind[: when.start]:
        return None
    return document.calendar.resolve(when, instant="/" not in figure.period)


def _is_of_time(words: str) -> bool:
    """Whether words speak of times and changes alone: of nothing else that an amount could be of."""
    for when in reversed(find_periods(words)):
        words = words[: when.start] + " " + words[when.stop :]
    return not _OF_TIME.sub("", words)


def _is_of_its_unit(document: LedgerDocument, figure: Figure, found: Amount) -> bool:
    return figure.unit in {found.unit or "count", document.dollar(found.unit or "")}


def _other(document: LedgerDocument, figure: Figure, found: Amount, offset: int, period: str) -> Figure:
    loss = figure.value < 0 < found.value and LOSS.search(figure.label)
    at = offset + found.start
    return replace(
        figure, value=-found.value if loss else found.value, step=found.step, scale=found.scale, period=period,
        place=document.place(at), start=at, end=offset + found.end,
    )  # fmt: skip

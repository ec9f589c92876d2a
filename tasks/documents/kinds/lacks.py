"""What documents of some kinds cannot do without: a text that has it not is no such document, but speaks of them."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from tasks.documents.kinds.catalogue import marks, names, plain_words
from tasks.documents.kinds.titles import ANNEXES, BETWEEN, SUBTITLE
from tasks.language.periods import dates_in

_BODY: Final = 8000
_LOOKED_AT: Final = 400_000
_DIGIT: Final = re.compile(r"\d")
_FEW_AMOUNTS: Final = 7
"""Amounts of money: what explains accounts, or asks for them, has no more."""
_FEW_DOCUMENTS: Final = 3
_AMOUNT: Final = re.compile(
    r"[\d$€£¥UEGC](?:(?<=\d)(?<![\w.,/:-]\d)(?:(?<=(?!(?:19|20)\d\d(?!\d))\d)"
    r"(?:\d{0,2}(?:[.,'’٬ \u00a0\u202f]\d{3})+|\d*[.,٫]\d\d|\d{3,})(?![\w/:-])"
    r"|\d*(?:[.,]\d+)?\)?[ \t|]+[-–(]?\d+(?:[.,]\d+)?\)?(?:[ \t|]|$)|\d*(?:[.,]\d+)?[ \t]?%(?=[ \t]*(?:[\t|]|$)))"
    r"|(?:(?<=[$€£¥])|(?<=\b[UEGC])(?:(?<=U)SD|(?<=E)UR|(?<=G)BP|(?<=C)HF) )"
    r"\d[\d.,]* ?(?:[mkbMKB]n?|[mb]illion|Mio\.?|Mrd\.?)\b)",
    re.MULTILINE,
)
"""A number of four digits or more, or with cents, that is no year and no part of a date; two, or one in percent at the
end, in a row of a table; money in millions."""
_TOLD: Final = re.compile(r"[^\n]{1,100}\n\n(?:[^\t|#.!?]++[.!?]\s++){4,}")
_NUMBER: Final = re.compile(r"\b(?!(?:19|20)\d\d\b)\d+")
_FEW_NUMBERS: Final = 2  # without those of years
_DAY: Final = re.compile(
    r"\d(?:月\d|(?<=\b\d)(?<=(?=\d{1,2}-[A-Za-z]{3}-\d\d\b|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\b"
    r"|(?:(?:0?[1-9]|1[0-2])/(?:19|20)\d\d|(?:19|20)\d\d-(?:0[1-9]|1[0-2]))\b)\d))"
)
"""Days and months that are written for machines, or with characters."""
_ROLES: Final = re.compile(
    r"[(CPSV\u0370-\u1dff\u3040-\ud7af](?<=(?=\(\W{0,3}(?:the |hereinafter )?[\"“][A-Z][a-z]+"
    r"|\b(?:Client|Company|Consultant|Contractor|Customer|Participant|Provider|Purchaser|Seller|Supplier|Vendor)s?"
    r"(?: (?:shall|agrees|undertakes)\b|: )"
    r"|(?:[\u0370-\u1dff\u3040-\ud7af][^\u0370-\u1dff\u3040-\ud7af]{0,99}){20}).)"
)
"""How an agreement calls those who conclude it; in other alphabets it may call them anything.

The first characters of all ways stand in front, so that the search goes on quickly to the next of them.
"""
_LISTED: Final = re.compile(
    rf"\W*(?:(?:{'|'.join(ANNEXES)}|pièce|doc) ?\w{{1,3}}[.:)]?(?:\s|$)"
    r"|.{1,90}\.(?:pdf|docx?|xlsx?|pptx?|txt|eml|msg|zip)\b)",
    re.IGNORECASE,
)
"""A line of a list of documents: an annex, or the name of a file."""
THIS: Final = r"\b(?:this|dies\w{0,2}|vorliegend\w{1,2}|cette|ce|presente?|esta|este|questa|deze|dit|denne|denna)"
AGREEMENT: Final = re.compile(
    rf"{THIS} (?:\w+ ){{0,5}}?(?:agreement|contract|deed|lease|note|assignment|undertaking|guarantee|licen[cs]e"
    r"|nda|dpa|spa|\w*vertrag|\w*vereinbarung|contrat|convention|accord|bail|contrato|contratto|accordo|scrittura|patto"
    r"|\w*overeenkomst|\w*aftale|\w*avtal|\w*avtale)\b"
    r"(?! \w+ policy| policy)"
)
"""What a text calls itself in plain words."""
_SUM: Final = re.compile(
    r"(?m)^\W*[^\W\d_](?:[^\n.!?]|\.(?=\d))*[ \t|:][-–(]{0,2}(?:[€$£](?=[\d.,']{5})|(?=\d+[.,'\d]\d))"
    r"(?!(?:19|20)\d\d\b)\d[\d.,']*+[mk]?\)?(?: ?(?:[A-Z]{3}|[€$£]))?[ \t|]*$"
)
"""A line that ends with an amount: such a text gives figures, and does not say what a document has to contain."""


def only_tells(text: str) -> bool:
    """Whether a text is a title and sentences with hardly a number, which say what accounts or a budget are for."""
    few = len(set(_NUMBER.findall(text[:_BODY]))) <= _FEW_NUMBERS
    return few and _TOLD.fullmatch(f"{text[:_BODY].strip()}\n") is not None


def gives_figures(text: str) -> bool:
    """Whether a text has a year and amounts of its own, and so does not only prescribe what others give."""
    return re.search(r"\b(?:19|20)\d\d\b", text) is not None and _SUM.search(text) is not None


def find_lacks(text: str, body: str, *, is_opinion: bool, are_told: bool) -> Iterator[str]:
    """What a text has not that documents of some kinds cannot do without, as `needs` of the catalogue names it.

    Args:
        text: all of it.
        body: its first words, plain.
        is_opinion: auditors give their opinion in it, who need no amounts for that.
        are_told: the parties to an agreement are told by a signature, or by whom a letter is to.
    """
    numbered = [line for line in text[:_LOOKED_AT].split("\n") if _DIGIT.search(line)]
    amounts = chain.from_iterable(map(_AMOUNT.finditer, numbered))
    if not is_opinion and next(islice(amounts, _FEW_AMOUNTS, None), None) is None:
        yield "amounts"
    if not any(dates_in(line, of_any_span=True) or _DAY.search(line) for line in numbered):
        yield "day"
    are_told = are_told or any(pattern.search(body) for pattern in (BETWEEN, AGREEMENT))
    if not (are_told or _ROLES.search(text[:_BODY]) or marks("", "parties").stand_in(body)):
        yield "parties"
    lines = (line for line in text[:_BODY].splitlines() if len(line) < SUBTITLE)
    listed = (line for line in lines if _LISTED.match(line) or names().stand_in(plain_words(line)))
    if next(islice(listed, _FEW_DOCUMENTS, None), None) is None:
        yield "documents"

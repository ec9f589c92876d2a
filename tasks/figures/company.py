"""Whose figures a document has: the company that it names as its own, and rooms whose documents are of several.

A document names its own company in a field ("Name Of Reporting Entity: Acme A/S"), with its legal form at the head of
one of its first lines or of its file's name, or by its ticker. Two names are of one company, or of one group, if a
document of the one mentions the other. A document that names none is taken for one of the room's company.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import Final

from tasks.figures.conflicts import RoomFigure
from tasks.figures.figure import WORDS
from tasks.language.normalise import LEGAL_FORMS, one_line, read_name

_Name = tuple[str, ...]

_OPENING: Final = 1500
_LINES: Final = 12
"""Characters and lines of a text that may name its own company."""
_TICKER: Final = re.compile(
    r"\b(?:NYSE|NASDAQ|Nasdaq|LSE|AIM|TSX|TSXV|ASX|NSE|BSE|SGX|HKEX|OTCQB|OTCQX)(?: [A-Z]\w+)?: ?([A-Z][A-Z0-9]{1,5})\b"
    r"|^(?:Stock|Ticker)(?: [Ss]ymbol)?[:\t]+ ?([A-Z][A-Z0-9]{1,5})$",
    re.MULTILINE,
)
_BEFORE: Final = re.compile(r"\A(?:<!--.*?document_name=|[#*>\s\"“])+")
_BEHIND: Final = re.compile(r"\s*(?:$|[-–—|:(*\"”>]|,\s|\.$)")
_BLANK: Final = re.compile(r"[.,]?\s|$")
_NO_FORMS: Final = frozenset({"AS", "As", "CO"})
"""Words that close lines of statements: "AS", of a line that goes on."""
_WORD: Final = re.compile(r"[^\s,|]+")
_MOST_WORDS: Final = 9
_JOINS: Final = frozenset(
    {"a", "and", "und", "et", "y", "e", "of", "de", "da", "do", "for", "für", "van", "von", "der"}
)
_NO_NAMES: Final = LEGAL_FORMS | frozenset(
    "the a about for our this dear mr holding parent consolidated group portfolio public private operating liability "  # noqa: SIM905 - a list of words reads best as words
    "management target client issuer balance sheet net revenue total assets cash flow income profit statement".split()
)
"""What no company is called by: "Holding Company", "About Acme Inc."."""
_STARTS: Final = frozenset({"the", "about", "for", "dear"})
_CODE_NAME: Final = re.compile(r"\bP(?:roject|ROJECT) [A-Z]|\b[Pp]repared by\b")
"""Where a bank or adviser may be named in place of a company that is not."""
_LONG: Final = 5000
_SHORTEST: Final = 3
"""Letters of a word or of initials that tell one company from others."""


def find_company(text: str, name: str, *, recognised: bool = False) -> str:
    """The company that a document names as its own; "" if it names none, or several.

    `name` is its file's; with `recognised`, letters may have been read wrongly.
    """
    fields = {one_line(value) for value in WORDS.company_field.findall(text) if any(map(str.isalpha, value[3:]))}
    if fields:
        return fields.pop() if len(fields) == 1 else ""
    if _CODE_NAME.search(text[:_OPENING]):
        return ""
    lines = [line for line in text[:_OPENING].split("\n") if line.strip()][:_LINES]
    read = [_read_line(PurePath(name).stem.replace("_", " ").replace("+", " "), _BLANK), *map(_read_line, lines[::-1])]
    named = {read_name(company): company for company in read if company}
    most = Counter({words: _count(words, text) for words in named}).most_common(2)
    if not most:
        tickers = {
            one or other for one, other in _TICKER.findall(text[:_OPENING] if ":" in text or "\t" in text else "")
        }
        return tickers.pop() if len(tickers) == 1 else ""
    is_sure = len(most) == 1 or most[0][1] >= 2 * most[1][1]
    needed = 2 if recognised or len(text) > _LONG else 0
    return named[most[0][0]] if is_sure and most[0][1] >= needed else ""


def _read_line(line: str, behind: re.Pattern[str] = _BEHIND) -> str:
    """The name with its legal form that a line begins with, "" if none or if it is a row of a table."""
    line = _BEFORE.sub("", line.rstrip(), count=1)
    words = [] if "\t" in line else list(islice(_WORD.finditer(line), _MOST_WORDS))
    for number, word in enumerate(words):
        plain = re.sub(r"\W", "", word[0]).casefold()
        is_capital = word[0][0].isupper() or word[0][0].isdigit()
        is_form = plain in LEGAL_FORMS and (is_capital or "." in word[0]) and word[0] not in _NO_FORMS
        if number and is_form and behind.match(line, word.end()):
            is_none = words[0][0].casefold() in _STARTS or set(read_name(line[: word.end()])) <= _NO_NAMES
            return "" if is_none else line[: word.end()]
        if not (is_capital or (number and (word[0] == "&" or plain in LEGAL_FORMS | _JOINS))):
            break
    return ""


def _count(words: _Name, text: str) -> int:
    """How often a text has the words of a name."""
    phrase = r"\W{1,3}".join(r"\.?".join(word) if len(word) < _SHORTEST else word for word in words)
    return sum(1 for _ in re.finditer(rf"(?<!\w){phrase}(?!\w)", text, re.IGNORECASE))


def name_other_companies(
    rows: list[RoomFigure], companies: Mapping[int, str | None], text_of: Callable[[int], str], called: str = ""
) -> list[RoomFigure]:
    """The figures of a room, those in documents of other companies with the company's name as their entity.

    `companies` are the names that the documents give, by text. The room's company is the one that is `called` so, for
    example in the batch; else the one that most documents mention; with none ahead of the others, none is. `text_of` is
    called for each text if the names differ.
    """
    named = {text_id: read_name(company) for text_id, company in companies.items() if company}
    if len(set(named.values())) < 2:
        return rows
    mentioned = {text_id: _find_mentions(text_of(text_id), set(named.values())) for text_id in companies}
    groups: list[set[_Name]] = []
    for text_id, name in named.items():
        related = {name, *mentioned[text_id]}
        joined = [group for group in groups if group & related]
        groups = [*(group for group in groups if group not in joined), related.union(*joined)]
    words = read_name(called)
    alike = {name for group in groups for name in group if words and name and name[: len(words)] == words[: len(name)]}
    groups_called = [group for group in groups if group & alike]  # "Acme", "Acme Robotics"
    counts = [sum(1 for names in mentioned.values() if names & group) for group in groups]
    if len(groups_called) == 1:
        counts = [int(group is groups_called[0]) for group in groups]
    own = groups[counts.index(max(counts))] if counts.count(max(counts)) == 1 else set[_Name]()
    others = {text_id: companies[text_id] for text_id, name in named.items() if name not in own}
    return [_name_company(row, others.get(row.text_id)) for row in rows]


def _find_mentions(text: str, names: Collection[_Name]) -> set[_Name]:
    """Which companies a text names in any way: by the first word of the name, in one word, or by its initials."""
    words = set(re.findall(r"\w+", text))
    caseless = {word.casefold() for word in words}
    found = set()
    for name in names:
        first = next((word for word in name if len(word) >= _SHORTEST), name[0])
        initials = "".join(word[0] for word in name).upper()
        short = {first.title(), first.upper(), *([initials] if len(name) >= _SHORTEST else [])}
        if not words.isdisjoint(short) or "".join(name) in caseless:
            found.add(name)
    return found


def _name_company(row: RoomFigure, company: str | None) -> RoomFigure:
    if company is None:
        return row
    entity = f"{company}, {row.figure.entity}" if row.figure.entity else company
    return replace(row, figure=replace(row.figure, entity=entity))

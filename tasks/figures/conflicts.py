"""Which figures of a room count: whose they are, which of them contradict each other, and which decides.

Two figures contradict each other if concept, entity, unit and period are the same, both are actual (audited, reported
or management), and they differ by more than rounding. Plans that differ are versions of each other. Which one counts is
decided in this order (that of the documentation), unless the criteria file gives another:

basis       audited before reported before management before a deck
authority   signed, final, executed before others before drafts, by the document's name and folder
newer       the document with the later date

A document names its own company in a field ("Name Of Reporting Entity: Acme A/S"), with its legal form at the head of
one of its first lines or of its file's name, or by its ticker. Two names are of one company, or of one group, if a
document of the one mentions the other. A document that names none is taken for one of the room's company.

`RoomFigure` and its rows are the form in which reports, commands and other programs get figures.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from pathlib import PurePath
from statistics import median
from typing import Any, Final, Literal

from tasks.figures.figure import ACTUAL, UNKNOWN, WORDS, Figure, agrees
from tasks.figures.statement_checks import DEBT_PARTS
from tasks.language.normalise import LEGAL_FORMS, one_line, plain, read_name

Step = Literal["basis", "authority", "newer"]
RULE: Final[tuple[Step, ...]] = ("basis", "authority", "newer")
"""What decides, first to last."""
_ROUND: Final = 2
"""Noughts at the end of a number that is written out from which on it may be rounded…"""
_TOLD: Final = 3
"""… where so many digits stand before them."""
_TENFOLD: Final = Decimal(10)
_NEAR: Final = Decimal("1.05")
"""Times by which figures of two companies differ, and those that say the same do not."""
_SCALES: Final = (1000, 10**6, 10**9)
_DAYS: Final = date.max.toordinal()
_MEASURE: Final = re.compile(r"month|quarter")
_NOT_FINAL: Final = re.compile(r"\bv\d+ final\b|\bfinal \(\d\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RoomFigure:
    """A figure in a data room, with its document, its settled basis, and what gives the document authority.

    `basis` is never None here; `dated` is the document's own date, `changed` that of its file (ISO).
    """

    figure: Figure
    basis: str
    document_id: str
    document_name: str
    path: str
    deck: bool
    dated: str | None
    text_id: int = 0
    changed: str | None = None


@dataclass(frozen=True, slots=True)
class FigureConflict:
    """Differing figures for one concept and period: the one that counts, the others, and the rule that decided.

    `step` is the rule's step, and `kinds` describes the two in its terms where that is informative.
    """

    concept: str
    period: str
    counted: RoomFigure
    others: tuple[RoomFigure, ...]
    rule: str
    step: Step | None = None
    kinds: tuple[str, str] = ("", "")


def find_conflicts(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> list[FigureConflict]:
    """The conflicts among the actual figures of a room, by concept and period; each differing place is listed once."""
    return _find_differences((row for row in figures if row.basis in ACTUAL), rule)


def find_versions(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> list[FigureConflict]:
    """Plans in a room's documents that differ for the same concept and period; none of them is wrong."""
    found = _find_differences((row for row in figures if row.basis not in ACTUAL), rule)
    of_several = ((one, [row for row in one.others if row.document_id != one.counted.document_id]) for one in found)
    return [replace(one, others=tuple(others)) for one, others in of_several if others]


def _find_differences(figures: Iterable[RoomFigure], rule: Sequence[Step]) -> list[FigureConflict]:
    found: list[FigureConflict] = []
    compared = [rank_figures(group, rule) for group in groups(figures).values() if group[0].figure.unit != UNKNOWN]
    apart = _find_strangers(compared)
    for ranked in compared:
        counted = ranked[0]
        others: dict[tuple[str, Decimal], RoomFigure] = {}
        for other in ranked[1:]:
            if _contradicts(counted, other) and frozenset((counted.document_id, other.document_id)) not in apart:
                others.setdefault((other.document_id, other.figure.value), other)
        if others:
            listed = tuple(others.values())
            step = find_deciding_step(counted, listed[0], rule)
            why, kinds = say_step(step, counted, listed[0]), kinds_by_step(step, counted, listed[0])
            told = (counted.figure.concept, counted.figure.period, counted, listed, why, step, kinds)
            found.append(FigureConflict(*told))
    return sorted(found, key=lambda conflict: (conflict.concept, conflict.period))


def _find_strangers(compared: Iterable[Sequence[RoomFigure]]) -> set[frozenset[str]]:
    """Pairs of documents whose common figures mostly differ tenfold: two companies, or one misread."""
    ratios: dict[frozenset[str], list[Decimal]] = defaultdict(list)
    for counted, *others in compared:
        for other in others:
            low, high = sorted((abs(counted.figure.value), abs(other.figure.value)))
            times = high / low if low else _TENFOLD if high else Decimal(1)
            ratios[frozenset((counted.document_id, other.document_id))].append(times)
    several = ((pair, found) for pair, found in ratios.items() if len(found) > 1 and len(pair) > 1)
    return {pair for pair, found in several if min(found) > _NEAR and median(found) >= _TENFOLD}


def _contradicts(counted: RoomFigure, other: RoomFigure) -> bool:
    """Whether two figures differ by more than rounding and scale; two of a part in one document may be of two parts."""
    of_a_part = counted.figure.entity is not None and counted.document_id == other.document_id
    return not of_a_part and not agree(counted, other) and not _differ_by_scale(counted, other)


_Key = tuple[str, str, str, str, str]


def groups(figures: Iterable[RoomFigure]) -> Mapping[_Key, list[RoomFigure]]:
    """Figures that must agree, because concept, entity, unit, period and kind of basis are the same.

    Restated figures are grouped separately: the earlier value is known to differ.
    """
    grouped: dict[_Key, list[RoomFigure]] = defaultdict(list)
    for row in figures:
        kind = "actual" if row.basis in ACTUAL else row.basis
        entity = plain(row.figure.entity).casefold() if row.figure.entity else ""
        key = (
            row.figure.concept + _measure(row.figure),
            entity,
            row.figure.unit,
            same_period(row.figure.period),
            kind + row.figure.variant,
        )
        grouped[key].append(row)
    return grouped


def _measure(figure: Figure) -> str:
    """Which measure of the same name a figure is: monthly or quarterly churn, or one of the rows of debt."""
    if figure.concept in DEBT_PARTS:
        return figure.label.lower()
    return " ".join(_MEASURE.findall(figure.label.lower())) if figure.concept == "churn" else ""


@lru_cache(maxsize=10_000)  # a room has thousands of figures of a dozen periods
def same_period(period: str) -> str:
    """A period normalised for 52-week calendars: its months and its last day, moved to the end of a month."""
    first, _, last = period.rpartition("/")
    if not first:
        return last
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days
    return f"{round(days / 30.4)} months to {last}"


def agree(one: RoomFigure, other: RoomFigure) -> bool:
    """Whether two figures of a room say the same, given how they are rounded, or cut off: 48,616,507 at 48,616 k."""
    exact, cut = sorted((one.figure, other.figure), key=lambda figure: figure.step)
    if cut.scale and abs(cut.value) >= cut.step * 10**_TOLD and int(exact.value / cut.step) * cut.step == cut.value:
        return True
    return agrees(one.figure.value, _step(one.figure), other.figure.value, _step(other.figure))


def _differ_by_scale(one: RoomFigure, other: RoomFigure) -> bool:
    """Whether two figures are the same number at different scales: one was then misread."""
    low, high = sorted((one.figure, other.figure), key=lambda figure: abs(figure.value))
    scaled = ((abs(low.value) * scale, low.step * scale) for scale in _SCALES)
    return low.value != 0 and any(agrees(*of_low, abs(high.value), high.step) for of_low in scaled)


def _step(figure: Figure) -> Decimal:
    """The step to which a number is rounded, also by its last zeros ("48,100 customers")."""
    digits = f"{abs(figure.value):f}"
    noughts = len(digits) - len(digits.rstrip("0"))
    if figure.step != 1 or "." in digits or noughts < _ROUND or len(digits) - noughts < _TOLD:
        return figure.step
    return Decimal(10) ** noughts


def rank_figures(figures: Sequence[RoomFigure], rule: Sequence[Step] = RULE) -> list[RoomFigure]:
    """The figures in the order in which the rule lets them count; among equal ones the more precise comes first."""
    return sorted(figures, key=_order(rule))


def best(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> RoomFigure:
    """The figure that ranks first."""
    return min(figures, key=_order(rule))


def _order(rule: Sequence[Step]) -> Callable[[RoomFigure], tuple[object, ...]]:
    steps = [_STEPS[step] for step in rule]

    def key(row: RoomFigure) -> tuple[object, ...]:
        place = row.document_name, row.path, row.document_id, row.figure.start
        return *(step(row) for step in steps), row.figure.step, *place

    return key


def find_deciding_step(counted: RoomFigure, other: RoomFigure, rule: Sequence[Step] = RULE) -> Step | None:
    """The step of the rule that makes one figure count rather than another; None if none does."""
    return next((step for step in rule if _STEPS[step](counted) != _STEPS[step](other)), None)


def say_step(step: Step | None, counted: RoomFigure, other: RoomFigure) -> str:
    """Why one figure counts rather than another, in words."""
    if step in {"basis", "authority"}:
        return f"{step}: {' before '.join(kinds_by_step(step, counted, other))}"
    return "newer: the document with the later date" if step else "none decides: the more exact, then the first by name"


def kinds_by_step(step: Step | None, counted: RoomFigure, other: RoomFigure) -> tuple[str, str]:
    """How a step of the rule describes both figures: their basis, or how final their documents are; otherwise empty."""
    if step == "basis":
        return _basis_words(counted), _basis_words(other)
    if step == "authority":
        return _AUTHORITY[_authority(counted)], _AUTHORITY[_authority(other)]
    return "", ""


def _basis(row: RoomFigure) -> int:
    if row.basis not in ACTUAL:
        return 0
    return len(ACTUAL) if row.deck else [*ACTUAL].index(row.basis)


def _basis_words(row: RoomFigure) -> str:
    return "deck" if row.deck else row.basis


_AUTHORITY: Final = ("signed or final", "neither signed nor draft", "draft")


def _authority(row: RoomFigure) -> int:
    return _rank_authority(f"{row.path} {row.document_name}")


@lru_cache(maxsize=10_000)  # a document has many figures
def _rank_authority(name: str) -> int:
    words = name.replace("_", " ").replace("-", " ")
    if WORDS.draft_document.search(words):
        return 2
    return 0 if WORDS.sure_document.search(words) and not _NOT_FINAL.search(words) else 1


def _newer(row: RoomFigure) -> int:
    """The sort key for the newer document: a stated date counts before its file's, which copying may change."""
    return -_day_number(row.dated) * _DAYS if row.dated else -_day_number(row.changed) if row.changed else 0


@lru_cache(maxsize=10_000)
def _day_number(day: str) -> int:
    return date.fromisoformat(day).toordinal()


_STEPS: Final[Mapping[Step, Callable[[RoomFigure], int]]] = {"basis": _basis, "authority": _authority, "newer": _newer}


def decimal_text(value: Decimal) -> str:
    """A value as plain decimal text: "9400000", "22", "0.5"; never with an exponent."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure_row(figure: Figure, document_id: str | None, document_name: str, basis: str) -> dict[str, str | None]:
    """A figure as a mapping: concept, value, unit, period, entity, settled basis, place and document."""
    return {
        "concept": figure.concept,
        "label": figure.label,
        "value": decimal_text(figure.value),
        "unit": figure.unit,
        "period": figure.period,
        "entity": figure.entity,
        "basis": basis,
        "document_id": document_id,
        "document_name": document_name,
        "place": figure.place,
    }


def room_row(row: RoomFigure) -> dict[str, str | None]:
    """The mapping of a figure of a room."""
    return figure_row(row.figure, row.document_id, row.document_name, row.basis)


def conflict_row(conflict: FigureConflict) -> dict[str, Any]:
    """The mapping of a conflict: the figure that counts, the others, and the rule that decided."""
    return {
        "concept": conflict.concept,
        "period": conflict.period,
        "counted": room_row(conflict.counted),
        "others": [room_row(other) for other in conflict.others],
        "rule": conflict.rule,
    }


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

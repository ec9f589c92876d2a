"""What a memo states of measures, in any words: "headcount grew 12 % to some 340", "1.2 turns of EBITDA".

A part of a statement is read only if each of its words is accounted for: the measure, its amounts and their times, a
change, and words that say nothing by themselves. What has any other word may speak of something narrower, and is left
alone. A measure is a concept of the ledger, what follows from several (net debt), or the ratio of two.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Final

from tasks.figures.derived import DERIVED_UNITS, Expression, FigureValue, make_growth, year_before
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import plain_label, taxonomy
from tasks.figures.fiscal_calendar import Calendar
from tasks.figures.table_figures import is_loss
from tasks.language.numbers import PERCENT, RATIO
from tasks.language.periods import count_months, last_day
from tasks.language.words import detect_language, stem
from tasks.statements.figures import COUNT, StatedFigure
from tasks.statements.reading import CHANGES, ParsedSentence, Token, may_act, read

_NAMES: Final = {
    **{name.replace("_", " "): (name,) for name in DERIVED_UNITS},
    "gross profit margin": ("gross_margin",), "operating profit margin": ("operating_margin",),
    "ebit margin": ("operating_margin",), "net profit margin": ("net_margin",),
    "equity ratio": ("equity", "total_assets"), "current ratio": ("current_assets", "current_liabilities"),
    "leverage": ("net_debt", "ebitda"), "net leverage": ("net_debt", "ebitda"),
}  # fmt: skip
"""What measures that no document need state are called: one that follows from others, or the two that are divided."""
_LONGEST_NAME: Final = 6
_PARTS: Final = re.compile(r"; |, (?:and|while|but|whereas) |, with (?=an? )| (?:and|while|but) (?=the |its |our )")
_LEADS: Final = re.compile(
    r"(?:\b(?:in|at|on|for|of|as|the|fiscal|financial|calendar|years?|ended|ending|to|end|quarter|half|months|first|second"
    r"|third|fourth|three|six|nine|twelve|F?Y|Q[1-4]|H[12])\W+)*$",
    re.IGNORECASE,
)
"""The words of a time before its date: "in the year ended"."""
_LONGEST_LEAD: Final = 60


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


_RISING: Final = _stems(
    "rise increase grow growth climb gain advance jump up higher improve expand more above widen deepen stieg "
    "gestiegen wuchs gewachsen erhöhte erhöht vergrößert progressé augmenté hausse creusé creusée accrue aumentata"
)
_FALLING: Final = _stems(
    "fall decrease decline drop shrink reduce narrow down lower slip less below sank gesunken fiel gefallen reculé "
    "baissé diminué diminuée recul baisse réduit réduite verringert reduziert vermindert ridotta diminuita reducida"
)
_BETTER: Final = _stems("improve gain advance")
"""Words of a rise that say the opposite of a loss."""
_OF_TIMES: Final = _stems("year quarter half month end ended period previous prior same earlier ago before")
_ABROAD: Final = _stems(
    "betrug beträgt belief lag erreichte geschäftsjahr jahr vorjahr um auf gegenüber élève élevait atteint "
    "exercice année fin passé"
)
"""Words of an amount's verb and time in German and French."""
_FREE: Final = (
    CHANGES | _RISING | _FALLING | _OF_TIMES | _ABROAD | _stems("total percentage nearly almost come go make have")
)
_LENGTHS: Final = {"quarter": 3, "half": 6, "month": 1}
_BEFORE: Final = frozenset({"prior", "previous", "earlier", "ago", "before"})
"""Words of another time than a statement's own, which it needs a change or a comparison to name."""
_MULTIPLES: Final = {"doubl": 100, "tripl": 200, "quadrupl": 300, "halv": -50}
"""Verbs of a change, and the growth in percent that each says."""
_TURNED: Final = {"low": "high", "high": "low"}
"""What a limit of a fall is of the growth."""
_YEAR_BESIDE: Final = re.compile(r" \((?P<year>(?:19|20)\d\d): (?P<amount>[^()]{1,40})\)")
"""An amount of another year in brackets: "(2023: DKK 67.9 million)"."""
_OF_ANOTHER: Final = re.compile(
    r"\b(?:(?:previous|prior|last|preceding) (?:quarter|month|half|week)|attributable to|before (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""Words of another time than the year before, and of the part of some owners, where the ledger has the whole."""
_COMPARES: Final = re.compile(r"\b(up|down) from\b", re.IGNORECASE)
_EARLIER: Final = frozenset({"from", "against", "compared", "versus", "after"})
_WEAK: Final = 2
"""The rank of a concept's names that may mean another thing."""
UNITS: Final = {COUNT: "count"}
"""The ledger's names of units, where a statement's figures have others."""
_ANY: Final = Decimal("Infinity")
_NEAR_DAYS: Final = 16
_NEAR: Final = Decimal("0.05")
_FAR: Final = Decimal("0.1")
"""The part by which an amount that is said to be near may differ, and by which it must for another one."""


@dataclass(frozen=True, slots=True)
class StatedMeasure:
    """An amount that a statement gives for a measure.

    Attributes:
        expression: what is measured.
        figure: the amount; a change is in percent, and negative where it is a fall.
        time: the words that say when; "" if none do.
        is_earlier: it is what the amount of that time is compared with, a year before it.
    """

    expression: Expression
    figure: StatedFigure
    time: str
    is_earlier: bool = False


def read_measures(words: str, names: str = "") -> list[StatedMeasure]:
    """What a statement gives for measures; nothing where a word of it is not accounted for.

    `names` are words that name the company.
    """
    known = _stems(names)
    measures: list[StatedMeasure] = []
    for part in _PARTS.split(_YEAR_BESIDE.sub(r" from \g<amount> in \g<year>", words)):
        found = list(_read_part(read(part.strip(" .")), known, measures[0].time if measures else ""))
        if not found:
            return []
        measures += found
    return measures


def names_another(words: str, known: str) -> bool:
    """Whether words name somebody else than the `known` names do, another time, or what some owners get of the whole.

    In German, where each noun has a capital, nobody is seen to be named.
    """
    if _OF_ANOTHER.search(words):
        return True
    own = _stems(known)
    names = (token for token in read(words).tokens if token.is_name and token.is_content and token.figure is None)
    return detect_language(words) != "German" and any(token.stem not in own for token in names)


def turns_loss(words: str) -> bool:
    """Whether words say which way a loss went, which its amount alone does not prove."""
    turns = (_RISING | _FALLING).intersection(map(stem, re.findall(r"(?!above all\b)\b[^\W\d_]+", words.lower())))
    return bool(turns) and is_loss(words)


def says_multiple(words: str) -> bool:
    """Whether words say how many times as much something is: "nearly doubled"."""
    return any(stem(word) in _MULTIPLES for word in re.findall(r"[a-z]+", words.lower()))


def _read_part(sentence: ParsedSentence, known: frozenset[str], time: str) -> Iterator[StatedMeasure]:
    """The amounts of a part of a statement; `time` is that of the part before it, for one without a time of its own."""
    named, times = list(_find_names(sentence.tokens)), list(_find_times(sentence))
    others = [token for at, token in enumerate(sentence.tokens) if not _is_within(at, [span[1:] for span in named])]
    amounts = [token for token in others if token.figure and not _is_within(token.start, times)]
    expression = _join([names for names, _, _ in named], amounts)
    if expression is None or _OF_ANOTHER.search(sentence.original):
        return
    earlier, changes, levels = _sort_amounts(amounts, expression)
    growth = _find_growth(sentence, changes, {token.stem for token in others if token.is_content})
    own, before = _sort_times(sentence, times, amounts, earlier)
    own = own or [time] * bool(time)
    is_single = max(len(earlier), len(levels), len(before), len(own)) < 2
    if growth is None or not is_single or not _are_plain(sentence, others, levels, known):
        return
    amounts_now, amounts_then = (list(filter(None, (token.figure for token in side))) for side in (levels, earlier))
    is_below = any(is_loss(" ".join(token.text for token in sentence.tokens[first:last])) for _, first, last in named)
    grows = _grows(expression) and not is_below
    if not _fits(grows, amounts_now, amounts_then, growth, others):
        return
    if is_below and not (_grows(expression) and _is_of_loss(growth, others)):
        return
    if is_below:
        amounts_now, amounts_then = [*map(_negate, amounts_now)], [*map(_negate, amounts_then)]
    when, then = "".join(own), "".join(before)
    yield from (StatedMeasure(expression, figure, when) for figure in amounts_now)
    yield from (StatedMeasure(expression, figure, then or when, not then) for figure in amounts_then)
    yield from (StatedMeasure(make_growth(expression), figure, when) for figure in growth if grows)


def _sort_amounts(
    amounts: Sequence[Token], expression: Expression
) -> tuple[Sequence[Token], Sequence[Token], Sequence[Token]]:
    """The amounts that are compared with, those of a change, and those of the time that is spoken of."""
    earlier = [token for token in amounts if token.preposition in _EARLIER]
    rest = (token for token in amounts if token not in earlier and PERCENT not in expression.units)
    changes = [token for token in rest if token.figure is not None and token.figure.unit == PERCENT]
    return earlier, changes, [token for token in amounts if token not in earlier and token not in changes]


def _are_plain(
    sentence: ParsedSentence, others: Sequence[Token], levels: Sequence[Token], known: frozenset[str]
) -> bool:
    """Whether the other words say no more than these amounts, and each amount has a unit or a verb."""
    if any(token.preposition == "by" for token in levels) or not all(_is_plain(token, known) for token in others):
        return False
    return any(map(may_act, sentence.tokens)) or all(token.figure.unit for token in levels if token.figure)


def _is_of_loss(growth: Sequence[StatedFigure], others: Sequence[Token]) -> bool:
    """Whether a loss is told by its size alone: the growth of what is below zero says nothing."""
    return not any(change.digits for change in growth) and _BETTER.isdisjoint(token.stem for token in others)


def _negate(figure: StatedFigure) -> StatedFigure:
    """A loss, or a fall, as the ledger has it: below zero."""
    return replace(figure, value=-figure.value, limit=_TURNED.get(figure.limit, figure.limit))


def _is_within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first <= place < last for first, last in spans)


def _sort_times(
    sentence: ParsedSentence, times: Sequence[tuple[int, int]], amounts: Sequence[Token], earlier: Sequence[Token]
) -> tuple[list[str], list[str]]:
    """The words of the times, and of those of amounts that are compared with: each belongs to the amount before it."""
    own, before = list[str](), list[str]()
    for first, last in times:
        words = sentence.text[first:last]
        amount = max((token for token in amounts if token.start < first), key=lambda token: token.start, default=None)
        of = before if amount is not None and amount in earlier else own
        of.append(f"in {words}" if words[:1].isdigit() or words[:1].isupper() else words)
    return own, before


def _fits(
    grows: bool,
    now: Sequence[StatedFigure],
    then: Sequence[StatedFigure],
    growth: Sequence[StatedFigure],
    others: Sequence[Token],
) -> bool:
    """Whether what is said of a change goes with the amounts, and another time is named for a change alone."""
    if not growth and not then:
        return _BEFORE.isdisjoint(token.text for token in others)
    pairs = [one.value > other.value for one in now for other in then]
    return not growth or grows or pairs == [growth[0].limit == "low"]


def _grows(expression: Expression) -> bool:
    """Whether the ledger computes the growth of a measure."""
    return expression.operation == "value" and expression.names[0] in taxonomy().concepts


def _find_names(tokens: Sequence[Token]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """The measures that a sentence names, each with its first token and the one behind its last."""
    at = 0
    while at < len(tokens):
        for stop in range(min(at + _LONGEST_NAME, len(tokens)), at, -1):
            label = plain_label(" ".join(token.text.replace("_", " ") for token in tokens[at:stop]))
            meaning = taxonomy().meaning(label) if any(token.is_content for token in tokens[at:stop]) else None
            if meaning and meaning.concept.id == "net_income" and meaning.rank >= _WEAK:
                break  # the owners' part of it: "résultat net part du groupe"
            names = _NAMES.get(label) or ((meaning.concept.id,) if meaning else None)
            if names and not any(token.figure for token in tokens[at:stop]):
                yield names, at, stop
                at = stop - 1
                break
        at += 1


def _join(named: Sequence[tuple[str, ...]], amounts: Sequence[Token]) -> Expression | None:
    """The one measure that is named, or the ratio of two: "net debt was 1.2 times EBITDA"."""
    if len(named) == 1:
        return Expression("ratio" if len(named[0]) > 1 else "value", named[0])
    is_ratio = len(amounts) == 1 and (figure := amounts[0].figure) and figure.unit in {PERCENT, RATIO}
    is_pair = len(named) == 2 and len(named[0]) == len(named[1]) == 1
    return Expression("ratio", (*named[0], *named[1])) if is_pair and is_ratio else None


def _is_plain(token: Token, known: frozenset[str]) -> bool:
    """Whether a word says nothing but the measure's amount, time or change."""
    says_more = token.is_content and token.stem not in _FREE and token.stem not in known
    return token.figure is not None or (token.limit is None and not says_more)


def _find_growth(
    sentence: ParsedSentence, changes: Sequence[Token], stems: AbstractSet[str]
) -> list[StatedFigure] | None:
    """The change that a sentence states, in percent: which way it goes, and how far; None if it is not clear."""
    turns = stems | {turn.lower() for turn in _COMPARES.findall(sentence.original)}
    rises, falls = bool(turns & _RISING), bool(turns & _FALLING)
    verbs = [token for token in sentence.tokens if token.stem in _MULTIPLES]
    if (rises and falls) or len(changes) + len(verbs) > 1 or (changes and not (rises or falls)):
        return None
    for token in verbs:
        before = sentence.text[max(token.start - 12, 0) : token.start].lower()
        limit = "low" if "more than" in before else "short" if re.search("nearly|almost", before) else "near"
        times = Decimal(_MULTIPLES[token.stem])
        limit = _TURNED.get(limit, limit) if times < 0 else limit
        return [StatedFigure(token.start, token.end, PERCENT, times, 2, limit)]
    figures = [token.figure for token in changes if token.figure]
    figures = [*map(_negate, figures)] if falls else figures
    return [StatedFigure(0, 0, PERCENT, limit="low" if rises else "high"), *figures] if rises or falls else []


def _find_times(sentence: ParsedSentence) -> Iterator[tuple[int, int]]:
    """Where a sentence says when: dates, with the words that lead to them."""
    for token in sentence.tokens:
        if token.figure is not None and token.figure.is_date:
            first = max(token.start - _LONGEST_LEAD, 0)
            lead = _LEADS.search(sentence.text[first : token.start])
            yield first + lead.start() if lead else token.start, token.end


def read_periods(time: str, calendar: Calendar) -> set[str]:
    """The periods and days that words of a time may mean: the year to a day, and the day; "at" a day is no year."""
    measures = ("Total assets were",) if time.startswith(("at ", "on ")) else ("Revenue was", "Total assets were")
    texts = (f"{what} EUR 1,234,567 {time}." for what in measures)
    found = (find_figures(LedgerDocument(text, (), calendar=calendar), taxonomy()).figures for text in texts)
    return {figure.period for figures in found for figure in figures}


def find_last(words: str, time: str, values: Sequence[FigureValue], calendar: Calendar, latest: str) -> set[str]:
    """The last periods that a time without a year may mean: "in the second quarter", or "the quarter" in `words`."""
    lengths = [months for name, months in _LENGTHS.items() if re.search(rf"\b{name}", words, re.IGNORECASE)]
    if not (time or lengths):
        return {latest}
    if not time:
        return {max((value.period for value in values if count_months(value.period) in lengths), default="")} - {""}
    for year in sorted({value.period[-10:-6] for value in values}, reverse=True):
        periods = read_periods(f"{time} of {year}", calendar)
        if any(is_same_time(value.period, period) for value in values for period in periods):
            return periods
    return set()


def is_same_time(one: str, other: str) -> bool:
    """Whether two periods are one, whose last days may differ by some: the end of January, and 28 January by weeks."""
    days = (date.fromisoformat(last_day(period)).toordinal() for period in (one, other))
    are_alike = bool(one and other) and count_months(one) == count_months(other)
    return are_alike and abs(next(days) - next(days)) < _NEAR_DAYS


def find_value(measure: StatedMeasure, values: Sequence[FigureValue], periods: AbstractSet[str]) -> FigureValue | None:
    """The value of a measure for one of the periods, or of the year before: the one that is stated, else the first."""
    values = [value for value in values if not value.value.is_nan()]
    found = [value for value in values if any(is_same_time(value.period, period) for period in periods)]
    if measure.is_earlier:
        found = [other for value in found for other in values if year_before(other.period, value.period)]
    return next((value for value in found if agrees(measure.figure, value)), found[0] if found else None)


def agrees(figure: StatedFigure, value: FigureValue) -> bool | None:
    """Whether a value is what a figure states, as both are rounded; None where they are too near, or of other units."""
    actual, error = value.value, _find_error(value)
    if value.unit == RATIO and figure.unit == PERCENT:
        actual, error = actual * 100, error * 100
    elif UNITS.get(figure.unit, figure.unit) != value.unit:
        return None
    if figure.limit and figure.value < 0 < actual:  # a profit is no loss of less than an amount
        return None
    half, near, far = (abs(figure.value) * part for part in (Decimal(0), _NEAR, _FAR))
    half = figure.step / 2 if figure.digits else half
    short = (far, half * 0, far, half) if figure.value > 0 else (half * 0, far, half, far)
    below, above, least, most = {
        "near": (max(half, near), max(half, near), far, far), "low": (half * 0, _ANY, half, _ANY),
        "high": (_ANY, half * 0, _ANY, half), "short": short,
    }.get(figure.limit, (half, half, half, half))  # fmt: skip
    apart = actual - figure.value
    if -below - error <= apart <= above + error:
        return True
    return None if -least - error <= apart <= most + error else False


def _find_error(value: FigureValue) -> Decimal:
    """How far a value may be from what it is computed from, as that is rounded."""
    parts = [row.figure for row in value.inputs]
    if len(parts) == 1:
        return parts[0].step / 2
    if value.unit not in {PERCENT, RATIO}:
        return sum((part.step / 2 for part in parts), Decimal(0))
    ratio = abs(value.value) + 100 * (value.unit == PERCENT)
    return sum((part.step / 2 / abs(part.value) * ratio for part in parts if part.value), Decimal(0))

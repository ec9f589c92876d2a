"""What a sentence says without the statement's own words: short forms written out, losses as negative profits, and the
direction and rate of a change between two figures that it has.
"""

import re
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tasks.language.numbers import PERCENT
from tasks.language.words import are_opposite, say_the_same, stem
from tasks.statements.alignment import Comparison
from tasks.statements.figure_places import period_of, role
from tasks.statements.figures import StatedFigure, figures
from tasks.statements.reading import Sentence

_SHORT: Final = re.compile(r"\b(?:[A-Z]{2,6}|[A-Z](?:&[A-Z])+)(?![\w&])")
_WORD: Final = re.compile(r"[A-Za-z][\w’']*")
_JOINING: Final = frozenset({"of", "and", "the", "for", "to", "in", "on"})
_PROGRESSIVE: Final = re.compile(r"\b(?:is|are) (\w{2,}ing)\b")
_FUTURE: Final = re.compile(r"\bwill (\w+)\b")
_IF: Final = re.compile(r"\bif\b", re.IGNORECASE)
_WHEN: Final = re.compile(r"\b(?:when|where|once|whenever)\b")
_WHO: Final = re.compile(r"([A-Z][a-z]+(?: [a-z]+)?s) who ")
_LOSS: Final = re.compile(r"\bloss(?:es)?\b", re.IGNORECASE)
_RESULT: Final = re.compile(r"\b(?:profit|income|earnings|result)\b(?: \(loss\))?", re.IGNORECASE)
_RISE: Final = stem("rise")


def restated(statement: str, source: str) -> str:
    """The statement as a source would put it that has a short form where it has the words, or the words, or a sign."""
    return _with_sign(_as_condition(_as_future(_written_out(statement, source), source), source), source)


def _as_future(statement: str, source: str) -> str:
    """With `will retire` for `is retiring`, where the source says so."""
    match = _PROGRESSIVE.search(statement)
    if match is None:
        return statement
    verb = stem(match[1])
    future = next((other[0] for other in _FUTURE.finditer(source) if stem(other[1]) == verb), "")
    return f"{statement[: match.start()]}{future}{statement[match.end() :]}" if future else statement


def _as_condition(statement: str, source: str) -> str:
    """With the source's `if` for `when`, and for whom something is so: `customers who pay in advance`."""
    if not _IF.search(source) or _IF.search(statement):
        return statement
    who = _WHO.match(statement)
    if who is not None:
        return f"If {who[1].lower()} {statement[who.end() :]}"
    return _WHEN.sub("if", statement, count=1) if not _WHEN.search(source) else statement


def _written_out(statement: str, source: str) -> str:
    """With the source's words for a short form that it lacks (`IPO`), and its short form for words that it lacks."""
    for short in dict.fromkeys(_SHORT.findall(statement)):
        if not re.search(rf"(?<!\w){re.escape(short)}(?!\w)", source) and (words := _words_of(short, source)):
            statement = re.sub(rf"(?<![\w&]){re.escape(short)}(?![\w&])", words, statement)
    for short in dict.fromkeys(_SHORT.findall(source)):
        words = _words_of(short, statement)
        if words and words.lower() not in source.lower():
            statement = statement.replace(words, short)
    return statement


def _words_of(short: str, text: str) -> str:
    """Words of a text in a row whose first letters make a short form; empty where there are none."""
    letters = short.lower().replace("&", "")
    initials, spans = _initials(text)
    first = initials.find(letters)
    while first >= 0:
        between = text[spans[first][0] : spans[first + len(letters) - 1][1]]
        if not re.search(r"[.;:,()\n\t]", between):
            return between
        first = initials.find(letters, first + 1)
    return ""


@lru_cache(maxsize=1024)
def _initials(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The first letters of a text's words but those that join, and where each word stands."""
    words = [word for word in _WORD.finditer(text) if word[0].lower() not in _JOINING]
    return "".join(word[0][0].lower() for word in words), [word.span() for word in words]


def _with_sign(statement: str, source: str) -> str:
    """With a negative result where it states a loss and the source has a negative profit of this size."""
    result = _RESULT.search(source)
    if result is None or not _LOSS.search(statement) or _LOSS.search(source):
        return statement
    negative = {-figure.value for figure in figures(source) if not figure.is_date and figure.value < 0}
    for figure in figures(statement):
        if not figure.is_date and figure.value in negative:
            signed = f"{statement[: figure.start]}-{statement[figure.start :]}"
            return _LOSS.sub(result[0].split(" (")[0], signed, count=1)
    return statement


def is_change_between(comparison: Comparison, at: int) -> bool:
    """Whether a word of the statement says in which direction, or a share at which rate, two figures that the sentence
    has differ: `grew 14 %` of a row with 2,643 in 2023 and 2,310 in 2022.
    """
    stated = comparison.stated
    token = stated.tokens[at]
    values = _earlier_and_later(comparison)
    unused = (other for place, other in enumerate(comparison.source.tokens) if place not in comparison.used)
    if values is None or (token.figure is None and any(are_opposite(token.stem, other.stem) for other in unused)):
        return False
    earlier, later = values
    if token.figure is not None:
        figure = token.figure
        if figure.unit != PERCENT or figure.limit or role(stated, at) != "change" or earlier <= 0:
            return False
        rate = abs(later - earlier) / earlier * 100
        decimals = Decimal(1).scaleb(min(int(figure.value.as_tuple().exponent), 0))
        return rate.quantize(decimals) == abs(figure.value).quantize(decimals)
    if say_the_same(token.stem, _RISE):
        return later > earlier
    return are_opposite(token.stem, _RISE) and later < earlier


def is_sign(comparison: Comparison, at: int) -> bool:
    """Whether `negative` says no more than the sign of the figure that follows it."""
    stated, source = comparison.stated, comparison.source
    if stated.tokens[at].text != "negative":
        return False
    behind = next((place for place in stated.figures if place > at and not _is_date(stated, place)), None)
    figure = source.tokens[comparison.to[behind]].figure if behind in comparison.to else None
    return figure is not None and figure.value < 0


def _is_date(sentence: Sentence, at: int) -> bool:
    figure = sentence.tokens[at].figure
    return figure is not None and figure.is_date


def _earlier_and_later(comparison: Comparison) -> tuple[Decimal, Decimal] | None:
    """The values of two figures of one kind, of which the later is the statement's and the earlier its `from`, or the
    sentence's of the year before.
    """
    stated, source = comparison.stated, comparison.source
    amounts = [at for at in stated.figures if at in comparison.to and _is_amount(stated.tokens[at].figure)]
    for one, other in pairwise(amounts):
        pair = {role(stated, one): one, role(stated, other): other}
        if "from" in pair and len(pair) == 2 and "change" not in pair:
            first = pair.pop("from")
            (second,) = pair.values()
            years = _year(comparison, comparison.to[first]), _year(comparison, comparison.to[second])
            if years[0] is not None and years[1] is not None and years[0] > years[1]:
                return None
            if role(source, comparison.to[second]) == "from" != role(source, comparison.to[first]):
                return None  # "increased from 848 to 1,066" of "848 and compares with 1,066 last year"
            return _value(comparison, first), _value(comparison, second)
    if len(amounts) != 1 or role(stated, amounts[0]) == "change":
        return None
    year = _year(comparison, comparison.to[amounts[0]])
    own = source.tokens[comparison.to[amounts[0]]].figure
    for at in source.figures:
        figure = source.tokens[at].figure
        if year and figure and own and figure.unit == own.unit and _year(comparison, at) == year - 1:
            later = _value(comparison, amounts[0])
            return (figure.value if later == own.value else -figure.value), later
    return None


def _is_amount(figure: StatedFigure | None) -> bool:
    return figure is not None and not figure.is_date


def _value(comparison: Comparison, at: int) -> Decimal:
    """The sentence's figure with the statement's sign: an expense in a table's parentheses is a positive one."""
    own, figure = comparison.stated.tokens[at].figure, comparison.source.tokens[comparison.to[at]].figure
    assert own is not None
    assert figure is not None
    return figure.value if (own.value < 0) == (figure.value < 0) else -figure.value


def _year(comparison: Comparison, at: int) -> int | None:
    place = period_of(comparison.source, at)
    figure = comparison.source.tokens[place].figure if place is not None else None
    return figure.date[0] if figure is not None else None

"""Whether the sentences of a source support or contradict a statement.

A statement is read (`reading`) and laid beside the sentences and table rows of the texts that share most with it
(`match`). A sentence against which nothing speaks supports the statement. One that differs in exactly a figure, a name,
a denial or an opposite contradicts it, unless another sentence supports it or has the same figure. All else is not
found, and the nearest sentences are shown.

The sentences of a text that can prove statements are its prose, and its table rows put into words with their header. A
row `Revenue<tab>391<tab>383` below `<tab>2024<tab>2023` and `(in millions of USD)` reads `Revenue: USD 391 million in
2024, USD 383 million in 2023`.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache, cached

from tasks.language.numbers import find_currency, numbers, read_units, scale_name
from tasks.language.sentences import sentences
from tasks.language.words import in_one_word, stem
from tasks.statements.figures import COUNT, figures, same
from tasks.statements.match import find_deed, find_predicates, match
from tasks.statements.objections import contradiction, objections
from tasks.statements.reading import Difference, DifferenceKind, ParsedSentence, nearness, read

_WORD: Final = re.compile(r"[^\W\d_][\w’'&]*")
_SPEAKS_OF_UNITS: Final = re.compile(r"\bin\b|\(|amounts|expressed|000|€|\$|£|usd|eur|rs", re.IGNORECASE)
_CELL_FIGURE: Final = re.compile(
    r"(?!\s*(?:19|20)\d\d\s*\Z)"
    r"\s*+(?:[$€£¥₹₩₽]|[A-Z]{3}\s)?+\s*+\(?+\s*+[-−–+]?+\s*+(?:[$€£¥₹₩₽]\s*+)?+\d[\d,.\u00a0\u202f' ]*+\)?+"
    r"\s*+%?+\s*+\)?+\s*+(?:[A-Z]{3}|x|bps|pp|million|billion|bn|m|k)?+\s*+"
)
_BRACKETS: Final = re.compile(r"\([^()]{1,20}\)$")
_MARKS: Final = ("US$", "$", "€", "£", "¥", "₹")
_HELD: Final = re.compile(r"\((?:in )?([^()]{1,6})\)")
_BEHIND_NOTE: Final = re.compile(r"(?:(?<=[.\])]\[\d\])|(?<=[.\])]\[\d\d\])) (?=[A-Z“\"])")
"""Between two sentences where numbers of notes stand behind the full stop."""
_REMARK: Final = re.compile(
    r"(?<!\s)\s*+\((?:recast|restated|(?:un)?audited|(?:as )?adjusted|re-?presented)\)", re.IGNORECASE
)
_CHANGE: Final = re.compile(r"^(?:%|∆)|\b(?:inc|dec|change|variance|increase|decrease)\b", re.IGNORECASE)
_SHORT: Final = 25
"""Characters of words that name units and nothing else."""

_ABOVE: Final = 6
_SHORTEST_PROSE: Final = 40
_LONGEST_LABEL: Final = 200
LONGEST_SENTENCE: Final = 4_000
"""Characters of a sentence, or of a row in words, that may prove something. Longer ones are no sentences, and the time
that it takes to compare them would grow faster than they do."""


_MOST_CACHED: Final = 2_000_000
"""Characters of sentences that are kept for the next statement of an answer; each takes some twenty to fifty bytes."""


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence as the source has it (`original`), and in words (`text`)."""

    original: str
    text: str
    stems: frozenset[str]
    numbers: frozenset[str]


@cached(
    LRUCache[Any, Sequence[SourceSentence]](_MOST_CACHED, lambda found: sum(len(one.original) for one in found) + 1000),
    lock=Lock(),
)
def source_sentences(text: str) -> Sequence[SourceSentence]:
    """All sentences and rows of a text, in order."""
    result: list[SourceSentence] = []
    for original, words in _in_words(text):
        if len(words) <= LONGEST_SENTENCE:
            stems = frozenset(map(stem, _WORD.findall(in_one_word(words))))
            amounts = frozenset(str(abs(one.value).normalize()) for one in figures(words) if not one.is_date)
            result.append(SourceSentence(original, words, stems, amounts))
    return result


def _in_words(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines()
    prose: list[str] = []
    at = 0
    while at < len(lines):
        cells = _cells(lines[at])
        if cells is None:
            prose.append(lines[at])
            at += 1
            continue
        yield from _prose(prose)
        first = at
        rows: list[tuple[str, list[str]]] = []
        while at < len(lines) and ((cells := _cells(lines[at])) or ("\t" in lines[at] and lines[at].strip())):
            rows.append((lines[at], cells or [cell.strip() for cell in lines[at].split("\t")]))
            at += 1
        yield from _rows(rows, lines[max(first - _ABOVE, 0) : first])
        prose = []
    yield from _prose(prose)


def _prose(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for sentence in sentences("\n".join(lines), longest=None):
        for part in _BEHIND_NOTE.split(sentence):
            yield part, part


def _cells(line: str) -> list[str] | None:
    """The cells of a line that is a table row, split by tabs or bars; None for prose."""
    stripped = line.strip()
    if "\t" in stripped or (line.startswith("\t") and 0 < len(stripped) < _SHORTEST_PROSE):
        return _join_cells([cell.strip() for cell in line.strip("\n").split("\t")])
    if (stripped.startswith("|") and stripped.count("|") >= 2) or stripped.count(" | ") >= 2:
        return _join_cells([cell.strip().strip("*_ ") for cell in stripped.strip("|").split("|")])
    return None


def _join_cells(cells: list[str]) -> list[str]:
    """The cells, with signs in separate cells joined to their figures: `$ | ( 5,387 | )` becomes `$(5,387)`."""
    result: list[str] = []
    pending = ""
    for cell in cells:
        if cell in {"$", "€", "£", "¥", "₹", "US$", "("} or cell in {"$ (", "$("}:
            pending += cell.replace(" ", "")
        elif cell in {")", "%", ")%", ") %"} and result and len(result[-1]) < _LONGEST_LABEL:
            result[-1] += cell.replace(" ", "")
        else:
            sign = pending if re.match(r"\(?\s*[\d(]", cell) else ""
            pending = "" if sign else pending
            result.append(re.sub(r"\(\s+(?=[\d$])", "(", sign + cell))
    return result


def _rows(rows: Sequence[tuple[str, list[str]]], above: Sequence[str]) -> Iterator[tuple[str, str]]:
    header: list[str] = []
    caption = " ".join(line.strip() for line in above if len(line) < 250)
    scale, currency = _unit(caption)
    for original, cells in rows:
        if all(not cell or set(cell) <= set("-: ") for cell in cells):
            continue
        values = [column for column, cell in enumerate(cells) if column and _CELL_FIGURE.fullmatch(cell)]
        if not values:
            header = _header(header, [_REMARK.sub("", cell) for cell in cells])
            row_scale, row_currency = _unit(" ".join(cells))
            scale, currency = row_scale or scale, row_currency or currency
            if len(cells) > 1 and sum(map(len, cells)) > 20:
                yield original, "; ".join(cell for cell in cells if cell)
            continue
        yield original, _in_one(cells, values, header, scale, currency)


def _header(header: list[str], cells: list[str]) -> list[str]:
    """A header of several rows as one row: the cells of each column are joined from top to bottom."""
    if len(cells) == 1:
        return header
    if len(header) != len(cells):
        return list(cells)
    if not any(cells[1:]):
        return header  # a heading between the rows
    return [" ".join(filter(None, pair))[:_LONGEST_LABEL] for pair in zip(header, cells, strict=True)]


_NO_MONEY: Final = re.compile(
    r"per\s+share|\bEPS\b|percent|%|ratio|margin\b.*%|number of|headcount|employees|shares\b", re.IGNORECASE
)
"""Labels of rows that are no money."""


def _in_one(cells: list[str], values: Sequence[int], header: list[str], scale: str, currency: str) -> str:
    label = cells[0][:_LONGEST_LABEL]
    own_scale, own_currency = _unit(label)
    is_plain = _NO_MONEY.search(label) is not None
    units = "" if is_plain else own_scale or scale, "" if is_plain else own_currency or currency
    if len(header) == len(cells) - 1 and _CHANGE.search(header[-1]):  # over the change and its percentage
        header = [*header, header[-1]]
    offset = len(header) - len(cells) if header else 0
    said = []
    for place in values:
        column = header[place + offset] if header and 0 <= place + offset < len(header) else ""
        column_units = ("", own_currency) if is_plain else _column_units(column, *units)
        value = _with_units(cells[place], column, *column_units)
        said.append(f"{value} in {column}" if column else value)
    texts = [
        cell
        for at, cell in enumerate(cells)
        if at and at not in values and cell and len(cell) < 200 and not set(cell) <= set("—–- ")
    ]
    return f"{label}{' ' + ' '.join(texts) if texts else ''}: {', '.join(said)}"


def _column_units(column: str, scale: str, currency: str) -> tuple[str, str]:
    """The scale and currency of a column: those in its brackets, else the table's; none if it counts something else."""
    if not _BRACKETS.search(column):
        return scale, currency
    own_scale, own_currency = _unit(column)
    return (own_scale or scale, own_currency or currency) if own_scale or own_currency else ("", "")


def _with_units(cell: str, column: str, scale: str, currency: str) -> str:
    """A cell's figure with its scale and currency."""
    value = re.sub(r"\s+", "", cell) if not re.search(r"[A-Za-z]", cell) else cell
    value = re.sub(r"^([^\d()]*)\(([^()]*)\)(%?)$", r"\1-\2\3", value)
    parsed = figures(value)
    if parsed and parsed[0].unit == COUNT:
        if "%" in column:
            return value + "%"
        value = f"{currency}{'' if len(currency) < 3 or currency.endswith('$') else ' '}{value}"
    is_plain = not scale or "%" in value or not parsed or parsed[0].is_scaled
    return value if is_plain else f"{value} {scale}"


def _unit(words: str) -> tuple[str, str]:
    """The scale and the currency that a caption, header or label names; empty for what it does not name."""
    scale = currency = ""
    inner = " ".join(re.findall(r"\(([^()]{1,80})\)", words)) or words
    for part in (inner, words):
        units = read_units(_without_amounts(part))
        if units.multiplier and (_SPEAKS_OF_UNITS.search(part) or len(part) < _SHORT):
            scale = scale or scale_name(units.multiplier)
            mark = next((sign for sign in _MARKS if sign in part), "")
            currency = currency or mark or units.currency or ""
    return scale, currency or next((held for held in _HELD.findall(words) if find_currency(held)), "")


def _without_amounts(words: str) -> str:
    """Words without numbers that have their own scale, which is not the table's: `of $75.7 billion`."""
    for number in reversed([number for number in numbers(words) if number.scale and number.value]):
        words = words[: number.first] + words[number.stop :]
    return words


_CANDIDATES: Final = 8
_SHOWN: Final = 0.5
"""The share of words from which a sentence is worth showing in a statement's place."""

_NAME: Final = r"[A-Z][\w&.’'-]{0,60}(?: [A-Z][\w&.’'-]{0,60}){0,4}"
_ASIDE: Final = re.compile(r" \([^()]*\)|, (?:which|who|whose|an?) [^,;]{2,150},")
_PARTS: Final = re.compile(r"; (?!(?i:provided|except|unless|if|subject|save|other than)\b)|, and (?=(?:the|our|its) )")
_ADDED: Final = re.compile(r", an? [^,;]{2,150}\Z")
_APPOSED: Final = re.compile(
    rf"\A(?:The|Our|Its|A|An) [a-z][\w -]{{2,60}}, (?P<name>{_NAME}), (?P<rest>(?!and\b)[a-z].*)", re.DOTALL
)
_WHO: Final = re.compile(rf"(?P<who>(?:\A(?:The|Our|Its) [a-z]\w+|{_NAME})), (?:who|which) (?P<rest>[^,;]{{2,200}})")
"""An aside, a name put in behind what it is, and a name or a sentence's subject of which a clause says more."""
_INCLUDED: Final = re.compile(
    r"\((?:the )?[“\"](?P<who>[^“”\"()]{2,40})[”\"]\), which included (?:(?:staff|employee|net|related) )?"
    r"(?P<what>[a-z]+) (?:expenses?|costs?|charges?) of (?P<amount>[^,;]{1,40})"
)
"""A term that a sentence defines, and what of it was for something: part of a part is part of it."""
_OF_WHICH: Final = re.compile(r", of which (?P<amount>[^,;]{1,60}?) (?P<be>was|were|is|are) (?P<what>[^,;.]{2,80})")
_YEARS: Final = r"(?:for|in|at) (?P<span>[^,;]{0,60}?)(?P<first>(?:19|20)\d\d) and (?P<second>(?:19|20)\d\d)"
_EACH: Final = re.compile(
    rf"\A(?P<what>[^,;]{{2,120}}?) {_YEARS} (?P<be>was|were) (?P<one>[^,;]{{1,40}}?) and (?P<other>[^,;]{{1,40}}?), "
    r"respectively"
)
"""A figure of which another is a part, and those of two years that a sentence gives one behind the other."""
_TOLD: Final = (
    (_APPOSED, "{name} {rest}"), (_WHO, "{who} {rest}"), (_OF_WHICH, "{what} {be} {amount}"),
    (_INCLUDED, "{who} included {amount} for {what}"),
    (_EACH, "{what} {be} {one} in {first}, compared with {other}"), (_EACH, "{what} {be} {other} in {second}"),
)  # fmt: skip
"""What parts of a sentence say by themselves."""
_HEAD: Final = re.compile(
    r"\A(?P<head>(?:In|At|On|For|During|As of|As at|Under|By|Since|From) [^,;]{2,120}(?:, \d{4})?) ?, (?P<rest>"
    r"[^;]+?)\.?\Z"
)
_NUMBERED: Final = re.compile(r"\A\W*(?:\d{1,3}(?:\.\d{1,3}){1,4}\.?|\(?[a-z0-9]{1,2}[.)])\s+")
"""What numbers a clause or an item of a list in front of its words."""
_DEFINED: Final = re.compile(
    r"(?<![\w&.’'-])(?P<full>[A-Z][\w&.’'-]*(?: (?:[A-Z][\w&.’'-]*,?|of|and|for|plc)){1,6})"
    r" \((?:the |each |collectively |hereinafter )*[\"“]?(?P<short>(?!Company|Issuer)[A-Z][a-z]+)[\"”]?\)"
)
_FORM: Final = re.compile(r",? (?:plc|Limited|Ltd|Inc|Corp|LLC|GmbH|AG|AS|SA)\.?$")


class Finding(StrEnum):
    """What a source says of a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Check:
    """A verdict, the sentence of the source that it rests on (or comes nearest), and what speaks against it first.

    `share` is the part of the statement's words that the sentence has, from 0 to 1; `text` counts the texts from 0.
    """

    verdict: Finding
    sentence: str = ""
    difference: Difference | None = None
    share: float = 0.0
    text: int = 0

    @property
    def why(self) -> str:
        """What speaks against it, as a sentence."""
        return self.difference.why if self.difference else ""

    @property
    def is_worth_showing(self) -> bool:
        """Whether the sentence speaks of the statement's matter, so that it may stand in its place."""
        return bool(self.sentence) and self.share >= _SHOWN


def check(statement: str, texts: Sequence[str], names: str = "") -> Check:
    """What the texts say of a statement.

    Args:
        statement: one sentence, without marks of its sources.
        texts: the sources, in full.
        names: words that name whom the texts are about; a statement may name it where a text says "we".

    Returns:
        The verdict of the best sentence: supported before contradicted before not found.
    """
    if len(statement) > LONGEST_SENTENCE:
        return Check(Finding.NOT_FOUND, difference=Difference(DifferenceKind.TOO_LONG))
    stated, known = read(_move_head(statement)), _find_known_stems(names)
    bare = read(_ADDED.sub("", statement.rstrip(". ")))
    best = Check(Finding.NOT_FOUND)
    if not stated.content and not stated.figures:
        return best
    for number, text in enumerate(texts):
        stated = read(_move_head(_with_defined_names(statement, text)))
        for place in _nearest_places(stated, text, known):
            candidate = source_sentences(text)[place]
            result = replace(_compare(stated, candidate, known), text=number)
            if result.verdict is Finding.SUPPORTED:
                return result
            if result.verdict is Finding.NOT_FOUND and bare.original != statement.rstrip(". "):
                against = replace(_compare(bare, candidate, known), text=number)
                result = against if against.verdict is Finding.CONTRADICTED else result
            best = max(best, result, key=lambda one: (one.verdict is Finding.CONTRADICTED, one.share))
    if best.verdict is Finding.CONTRADICTED and _stands_elsewhere(stated, best, texts, known):
        return replace(best, verdict=Finding.NOT_FOUND)
    return best


def _with_defined_names(statement: str, text: str) -> str:
    """The statement with the terms that this text defines for names: "Harbour Estates plc (the “Landlord”)"."""
    for party in _DEFINED.finditer(text):
        name = _FORM.sub("", party["full"]).strip(" ,")
        statement = re.sub(rf"\b{re.escape(name)}(?!\w)", f"the {party['short']}", statement)
    return statement


def _compare(stated: ParsedSentence, candidate: SourceSentence, known: frozenset[str]) -> Check:
    """The verdict of one sentence on a statement."""
    worst = Check(Finding.NOT_FOUND, candidate.original)
    texts = dict.fromkeys(_find_readings(candidate.text))
    for said in (said for text in texts for said in find_predicates(read(text))):
        found = match(stated, said, known)
        against = next(objections(found), None)
        if against is None:
            return Check(Finding.SUPPORTED, candidate.original, None, found.share)
        denied = contradiction(found)
        if denied is not None:
            worst = Check(Finding.CONTRADICTED, candidate.original, denied, found.share)
        elif worst.difference is None:
            worst = replace(worst, difference=against, share=found.share)
        deed = find_deed(stated, said)
        if deed and not (done := match(*deed, known)).has_second_object and not any(objections(done)):
            return Check(Finding.SUPPORTED, candidate.original, None, done.share)
    return worst


def _find_readings(text: str) -> Iterator[str]:
    """A sentence, its paraphrases with the same meaning, and the statements in its parts."""
    for part in (text, *_PARTS.split(text)):
        bare = _NUMBERED.sub("", part)
        short = _ADDED.sub("", bare)
        yield from (part, _move_head(part), bare, _move_head(bare), _ASIDE.sub(" ", bare), _move_head(short))
        yield from (form.format(**told.groupdict()) for pattern, form in _TOLD for told in pattern.finditer(bare))


def _move_head(text: str) -> str:
    """A sentence with its opening phrase moved to the end: "A day lasts 24 hours on Earth"."""
    return _HEAD.sub(lambda found: f"{found['rest']} {found['head'][0].lower()}{found['head'][1:]}", text)


def _stands_elsewhere(stated: ParsedSentence, result: Check, texts: Sequence[str], known: frozenset[str]) -> bool:
    """Whether another sentence that shares half of a statement's words has its figure, which the first states
    differently.
    """
    if result.difference is None or result.difference.kind is not DifferenceKind.FIGURE:
        return False
    wanted = [token.figure for at in stated.figures if (token := stated.tokens[at]).text == result.difference.ours]
    for text in texts:
        sentences = source_sentences(text)
        for place in _nearest_places(stated, text, known):
            other = read(sentences[place].text)
            if sentences[place].original == result.sentence or match(stated, other, known).share < _SHOWN:
                continue
            given = [token.figure for at in other.figures if (token := other.tokens[at])]
            if any(own and figure and same(own, figure) for own in wanted for figure in given):
                return True
    return False


def nearest(statement: str, texts: Sequence[str], names: str = "", most: int = 3) -> list[str]:
    """The sentences of the texts that share most with a statement, as they stand there, best first."""
    stated, known = read(statement), _find_known_stems(names)
    said = _SaidBy({stated.tokens[at].stem for at in stated.content})
    found = [source_sentences(text)[place] for text in texts for place in _nearest_places(stated, text, known)]
    found.sort(key=lambda candidate: -said.how_many(candidate.stems))
    return list(dict.fromkeys(candidate.original for candidate in found))[:most]


def _find_known_stems(names: str) -> frozenset[str]:
    """The stems that name the subject of the texts, and the initials of its name: `J&J`."""
    words = names.replace(".", " ").split()
    initials = [word[0].lower() for word in words if word[0].isupper()]
    short = {"".join(initials), "&".join(initials)} if len(initials) > 1 else set[str]()
    return frozenset(stem(word) for word in words if len(word) > 1) | short


def _nearest_places(stated: ParsedSentence, text: str, known: frozenset[str]) -> list[int]:
    """The indexes of the sentences in a text that share most words and numbers with a statement, best first."""
    said = _SaidBy({stated.tokens[at].stem for at in stated.content} - known)
    wanted = [
        (figure.value, figure.digits)
        for at in stated.figures
        if (figure := stated.tokens[at].figure) and not figure.is_date
    ]
    scored = []
    for place, candidate in enumerate(source_sentences(text)):
        held = (any(_rounds(one, abs(value), digits) for one in candidate.numbers) for value, digits in wanted)
        shared = said.how_many(candidate.stems) + (0.7 * sum(held) if candidate.numbers else 0)
        if shared or not said.words:
            scored.append((shared - len(candidate.stems) * 0.005, -place))
    scored.sort(reverse=True)
    return [-place for _, place in scored[:_CANDIDATES]]


@lru_cache(maxsize=65536)
def _rounds(number: str, value: Decimal, digits: int) -> bool:
    """Whether a number of a sentence is a statement's, possibly with more digits: `8,031 million` for `8.0 billion`."""
    own = Decimal(number)
    return own == value or (
        own.adjusted() == value.adjusted()
        and abs(own - value) * 2 <= Decimal(10) ** (value.adjusted() - max(digits, 1) + 1)
    )


class _SaidBy(dict[str, frozenset[str]]):
    """For each stem in a text, the words of a statement that it matches; looked up once per stem."""

    def __init__(self, words: Collection[str]) -> None:
        self.words = words

    def __missing__(self, stem: str) -> frozenset[str]:
        self[stem] = said = frozenset(word for word in self.words if nearness(word, stem))
        return said

    def how_many(self, stems: frozenset[str]) -> int:
        """How many of the words a sentence with these stems contains."""
        return len(frozenset[str]().union(*map(self.__getitem__, stems)))

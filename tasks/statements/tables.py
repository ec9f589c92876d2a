"""The sentences of a text that can prove statements: its prose, and its table rows put into words with their header.

A row `Revenue<tab>391<tab>383` below `<tab>2024<tab>2023` and `(in millions of USD)` reads `Revenue: USD 391 million in
2024, USD 383 million in 2023`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

from cachetools import LRUCache, cached

from tasks.language.numbers import find_currency, numbers, read_units, scale_name
from tasks.language.sentences import sentences
from tasks.language.words import in_one_word, stem
from tasks.statements.figures import COUNT, figures

_WORD: Final = re.compile(r"[^\W\d_][\w’'&]*")
_SPEAKS_OF_UNITS: Final = re.compile(r"\bin\b|\(|amounts|expressed|000|€|\$|£|usd|eur|rs", re.IGNORECASE)
_CELL_FIGURE: Final = re.compile(
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


def _characters(sentences: Sequence[SourceSentence]) -> int:
    return sum(len(sentence.original) for sentence in sentences) + 1000


@cached(LRUCache(_MOST_CACHED, getsizeof=_characters), lock=Lock())
def source_sentences(text: str) -> Sequence[SourceSentence]:
    """All sentences and rows of a text, in order."""
    result: list[SourceSentence] = []
    for original, words in _in_words(text):
        if len(words) <= LONGEST_SENTENCE:
            result.append(SourceSentence(original, words, _stems(words), _numbers(words)))
    return result


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(in_one_word(words)))


def _numbers(words: str) -> frozenset[str]:
    return frozenset(str(abs(figure.value).normalize()) for figure in figures(words) if not figure.is_date)


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
        while at < len(lines) and (cells := _cells(lines[at]) or _label_alone(lines[at])) is not None:
            rows.append((lines[at], cells))
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


def _label_alone(line: str) -> list[str] | None:
    """The cells of a row that only has a label; None for prose."""
    return [cell.strip() for cell in line.strip("\n").split("\t")] if "\t" in line and line.strip() else None


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
        values = [column for column, cell in enumerate(cells) if column and _is_figure(cell)]
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


def _is_figure(cell: str) -> bool:
    return bool(_CELL_FIGURE.fullmatch(cell)) and not re.fullmatch(r"(?:19|20)\d\d", cell.strip())


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

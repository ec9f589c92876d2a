"""How a passage is shown: paragraphs and rows of tables, and of a long one the lines that speak to the question."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from tasks.language.sentences import sentences
from tasks.language.tokens import tokens

TRIMMED: Final = 320
"""Characters of a trimmed passage, about four lines."""
_MOST_ROWS: Final = 6
"""Rows of a table in a trimmed passage, its first one among them."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of one cell, or the rows of a table."""

    kind: Literal["paragraph", "table"]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage in blocks. `before` and `behind`: whether it was trimmed there."""

    blocks: list[Block]
    before: bool = False
    behind: bool = False


def whole(text: str) -> Passage:
    """All of a passage."""
    return Passage(_blocks(text.splitlines()))


def trimmed(text: str, question: str) -> Passage:
    """The part of a passage, about `TRIMMED` characters, that has most words of the question.

    It begins and ends with a line or a sentence. A row of a table keeps the table's first row, which heads it.
    """
    units = [unit for line in text.splitlines() if line.strip() for unit in _units(line)]
    if len(text) <= TRIMMED and len(units) <= _MOST_ROWS + 2:
        return whole(text)
    words = _words_of(question)
    shared = [len(words & set(tokens(unit.text))) for unit in units]
    best = max(range(len(units)), key=lambda place: (shared[place], -place))
    first, last = _window(units, best)
    head = _head(units, best)
    shown = [units[head], *units[first:last]] if head < first else units[first:last]
    return Passage(_blocks(_lines(shown)), before=first > 0, behind=last < len(units))


@lru_cache(maxsize=512)  # a criterion's question is that of a passage of every company
def _words_of(question: str) -> frozenset[str]:
    return frozenset(tokens(question))


class _Unit(NamedTuple):
    """A line, or a sentence of a long one; `continues`: it stands in one line with the unit before it."""

    text: str
    continues: bool = False

    @property
    def is_row(self) -> bool:
        return "\t" in self.text


def _units(line: str) -> list[_Unit]:
    if len(line) <= TRIMMED // 2 or "\t" in line:
        return [_Unit(line)]
    cut = [part if len(part) <= TRIMMED else f"{part[:TRIMMED].rsplit(' ', 1)[0]} …" for part in sentences(line)]
    return [_Unit(part, continues=place > 0) for place, part in enumerate(cut)] or [_Unit(line[:TRIMMED])]


def _window(units: Sequence[_Unit], best: int) -> tuple[int, int]:
    """As many units around the best one, first those behind it, as fit; a row's within its table."""
    first, last, length = best, best + 1, len(units[best].text)
    while sum(unit.is_row for unit in units[first:last]) < _MOST_ROWS:
        behind = last < len(units) and (units[last].is_row or not units[best].is_row)
        if behind and length + len(units[last].text) <= TRIMMED:
            length += len(units[last].text)
            last += 1
        elif first > 0 and length + len(units[first - 1].text) <= TRIMMED:
            first -= 1
            length += len(units[first].text)
        elif behind and last - best == 1 and length < TRIMMED // 4:  # a heading is not shown without what follows
            length += len(units[last].text)
            last += 1
        else:
            break
    return first, last


def _head(units: Sequence[_Unit], place: int) -> int:
    """The first row of the table that a unit stands in; the unit itself where it stands in none."""
    while place > 0 and units[place].is_row and units[place - 1].is_row:
        place -= 1
    return place


def _lines(units: Sequence[_Unit]) -> list[str]:
    lines: list[str] = []
    for unit in units:
        if unit.continues and lines:
            lines[-1] += f" {unit.text}"
        else:
            lines.append(unit.text)
    return lines


def _blocks(lines: Sequence[str]) -> list[Block]:
    """Lines with tabs are rows of a table, which ends where a line has none; other lines follow each other."""
    blocks: list[Block] = []
    for line in lines:
        kind: Literal["paragraph", "table"] = "table" if "\t" in line else "paragraph"
        if not line.strip():
            continue
        if not blocks or blocks[-1].kind != kind:
            blocks.append(Block(kind, []))
        blocks[-1].rows.append(line.split("\t") if kind == "table" else [line])
    return blocks

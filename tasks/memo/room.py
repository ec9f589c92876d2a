"""A data room prepared for many claims: which passages to look at, and its ledger of figures.

Passages are ranked by a claim's words, so that only the most likely few in a room of thousands of documents are read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final, Self

from storage import database, texts
from tasks.figures.derived import FigureValue
from tasks.figures.expressions import LATEST, Expression, figure_values, newest_day, value_at
from tasks.figures.fiscal_calendar import Calendar
from tasks.figures.fiscal_years import learn_room_calendar
from tasks.figures.ledger import LedgerText, RoomLedger, build, first_by_path, room_ledger
from tasks.language.quotations import in_sentence
from tasks.memo.contracts import RoomContract, find_contracts
from tasks.rooms.passages import RoomPassage, RoomPassages, stretch

_BY_MEANING: Final = 10
_BY_WORDS: Final = 10
"""How many passages are read for a claim: the likeliest answers, and those that share its rarest words."""

_AROUND: Final = 1500
"""Characters read on each side of a passage for a quotation that reaches beyond it."""

_AROUND_A_FIGURE: Final = 600
_IN_SCALE: Final = re.compile(r"\bin (thousand|million)s\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MemoPlace:
    """Where the room says something: the document, the place in it in words, and the words themselves."""

    document_id: str
    document_name: str
    place: str
    text: str

    @classmethod
    def of(cls, passage: RoomPassage, words: str) -> Self:
        """Words of a passage, with their place."""
        document = passage.document
        return cls(document.document_id, document.document_name, passage.span.place, " ".join(words.split()))


class MemoTexts(RoomPassages):
    """The passages and figures of a room's stored texts; identical documents count once."""

    def __init__(self, documents: Iterable[LedgerText], names: str = "") -> None:
        """`names` are words that name the company: a memo may name it where a document says "we"."""
        self.names = names
        once = first_by_path(documents)
        build(once.values())
        self.ledger: RoomLedger = room_ledger(once.values())
        self.line_of = lru_cache(maxsize=1024)(_find_line)
        self.text_of = lru_cache(maxsize=4)(_load_text)
        self.values = cache(self._find_values)
        self.scale_of = lru_cache(maxsize=256)(_find_scale)
        super().__init__(once.values())

    @cached_property
    def calendar(self) -> Calendar:
        """The fiscal year that the documents agree on, which a memo's "fiscal 2023" refers to."""
        return learn_room_calendar(self.ledger.figures, _load_text)

    @cached_property
    def contracts(self) -> Sequence[RoomContract]:
        """The contracts of the room, with the terms that they state."""
        return find_contracts(self._documents)

    def _find_values(self, expression: Expression) -> Sequence[FigureValue]:
        return figure_values(expression, self.ledger.figures)

    def latest(self, expression: Expression) -> str:
        """The period of the newest value of a figure; "" if there is none."""
        value = value_at(self.values(expression), LATEST, expression, newest_day(self.ledger.figures))
        return value.period if value is not None else ""

    def passages(self, claim: str) -> Sequence[RoomPassage]:
        """The passages that are most likely to concern a claim, best first."""
        return self.likeliest(claim, _BY_MEANING, _BY_WORDS)

    def around(self, passage: RoomPassage, length: int) -> str:
        """A passage with the text before and after it, for a quotation of that many characters."""
        span = passage.span
        reach = _AROUND + length
        return stretch(passage.document.text_id, max(span.start - reach, 0), span.end + reach)


def _load_text(text_id: int) -> str:
    with database.reading() as session:
        return texts.get_text(session, text_id).text


def _find_line(text_id: int, start: int, end: int) -> str:
    """The sentence or table row around a figure in a stored text."""
    low = max(start - _AROUND_A_FIGURE, 0)
    with database.reading() as session:
        text = texts.find_stretch(session, text_id, low, end + _AROUND_A_FIGURE)
    first, last = in_sentence(text, start - low, end - low)
    return " ".join(text[first:last].split())


def _find_scale(text_id: int) -> str:
    """The scale of most tables in a stored text: "million", "thousand"; "" if they state none."""
    found = Counter(match[1].lower() for match in _IN_SCALE.finditer(_load_text(text_id)))
    return found.most_common(1)[0][0] if found else ""

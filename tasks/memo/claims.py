"""What a memo claims (figures, quotations, statements, each with its place), and a room prepared for checking it.

A quotation is compared with the words of the room, the growth of a figure with its ledger.

Passages are ranked by a claim's words, so that only the most likely few in a room of thousands of documents are read.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple, Self

from storage import database, texts
from tasks.figures.derived import LATEST, Expression, figure_values, newest_day, value_at
from tasks.figures.fiscal_calendar import Calendar
from tasks.figures.ledger import LedgerText, RoomLedger, build, first_by_path, learn_room_calendar, room_ledger
from tasks.language.quotations import in_sentence, locate
from tasks.memo.contracts import RoomContract, find_contracts
from tasks.reading.text_writer import HEADING
from tasks.rooms import RoomPassage, RoomPassages, stretch
from tasks.scoring.passages import Places, TextPlaces
from tasks.statements.check import source_sentences
from tasks.statements.figures import figures

_BY_MEANING: Final = 10
_BY_WORDS: Final = 10
"""How many passages are read for a claim: the likeliest answers, and those that share its rarest words."""

_AROUND: Final = 1500
"""Characters read on each side of a passage for a quotation that reaches beyond it."""

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
        self.ledger: RoomLedger = room_ledger(once.values(), company=names)
        self.line_of = lru_cache(maxsize=1024)(_find_line)
        self.text_of = lru_cache(maxsize=4)(_load_text)
        self.values = cache(lambda expression: figure_values(expression, self.ledger.figures))
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
    """The sentence or table row around a figure in a stored text; of a sheet, its cell under its headers."""
    with database.reading() as session:
        stored = texts.get_text(session, text_id)
    cells = TextPlaces(stored.text, stored.places).cells(start, end)
    return cells or " ".join(stored.text[slice(*in_sentence(stored.text, start, end))].split())


def _find_scale(text_id: int) -> str:
    """The scale of most tables in a stored text: "million", "thousand"; "" if they state none."""
    found = Counter(match[1].lower() for match in _IN_SCALE.finditer(_load_text(text_id)))
    return found.most_common(1)[0][0] if found else ""


_QUOTED: Final = re.compile(
    r"“(?P<high>[^“”]{3,2000}?)”|„(?P<low>[^„“”]{3,2000}?)[“”]|«(?=[^«»]{3,2000}»)\s*+(?P<angle>[^«»\s]++(?:\s++[^«»\s]++)*+)\s*+»"
    r"|(?<![\w\"])\"(?P<straight>[^\"\s][^\"]{2,2000}?)\"(?!\w)"
)
_FEWEST_QUOTED: Final = 3  # words; fewer are a defined term or a word held at a distance
_FEWEST_BESIDE: Final = 7  # words beside a quotation that say more than who said it, and where
_FEWEST: Final = 3  # words of a statement without a figure
_ITEM: Final = re.compile(
    r"^\s*(?:(?:[•·●▪■◦‣–—*-]|>|#{1,6}|\(?(?:\d{1,2}|[a-z])[.)]|\d{1,2}(?:\.\d{1,2})+\.?(?=\s+[A-Z]))\s+)+"
)
_SOURCE: Final = re.compile(
    r"(?<!\s)\s*+(?:\[(?:\d{1,3}(?:\s*+[,;–-]\s*+\d{1,3})*+|\^\w++)\]"
    r"|\((?:sources?|see|cf\.|quelle|clause|section|page|pp?\.|slide|§)[ :][^()]{0,200}\))",
    re.IGNORECASE,
)
_FOOTNOTE: Final = re.compile(r"(?<!\s)\s*+\[\^[^\]\s]{1,20}\]:?\s?(?=\s|$|[.,;:)])|^\[\^[^\]\s]{1,20}\]:?\s*")
"""Markdown's mark of a footnote, and where the footnote itself begins."""

_LONGEST_TITLE: Final = 100
_PERIOD: Final = re.compile(
    r"(?:(?:FY|CY|GJ|Q[1-4]|[1-4]Q|H[12]|[12]H|LTM|YTD|fiscal|year|quarter|months|weeks|ended|ending|[A-Za-z]{3,9}\.?"
    r"|\d{1,2}[.,]?)[ /-]{0,2}){0,5}['’]?(?:(?:19|20)\d\d|(?<=[A-Za-z]['’])\d\d|(?<=FY)\d\d)"
    r"(?:[ -]?\(?(?:actual|budget|forecast|plan|restated|(?:un)?audited|[AEFBP])\)?)?",
    re.IGNORECASE,
)
"""A period at the head of a column: "FY2023", "Q1 2023", "30 June 2024 (restated)"."""

_UNIT_OF_ROW: Final = re.compile(
    r"(?<=\w) \((?:in )?(?:[$€£¥]|[A-Z]{3})? ?(?:m|mn|bn|k|mio|mrd|tsd|millions?|billions?|thousands?|000s?)\.?"
    r"(?: (?:of )?(?:[$€£¥]|[A-Z]{3}|dollars|euros|pounds))?\)(?=:)",
    re.IGNORECASE,
)
"""The unit in a row's label, which its values have when the row is put into words: "SG&A ($ million): $19 million"."""

_EMPHASIS: Final = re.compile(r"\*\*|__|`")
_WORD: Final = re.compile(r"[^\W_][\w’'.,%-]*")


class StatementKind(StrEnum):
    """What a memo claims: an amount, somebody's own words, or anything else."""

    FIGURE = "figure"
    QUOTATION = "quotation"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class MemoStatement:
    """One claim of a memo.

    Attributes:
        text: as the memo has it, on one line, without marks of footnotes; a quotation without its marks.
        kind: what it is.
        start, end: its characters in the memo's text.
        words: what is checked against the room: without item and source marks, a row with its header in words.
    """

    text: str
    kind: StatementKind
    start: int
    end: int
    words: str


def split(text: str, places: Places = ()) -> list[MemoStatement]:
    """The claims of a memo in order; `places` give its headings."""
    quotations = list(_quotations(text))
    claims = [*quotations, *_sentences(_without_title(_without_headings(text, places)), quotations)]
    return sorted(claims, key=lambda claim: (claim.start, -claim.end))


def _quotations(text: str) -> Iterator[MemoStatement]:
    for match in _QUOTED.finditer(text):
        assert match.lastgroup is not None
        words = match[match.lastgroup]
        if len(_WORD.findall(words)) >= _FEWEST_QUOTED and "\n\n" not in words and "\t" not in words:
            start, end = match.span(match.lastgroup)
            yield MemoStatement(" ".join(words.split()), StatementKind.QUOTATION, start, end, " ".join(words.split()))


def _without_headings(text: str, places: Places) -> str:
    """The text with headings replaced by white space, so that positions stay the same and no
    heading joins a sentence.
    """
    pieces, at = [], 0
    for start, end, kind, label in sorted(places, key=lambda place: int(place[0])):
        first = int(start)
        line = text[first : int(end)].partition("\n")[0] if kind == HEADING and first >= at else ""
        if line and _squeeze(str(label)) in _squeeze(line):
            pieces += [text[at:first], " " * len(line)]
            at = first + len(line)
    return "".join([*pieces, text[at:]])


def _without_title(text: str) -> str:
    """The text with its first line replaced by white space if it is a title: short, without an end mark or an amount.

    PDFs and plain text have no headings that a reader could recognise.
    """
    start = len(text) - len(text.lstrip())
    line = text[start:].partition("\n")[0].rstrip()
    is_title = 0 < len(line) <= _LONGEST_TITLE and line[-1] not in '.!?:;,…”"' and not _ITEM.match(line)
    if not is_title or "\t" in line or "|" in line or any(not figure.is_date for figure in figures(line)):
        return text
    return text[:start] + " " * len(line) + text[start + len(line) :]


def _sentences(text: str, quotations: Sequence[MemoStatement]) -> Iterator[MemoStatement]:
    kept = [at for at, character in enumerate(text) if not character.isspace()]
    squeezed = _squeeze(text)
    starts, ends = [quoted.start for quoted in quotations], [quoted.end for quoted in quotations]
    cursor = 0
    for sentence in source_sentences(text):
        original = _squeeze(sentence.original)
        found = squeezed.find(original, cursor)
        if not original or found < 0:
            continue
        cursor = found + len(original)
        start, end = kept[found], kept[cursor - 1] + 1
        words = sentence.text
        inside = quotations[bisect_right(ends, start) : bisect_left(starts, end)]
        if inside:
            words = _beside(text, start, end, inside)
            if len(_WORD.findall(words)) < _FEWEST_BESIDE:
                continue
        words = _FOOTNOTE.sub("", words)
        words = " ".join(_SOURCE.sub("", _EMPHASIS.sub("", _ITEM.sub("", words))).split())
        words = _UNIT_OF_ROW.sub("", words, count=1)
        has_amount = any(
            not figure.is_date and any(map(str.isdigit, words[figure.start : figure.end])) for figure in figures(words)
        )
        if _claims_nothing(words, has_amount=has_amount) or _is_header(text[start:end]):
            continue
        kind = StatementKind.FIGURE if has_amount else StatementKind.STATEMENT
        shown = _FOOTNOTE.sub("", _ITEM.sub("", text[start:end]))
        yield MemoStatement(" ".join(shown.split()), kind, start, end, words)


def _beside(text: str, start: int, end: int, quotations: Sequence[MemoStatement]) -> str:
    """The words of a sentence without its quotations and quotation marks."""
    parts, at = [], start
    for quoted in quotations:
        parts.append(text[at : max(quoted.start, start)].rstrip('“„«" '))
        at = min(quoted.end, end)
    parts.append(text[at:end].lstrip('”“»" '))
    return " ".join(filter(None, parts))


def _claims_nothing(words: str, *, has_amount: bool) -> bool:
    return words.endswith("?") or (not has_amount and (len(_WORD.findall(words)) < _FEWEST or words.endswith(":")))


def _is_header(original: str) -> bool:
    """Whether a table row holds only periods after its first cell: two or more, or one after an empty first cell."""
    first, *others = (cell.strip() for cell in re.split(r"[\t|]", original.strip("|\n ")))
    periods = [cell for cell in others if cell]
    return bool(periods) and (len(periods) > 1 or not first) and all(map(_PERIOD.fullmatch, periods))


def _squeeze(text: str) -> str:
    return "".join(text.split())


_LETTER: Final = r"(?<![\w(])(?:[a-z]|[ivx]{2,4})\)|\([a-z]\)"
"""What numbers an item: "a)", "(b)", "iv)"; a quotation may leave it out."""
_TOKEN: Final = re.compile(rf"{_LETTER}|\d+(?:[.,]\d+)*|[^\W_]+")
_INSERTED: Final = re.compile(r"\[[^\[\]]*\]")
_ELLIPSIS: Final = re.compile(r"\.{3,}|…")
_CHANGED: Final = 5
"""One word in so many, and at least one, may differ where a room is said to have a quotation in other words."""

_FEWEST_SAME: Final = 3
_MOST_PLACES: Final = 5


class QuotedWord(NamedTuple):
    """A word or number of a text, case-folded, with its offsets."""

    word: str
    start: int
    end: int


def quotation_places(quote: str, room: MemoTexts) -> tuple[bool, list[MemoPlace]]:
    """Whether the room contains the quotation word for word, and where.

    If it only contains it with one other word or figure, these places are returned. Words in square brackets are the
    memo's own, and stand for something left out.
    """
    quote = _INSERTED.sub("…", quote).strip(" ,;…")
    stretches = [(passage, room.around(passage, len(quote))) for passage in room.passages(quote)]
    exact: dict[MemoPlace, None] = {}
    changed: list[tuple[float, MemoPlace]] = []
    for passage, text in stretches:
        span = locate(quote, text) or locate(quote.rstrip(".!?"), text)
        whole = text
        if span is None and "\f" in text:  # running lines are told by the other pages
            whole = room.text_of(passage.document.text_id)
            span = locate(quote, whole) or locate(quote.rstrip(".!?"), whole)
        if span is not None:
            place = MemoPlace.of(passage, whole[slice(*in_sentence(whole, *span))])
            exact[replace(place, place=over_pages(place.place, whole[slice(*span)]))] = None
        elif not exact:
            for part in _ELLIPSIS.split(quote):
                near = _nearest(part, text)
                if near is not None:
                    changed.append((near[0], MemoPlace.of(passage, text[slice(*in_sentence(text, *near[1]))])))
    if exact:
        return True, _one_a_text([*exact])
    return False, _one_a_text([place for _, place in sorted(changed, key=lambda entry: -entry[0])])


def over_pages(place: str, words: str) -> str:
    """A place with all pages that words extend over: "pages 1 to 2" for "page 1"."""
    match = re.match(r"page (\d+)", place)
    breaks = words.count("\f")
    return f"pages {match[1]} to {int(match[1]) + breaks}{place[match.end() :]}" if match and breaks else place


def _one_a_text(places: Sequence[MemoPlace]) -> list[MemoPlace]:
    """The first places, with each sentence of a document only once: adjacent passages find the same one."""
    return list({(place.document_id, place.text): place for place in reversed(places)}.values())[::-1][:_MOST_PLACES]


def _nearest(quote: str, text: str) -> tuple[float, tuple[int, int]] | None:
    """Where a text comes closest to a quotation: the share of its words and the span; None if it
    comes close nowhere.
    """
    wanted = [token.word for token in _tokens(quote)]
    tokens = _tokens(text)
    matcher = SequenceMatcher(None, [token.word for token in tokens], wanted, autojunk=False)
    block = matcher.find_longest_match()
    allowed = max(1, len(wanted) // _CHANGED)
    first = max(block.a - block.b - allowed, 0)
    window = tokens[first : block.a - block.b + len(wanted) + allowed]
    matcher.set_seq1([token.word for token in window])
    blocks = [same for same in matcher.get_matching_blocks() if same.size]
    same = sum(block.size for block in blocks)
    if same < max(_FEWEST_SAME, len(wanted) - allowed):
        return None
    low, high = blocks[0].a, blocks[-1].a + blocks[-1].size
    added = high - low - same
    span = window[low].start, window[high - 1].end
    if added > allowed or (same == len(wanted) and not added and re.search(rf"[\t\n\f]|{_LETTER}", text[slice(*span)])):
        return None  # all its words, but of several cells, lines or items: nothing says that they are other words
    return same / (len(wanted) + added), span


def _tokens(text: str) -> list[QuotedWord]:
    return [QuotedWord(match[0].casefold(), *match.span()) for match in _TOKEN.finditer(text) if match[0][-1] != ")"]

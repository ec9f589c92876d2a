"""Passages: a text cut into spans of about a paragraph that know their place.

cut            the passages of a text
passages_of    those of stored texts, stored for that version of the cutter
Index          texts ranked by a question as a room's passages are, by words and by meaning

Tables of contents, indexes of exhibits and bookmarks only say where something is. They contain the words of every
question and answer none, so they are not passages.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Final, NamedTuple, cast

from storage import database, texts
from storage.texts import Passage
from tasks import ranking
from tasks.language.tables import header_rows, quote_cells, table_cells
from tasks.ranking.embedders import semantic_ranking
from tasks.ranking.semantic import Candidate, Ranked
from tasks.reading import text_writer as kinds
from tasks.reading.text_writer import Place, lowest_confidence

_PAGE: Final = re.compile(r"(?:[A-Z]{1,2}-)?(\d{1,4})")
_EXHIBIT: Final = re.compile(
    r"^[\s|]*[*†+#(]{0,3}(?:(?:exhibit|annex|schedule|appendix|anlage|annexe)\b\W{0,3})?"
    r"(?:\d{1,3}[.-]\d{1,3}|[A-Z]?-?\d{1,3}|[A-Z])\b",
    re.IGNORECASE,
)
_CONTENTS: Final = re.compile(
    r"\W{0,4}(?:(?:table of )?contents|inhalts(?:verzeichnis|übersicht)|sommaire|table des mati[eè]res|[ií]ndice"
    r"|sommario|inhoud(?:sopgave)?)\b|\W{0,4}index\W{0,4}$",
    re.IGNORECASE,
)
_EXHIBITS: Final = re.compile(
    r"\b(?:(?:index|list|table) (?:of|to) (?:the )?(?:exhibits|annexes|schedules|appendices|attachments)"
    r"|(?:exhibits?|annex|appendix) index|anlagen(?:verzeichnis|übersicht|liste)|verzeichnis der (?:anlagen|anhänge)"
    r"|liste des (?:annexes|pièces)|exhibit\s{1,4}(?:no|number)|índice de anexos|elenco (?:degli )?allegati)\b",
    re.IGNORECASE,
)
_OF_EXHIBITS: Final = (
    *("exhibit", "annex", "schedules", "appendi", "attachments", "anlagen", "anhänge"),
    *("pièces", "anexos", "allegati"),
)
"""Each title of an index of exhibits has one of these words: to look for them takes a tenth of the pattern's time."""
_FILED: Final = re.compile(r"\b(?:incorporated (?:herein )?by reference|filed herewith)\b", re.IGNORECASE)
_MOST: Final = 0.6  # of the lines must be entries
_DOTS: Final = 4
_FEW: Final = 3  # lines: fewer are no directory
_LONG: Final = 400  # characters: no entry is so long


def is_directory(text: str, heading: str | None, header: str | None) -> bool:
    """Whether a passage only lists where something is.

    A table of contents has leaders before its page numbers, or says what it is and has ascending page numbers. An index
    of exhibits says what it is, or where its entries were filed, and numbers them.
    """
    lines = [line for line in text.splitlines() if line.strip(" |-\t")]
    if len(lines) < _FEW or any(len(line) > _LONG for line in lines):
        return False
    least = _MOST * len(lines)
    if sum(map(_has_leaders, lines)) >= least:
        return True
    titles = [title for title in (heading, header, *lines[:2]) if title]
    if any(map(_CONTENTS.match, titles)):
        pages = [page for page in map(_entry_page, lines) if page is not None]
        return len(pages) >= least - 1 and all(one <= other for one, other in pairwise(pages))
    is_titled = any(word in title.casefold() for title in titles for word in _OF_EXHIBITS)
    if (is_titled and any(map(_EXHIBITS.search, titles))) or len(_FILED.findall(text)) >= _FEW:
        return sum(map(bool, map(_EXHIBIT.match, lines))) >= least - 2  # its title, and the names of its columns
    return False


def _has_leaders(line: str) -> bool:
    """Whether a line ends with a page number behind dots."""
    entry = line.rstrip()
    rest = entry.rstrip("0123456789ivxlcIVXLC")
    leaders = rest[len(rest.rstrip(".… \t")) :]
    return rest != entry and leaders.count(".") + 2 * leaders.count("…") >= _DOTS


def _entry_page(line: str) -> int | None:
    """The page number that a line ends with; None where it ends with none, or has no words."""
    label, _, number = line.replace("|", " ").replace("\t", " ").strip().rpartition(" ")
    page = _PAGE.fullmatch(number)
    return int(page[1]) if page and any(map(str.isalpha, label)) else None


def outline_start(text: str, places: Sequence[Place]) -> int:
    """Where the titles of a PDF's bookmarks begin, which are on no page; the text's length if there are none.

    They repeat what is on the pages; the values of a form, which follow them, do not.
    """
    pages = [place for place in places if place.kind == kinds.PAGE]
    if not pages or any(place.kind in {kinds.SLIDE, kinds.SHEET, kinds.ATTACHMENT} for place in places):
        return len(text)
    end = max(place.end for place in pages)
    on_pages = re.sub(r"\W+", "", text[:end]).casefold()
    titles = [letters for line in text[end:].splitlines() if (letters := re.sub(r"\W+", "", line).casefold())]
    repeated = sum(title in on_pages for title in titles[:100])
    return end if titles and 2 * repeated >= len(titles[:100]) else len(text)


Places = Sequence[tuple[int, int, str, str] | Sequence[int | str]]
"""As storage keeps them: start, end, kind, label."""

_BORDERS: Final = frozenset(
    {kinds.PAGE, kinds.SLIDE, kinds.SHEET, kinds.BODY, kinds.HEADING, kinds.ATTACHMENT, kinds.UNSEEN}
)
"""What no passage reaches over; beyond the other places, which are parts of these, passages reach."""

_KINDS: Final = {
    kinds.HEADER: "page header",
    kinds.FOOTER: "page footer",
    kinds.FOOTNOTE: "footnote",
    kinds.ENDNOTE: "endnote",
    kinds.TEXT_BOX: "text box",
    kinds.SPEAKER_NOTE: "speaker notes",
    kinds.ALTERNATIVE_TEXT: "alternative text",
    kinds.COMMENT: "comment",
    kinds.INSERTED: "inserted text",
    kinds.HIDDEN_SLIDE: "hidden slide",
    kinds.HIDDEN_SHEET: "hidden sheet",
    kinds.HIDDEN_ROW: "hidden row",
    kinds.HIDDEN_COLUMN: "hidden column",
}
_SIGNED: Final = frozenset({kinds.COMMENT, kinds.INSERTED})
"""Kinds whose label says who wrote it, and when."""

_SUSPECT: Final = _SIGNED | {kinds.HIDDEN_SLIDE, kinds.HIDDEN_SHEET, kinds.HIDDEN_ROW, kinds.HIDDEN_COLUMN}
"""Kinds that are named though only a part of the span is of them: what is quoted is not all the document's own word."""

_HIDDEN_PARTS: Final = frozenset({kinds.HIDDEN_SLIDE, kinds.HIDDEN_SHEET, kinds.HIDDEN_ROW})
_HIDDEN_MARKS: Final = (kinds.HIDDEN_SLIDE_MARK, kinds.HIDDEN_SHEET_MARK, kinds.HIDDEN_ROW_MARK)
_PARTS: Final = (kinds.SHEET, kinds.TABLE, kinds.PAGE, kinds.SLIDE, kinds.BODY)
_MOST_AUTHORS: Final = 3
_MOST_TOUCHED: Final = 100


class TextPlaces:
    """A text with its places: says in words where a span is."""

    def __init__(self, text: str, places: Places) -> None:
        self._text = text
        self._kinds: dict[str, tuple[list[int], list[tuple[int, str]]]] = {}
        self._attachments: list[tuple[int, int, str]] = []
        self.places = sorted(
            (Place(int(start), int(end), str(kind), str(label)) for start, end, kind, label in places),
            key=lambda place: (place.start, -place.end),
        )
        for start, end, kind, label in self.places:
            if kind == kinds.ATTACHMENT:
                self._attachments.append((start, end, label))
            starts, rest = self._kinds.setdefault(kind, ([], []))
            starts.append(start)
            rest.append((end, label))
        self.borders = sorted(
            {
                border
                for kind, (starts, rest) in self._kinds.items()
                if kind in _BORDERS
                for border in (*starts, *(end for end, _label in rest))
            }
        )

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins. Needed only where pages do not tell the place."""
        return [0, *(match.end() for match in re.finditer("\n", self._text))]

    def label(self, offset: int, kind: str, last: int | None = None) -> str | None:
        """The label of the nearest place of that kind that begins before an offset and includes it (and `last`).

        In an attachment, the places of its host do not count.
        """
        starts, rest = self._kinds.get(kind, ([], []))
        at = bisect_right(starts, offset) - 1
        reaches = at >= 0 and max(offset, last or 0) < rest[at][0]
        return rest[at][1] if reaches and starts[at] >= self._find_beginning(offset) else None

    def place(self, start: int, end: int) -> str:
        """Where a span is, in words.

        `page 3`, `page 3 (OCR, 91 %)`, `slide 2, Title 1`, `sheet Accounts, A1:F20`, otherwise its heading and lines;
        in an attachment preceded by its name: `in “Budget.xlsx”, sheet Costs, A1:F20`. If it is not part of the
        document's main text, what it is follows: `page 3, footnote`, `lines 4 to 5, comment by A. Author, 2024-05-01`.
        """
        last = max(start, end - 1)
        steps: list[str | None] = [f"in “{name}”" for _start, _end, name in self._around(start)]
        page, slide, sheet = (self.label(start, kind) for kind in ("page", "slide", "sheet"))
        if page is not None:
            last_page = self.label(last, "page") or page
            pages = f"page {page}" if last_page == page else f"pages {page} to {last_page}"
            confidence = lowest_confidence([place.label for place in self._find_touching("ocr", start, last)])
            steps.append(pages if confidence is None else f"{pages} (OCR, {confidence} %)")
        elif slide is not None:
            steps += [f"slide {slide}", self.label(start, "shape", last)]
        elif sheet is not None:
            steps += [f"sheet {sheet}", self._cells(start, last)]
        else:
            heading = self.label(start, "heading")
            steps += [heading and f"under “{heading}”", self._line_numbers(start, last)]
        return ", ".join([*filter(None, steps), *self._name_kinds(start, last)])

    def exact_place(self, start: int, end: int) -> str:
        """As `place`, for quoted words; in a table with their cell: `page 3, row “Revenue”, column “2023”`."""
        place, cell = self.place(start, end), self._cell(start, end)
        return f"{place}, {cell}" if cell else place

    def cells(self, start: int, end: int) -> str | None:
        """Cells of a sheet, or of a table that stands on no page or slide, as they are quoted; else None."""
        around = {kind for kind in _PARTS if self.label(start, kind) is not None}
        return quote_cells(self._text, start, end) if around and around <= {kinds.SHEET, kinds.TABLE} else None

    def _name_kinds(self, start: int, last: int) -> Iterator[str]:
        """What the span is, in words; `partly` where that holds for a part of it."""
        for kind in filter(self._kinds.__contains__, _KINDS):
            words = _KINDS[kind]
            touched = self._find_touching(kind, start, last)[:_MOST_TOUCHED]
            whole = any(place.start <= start and last < place.end for place in touched)
            if not touched or not (whole or kind in _SUSPECT):
                continue
            authors = list(dict.fromkeys(place.label for place in touched if place.label)) if kind in _SIGNED else []
            yield (
                ("" if whole else "partly ") + words + (f" by {'; '.join(authors[:_MOST_AUTHORS])}" if authors else "")
            )

    def _find_touching(self, kind: str, start: int, last: int) -> list[Place]:
        """The places of a kind that a span has a part of; they do not lie in each other."""
        starts, rest = self._kinds.get(kind, ([], []))
        first, behind = max(bisect_right(starts, start) - 1, 0), bisect_right(starts, last)
        touched = zip(starts[first:behind], rest[first:behind], strict=True)
        return [Place(at, end, kind, label) for at, (end, label) in touched if end > start]

    def _cell(self, start: int, end: int) -> str:
        """The headers of the cell in which a span lies, or of the cells of one row; "" where it lies in none."""
        if "\n" in self._text[start:end].strip():
            return ""
        around = (table for table in kinds.tables(self.places) if any(a <= start and end <= b for a, b in table[0]))
        cells = (cell for table in islice(around, 1) for cell in table_cells(self._text, *table))
        found = [cell for cell in cells if cell.start < end and start < cell.end]
        named = [cell for cell in found if cell.row] or found
        columns = [cell.column for cell in named if cell.column]
        row = next((cell.row for cell in found if cell.row), "")
        if len(columns) > 1:
            return ", ".join(filter(None, (kinds.cell_label(row, ""), f"columns “{columns[0]}” to “{columns[-1]}”")))
        return kinds.cell_label(row, *columns or [""]) if found else ""

    def _line_numbers(self, start: int, last: int) -> str | None:
        """The lines of a span; an attachment's count from behind the one that gives its name."""
        before = bisect_right(self._lines, self._find_beginning(start)) if self._around(start) else 0
        first, behind = (bisect_right(self._lines, offset) - before for offset in (start, last))
        if behind < 1:
            return None
        first = max(first, 1)
        return f"line {first}" if first == behind else f"lines {first} to {behind}"

    def _around(self, offset: int) -> list[tuple[int, int, str]]:
        """The attachments that an offset lies in, the outer one first."""
        return [attachment for attachment in self._attachments if attachment[0] <= offset < attachment[1]]

    def _find_beginning(self, offset: int) -> int:
        """Where the document begins that an offset lies in."""
        return max((start for start, _end, _name in self._around(offset)), default=0)

    def _cells(self, start: int, last: int) -> str | None:
        """The cells from one offset to another as one range: `A1:F20` and `A21:F40` are `A1:F40`."""
        touched = self._find_touching("cells", start, last)
        if not touched:
            return None
        begins, ends = touched[0].label.split(":", maxsplit=1)[0], touched[-1].label.rsplit(":", maxsplit=1)[-1]
        return begins if begins == ends else f"{begins}:{ends}"


class Index:
    """Texts prepared for many questions, ranked like the passages of a data room. No vectors are stored."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = ranking.WordIndex(texts)
        self._semantic = semantic_ranking(lambda: [Candidate(0, 0, 0, text) for text in texts])

    def rank(self, question: str, k: int, wordings: Sequence[str] = ()) -> Ranked:
        """The `k` best texts as (position, score), best first; like `WordIndex` if meaning plays no part."""
        if self._semantic is None:
            return self._words.rank(question, k, wordings)
        return self._semantic.rank(self._words, question, k, wordings)


# Raised when passages are cut in another way: stored ones are then cut again.
CUTTER = "cut-8"

_MAX_PASSAGE = 1200  # characters; a dozen passages fit a small model's window
_MIN_PASSAGE = 200  # characters; a single line says too little to be ranked: it goes with what follows
_HEADER = 400  # characters of a table's header rows that are repeated with its later parts
_TABLE = re.compile(r"(?:^[^\n\f\t]*\t[^\n\f]*(?:\n|\Z))+", re.MULTILINE)  # consecutive lines with cells
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+")


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """A passage of a text: its span in characters, its place in words, the heading that it stands under.

    `header` are the header rows of a table (else its first row), when the passage is a later part of it. `is_hidden`:
    it stands on a hidden sheet or slide, or begins in a hidden row.
    """

    start: int
    end: int
    place: str
    heading: str | None
    header: str | None = None
    is_hidden: bool = False


def cut(text: str, places: Places) -> list[PassageSpan]:
    """The passages of a text, in order: none reaches over a page, slide, sheet, heading or attachment.

    What only says where something stands (`directories`) is no passage, nor is what the document does not show.
    """
    text_places, text_tables = TextPlaces(text, places), _Tables(text)
    behind = outline_start(text, text_places.places)
    return [
        PassageSpan(first, last, text_places.place(first, last), heading, header)
        for start, end in _blocks(text, text_places.borders)
        if start < behind and text_places.label(start, kinds.UNSEEN) is None
        for first, last in _split(text, start, end)
        for heading, header in [(text_places.label(first, "heading"), text_tables.header(first, since=start))]
        if not is_directory(text[first:last], heading, header)
    ]


class _Tables:
    """The tables of a text: rows one a line, cells parted by tabs."""

    def __init__(self, text: str) -> None:
        self._text = text
        spans = [match.span() for match in _TABLE.finditer(text)]
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]
        self._header_ends: dict[int, int] = {}

    def header(self, offset: int, since: int) -> str | None:
        """The header rows of the table that an offset lies in, else its first row.

        None within them, or where no table began `since`.
        """
        at = bisect_right(self._starts, offset) - 1
        if at < 0 or offset >= self._ends[at] or self._starts[at] < since:
            return None
        start = self._starts[at]
        end = self._header_ends.get(start)
        if end is None:
            rows = header_rows(self._text, start, self._ends[at])
            end = self._header_ends[start] = self._behind_lines(start, max(rows, 1))
        return self._text[start:end][:_HEADER].strip() or None if 0 <= end <= offset else None

    def _behind_lines(self, start: int, count: int) -> int:
        """Where so many lines from an offset on have ended; -1 where the text ends before."""
        for _ in range(count):
            start = self._text.find("\n", start) + 1
            if not start:
                return -1
        return start


def _blocks(text: str, borders: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The spans between form feeds and borders that hold more than white space."""
    inside = (border for border in borders if 0 < border < len(text))
    cuts = sorted({0, len(text), *inside, *(match.end() for match in re.finditer("\f", text))})
    for start, end in itertools.pairwise(cuts):
        if text[start:end].strip():
            yield start, end


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A block in spans of at most `_MAX_PASSAGE` characters, cut at empty lines, else lines, else sentences."""
    at = start
    while at < end:
        if end - at <= _MAX_PASSAGE:
            yield from _trim(text, at, end)
            return
        window = text[at : at + _MAX_PASSAGE]
        cut_at = window.rfind("\n\n", _MIN_PASSAGE)
        if cut_at < 0:
            cut_at = window.rfind("\n", _MIN_PASSAGE)
        if cut_at < 0:
            ends = [match.end() for match in _SENTENCE_END.finditer(window) if match.end() >= _MIN_PASSAGE]
            cut_at = ends[-1] if ends else max(window.rfind(" ", _MIN_PASSAGE), 0) or _MAX_PASSAGE
        yield from _trim(text, at, at + cut_at)
        at += cut_at


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    block = text[start:end]
    lead = len(block) - len(block.lstrip())
    words = block.strip()
    if words:
        yield start + lead, start + lead + len(words)


class CutText(NamedTuple):
    """A stored text and its passages."""

    text_id: int
    text: str
    passages: list[PassageSpan]


def load_passages(sizes: Mapping[int, int], strings: dict[str, str]) -> Iterator[CutText]:
    """Stored texts and their passages, cut and stored now if they were not before, in the order of `sizes`.

    Args:
        sizes: how long each text is, in characters, by its id. Small ones are loaded many at a time.
        strings: holds one copy of each place and heading: thousands of passages share them.
    """
    for text_ids in texts.group_sizes(sizes):
        with database.reading() as session:
            words = dict(texts.load_words(session, text_ids))
            rows = texts.find_passages(session, text_ids, CUTTER)
            hidden = {
                text_id: [
                    (int(row[0]), int(row[1])) for row in texts.load_places(session, text_id) if row[2] in _HIDDEN_PARTS
                ]
                for text_id, text in words.items()
                if any(mark in text for mark in _HIDDEN_MARKS)
            }
            uncut = texts.find_texts(session, [text_id for text_id in words if text_id not in rows])
        new = {text.id: cast("list[Passage]", cut(text.text, text.places)) for text in uncut if text.id is not None}
        if new:
            with database.writing() as session:
                texts.save_passages(session, CUTTER, new)
        for text_id in filter(words.__contains__, text_ids):
            of_text = new[text_id] if text_id in new else rows[text_id]
            parts = hidden.get(text_id, ())
            yield CutText(text_id, words[text_id], [_span(row, strings, parts) for row in of_text])


def _span(row: Passage, strings: dict[str, str], hidden: Sequence[tuple[int, int]]) -> PassageSpan:
    heading, header = (
        None if words is None else strings.setdefault(words, words) for words in (row.heading, row.header)
    )
    is_hidden = any(start <= row.start < end for start, end in hidden)
    return PassageSpan(row.start, row.end, strings.setdefault(row.place, row.place), heading, header, is_hidden)

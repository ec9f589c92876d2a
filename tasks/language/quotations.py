"""Quotations: whether one really stands in a text, where, and the words around it.

A quotation across a page break is one quotation: page numbers and running titles between its halves are skipped.
Changes by typesetting and extraction are ignored (`normalise` says which). Changes of meaning are not: every word and
every figure must be there, with its sign, currency, scale and unit, and a quotation may not begin or end inside a word
or number. Its words must belong together: it may not begin right after its negation, reach from one cell into part of
another, join a "No." to the next sentence, or join two pages; and an ellipsis may not leave out a negation or condition
of the sentence. What is shown as the quotation is a span of the text itself, and `in_sentence` returns the sentence,
row or cell around it. Of cells of a sheet it is what `tables.quote_cells` makes of the span, and nothing else.

The words around it are given as a reader sees them: paragraphs, and rows of tables, with the quotation marked.
"""

import itertools
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Final, Literal, NamedTuple

from tasks.language.normalise import CURRENCIES, NormalisedText, normalise
from tasks.language.tables import find_cells, header_rows

_ELLIPSIS = re.compile(r"\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…")
_FEWEST = 3  # letters or digits; fewer prove nothing
_NEAR = 400  # characters before and behind a quotation, or left out of it, that are read for what belongs to it
_LONGEST_SENTENCE = 600  # characters around a quotation that are shown with it, on each side

_NEGATIONS = (
    r"not|n['’]t|no|never|none|neither|nor|cannot|without|nicht|kein\w*|nie(?:mals)?|ne|pas|aucune?|jamais|sans"
    r"|fail(?:s|ed|ing)? to|refuse[sd]? to|declined to|unable to|den(?:y|ies|ied)(?: that)?"
    r"|rather than|instead of|no longer"
)
_LIMITS = (
    r"if|unless|except|excluding|other than|provided|subject to|only|until|to the extent|assuming|may|might|could|would"
    r"|expected|alleged\w*|wenn|falls|sofern|außer"
)
_BEHIND_NEGATION = re.compile(
    rf"(?:(?<!\w)|(?<=\w)(?=n['’]t))(?:{_NEGATIONS})(?:\s+(?:\w+|\w+-\w+))?\s+[\"'“‘(*]*$", re.IGNORECASE
)
_BEHIND_CONDITION = re.compile(
    r"\b(?:if|unless|except|excluding|other than|provided(?: that)?|assuming(?: that)?|as long as|in case|to the extent"
    r"(?: that)?|on condition that|wenn|falls|sofern|außer|vorausgesetzt,? dass)\s+[\"'“‘(*]*$",
    re.IGNORECASE,
)
_BEFORE_TO = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|refus(?:e|es|ed|al)|declin(?:e|es|ed)|unable|unwilling|not|never)\s+[\"'“‘(*]*$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b(?:No|Nos|Nr)\Z")
_NUMBER_BEHIND = re.compile(r"\.\s*\d")
_LEFT_OUT = re.compile(rf"(?:(?<!\w)|(?<=\w)(?=n['’]t))(?:{_NEGATIONS}|{_LIMITS})(?!\w)", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|unless|except|excluding|other than|provided|subject to|only|until|to the extent|assuming"
    r"|wenn|falls|sofern|außer)\b",
    re.IGNORECASE,
)
_INSERTION_EDGE = re.compile(r"[,;()–—]")
_DENIED_LATER = re.compile(
    rf"^\s*(?:(?:and|or|but|shall|will|did|does|do|has|have|is|are|was|were|may|can)\s+)*(?:{_NEGATIONS})\b",
    re.IGNORECASE,
)
"""A piece that begins with its denial denies what stands behind it: "did not, in 2023, pay"."""
_PAGE_NUMBER = re.compile(
    r"\b(?:page|seite|pag\.|pág\.|página|pagina|side|sida|blad|p\.|s\.)\s*\d{1,4}(?:\s*(?:of|von|de|di|sur|van|av|af|/|\|)\s*\d{1,4})?\b"
    r"|^\W*\d{1,4}(?:\s*(?:of|von|de|di|/)\s*\d{1,4})?\W*$|^\W*[ivxl]{1,7}\W*$|^\d{1,4}\s+(?=\D)|(?<=\D)\s+\d{1,4}$|^\s*[-–—]\s*\d{1,4}\s*[-–—]\s*$",
    re.IGNORECASE,
)
_RUNNING = 3  # lines at each edge of a page that may be running titles
_LONGEST_RUNNING = 120
_SENTENCE_END = re.compile(
    r"(?<![A-Z])(?<!\b(?:No|Nr|Mr|Ms|Dr|St|vs|Co))[.!?][)\]\"'”’»*]*(?=\s+[A-Z“\"(]|\s*$)|[;\t\f|]|\n\s*\n|[。！？]"
)
_ANSWER = re.compile(r"(?<!\w)(?:no|yes|none|not|nein|ja|non|oui)[.!?:;][)\"'”’]*(?=\s+\D)", re.IGNORECASE)

Span = tuple[int, int]

_normalised_text = lru_cache(maxsize=8)(normalise)  # many quotations come from one text
_normalised_quote = lru_cache(maxsize=64)(normalise)


def verify(quote: str, text: str) -> bool:
    """Whether the quotation stands in the text."""
    return locate(quote, text) is not None


def locate(quote: str, text: str, near: int = 0) -> Span | None:
    """Where the quotation stands in the text: the offsets of its first character and after its last.

    If there are several places, the first one from the offset `near` on. A quotation with an ellipsis stands there if
    its parts follow each other within one page (form feeds separate pages, slides and sheets).
    """
    if sum(map(str.isalnum, quote)) < _FEWEST:
        return None
    span = _locate(quote, text, near)
    if span is None and "\f" in text:
        plain = _without_running_lines(text)
        span = _locate(quote, plain, near) if plain != text else None
    return find_cells(quote, text, near) if span is None and re.search("[\t\n]", quote) else span


def _locate(quote: str, text: str, near: int) -> Span | None:
    normalised = _normalised_text(text)
    for start, end in ((normalised.find_offset(near), len(normalised.text)), (0, len(normalised.text))):
        span = next(_spans(quote, text, normalised, start, end), None)
        if span is not None:
            return span
    parts = [part for part in _ELLIPSIS.split(quote) if any(map(str.isalnum, part))]
    return _in_order(parts, text, normalised, near) if len(parts) > 1 else None


@lru_cache(maxsize=8)
def _without_running_lines(text: str) -> str:
    """The text with blanks in place of running lines and page numbers, so that the positions of all other text stay the
    same.

    A running line is at the edge of two pages or more, with its page number ignored; a page number is a number on its
    own.
    """
    pages: list[list[tuple[int, str]]] = []
    start = 0
    for page in text.split("\f"):
        lines, at = [], start
        for line in page.split("\n"):
            if line.strip():
                lines.append((at, line))
            at += len(line) + 1
        pages.append(lines)
        start += len(page) + 1
    edges = [[lines[:_RUNNING], lines[-_RUNNING:][::-1]] for lines in pages]
    counts = Counter(key for page in edges for key in {_make_running_key(line) for edge in page for _, line in edge})
    pieces, last = [], 0
    running = set[int]()
    for begin, line in itertools.chain.from_iterable(
        takewhile(lambda entry: _is_running(entry[1], counts), edge) for page in edges for edge in page
    ):
        if len(line) <= _LONGEST_RUNNING and "\t" not in line:
            running.add(begin)
    for begin in sorted(running):
        end = text.find("\n", begin)
        end = min(at for at in (end, text.find("\f", begin), len(text)) if at >= 0)
        pieces += [text[last:begin], " " * (end - begin)]
        last = end
    return "".join([*pieces, text[last:]])


def _is_running(line: str, counts: Counter[str]) -> bool:
    key = _make_running_key(line)
    return not key or (counts[key] > 1 and len(line) <= _LONGEST_RUNNING)


def _make_running_key(line: str) -> str:
    """A line without its page number; "" for a page number alone. A long line is not a running line."""
    if len(line) > _LONGEST_RUNNING:
        return f"\0{line[:_LONGEST_RUNNING]}"
    return " ".join(_PAGE_NUMBER.sub(" ", line).split()).casefold()


def _in_order(parts: Sequence[str], text: str, normalised: NormalisedText, near: int) -> Span | None:
    """The span of parts that follow each other within one page; the page of `near` is tried first."""
    borders = [0, *(match.end() for match in re.finditer("\f", text)), len(text)]
    pages = list(itertools.pairwise(borders))
    first_page = max(bisect_left(borders, near + 1) - 1, 0)
    for page_start, page_end in [*pages[first_page:], *pages[:first_page]]:
        start, end = normalised.find_offset(page_start), normalised.find_offset(page_end)
        spans: list[Span] = []
        for part in parts:
            span = next(_spans(part, text, normalised, start, end), None)
            if span is None:
                break
            if spans and _leaves_out_too_much(text[spans[-1][1] : span[0]]):
                break
            spans.append(span)
            start = normalised.find_offset(span[1])
        else:
            return spans[0][0], spans[-1][1]
    return None


def _leaves_out_too_much(between: str) -> bool:
    """Whether the text left out between two parts of a quotation negates or limits the sentences that they are in.

    What is enclosed by two commas does not negate the rest: "Alpha, which is not listed, sold".
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(between)]
    kept = between if not ends else f"{between[: ends[0]]}\n{between[ends[-1] :]}"
    if _CONDITION.search(kept):
        return True
    first, *rest = _INSERTION_EDGE.split(kept)
    pieces = [first, rest[-1]] if rest else [first]
    return any(_LEFT_OUT.search(piece) for piece in pieces) or any(_DENIED_LATER.search(piece) for piece in rest[:-1])


def _spans(quote: str, text: str, normalised: NormalisedText, start: int, end: int) -> Iterator[Span]:
    """The spans of the text that match the quotation, between two offsets in the normalised text."""
    words = _normalised_quote(quote)
    if not words.text:
        return
    lead, tail = quote[: words.first[0]].lstrip(), quote[words.last[-1] :].rstrip()
    for token, behind in normalised.occurrences(words.text, start, end):
        first, last = _with_signs(text, normalised.first[token], normalised.last[behind - 1], lead, tail)
        # A currency may stand before the quotation but not be made up.
        is_made_up = any(sign in quote and sign not in text[first:last] for sign in CURRENCIES)
        if not is_made_up and _belongs_together(quote, text, first, last):
            yield first, last


def _belongs_together(quote: str, text: str, first: int, last: int) -> bool:
    """Whether the words of a span are one statement in the text, not the rest of one or pieces of two."""
    span = text[first:last]
    before = text[max(first - _NEAR, 0) : first]
    ends = [match.end() for match in _SENTENCE_END.finditer(before)]
    own = re.split(r"\n(?=[A-Z\t|])", (before[ends[-1] :] if ends else before) + text[first])[-1][:-1]
    if _BEHIND_NEGATION.search(own) or _BEHIND_CONDITION.search(own):
        return False
    if span[:3].lower() == "to " and _BEFORE_TO.search(own):
        return False
    if _NUMBERED.search(span) and _NUMBER_BEHIND.match(text, last):
        return False  # "The licence is No" of "No. 7714"
    if _ANSWER.search(span) and len(_ANSWER.findall(span)) > len(_ANSWER.findall(quote)):
        return False
    if "\f" in span and not _goes_on(span):
        return False
    return not _reaches_over_cells(text, first, last) or _has_whole_cells(text, first, last)


def _goes_on(span: str) -> bool:
    """Whether the sentence continues after each page break, from one line of words to another."""
    for before, behind in itertools.pairwise(span.split("\f")):
        last, first = before.rstrip().rpartition("\n")[2], behind.lstrip().partition("\n")[0]
        if "\t" in last or "\t" in first:
            return False
    return all(
        before.rstrip()[-1:].isalnum() or before.rstrip()[-1:] in {",", "-", "–"}
        if behind.lstrip()[:1].islower()
        else before.rstrip()[-1:] in {",", "-"}
        for before, behind in itertools.pairwise(span.split("\f"))
    )


def _reaches_over_cells(text: str, first: int, last: int) -> bool:
    """Whether a span contains parts of several cells, or of several lines at least one of which is a table row."""
    span = text[first:last].strip()
    if "\t" in span:
        return True
    if "\n" not in span:
        return False
    begin = text.rfind("\n", 0, first) + 1
    end = text.find("\n", last)
    return "\t" in text[begin : len(text) if end < 0 else end]


def _has_whole_cells(text: str, first: int, last: int) -> bool:
    """Whether a span of several cells begins where its first cell begins and ends where its last one ends.

    If it covers several rows, its first and last rows must be complete, or contribute several cells.
    """
    span = text[first:last]
    begin = max(text.rfind(border, 0, first) for border in "\t\n\f") + 1
    stops = [at for border in "\t\n\f" if (at := text.find(border, last)) >= 0]
    before, behind = text[begin:first], text[last : min(stops, default=len(text))]
    is_begun = before.rstrip().endswith((".", ";", ":")) or not any(map(str.isalnum, before))
    is_ended = span.rstrip().endswith((".", ";")) or not any(map(str.isalnum, behind))
    if not (is_begun and is_ended):
        return False
    rows = span.strip().split("\n")
    if len(rows) == 1:
        return True
    row_begin = max(text.rfind(border, 0, first) for border in "\n\f") + 1
    row_stops = [at for border in "\n\f" if (at := text.find(border, last)) >= 0]
    cut_front = bool(text[row_begin:first].rpartition("\t")[0].strip())  # an empty cell is nothing to cut
    cut_behind = "\t" in text[last : min(row_stops, default=len(text))].strip(" ")
    return ("\t" in rows[0] or not cut_front) and ("\t" in rows[-1] or not cut_behind)


def in_sentence(text: str, start: int, end: int) -> Span:
    """The sentence, table row or cell around a span of a text.

    A span with tabs, or in a line with tabs, is extended to its row. At most 600 characters are added on each side, cut
    at a space.
    """
    low, high = max(start - _LONGEST_SENTENCE, 0), min(end + _LONGEST_SENTENCE, len(text))
    line_start = max(text.rfind("\n", low, start), text.rfind("\f", low, start)) + 1
    line_ends = [at for mark in "\n\f" if (at := text.find(mark, end, high)) >= 0]
    line_end = min(line_ends, default=high)
    if "\t" in text[max(line_start, low) : line_end]:
        return _trim(text, max(line_start, low), line_end)
    before = [match.end() for match in _SENTENCE_END.finditer(text, low, start + 1) if match.end() <= start]
    behind = _SENTENCE_END.search(text, max(end - 1, start), high)
    begin = before[-1] if before else low
    if not before and low:
        begin = text.find(" ", low, start) + 1 or start
    stop = behind.end() if behind else high
    if behind is None and high < len(text):
        stop = max(text.rfind(" ", end, high), end)
    return _trim(text, begin, max(stop, end))


def _trim(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip(" \t\n\f|;"))


def _with_signs(text: str, first: int, last: int, lead: str, tail: str) -> Span:
    """The span, extended by the signs before and after it that the quotation has there too."""
    lowest, highest = max(first - 2 * len(lead), 0), min(last + 2 * len(tail), len(text))
    start, end = first, last
    while start > lowest and (text[start - 1] in lead or text[start - 1].isspace()):
        start -= 1
    while end < highest and (text[end] in tail or text[end].isspace()):
        end += 1
    span = text[start:end]
    return start + len(span) - len(span.lstrip()), end - len(span) + len(span.rstrip())


_AROUND: Final = 1_500
"""Characters that are shown before and behind what is marked."""
_MOST: Final = 20_000
"""Characters of one stretch; a quotation that is longer is shown up to there."""
_GAP: Final = "…"
_MOST_COLUMNS: Final = 12
"""Columns of a table that is shown whole."""
_BESIDE: Final = 3
"""Columns on each side of a marked cell that are shown of a wider one."""
_FAR: Final = 400
"""How much further a stretch may reach to begin and end with a line."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of a text to mark, and the id by which a link finds it."""

    start: int
    end: int
    anchor: str


class MarkedWords(NamedTuple):
    """A run of words, marked or not; the first run of a mark has its anchor among its `anchors`."""

    text: str
    marked: bool = False
    anchors: tuple[str, ...] = ()


class Block(NamedTuple):
    """Paragraphs, one per line, as a single cell; or the rows of a table.

    Consecutive paragraphs in which no mark begins or ends share a block: most of a page is like that, and is written in
    one go.
    """

    kind: Literal["paragraphs", "table"]
    rows: list[list[list[MarkedWords]]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text in blocks; `before` and `behind` say whether the text continues there."""

    blocks: list[Block] = field(default_factory=list)
    before: bool = False
    behind: bool = False


def stretches(text: str, first: int, last: int, marks: Sequence[Mark]) -> list[Stretch]:
    """The stretches of `text[first:last]` around the marks, in order; marks close to each other share one.

    A long table shows its header rows above, a wide one its labels beside.

    Args:
        text: the whole text of a document.
        first: where the page, slide, sheet or other part begins that the marks lie in.
        last: where it ends.
        marks: spans within it.
    """
    spans: list[tuple[int, int]] = []
    for mark in sorted(marks, key=lambda mark: mark.start):
        begin = _row_start(text, line_start(text, max(mark.start - _AROUND, first), first), mark, first)
        end = _line_end(text, min(min(mark.end, mark.start + _MOST) + _AROUND, last), last)
        if spans and begin <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((begin, end))
    left = {mark.anchor for mark in marks if mark.anchor}
    found: list[Stretch] = []
    for begin, end in spans:
        held = list(_blocks(text, begin, end, marks, left))
        if held and held[0].kind == "table":
            held[0] = held[0]._replace(rows=[*_rows_above(text, first, begin), *held[0].rows])
        found.append(Stretch(list(map(_narrow, held)), before=begin > first, behind=end < last))
    return found


def _rows_above(text: str, first: int, begin: int) -> list[list[list[MarkedWords]]]:
    """The header rows of a table that continues at `begin`, and a row for those left out; none if it begins there."""
    blank = text.rfind("\n\n", first, begin)
    for start in [blank + 2, first] if blank >= 0 else [first]:
        lines = text[start:begin].split("\n")[:-1]
        rows = [line for line in lines[: header_rows(text, start, len(text))] if "\t" in line]
        if rows:
            gap = [_GAP] if lines[-1] not in rows else []
            return [[[MarkedWords(cell)] for cell in line.split("\t")] for line in [*rows, *gap]]
    return []


def _narrow(block: Block) -> Block:
    """A block; if its table is wide, only the label columns and the marked columns with some neighbours."""
    width = max(map(len, block.rows))
    marked = [(row, at) for row in block.rows for at, cell in enumerate(row) if any(words.marked for words in cell)]
    if width <= _MOST_COLUMNS or not marked:
        return block
    labels = min(at for row, _ in marked for at, cell in enumerate(row) if any(words.text.strip() for words in cell))
    kept = {*range(labels + 1), *(near for _, at in marked for near in range(at - _BESIDE, at + _BESIDE + 1))}
    columns = sorted(kept.intersection(range(width)))
    return block._replace(rows=[list(_cells_of(row, columns)) for row in block.rows])


def _cells_of(row: list[list[MarkedWords]], columns: Sequence[int]) -> Iterator[list[MarkedWords]]:
    """The cells of a row in these columns, with one cell in place of each run of omitted ones."""
    for before, at in pairwise([-1, *columns]):
        if at > before + 1:
            yield [MarkedWords(_GAP)]
        yield row[at] if at < len(row) else []


def blocks(text: str, begin: int, end: int, marks: Sequence[Mark]) -> list[Block]:
    """All of `text[begin:end]`, with the marks that reach into it."""
    near = [mark for mark in marks if mark.start < end and begin < mark.end]
    return list(_blocks(text, begin, end, near, {mark.anchor for mark in near if mark.anchor}))


def line_start(text: str, at: int, first: int) -> int:
    """The start of the line around an offset, not before `first`; the offset itself if that is far away."""
    start = text.rfind("\n", max(at - _FAR, first), at)
    if start < 0:
        return first if at - first <= _FAR else at
    return start + 1


def _row_start(text: str, begin: int, mark: Mark, first: int) -> int:
    """An offset, or in a long row, whose cells would stand under other headers, the next row or the marked one."""
    behind = text.find("\n", begin, mark.start)
    if begin == first or text[begin - 1] in "\n\f" or "\t" not in text[begin : mark.end if behind < 0 else behind]:
        return begin
    return behind + 1 if behind >= 0 else text.rfind("\n", first, begin) + 1 or first


def _line_end(text: str, at: int, last: int) -> int:
    end = text.find("\n", at, min(at + _FAR, last))
    if end < 0:
        return last if last - at <= _FAR else at
    return end


def _blocks(text: str, begin: int, end: int, marks: Sequence[Mark], left: set[str]) -> Iterator[Block]:
    rows: list[list[list[MarkedWords]]] = []
    plain: list[str] = []
    bounds = [*sorted({side for mark in marks for side in (mark.start, mark.end)}), end]
    until, is_marked = begin, False  # lines up to there are marked as a whole, or not at all
    at = begin
    for line in text[begin:end].replace("\f", "\n").split("\n"):
        behind = at + len(line)
        is_row = "\t" in line
        if not is_row:
            yield from _table(rows)
            rows = []
        if is_row or behind > until:
            yield from _paragraphs(plain, is_marked)
            plain = []
        if is_row:
            rows.append(_cells(text, at, line, marks, left))
        elif not line or line.isspace():
            pass
        elif behind <= until:
            plain.append(line)
        else:
            yield Block("paragraphs", [[_runs(text, at, behind, marks, left)]])
            over = [mark for mark in marks if mark.start <= behind < mark.end]
            is_marked = bool(over)
            if left.isdisjoint(mark.anchor for mark in over):
                until = bounds[bisect_right(bounds, behind, hi=len(bounds) - 1)]
        at = behind + 1
    yield from _table(rows)
    yield from _paragraphs(plain, is_marked)


def _cells(text: str, at: int, line: str, marks: Sequence[Mark], left: set[str]) -> list[list[MarkedWords]]:
    """The cells of a row that begins at this offset."""
    cells = []
    for cell in line.split("\t"):
        cells.append(_runs(text, at, at + len(cell), marks, left))
        at += len(cell) + 1
    return cells


def _table(rows: list[list[list[MarkedWords]]]) -> list[Block]:
    return [Block("table", rows)] if rows else []


def _paragraphs(lines: Sequence[str], is_marked: bool) -> list[Block]:
    return [Block("paragraphs", [[[MarkedWords("\n".join(lines), is_marked)]]])] if lines else []


def _runs(text: str, begin: int, end: int, marks: Sequence[Mark], left: set[str]) -> list[MarkedWords]:
    """Words split where marks begin and end. The first words of a mark get its anchor, if it is one of those `left`."""
    near = [mark for mark in marks if mark.start < end and begin < mark.end]
    if not near:
        return [MarkedWords(text[begin:end])] if begin < end else []
    cuts = sorted({begin, end, *(max(mark.start, begin) for mark in near), *(min(mark.end, end) for mark in near)})
    runs: list[MarkedWords] = []
    for start, stop in pairwise(cuts):
        over = [mark for mark in near if mark.start <= start and stop <= mark.end]
        anchors = tuple(dict.fromkeys(mark.anchor for mark in over if mark.anchor in left))
        left.difference_update(anchors)
        runs.append(MarkedWords(text[start:stop], marked=bool(over), anchors=anchors))
    return runs

"""Boxes of quotations on the pages of PDFs, held against what another reader finds under them.

python -m tests.benchmarks.boxes [development|shut] [SEED]     lists the boxes that are wrong, and what has none

The quotations are a thousand spans of 5 to 40 whole words of the PDFs that DILIGENCE_BENCH_DOCUMENTS names, each
verified as a run verifies what a model quotes. pdfminer.six reads back what stands under their boxes: right is a box
that holds all of the quotation and at most two words more on either side. Documents fall into two halves by their
names: the boxes were tuned on the one, the other was left shut at first. Another seed draws other quotations.
"""

import os
import random
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import md5
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from pdfminer import psparser
from pdfminer.converter import PDFLayoutAnalyzer
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser
from pdfminer.utils import apply_matrix_pt

from storage.texts import Outcome, StoredText
from tasks.errors import DiligenceError
from tasks.evidence.boxes import Box
from tasks.evidence.company import find_page_parts
from tasks.evidence.page import PdfPage, open_pdf
from tasks.language.quotations import locate
from tasks.reading import text_writer as kinds
from tasks.reading.pdf import reader
from tasks.reading.pdf.document import PdfDocument

_QUOTATIONS: Final = 1_000
_WORDS: Final = (5, 40)
_MORE: Final = 2
"""Words that a box may hold besides the quotation, on either side."""
_SAME: Final = 0.3
"""Equal characters that stand nearer to each other than this share of their width are one, printed twice."""
_ABOVE: Final = 0.25
"""Where a character is looked for: so much of its size above the middle of the line that it stands on."""
_GAP: Final = 0.15
"""Characters whose gap is wider, as a share of their size, are of two words."""

# A backslash before a character that it gives no meaning to is ignored (ISO 32000-1, 7.3.4.2); pdfminer.six 20260107
# ignores the character too, and so loses spaces and the places of what follows.
for _code in set(range(256)).difference(b"01234567\r\n"):
    psparser.ESC_STRING.setdefault(bytes((_code,)), _code)


class Half(StrEnum):
    """The documents that the boxes were tuned on, and those that they were not."""

    DEVELOPMENT = "development"
    SHUT = "shut"


class Verdict(StrEnum):
    """What became of a quotation."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_BOX = "no box"
    UNREAD = "pdfminer does not find its words on the page"


@dataclass(frozen=True, slots=True)
class Character:
    """A character as pdfminer reads it: the spot of the page as shown where it is printed, and its width and size."""

    text: str
    x: float
    y: float
    width: float
    size: float


class Judged(NamedTuple):
    """A quotation of a document, and what was read under its boxes."""

    name: str
    pages: list[int]
    quotation: str
    under: str
    verdict: Verdict


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for half in Half:
        judged = list(judge(half))
        counts = Counter(quotation.verdict for quotation in judged)
        boxed = counts[Verdict.RIGHT] + counts[Verdict.WRONG]
        total = boxed + counts[Verdict.NO_BOX]
        if total:
            what = f"of {total} quotations of PDFs ({half} half)"
            yield f"boxed, {what}", f"{boxed / total:.3f}", "–"
            yield f"boxes that are right, {what}", f"{counts[Verdict.RIGHT] / boxed:.3f} of {boxed}", ".99"
            yield f"not judged, for {Verdict.UNREAD} ({half} half)", str(counts[Verdict.UNREAD]), "–"


def judge(half: Half, seed: int = 1) -> Iterator[Judged]:
    """A thousand quotations of one half of the documents, about as many of each document that is long enough."""
    chance = random.Random(seed)
    texts = [(path, text) for path in _documents(half) if (text := _text_of(path)) is not None]
    texts.sort(key=lambda item: len(item[1].text))
    left = _QUOTATIONS
    for index, (path, text) in enumerate(texts):
        quotations = sorted(_quotations(text, round(left / (len(texts) - index)), chance))
        left -= len(quotations)
        with open_pdf(path) as pdf:
            other = _OtherReader(path)
            for start, end in quotations:
                yield _judged(path.name, text, (start, end), pdf, other)


def _documents(half: Half) -> Iterator[Path]:
    given = os.environ.get("DILIGENCE_BENCH_DOCUMENTS")
    for path in sorted(Path(given).rglob("*.pdf")) if given else []:
        is_shut = int(md5(path.name.encode()).hexdigest(), 16) % 2 == 1
        if is_shut == (half is Half.SHUT):
            yield path


def _text_of(path: Path) -> StoredText | None:
    """The text of a PDF; None where it has too few words, or is damaged."""
    try:
        reading = reader.read(path)
        open_pdf(path).__exit__()
    except DiligenceError:
        return None
    if len(reading.text.split()) < 2 * _WORDS[0] or not any(place.kind == kinds.PAGE for place in reading.places):
        return None
    places: list[tuple[int, int, str, str]] = [(*place,) for place in reading.places]
    return StoredText(id=1, content_hash="", reader="pdf-", outcome=Outcome.READ, text=reading.text, places=places)


def _quotations(text: StoredText, most: int, chance: random.Random) -> set[tuple[int, int]]:
    """Spans of whole words on pages, as the check of quotations gives them back: one for every five words at most."""
    last = max(end for _, end, kind, _ in text.places if kind == kinds.PAGE)
    words = [match.span() for match in re.finditer(r"\S+", text.text[:last])]
    spans: set[tuple[int, int]] = set()
    for _ in range(2 * most):
        first = chance.randrange(len(words))
        end = min(first + chance.randint(*_WORDS), len(words))
        quotation = text.text[words[first][0] : words[end - 1][1]]
        span = locate(quotation, text.text, words[first][0]) if end - first >= _WORDS[0] else None
        if span is not None:
            spans.add(span)
        if len(spans) >= min(most, len(words) // _WORDS[0]):
            break
    return spans


def _judged(name: str, text: StoredText, span: tuple[int, int], pdf: PdfDocument, other: "_OtherReader") -> Judged:
    quotation = text.text[slice(*span)]
    parts = find_page_parts(text, *span)
    under: list[tuple[Box, int]] = []
    has_boxes, is_readable = bool(parts), True
    for part in parts:
        with PdfPage(pdf, part.page) as page:
            boxes = page.boxes(part.text, part.start, part.end)
        has_boxes = has_boxes and bool(boxes)
        letters = Counter(_letters(part.text[part.start : part.end]).replace(" ", ""))
        is_readable = is_readable and not letters - Counter(
            "".join(_letters(one.text) for one in other.page(part.page))
        )
        under += [(box, part.page) for box in boxes]
    every, once = (
        " ".join(_in_words(_held(box, read(other.page(number)))) for box, number in under) for read in (list, _once)
    )
    if not is_readable:
        verdict = Verdict.UNREAD
    elif not has_boxes:
        verdict = Verdict.NO_BOX
    else:
        verdict = Verdict.RIGHT if _is_right(*map(_letters, (quotation, every, once))) else Verdict.WRONG
    return Judged(name, [part.page for part in parts], quotation, once, verdict)


def _is_right(quotation: str, every: str, once: str) -> bool:
    """Whether what was read is the quotation, with no more than two words before and two behind.

    `every` is all that was read, `once` the same without what is printed twice.
    """
    if any(_is_with_few_more(quotation, read) for read in (once, every)):
        return True
    if Counter(quotation.replace(" ", "")) - Counter(every.replace(" ", "")):
        return False
    # read in another order: cells, letters above each other, or a script that runs to the left
    ours, theirs = (Counter(map(_unordered, words.split())) for words in (quotation, once))
    return (theirs - ours).total() <= 2 * _MORE or len(once.replace(" ", "")) - len(quotation.replace(" ", "")) <= 4


def _is_with_few_more(quotation: str, read: str) -> bool:
    letters, joined = quotation.replace(" ", ""), read.replace(" ", "")
    at = joined.find(letters)
    last = at + len(letters)
    ends = list(accumulate((len(word) for word in read.split()), initial=0))
    before = sum(start < at for start in ends[:-1])
    behind = sum(end > last for end in ends[1:])
    return at >= 0 and before <= _MORE and behind <= _MORE


def _unordered(word: str) -> str:
    return "".join(sorted(word))


def _letters(text: str) -> str:
    """Letters and digits in compatible forms and one case; everything else is a space."""
    return "".join(
        letter if letter.isalnum() else " " if letter.isspace() else ""
        for letter in unicodedata.normalize("NFKC", text).casefold()
    )


def _held(box: Box, characters: Sequence[Character]) -> list[Character]:
    """The characters in a box, along it."""
    held = [one for one in characters if box.left <= one.x <= box.right and box.top <= one.y <= box.bottom]
    across = box.right - box.left >= box.bottom - box.top
    return sorted(held, key=lambda one: one.x if across else one.y)


def _in_words(characters: Sequence[Character]) -> str:
    pieces: list[str] = []
    for last, one in pairwise([None, *characters]):
        assert one is not None
        if last is not None:
            distance = max(abs(one.x - last.x), abs(one.y - last.y))
            if distance - (one.width + last.width) / 2 > _GAP * one.size:
                pieces.append(" ")
        pieces.append(one.text)
    return "".join(pieces)


class _OtherReader:
    """The characters of a PDF's pages by pdfminer, where they stand on the page as it is shown."""

    def __init__(self, path: Path) -> None:
        self._pages = list(PDFPage.create_pages(PDFDocument(PDFParser(path.open("rb")))))
        self._resources = PDFResourceManager()
        self.page = lru_cache(maxsize=2)(self._page)

    def _page(self, number: int) -> list[Character]:
        page = self._pages[number - 1]
        device = _Device(self._resources, page)
        PDFPageInterpreter(self._resources, device).process_page(page)
        return device.characters


class _Device(PDFLayoutAnalyzer):
    def __init__(self, resources: PDFResourceManager, page: PDFPage) -> None:
        super().__init__(resources, laparams=None)
        self.characters: list[Character] = []
        media, crop = _from_lower_left(page.mediabox), _from_lower_left(page.cropbox)
        self._crop = max(media[0], crop[0]), max(media[1], crop[1]), min(media[2], crop[2]), min(media[3], crop[3])
        self._turn, page.rotate = page.rotate, 0
        self._corner = page.mediabox[:2]  # from which pdfminer counts, whichever corner it is

    def render_char(
        self, matrix: Any, font: Any, fontsize: float, scaling: float, rise: float, cid: int, *rest: Any
    ) -> float:
        advance = super().render_char(matrix, font, fontsize, scaling, rise, cid, *rest)
        item: Any = self.cur_item._objs[-1]
        if font.is_vertical():
            x, y = (item.x0 + item.x1) / 2, (item.y0 + item.y1) / 2
        else:
            x, y = apply_matrix_pt(matrix, (advance / 2, rise + _ABOVE * fontsize))
        x, y = self._shown(x + self._corner[0], y + self._corner[1])
        scale = (matrix[0] ** 2 + matrix[1] ** 2) ** 0.5
        text = "" if item.get_text().startswith("(cid:") else item.get_text()  # a sign it has no name for
        self.characters.append(Character(text, x, y, abs(advance) * scale, abs(fontsize) * scale))
        return advance

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        left, bottom, right, top = self._crop
        match self._turn:
            case 90:
                return y - bottom, x - left
            case 180:
                return right - x, y - bottom
            case 270:
                return top - y, right - x
            case _:
                return x - left, top - y


def _from_lower_left(corners: Sequence[float]) -> tuple[float, float, float, float]:
    """A rectangle whose corners may be any two opposite ones (ISO 32000-1, 7.9.5)."""
    left, bottom, right, top = corners
    return min(left, right), min(bottom, top), max(left, right), max(bottom, top)


def _once(characters: Sequence[Character]) -> list[Character]:
    """The characters; those that are printed on top of themselves, to look bold, once."""
    places: dict[tuple[str, int, int], Character] = {}
    once: list[Character] = []
    for one in characters:
        reach = max(_SAME * one.width, 0.1)
        column, row = int(one.x / reach), int(one.y / reach)
        near = (places.get((one.text, x, y)) for x in (column - 1, column, column + 1) for y in (row - 1, row, row + 1))
        if any(other and abs(other.x - one.x) < reach and abs(other.y - one.y) < reach for other in near):
            continue
        places[one.text, column, row] = one
        once.append(one)
    return once


def main() -> None:
    halves = [Half(word) for word in sys.argv[1:] if not word.isdigit()] or [Half.DEVELOPMENT]
    seed = next((int(word) for word in sys.argv[1:] if word.isdigit()), 1)
    for half in halves:
        counts: Counter[str] = Counter()
        for one in judge(half, seed):
            counts[one.verdict] += 1
            if one.verdict is not Verdict.RIGHT:
                print(f"{one.verdict}: {one.name} {one.pages}\n  quoted {one.quotation!r}\n  under  {one.under!r}")
        print(dict(counts))


if __name__ == "__main__":
    main()

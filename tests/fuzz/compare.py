"""`python -m tests.fuzz compare`: legal changes of real files, read by our readers and by plain ones over lxml.

Both must find the same words in the same order, and the same cells in the same places; and a change that leaves the
meaning of a file as it is must leave its text as it is. Where a file reads differently before it is changed, the
reasons that it may have are listed in EXPLANATIONS; a change may add nothing to that difference.

    python -m tests.fuzz compare [--cases 10000] [--seed 1] [--formats docx,xlsx] [--documents DIR] [--keep DIR]

Ends with status 1 if a difference is not explained. Seed and documents give the same cases again; `--first 5000` leaves
out those before, so that a long run can be shared out.
"""

import argparse
import random
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple

from lxml import etree

from tasks.errors import DiligenceError
from tasks.reading import formats
from tasks.reading.places import CELLS, COMMENT, HIDDEN_SLIDE_MARK, SHEET
from tasks.reading.text_writer import Reading
from tests.fuzz import legal_packages
from tests.fuzz.plain_readers import docx, pptx, xlsx
from tests.fuzz.plain_readers.stories import Cell, Story
from tests.fuzz.seeds import Seeds

FORMATS: Final = (".docx", ".pptx", ".xlsx")

EXPLANATIONS: Final = {
    "charts and diagrams have words in parts of their own": rb"<(?:c|cx):chart[\s>]|<dgm:relIds\s",
    "formulas keep their shape (a/b, x\u00b2)": rb"<m:oMath[\s>]",
    "pictures have alternative texts": rb"\sdescr=[\"'][^\"']",
    "paragraphs have automatic numbers": rb"<w:numPr[\s>]|<w:numId\s|<a:buAutoNum\s",
    "WordArt has its words in an attribute": rb"<v:textpath\s",
    "symbols are characters of a font, and boxes are drawn": rb"<w:sym\s|<w:checkBox[\s>]",
    "parts of other formats are read after the text": rb"<w:altChunk\s|<o:OLEObject\s|<p:oleObj\s",
    "notes that nothing refers to are left out": rb"<w:(?:footnote|endnote|comment)[\s>]",
    "headers that no section shows are left out": rb"<w:(?:hdr|ftr)[\s>]",
}
"""Why a file may read differently before it is changed, each with what tells it in some part."""

_ADDS_WORDS: Final = ("alike rows",)
_WIDEST_GAP: Final = 32
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    etree.XMLSyntaxError,
    DiligenceError,
    StopIteration,
    ValueError,
    AssertionError,
)

Difference = tuple[tuple[str, str], ...]
"""What the plain reader finds and ours does not, and the other way round, in order: kind and words."""


class Outcome(NamedTuple):
    """A case: which document and changes, and how the readers differ beyond what its seed does."""

    number: int
    document: str
    changes: list[str]
    difference: Difference
    data: bytes


def main(arguments: Sequence[str]) -> int:
    """Run the cases, print what differs and the counts. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz compare")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", default="docx,pptx,xlsx")
    parser.add_argument("--documents", type=Path, help="a folder of documents instead of the sample's and the tests'")
    parser.add_argument("--keep", type=Path, help="a folder for the files that read differently")
    wanted = parser.parse_args(arguments)
    documents = read_seeds(wanted.documents, tuple(f".{name}" for name in wanted.formats.split(",")))
    unexplained = 0
    for document in documents:
        if document.difference and not document.reasons:
            unexplained += 1
            _say(f"{document.name} as it is: {document.difference[:4]}")
    began = time.monotonic()
    counts: Counter[str] = Counter()
    for outcome in compare(documents, wanted.seed, wanted.cases, wanted.first):
        counts["cases" if outcome.changes else "cases without a place for the change"] += 1
        counts.update(f"  {change}" for change in outcome.changes)
        if outcome.difference:
            unexplained += 1
            _say(f"case {outcome.number}, {outcome.document}, {', '.join(outcome.changes)}: {outcome.difference[:4]}")
            if wanted.keep:
                wanted.keep.mkdir(parents=True, exist_ok=True)
                (wanted.keep / f"{wanted.seed}-{outcome.number}-{outcome.document}").write_bytes(outcome.data)
    for name, count in counts.items():
        _say(f"{name:45}{count:7,}")
    explained = sum(bool(document.difference and document.reasons) for document in documents)
    _say(
        f"{len(documents)} documents, {explained} of them read differently for a reason; {unexplained} differences are "
        f"not explained; {time.monotonic() - began:.0f} s, seed {wanted.seed}"
    )
    return int(unexplained > 0)


class Document(NamedTuple):
    """A document before any change, how the readers differ on it, and the reasons that they may have."""

    name: str
    extension: str
    data: bytes
    text: str
    difference: Difference
    reasons: tuple[str, ...]


def read_seeds(folder: Path | None, wanted: tuple[str, ...] = FORMATS) -> list[Document]:
    """The documents that both readers read; damaged ones are for the other fuzzer."""
    documents = []
    for extension, found in sorted(Seeds(folder, wanted).documents.items()):
        for number, data in enumerate(found):
            try:
                reading = _read(data, extension)
                difference = _difference(data, extension, reading)
            except _UNREADABLE:
                continue
            documents.append(
                Document(
                    f"{number}{extension}",
                    extension,
                    data,
                    reading.text,
                    difference,
                    _reasons(data) if difference else (),
                )
            )
    return documents


def compare(documents: Sequence[Document], seed: int, cases: int, first: int = 0) -> Iterator[Outcome]:
    """Each case, from number `first` to before `cases`, with what a change adds to the difference of its document."""
    for number in range(first, cases):
        rng = random.Random(f"{seed} {number}")
        extension = rng.choice(sorted({document.extension for document in documents}))
        document = rng.choice([document for document in documents if document.extension == extension])
        data, changes = legal_packages.mutate(rng, document.data)
        yield Outcome(number, document.name, changes, _added(document, data, changes) if changes else (), data)


def _added(document: Document, data: bytes, changes: list[str]) -> Difference:
    if "strict" in changes and "openxmlformats.org" in document.text:
        return ()  # the change of namespaces changes what the document says of them
    try:
        reading = _read(data, document.extension)
        difference = _difference(data, document.extension, reading)
    except DiligenceError as error:
        return (("refused", type(error).__name__),)
    except _UNREADABLE as error:  # one of the plain readers', or the change made no package
        return (("unreadable", repr(error)),)
    if set(difference) != set(document.difference):
        return tuple(sorted(set(difference) ^ set(document.difference)))
    if reading.text != document.text and not set(changes) & set(_ADDS_WORDS):
        return (("text", _first_difference(document.text, reading.text)),)
    return ()


def _first_difference(before: str, after: str) -> str:
    at = next((number for number, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    return f"{before[max(0, at - 10) : at + 30]!r} became {after[max(0, at - 10) : at + 30]!r}"


def _reasons(data: bytes) -> tuple[str, ...]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        parts = [archive.read(name) for name in archive.namelist() if name.endswith(".xml")]
    return tuple(reason for reason, sign in EXPLANATIONS.items() if any(re.search(sign, part) for part in parts))


def _read(data: bytes, extension: str) -> Reading:
    return formats.reader(extension).read(data)


def difference_of(data: bytes, extension: str) -> Difference:
    """How our reader and the plain one differ on a document; nothing where they agree.

    Raises:
        DiligenceError: ours refuses it.
    """
    return _difference(data, extension, _read(data, extension))


def _difference(data: bytes, extension: str, reading: Reading) -> Difference:
    """As `difference_of`, where our reader has read the document already."""
    if extension == ".xlsx":
        return tuple(_of_sheets(xlsx.read(data), reading))
    if extension == ".pptx":
        slides = _without_marks(reading).split("\f") if reading.text else []
        stories = pptx.read(data)
        slides += [""] * (len(stories) - len(slides))
        return tuple(
            (f"slide {number} {kind}", words)
            for number, (expected, text) in enumerate(zip(stories, slides, strict=False), 1)
            for kind, words in _of_stories(expected, text.split(), _stands_together)
        )
    return tuple(_of_stories(docx.read(data), _without_marks(reading).split(), _stands_in_order))


def _without_marks(reading: Reading) -> str:
    """The text without what our readers put round comments, and without the marks of hidden slides."""
    pieces, at = [], 0
    for place in reading.places:
        if place.kind == COMMENT and place.start >= at:
            mark = reading.text[place.start : place.end]
            words = mark.removeprefix(f"[comment, {place.label}: " if place.label else "[comment: ")
            pieces += [reading.text[at : place.start], words.rstrip("\n").removesuffix("]"), "\n"]
            at = place.end
    return "".join([*pieces, reading.text[at:]]).replace(HIDDEN_SLIDE_MARK, "")


def _of_stories(
    stories: Sequence[Story], words: Sequence[str], stands: Callable[[Sequence[str], Sequence[str]], bool]
) -> Iterator[tuple[str, str]]:
    """Words that one of both has more often, and stories whose words are there in another order."""
    expected = Counter(word for story in stories for word in story.words)
    found = Counter(words)
    for kind, more in (("missing", expected - found), ("extra", found - expected)):
        yield from ((kind, f"{word} {count}") for word, count in sorted(more.items()))
    for story in stories:
        if not stands(story.words, words) and not Counter(story.words) - found:
            yield f"order of {story.kind}", " ".join(story.words)[:100]


def _stands_in_order(words: Sequence[str], text: Iterable[str]) -> bool:
    """Whether these words stand in the text in their order, with others between."""
    rest = iter(text)
    return all(word in rest for word in words)


def _stands_together(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether these words stand in the text one behind the other."""
    return f" {' '.join(words)} " in f" {' '.join(text)} "


def _of_sheets(sheets: Sequence[tuple[str, list[Cell]]], reading: Reading) -> Iterator[tuple[str, str]]:
    """Cells that one of both does not have, or has elsewhere, or with other words; row by row."""
    found = _rows_of(reading)
    for number, (name, cells) in enumerate(sheets):
        rows: dict[int, list[Cell]] = {}
        for cell in cells:
            rows.setdefault(cell.row, []).append(cell)
        if not any(not cell.is_computed for cell in cells) and number >= len(found):
            continue
        ours = found[number] if number < len(found) else []
        expected = [row for row in rows.values() if not all(cell.is_computed for cell in row)]
        filled = len(ours) == len(rows) != len(expected)  # where all that could be computed is
        for row, (first, line) in zip(rows.values() if filled else expected, ours, strict=False):
            if first and first != row[0].row:
                yield "other row", f"{name} {row[0]}: {first}"
            yield from ((kind, f"{name} {words}") for kind, words in _of_row(row, line))
        if len(ours) != len(expected) and not filled:
            yield "rows", f"{name}: {len(expected)} expected, {len(ours)} found"


def _of_row(row: Sequence[Cell], line: str) -> Iterator[tuple[str, str]]:
    gaps = [after.column - before.column for before, after in zip([Cell(0, 1, None), *row], row, strict=False)]
    if max(gaps) > _WIDEST_GAP:  # so many empty cells are one tab
        ours = dict(zip([cell.column for cell in row], filter(str.strip, line.split("\t")), strict=False))
    else:
        ours = {column: words for column, words in enumerate(line.split("\t"), 1) if words.strip()}
    for cell in row:
        words = ours.pop(cell.column, "").strip()
        if not words and not cell.is_computed:
            yield "missing", str(cell)
        elif cell.words is not None and words != cell.words:
            yield "other words", f"{cell}: {words}"
        elif words and cell.words is None and not re.search(r"\d|TRUE|FALSE|#|=", words):
            yield "no number", f"{cell}: {words}"
    yield from (("extra", f"row {row[0].row}, column {column}: {words}") for column, words in ours.items())


def _rows_of(reading: Reading) -> list[list[tuple[int, str]]]:
    """The lines of each sheet's cells, the first of each block with the number of its row (else 0)."""
    sheets: list[list[tuple[int, str]]] = []
    for place in reading.places:
        if place.kind == SHEET:
            sheets.append([])
        elif place.kind == CELLS and sheets:
            first = int(place.label.partition(":")[0].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ") or 0)
            for line in reading.text[place.start : place.end].split("\n"):
                if line.strip():
                    sheets[-1].append((first, line))
                    first = 0
    return sheets


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()

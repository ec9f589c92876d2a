"""The evidence pages of a company: a page for each place that the report cites, with all its quotations.

Pages of PDFs are shown as pictures with the quotations boxed, other documents as their words with the quotations
marked. Pages are plain HTML: no script, nothing from elsewhere. `live` shows them in the service. In the folder
`evidence/` beside a report they are opened from the file system, and show what the run's account may see.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from errno import ENOENT
from functools import lru_cache
from itertools import pairwise
from os import strerror
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from sqlmodel import Session

from storage import database, texts
from storage.database import reading
from storage.documents import RunDocument
from storage.runs import Run, get_run, run_companies
from storage.scores import ScoreStatus
from storage.settings import override_settings
from storage.texts import StoredText, find_span_pages
from tasks.documents.drive.registry import choose_drive, open_run_drive
from tasks.errors import DiligenceError, NotFound
from tasks.evidence.company import Citation, is_pdf, list_citations
from tasks.evidence.page import find_picture
from tasks.files import code_version, replace_file
from tasks.language.quotations import Block, Mark, Stretch, blocks, line_start, stretches
from tasks.reading import text_writer as kinds
from tasks.reports.company import CompanyPages
from tasks.reports.html import fill_plain_page
from tasks.reports.models import (
    CompanyReport,
    ContradictingQuote,
    CriterionReport,
    DocumentReport,
    NearestDocument,
    ReportedContradiction,
    ReportedQuote,
    RunSummary,
)
from tasks.reports.wording import (
    FOLDER,
    is_own_file,
    make_anchor,
    name_part,
    outcome_in_words,
    page_name,
    picture_name,
    weblink,
)

Linked = TypeVar("Linked", ContradictingQuote, NearestDocument, DocumentReport)
Original = Callable[[str, str | None], str | None]
"""Gives the address of a document by its id and its `document_url`; None where there is nothing to open."""


def find_originals(run_id: str) -> Original:
    """Where the documents of a run can be opened, whatever root it was made under.

    A local file is linked directly, because the service that `document_url` leads to may not be running. A file that no
    longer exists has no link.
    """
    with database.reading() as session:
        drive = get_run(session, run_id).drive
    with override_settings(drive or {}):
        has_accounts = choose_drive().accounts is not None
    return show_as_the_drive if has_accounts else _local_files(drive)


def show_as_the_drive(_document_id: str, url: str | None) -> str | None:
    """The address at which the drive itself shows a document."""
    return weblink(url)


_KEPT: Final = 50_000
"""Addresses that are kept: to follow the links on a path takes as long as to show the document's name."""


def _local_files(settings: Mapping[str, str] | None) -> Original:
    with override_settings(settings or {}), suppress(DiligenceError):
        drive = open_run_drive()

        @lru_cache(_KEPT)
        def address(document_id: str, url: str | None) -> str | None:
            try:
                path = drive.local_path(document_id)
            except NotFound:
                return None
            return path.as_uri() if path else weblink(url)

        return address
    return lambda _document_id, _url: None  # the root is there no more


def with_originals(company: CompanyReport, original: Original) -> CompanyReport:
    """The same company with the addresses that `original` returns in place of each `document_url`, "" if it returns
    none.

    Only parts that contain an address are copied: copying the whole report takes as long as writing it.
    """

    def linked(entry: Linked) -> Linked:
        return entry.model_copy(update={"document_url": original(entry.document_id, entry.document_url) or ""})

    def quoted(quote: ReportedQuote) -> ReportedQuote:
        if quote.document_id is None:
            return quote
        return quote.model_copy(update={"document_url": original(quote.document_id, quote.document_url)})

    def contradicting(contradiction: ReportedContradiction) -> ReportedContradiction:
        return contradiction.model_copy(update={"quotes": tuple(linked(side) for side in contradiction.quotes)})

    def criterion_with(criterion: CriterionReport) -> CriterionReport:
        return criterion.model_copy(
            update={
                "quotes": [quoted(quote) for quote in criterion.quotes],
                "contradictions": [contradicting(each) for each in criterion.contradictions],
                "nearest": [linked(near) for near in criterion.nearest],
            }
        )

    return company.model_copy(
        update={
            "criteria": [criterion_with(criterion) for criterion in company.criteria],
            "documents": [linked(document) for document in company.documents],
        }
    )


BOUNDS: Final = frozenset({kinds.PAGE, kinds.SLIDE, kinds.SHEET, kinds.ATTACHMENT})
"""The kinds of places that an evidence page does not reach beyond."""

_OF_A_PDF: Final = frozenset({kinds.PAGE, kinds.ATTACHMENT})
"""The kinds of places that its words stand in, but for those beside its pages."""


SpansOfTexts = Mapping[tuple[int, int, int], list[dict[str, Any]]]
"""The pages of spans by text id, start and end, as `find_span_pages` returns them."""


class CitedFor(NamedTuple):
    """A criterion that cites a place: its name, the link to it from an evidence page, its outcome, and why."""

    label: str
    link: str
    outcome: str
    reason: str


class WaysOn(NamedTuple):
    """Where an evidence page leads: its neighbours, the document itself, and the whole text around the place.

    `notice` is what a reader must know about the document; `seen_by` says whose rights the page is shown under. It
    names no run: a page on disk is the same in each run in which its place is cited for the same reason.
    """

    previous: str | None = None
    following: str | None = None
    original: str | None = None
    whole: str | None = None
    notice: str | None = None
    seen_by: str = "The page shows what the account of the run could see. The report says which run that was."


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of a PDF as its evidence page shows it. `picture` is relative to that page, None if there is none.

    `boxes`: the first one of a quotation has its anchor.
    """

    page: int
    width: float
    height: float
    picture: str | None
    boxes: list[tuple[str | None, list[float]]]
    uncertain: list[str]


@dataclass(slots=True)
class EvidencePage:
    """A place that the report cites, with all its quotations.

    `is_on_no_page`: it is in a PDF but on none of its pages. `has_unboxed`: some of its words were not located on the
    pages shown, because they are further passages and no quotations.
    """

    name: str
    citations: list[Citation]
    claims: list[CitedFor] = field(default_factory=list)
    shown: list[ShownPage] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    is_on_no_page: bool = False
    has_unboxed: bool = False

    @property
    def first(self) -> Citation:
        """The first quotation."""
        return self.citations[0]

    @property
    def grounds(self) -> list[list[CitedFor]]:
        """The criteria that cite it, grouped by outcome and reason."""
        together: dict[tuple[str, str], list[CitedFor]] = {}
        for claim in self.claims:
            together.setdefault((claim.outcome, claim.reason), []).append(claim)
        return list(together.values())

    @property
    def place(self) -> str:
        """Where the quotations are, in words."""
        places = dict.fromkeys(citation.place for citation in self.citations)
        return next(iter(places)) if len(places) == 1 else name_part(self.first.place) or self.first.place


def list_claims(run: RunSummary, company: CompanyReport, number: int, places: CompanyPages) -> dict[str, CitedFor]:
    """The criteria of a company, which is number `number` in its report (from 1), by id, for its evidence pages."""
    return {
        criterion.id: CitedFor(
            label=criterion.heading,
            link=f"../{places.criterion(number, position)}",
            outcome=outcome_in_words(criterion, run.scale),
            reason=criterion.reason,
        )
        for position, criterion in enumerate(company.criteria, 1)
        if criterion.status is not ScoreStatus.WITHHELD
    }


def list_pages(citations: Iterable[Citation], domain: str, claims: Mapping[str, CitedFor]) -> list[EvidencePage]:
    """The evidence pages of a run's company, document by document and in the order of the text; not yet filled.

    `claims` are its criteria by id; what others cite is left out.
    """
    pages: dict[str, EvidencePage] = {}
    for citation in sorted(citations, key=_order):
        claim = claims.get(citation.criterion_id)
        if claim is None:
            continue
        name = page_name(domain, citation.document.document_id, citation.place, citation.start)
        page = pages.setdefault(name, EvidencePage(name, []))
        page.citations.append(citation)
        if claim not in page.claims:
            page.claims.append(claim)
    return list(pages.values())


def with_ways(pages: Sequence[EvidencePage], original: Original) -> list[tuple[EvidencePage, WaysOn]]:
    """The evidence pages of a company, each with links to the places before and after it, and to its document."""
    documents = {page.first.document.document_id: page.first.document.url for page in pages}
    addresses = {document_id: original(document_id, url) for document_id, url in documents.items()}
    names = [None, *(page.name for page in pages), None]
    return [
        (page, WaysOn(previous, following, addresses[page.first.document.document_id]))
        for page, previous, following in zip(pages, names, names[2:], strict=False)
    ]


def _order(citation: Citation) -> tuple[str, str, str, int, int]:
    document = citation.document
    return document.path, document.name, document.document_id, citation.start, citation.end


def fill_pages(session: Session, pages: Iterable[EvidencePage], known: SpansOfTexts) -> Iterator[EvidencePage]:
    """The pages with their content, in the order of their texts' ids: drawn pages, and the words around.

    Small texts are loaded together. `known` are the pages of the spans of these texts.

    Raises:
        FileNotFoundError: a text is not stored any more.
    """
    by_text: dict[int, list[EvidencePage]] = {}
    for page in pages:
        by_text.setdefault(page.first.text_id, []).append(page)
    sizes = {text_id: cited[0].first.document.characters or 0 for text_id, cited in by_text.items()}
    for group in texts.group_sizes(sizes):
        found = texts.find_texts(session, group)
        if len(found) < len(group):
            raise FileNotFoundError(ENOENT, "a cited text is not stored any more")
        for text in found:
            for page in by_text[text.id or 0]:
                _fill(page, text, known)
                yield page


def _fill(page: EvidencePage, text: StoredText, known: SpansOfTexts) -> None:
    by_page: dict[int, ShownPage] = {}
    boxed: set[str] = set()
    for start, end in dict.fromkeys((citation.start, citation.end) for citation in page.citations):
        words = text.text[start:end]
        for span_page in known.get((page.first.text_id, start, end), ()):
            number = span_page["page"]
            if number not in by_page:
                by_page[number] = _make_page(text, span_page)
            shown = by_page[number]
            for box in span_page["boxes"]:
                anchor = make_anchor(start, end)
                shown.boxes.append((None if anchor in boxed else anchor, box))
                boxed.add(anchor)
            if not span_page["boxes"]:
                shown.uncertain.append(words)
        page.has_unboxed |= (page.first.text_id, start, end) not in known
    page.is_on_no_page = is_pdf(text.reader) and not any(
        kind in _OF_A_PDF and start <= page.first.start < end for start, end, kind, _ in text.places
    )
    page.shown = [by_page[number] for number in sorted(by_page)]
    first, last = _bounds(text, page.first.start)
    last = max(last, *(citation.end for citation in page.citations))
    marks = [
        Mark(citation.start, citation.end, "" if anchor in boxed else anchor)
        for citation in page.citations
        for anchor in (make_anchor(citation.start, citation.end),)
    ]
    page.stretches = stretches(text.text, first, last, list(dict.fromkeys(marks)))


def _make_page(text: StoredText, span_page: Mapping[str, Any]) -> ShownPage:
    """A page without boxes, with its picture if it has been drawn."""
    number = span_page["page"]
    drawn = find_picture(text.content_hash, number)
    picture = picture_name(text.content_hash, number, drawn.suffix) if drawn else None
    return ShownPage(number, span_page["width"], span_page["height"], picture, [], [])


def _bounds(text: StoredText, at: int) -> tuple[int, int]:
    """The smallest page, slide, sheet or attachment around an offset of a text; otherwise the whole text."""
    around = [(start, end) for start, end, kind, _ in text.places if kind in BOUNDS and start <= at < end]
    return min(around, key=lambda span: span[1] - span[0], default=(0, len(text.text)))


def render_page(company: str, page: EvidencePage, ways: WaysOn, pictures: str = "file: 'self'") -> str:
    """An evidence page of the company with that name, as HTML; `pictures` is where its pictures come from."""
    shown = {"company": company, "page": page, "document": page.first.document, "ways": ways}
    return fill_plain_page("evidence.html", _STYLE, pictures, **shown)


_STYLE: Final = "evidence.css"
PART: Final = 40_000
"""Characters of a part, about: twenty printed pages."""
_SHOWN: Final = {kinds.PAGE: "Page", kinds.SLIDE: "Slide", kinds.SHEET: "Sheet", kinds.ATTACHMENT: "Attachment"}


@dataclass(frozen=True, slots=True)
class Section:
    """A page, slide, sheet or attachment, or the piece of it in the part; `page` is the number of a PDF's page."""

    heading: str | None
    page: int | None
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class TextPart:
    """One part of a text; parts are numbered from 1."""

    number: int
    count: int
    sections: Sequence[Section]


def part_at(text: str, spot: int) -> int:
    """The number of the part that contains a character."""
    number = spot // PART + 1
    return number + 1 if spot >= _cut(text, number) and number < _count(text) else number


def cut_text_part(text: StoredText, number: int, spans: Sequence[tuple[int, int]]) -> TextPart:
    """A part of a text with these spans of characters marked.

    Raises:
        NotFound: there is no such part.
    """
    count = _count(text.text)
    if not 1 <= number <= count:
        raise NotFound(f"The text has no part {number}. It has {count}.")
    begin, end = _cut(text.text, number - 1), _cut(text.text, number)
    marks = [Mark(start, stop, make_anchor(start, stop)) for start, stop in dict.fromkeys(spans)]
    attached = any(kind == kinds.ATTACHMENT for _, _, kind, _ in text.places)
    bounds = [place for place in text.places if place[2] in _SHOWN]
    cuts = sorted({begin, end, *(start for start, _, _, _ in bounds if begin < start < end)})
    sections = []
    for start, stop in pairwise(cuts):
        around = [place for place in bounds if place[0] <= start < place[1]]
        place = min(around, key=lambda place: place[1] - place[0], default=None)
        heading = f"{_SHOWN[place[2]]} {place[3]}" if place else None
        if heading and place and place[0] < start:
            heading = f"{heading}, continued"
        page = (
            int(place[3]) if place and place[2] == kinds.PAGE and place[3].isdigit() and is_pdf(text.reader) else None
        )
        sections.append(Section(heading, None if attached else page, blocks(text.text, start, stop, marks)))
    return TextPart(number, count, sections)


def _count(text: str) -> int:
    return max(1, -(-len(text) // PART))


def _cut(text: str, number: int) -> int:
    """Where the part of that number ends."""
    at = number * PART
    return len(text) if at >= len(text) else line_start(text, at, max(at - PART, 0))


def render_part(run: Run, document: RunDocument, text_part: TextPart, notice: str | None, seen_by: str) -> str:
    """A part of a document's text as HTML. Links are relative to `/runs/<run>/documents/<document>`.

    `notice` is what a reader must know about the document; `seen_by` says under whose rights it is shown.
    """
    shown = {"run": run, "document": document, "part": text_part, "notice": notice, "seen_by": seen_by}
    return fill_plain_page("whole_text.html", _STYLE, "'self'", **shown)


_TOGETHER: Final = 50
"""Companies whose citations are in memory together."""
_FOLDER: Final = "reports"
"""In the home, with a file for each folder that a report was written to."""


class WrittenPages:
    """The pages in a folder: for each page its files with their sizes, and a hash of what they show."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
        self._file = database.home() / _FOLDER / f"{name}.json"
        self._pages: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError):  # none was written to that folder
            stored = json.loads(self._file.read_bytes())
            self._pages = stored if isinstance(stored, dict) else {}

    def files(self, page: str, shown: str) -> set[str] | None:
        """The names of a page's files if they show exactly that and all exist; otherwise None."""
        written = self._pages.get(page, {})
        if written.get("shown") != shown:
            return None
        files: dict[str, int] = written["files"]
        return set(files) if all(self._size(name) == size for name, size in files.items()) else None

    def note(self, page: str, shown: str, names: Collection[str]) -> None:
        """Record what was written for a page."""
        self._pages[page] = {"shown": shown, "files": {name: self._size(name) for name in sorted(names)}}

    def save(self, pages: Collection[str]) -> None:
        """Save the records of these pages.

        Raises:
            OSError: it cannot be written; all pages are then written anew the next time.
        """
        kept = {page: written for page, written in sorted(self._pages.items()) if page in pages}
        self._file.parent.mkdir(mode=0o700, exist_ok=True)
        replace_file(self._file, self._file.with_suffix(".part"), json.dumps(kept).encode())

    def _size(self, name: str) -> int | None:
        try:
            return (self._folder / name).stat().st_size
        except OSError:
            return None


def hash_pages(pages: Iterable[tuple[EvidencePage, WaysOn]], company: str, known: SpansOfTexts) -> Iterator[str]:
    """For each of a company's evidence pages, a hash of everything that it shows; `known` are the pages of spans."""
    version = code_version("tasks.evidence", "tasks.language.quotations", "tasks.reports")
    for page, ways in pages:
        rest: list[object] = [version, company, ways, page.claims]
        for citation in page.citations:
            document = citation.document
            span = citation.text_id, citation.start, citation.end
            rest.append([document.document_id, document.name, document.path, document.content_hash, *span])
            rest.append([citation.place, citation.criterion_id])
            drawn = known.get(span, ())
            rest.append([drawn, [str(find_picture(document.content_hash or "", each["page"])) for each in drawn]])
        yield hashlib.sha256(json.dumps(rest, default=str).encode(errors="surrogatepass")).hexdigest()


class CitingCompany(NamedTuple):
    """A company of a report in the form that its evidence pages need: its name, and its criteria by id."""

    name: str
    domain: str
    claims: Mapping[str, CitedFor]


def write_evidence(run: str, companies: Sequence[CitingCompany], folder: Path, original: Original) -> dict[str, str]:
    """Write the evidence of a report to `folder/evidence`. Pages that exist unchanged are not written again.

    Returns the companies, by domain, whose pages could not all be written, each with the reason in words; none of their
    pages is left behind.

    Raises:
        OSError: the folder cannot be made.
    """
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    earlier = WrittenPages(target)
    kept: set[str] = set()
    written: set[str] = set()
    unwritten: dict[str, str] = {}
    with reading() as session:
        ids = {company.domain: company.id for company in run_companies(session, run) if company.id is not None}
        for company, citations, known in _list_citations(session, companies, ids):
            pages = list_pages(citations, company.domain, company.claims)
            files: set[str] = set()
            try:
                _write_pages(session, company.name, with_ways(pages, original), known, target, earlier, files)
            except OSError as error:
                unwritten[company.domain] = error.strerror or type(error).__name__
                _remove(target, files - written)  # its pages lead to each other: all of them, or none
            else:
                written |= files
                kept.update(page.name for page in pages)
    with suppress(OSError):  # the pages are there; the next report writes them again
        earlier.save(kept)
    _remove(target, _own_files(target) - written)
    return unwritten


def _list_citations(
    session: Session, companies: Sequence[CitingCompany], ids: Mapping[str, int]
) -> Iterator[tuple[CitingCompany, list[Citation], SpansOfTexts]]:
    """What each of these companies cites, with the pages of its spans; `ids` are those of the run's companies."""
    for start in range(0, len(companies), _TOGETHER):
        group = [company for company in companies[start : start + _TOGETHER] if company.domain in ids]
        citations = list_citations(session, [ids[company.domain] for company in group])
        known = find_span_pages(session, {citation.text_id for cited in citations.values() for citation in cited})
        for company in group:
            yield company, citations[ids[company.domain]], known


def remove_evidence(folder: Path) -> None:
    """Delete the evidence that was written beside a report; other files stay."""
    _remove(folder / FOLDER, _own_files(folder / FOLDER))


def _own_files(target: Path) -> set[str]:
    return {path.name for path in target.iterdir() if is_own_file(path.name)}


def _write_pages(
    session: Session,
    company: str,
    pages: Sequence[tuple[EvidencePage, WaysOn]],
    known: SpansOfTexts,
    target: Path,
    earlier: WrittenPages,
    files: set[str],
) -> None:
    """Write those pages of a company that do not exist yet; the names of all their files, even begun ones, go into
    `files`.

    Raises:
        OSError: one cannot be written.
    """
    changed: dict[str, str] = {}
    for (page, _), shown in zip(pages, hash_pages(pages, company, known), strict=True):
        its_files = earlier.files(page.name, shown)
        if its_files is None:
            changed[page.name] = shown
        else:
            files |= its_files
    ways = {page.name: ways for page, ways in pages}
    for page in fill_pages(session, [page for page, _ in pages if page.name in changed], known):
        pictures = {shown.picture: shown.page for shown in page.shown if shown.picture is not None}
        its_files = {f"{page.name}.html", *pictures}
        files |= its_files
        for picture, number in pictures.items():
            _put_picture(page.first.document.content_hash or "", number, target / picture)
        content = render_page(company, page, ways[page.name]).encode()
        replace_file(target / f"{page.name}.html", target / f"{page.name}.html.part", content)
        earlier.note(page.name, changed[page.name], its_files)


def _remove(folder: Path, names: Collection[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def _put_picture(content_hash: str, page: int, target: Path) -> None:
    """Link a picture of the home beside the report: the same file, which takes no time and no space again."""
    source = find_picture(content_hash, page)
    if source is None:  # it was taken away since the page was filled
        raise FileNotFoundError(ENOENT, strerror(ENOENT))
    if target.exists() and target.stat().st_size == source.stat().st_size:
        return
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # the folder is on another disk, or on one without links
        shutil.copyfile(source, target)

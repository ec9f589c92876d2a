"""The pages on which a company's quotations stand: found, boxed and drawn.

Boxes are stored with the texts; pictures are in the home under the content of their document, so that a page is drawn
once for every run and report.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlmodel import Session

from storage import database, texts
from storage.documents import RunDocument, some_run_documents
from storage.scores import CriterionOutcome, QuotedSpan, ScoreStatus, list_quoted_spans, load_company_outcomes
from storage.texts import SpanPages, StoredText, find_span_pages, save_span_pages
from tasks.cancellation import FanOut
from tasks.documents.drive.drive import Drive, EvidenceSettings
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.drive.spool import spool
from tasks.documents.texts import stored_pages
from tasks.errors import DiligenceError, NotFound, Unreadable
from tasks.evidence.boxes import BoxedPage
from tasks.evidence.page import CitedSpan, PageOrder, draw_pages, find_picture, picture_stem
from tasks.operation import operation
from tasks.reading import text_writer as kinds
from tasks.reading.configuration import ReadingSettings, engines
from tasks.reading.ocr.page import WordBox


@dataclass(frozen=True, slots=True)
class Citation:
    """Words of a document that an outcome points at: `start` to `end` of its stored text, in characters.

    `is_shown`: its page is drawn, because it is a quotation, the best passage of a criterion that nobody judged, or
    words that contradict others or give orders to a model.
    """

    document: RunDocument
    text_id: int
    start: int
    end: int
    place: str
    criterion_id: str
    is_shown: bool


def list_citations(session: Session, company_ids: Sequence[int]) -> dict[int, list[Citation]]:
    """Everything that the outcomes of these companies of a run point at, by company id, in the order of the criteria.

    A few dozen companies at a time: for one alone the statements take longer than the rows.
    """
    outcomes = load_company_outcomes(session, company_ids)
    quotes: dict[int, list[QuotedSpan]] = {}
    for quote in list_quoted_spans(session, company_ids):
        quotes.setdefault(quote.outcome_id, []).append(quote)
    cited = {quote.document_id for of_outcome in quotes.values() for quote in of_outcome}
    cited |= {words["document_id"] for rows in outcomes.values() for outcome in rows for words in _list_words(outcome)}
    documents: dict[int, dict[str, RunDocument]] = {company_id: {} for company_id in company_ids}
    for document in some_run_documents(session, company_ids, cited):
        documents[document.company_id][document.document_id] = document
    return {
        company_id: [
            citation
            for outcome in rows
            for citation in _of_outcome(outcome, quotes.get(outcome.id or 0, ()), documents[company_id])
        ]
        for company_id, rows in outcomes.items()
    }


def _list_words(outcome: CriterionOutcome) -> list[dict[str, Any]]:
    """The quotations in which documents contradict each other, and words that give orders to a model."""
    contradicting = [quote for contradiction in outcome.contradictions for quote in contradiction["quotes"]]
    return [*contradicting, *outcome.orders]


def _of_outcome(
    outcome: CriterionOutcome, quotes: Sequence[QuotedSpan], documents: Mapping[str, RunDocument]
) -> Iterator[Citation]:
    is_judged = outcome.status is not ScoreStatus.UNSCORED
    for quote in quotes:
        document = documents.get(quote.document_id)
        if document is not None:
            quoted = quote.text_id, quote.start, quote.end
            yield from _citation(document, quoted, quote.place, outcome, is_shown=is_judged or quote.ordinal == 0)
    for words in _list_words(outcome):
        document = documents.get(words["document_id"])
        if document is not None:
            span = words.get("text_id"), words.get("start"), words.get("end")
            yield from _citation(document, span, words["place"], outcome, is_shown=True)


def _citation(
    document: RunDocument,
    span: tuple[int | None, int | None, int | None],
    place: str | None,
    outcome: CriterionOutcome,
    *,
    is_shown: bool,
) -> Iterator[Citation]:
    """The citation of a span, unless its text was pruned."""
    text_id, start, end = span
    if text_id is not None and start is not None and end is not None:
        yield Citation(document, text_id, start, end, place or "", outcome.criterion_id, is_shown)


class PagePart(NamedTuple):
    """The part of a span that stands on one page: `start` and `end` are offsets in the page's text.

    `is_scan`: some of the page's text was recognised in a picture.
    """

    page: int
    text: str
    start: int
    end: int
    is_scan: bool


class _CitedPart(NamedTuple):
    """A span of a document's text, and the part of it that is on one page."""

    start: int
    end: int
    part: PagePart


_SIDE_BY_SIDE: Final = 4
"""Documents that are fetched and drawn at a time."""


@operation(name="draw_evidence")
def draw_evidence(company_id: int) -> list[str]:
    """Find and draw the pages of PDFs that the outcomes of a run's company point at.

    What was drawn before is not drawn again. Returns a sentence for each document whose pages cannot be shown; no
    failure here stops a run.
    """
    which = EvidenceSettings.current().evidence
    if which == "none":
        return []
    with database.reading() as session:
        cited = list_citations(session, [company_id])[company_id]
        citations = [citation for citation in cited if citation.is_shown or which == "all"]
        by_text: dict[int, list[Citation]] = {}
        for citation in citations:
            by_text.setdefault(citation.text_id, []).append(citation)
        readers = texts.load_readers(session, sorted(by_text))
        boxed = find_span_pages(session, sorted(by_text))
    with FanOut(_SIDE_BY_SIDE, "drawing") as threads:
        drawings = [
            threads.submit(_draw_document, text_id, cited, boxed)
            for text_id, cited in by_text.items()
            if is_pdf(readers.get(text_id, ""))
        ]
    return [warning for drawing in drawings if (warning := drawing.result()) is not None]


def _draw_document(text_id: int, citations: Sequence[Citation], boxed: Container[tuple[int, int, int]]) -> str | None:
    """Draw what is cited from one PDF; returns a sentence if that is not possible."""
    with database.reading() as session:
        text = texts.get_text(session, text_id)
    parts = _parts_to_draw(text, citations, boxed)
    if not parts:
        return None
    document = citations[0].document
    try:
        pages = _fetch_and_draw(
            open_run_drive(), document, text, [_order(text, page, parts[page]) for page in sorted(parts)]
        )
    except (DiligenceError, OSError) as error:
        reason = error.message if isinstance(error, DiligenceError) else f"{error.strerror}."
        return f"{document.name}: its pages are not shown as pictures. {reason}"
    _save(text, parts, pages)
    return None


def is_pdf(reader: str) -> bool:
    """Whether the reader named here reads PDFs, whatever the document's name is."""
    return reader.rsplit(" as ", maxsplit=1)[-1].startswith("pdf-")


def find_page_parts(text: StoredText, start: int, end: int) -> list[PagePart]:
    """The pages that a span of a PDF's text stands on; empty for an attachment, whose pages are not the document's."""
    attached = [place for place in text.places if place[2] == kinds.ATTACHMENT]
    if any(place[0] < end and start < place[1] for place in attached):
        return []
    scans = [place for place in text.places if place[2] == kinds.OCR]
    parts: list[PagePart] = []
    for first, last, kind, label in text.places:
        if kind == kinds.PAGE and label.isdigit():
            begin, stop = max(start, first), min(end, last)
            if text.text[begin:stop].strip():  # else no part of the span is on that page
                is_scan = any(first <= place[0] < last for place in scans)  # none goes on in another page
                parts.append(PagePart(int(label), text.text[first:last], begin - first, stop - first, is_scan))
    return parts


def _parts_to_draw(
    text: StoredText, citations: Iterable[Citation], boxed: Container[tuple[int, int, int]]
) -> dict[int, list[_CitedPart]]:
    """The pages to draw, each with its cited spans; those that were drawn before are left out."""
    assert text.id is not None
    by_page: dict[int, list[_CitedPart]] = {}
    for start, end in dict.fromkeys((citation.start, citation.end) for citation in citations):
        parts = find_page_parts(text, start, end)
        if (text.id, start, end) in boxed and all(find_picture(text.content_hash, part.page) for part in parts):
            continue
        for part in parts:
            by_page.setdefault(part.page, []).append(_CitedPart(start, end, part))
    return by_page


def draw_alone(drive: Drive, document: RunDocument, text: StoredText, page: int) -> Path:
    """The picture of a page of a PDF, drawn now if needed.

    Raises:
        NotFound: the PDF has no such page, or is not there for this account. Unreadable: it was changed since it was
            read, or the page cannot be drawn.
        TookTooLong, TooLarge, Unavailable: as the drive and the limits say.
    """
    if not any(kind == kinds.PAGE and label == str(page) for _, _, kind, label in text.places):
        raise NotFound("The document has no such page.")
    picture = find_picture(text.content_hash, page)
    if picture is None:
        stem = str(picture_stem(text.content_hash, page))
        _fetch_and_draw(drive, document, text, [PageOrder(page, "", [], stem)])
        picture = find_picture(text.content_hash, page)
    if picture is None:
        raise Unreadable("This page cannot be drawn.")
    return picture


def _fetch_and_draw(
    drive: Drive, document: RunDocument, text: StoredText, orders: Sequence[PageOrder]
) -> list[BoxedPage]:
    picture_stem(text.content_hash, 1).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    most = ReadingSettings.current().document_max_mb << 20
    with spool() as folder, drive.fetch(document.document_id, folder, most) as fetched:
        if fetched.content_hash != text.content_hash:
            raise Unreadable("The document was changed since it was read.")
        return draw_pages(fetched.path, orders)


def _order(text: StoredText, number: int, on_page: Sequence[_CitedPart]) -> PageOrder:
    is_drawn = find_picture(text.content_hash, number) is not None
    return PageOrder(
        number,
        on_page[0].part.text,
        [CitedSpan(cited.part.start, cited.part.end) for cited in on_page],
        None if is_drawn else str(picture_stem(text.content_hash, number)),
        _recognised(text, number) if on_page[0].part.is_scan else (),
    )


def _recognised(text: StoredText, number: int) -> list[WordBox]:
    page = stored_pages(text.content_hash, engines(ReadingSettings.current())).get(str(number))
    return page.boxes() if page else []


def _save(text: StoredText, parts: Mapping[int, Sequence[_CitedPart]], pages: Iterable[BoxedPage]) -> None:
    """Store the boxes of the spans, page by page."""
    assert text.id is not None
    by_span: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for page in sorted(pages, key=lambda page: page.number):
        for cited, boxes in zip(parts[page.number], page.boxes, strict=True):
            rounded = [[round(side, 2) for side in (box.left, box.top, box.right, box.bottom)] for box in boxes]
            by_span.setdefault((cited.start, cited.end), []).append(
                {"page": page.number, "width": round(page.width, 2), "height": round(page.height, 2), "boxes": rounded}
            )
    with database.writing() as session:
        save_span_pages(
            session,
            [SpanPages(text_id=text.id, start=start, end=end, pages=pages) for (start, end), pages in by_span.items()],
        )

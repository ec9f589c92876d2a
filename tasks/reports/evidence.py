"""The folder `evidence/` beside a report: a page for each place that the report cites; it opens from the file system.

Pages of PDFs are shown as pictures with the quotations boxed, other documents as their words with the quotations
marked. What a page shows is what the run's account may see. Pages are plain HTML: no script, nothing from elsewhere.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from sqlmodel import Session

from storage import texts
from storage.database import reading
from storage.evidence import find_span_pages
from storage.runs import run_companies
from storage.texts import StoredText
from tasks.documents.extract import places as kinds
from tasks.evidence.citations import Citation, citations_of
from tasks.evidence.company import picture_path
from tasks.evidence.excerpt import Mark, Stretch, stretches
from tasks.reports.evidence_links import FOLDER, anchor_of, is_own_file, page_name, part_of
from tasks.reports.html import allowed, environment, part
from tasks.reports.models import CompanyReport, Report

_BOUNDS: Final = frozenset({kinds.PAGE, kinds.SLIDE, kinds.SHEET, kinds.ATTACHMENT})


@dataclass(frozen=True, slots=True)
class Claim:
    """A criterion that cites a place: its words, and where it stands in the report."""

    label: str
    link: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A page of a PDF as its evidence page shows it. `picture` is relative to that page, None where there is none."""

    page: int
    width: float
    height: float
    picture: str | None
    boxes: list[tuple[str, list[float]]]
    uncertain: list[str]


@dataclass(slots=True)
class EvidencePage:
    """A place that the report cites, with all its quotations."""

    name: str
    citations: list[Citation]
    claims: list[Claim] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)

    @property
    def first(self) -> Citation:
        """The quotation that stands first."""
        return self.citations[0]

    @property
    def place(self) -> str:
        """Where the quotations stand, in words."""
        places = dict.fromkeys(citation.place for citation in self.citations)
        return next(iter(places)) if len(places) == 1 else part_of(self.first.place) or self.first.place


def write_evidence(report: Report, folder: Path) -> None:
    """Write the evidence of a report to `folder/evidence`. What is there and the same already is not written again.

    Raises:
        OSError: the folder cannot be written, or is full.
    """
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    written: set[str] = set()
    with reading() as session:
        ids = {company.domain: company.id for company in run_companies(session, report.run.id)}
        for number, company in enumerate(report.companies, 1):
            company_id = ids.get(company.domain)
            if company_id is None:
                continue
            pages = list(_pages(session, company, number, company_id))
            for position, page in enumerate(pages):
                for shown in page.shown:
                    if shown.picture is not None and shown.picture not in written:
                        _copy_picture(page.first.document.content_hash or "", shown, target)
                        written.add(shown.picture)
                previous = pages[position - 1].name if position else None
                following = pages[position + 1].name if position + 1 < len(pages) else None
                _write(target / f"{page.name}.html", _render(report, company, page, previous, following))
                written.add(f"{page.name}.html")
    for other in target.iterdir():
        if other.name not in written and is_own_file(other.name):
            other.unlink()


def _pages(session: Session, company: CompanyReport, number: int, company_id: int) -> Iterator[EvidencePage]:
    """The evidence pages of a company, document by document, each in the order of its text."""
    claims = {
        criterion.id: Claim(criterion.label, f"../report.html#company-{number}-{position}")
        for position, criterion in enumerate(company.criteria, 1)
    }
    pages: dict[str, EvidencePage] = {}
    for citation in sorted(
        citations_of(session, company_id),
        key=lambda each: (each.document.path, each.document.name, each.document.document_id, each.start, each.end),
    ):
        name = page_name(company.domain, citation.document.document_id, citation.place, citation.start)
        page = pages.setdefault(name, EvidencePage(name, []))
        page.citations.append(citation)
        claim = claims.get(citation.criterion_id)
        if claim is not None and claim not in page.claims:
            page.claims.append(claim)
    text_ids = sorted({citation.text_id for page in pages.values() for citation in page.citations})
    known = find_span_pages(session, text_ids)
    text: StoredText | None = None
    for page in pages.values():
        if text is None or text.id != page.first.text_id:
            text = texts.get_text(session, page.first.text_id)
        _fill(page, text, known)
        yield page


def _fill(page: EvidencePage, text: StoredText, known: dict[tuple[int, int, int], list[dict[str, Any]]]) -> None:
    """Put in what the page shows: pictures where pages were drawn, else the words around."""
    by_page: dict[int, Shown] = {}
    for start, end in dict.fromkeys((citation.start, citation.end) for citation in page.citations):
        words = text.text[start:end]
        for found in known.get((page.first.text_id, start, end), ()):
            number = found["page"]
            shown = by_page.get(number)
            if shown is None:
                drawn = picture_path(text.content_hash, number).exists()
                picture = f"{text.content_hash[:24]}-{number}.webp" if drawn else None
                shown = Shown(number, found["width"], found["height"], picture, [], [])
                by_page[number] = shown
            shown.boxes.extend((anchor_of(start, end), box) for box in found["boxes"])
            if not found["boxes"]:
                shown.uncertain.append(words)
    page.shown = [by_page[number] for number in sorted(by_page)]
    first, last = _bounds(text, page.first.start)
    last = max(last, *(citation.end for citation in page.citations))
    anchors_above = {anchor for shown in page.shown for anchor, _ in shown.boxes}
    marks = [
        Mark(citation.start, citation.end, "" if anchor in anchors_above else anchor)
        for citation in page.citations
        for anchor in (anchor_of(citation.start, citation.end),)
    ]
    page.stretches = stretches(text.text, first, last, list(dict.fromkeys(marks)))


def _bounds(text: StoredText, at: int) -> tuple[int, int]:
    """The smallest page, slide, sheet or attachment around a spot of a text; else the whole text."""
    around = [(start, end) for start, end, kind, _ in text.places if kind in _BOUNDS and start <= at < end]
    return min(around, key=lambda span: span[1] - span[0], default=(0, len(text.text)))


def _copy_picture(content_hash: str, shown: Shown, folder: Path) -> None:
    assert shown.picture is not None
    target = folder / shown.picture
    source = picture_path(content_hash, shown.page)
    if not target.exists() or target.stat().st_size != source.stat().st_size:
        shutil.copyfile(source, target)


def _write(target: Path, page: str) -> None:
    content = page.encode()
    if target.exists() and target.read_bytes() == content:
        return
    half = target.with_suffix(".html.part")
    half.write_bytes(content)
    half.replace(target)


def _render(
    report: Report, company: CompanyReport, page: EvidencePage, previous: str | None, following: str | None
) -> str:
    style = part("evidence.css")
    return (
        environment()
        .get_template("evidence.html")
        .render(
            run=report.run,
            company=company,
            page=page,
            document=page.first.document,
            previous=previous,
            following=following,
            policy=(
                f"default-src 'none'; style-src {allowed(style)}; img-src file: 'self'; "
                "base-uri 'none'; form-action 'none'"
            ),
            style=Markup(style),  # noqa: S704 - our own file
        )
    )
